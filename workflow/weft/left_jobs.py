"""Jobs that a killed campaign left in Slurm's queue: they would write behind the back of the next one."""

from __future__ import annotations

import getpass
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

# Snakemake's executor names each of its jobs by the run that submitted it; who submits by hand does not.
_OF_A_RUN = re.compile(r"(^|_)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_QUERY_TIMEOUT_S = 60
_END_TIMEOUT_S = 120
_POLL_S = 0.5


def cancel(checkout: Path, say: Callable[[str], None]) -> None:
    """Cancel the Slurm jobs that Snakemake submitted in this checkout, and wait until all have ended.

    To be called when no Snakemake runs here. Says what it did, and what it could not do.
    """
    deadline = time.monotonic() + _END_TIMEOUT_S
    cancelled: set[str] = set()
    try:
        while ids := set(_queued(checkout)):
            if time.monotonic() > deadline:
                say(f"Slurm does not end {_some(ids)} in {_END_TIMEOUT_S} s; call scancel yourself.")
                return
            if ids - cancelled:
                _slurm("scancel", *sorted(ids - cancelled))
                cancelled |= ids
            time.sleep(_POLL_S)
    except (OSError, subprocess.SubprocessError) as problem:
        say(f"Slurm does not answer; jobs of a campaign that was killed may be in its queue: {problem}")
        return
    if cancelled:
        say(f"Cancelled what was left in Slurm's queue: {_some(cancelled)}.")


def _queued(checkout: Path) -> list[str]:
    """The ids of the jobs, pending, running or ending, that a Snakemake submitted from this checkout."""
    lines = _slurm("squeue", "-h", "-u", getpass.getuser(), "-o", "%i|%j|%Z").splitlines()
    jobs = [line.strip().split("|", 2) for line in lines if line.count("|") >= 2]
    return [
        job_id
        for job_id, name, folder in jobs
        if _OF_A_RUN.search(name) and Path(folder).resolve() == checkout.resolve()
    ]


def _slurm(*words: str) -> str:
    done = subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=_QUERY_TIMEOUT_S,
        check=True,
        text=True,
        errors="replace",
    )
    return done.stdout


def _some(ids: set[str]) -> str:
    listed = sorted(ids)
    more = f" and {len(listed) - 8} more" if len(listed) > 8 else ""
    return f"job{'s' if len(ids) > 1 else ''} {', '.join(listed[:8])}{more}"
