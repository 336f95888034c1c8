"""What goes wrong in the box, brought about on purpose: calls in the background, ranks that say no more."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from support.box import COMMAND
from support.boxed_checkout import BoxedCheckout

LIMIT_S = 300  # of every wait: a busy machine is no failure
RECORDS = "results/faults/faults/records"

# The jobs of campaign `faults`, tests/cluster/config.
COPY, LATENCY, HOST, ROUTE = (f"p2p_{name}/sweep.repeat0" for name in ("copy", "latency", "host", "route"))
MESSAGES = "pt2pt_latency/sweep.ranks2.nodes2.gpudirect-on.repeat0"
JOBS = {"topology/repeat0", COPY, LATENCY, HOST, ROUTE, MESSAGES}

# Both ways to run it, as users do, but that they ask Slurm sooner. Further words are Snakemake's.
_SOON = ("--slurm-init-seconds-before-status-checks", "1", "--max-status-checks-per-second", "1")
_WEFT = ("env", "PYTHONPATH=workflow", ".venv/bin/python", "-m", "weft")
CAMPAIGN = (
    *(*_WEFT, "campaign", "--system", "faults", "--campaign", "faults", "--profile", "slurm"),
    *_SOON,
)
SNAKEMAKE = (
    *(".venv/bin/snakemake", "--profile", "slurm", *_SOON),
    *("--config", "system=faults", "campaign=faults", "--"),
)

Found = TypeVar("Found")


def wait_for(what: str, find: Callable[[], Found], call: Call | None = None) -> Found:
    """Return what `find` finds, as soon as it does; fail when that lasts, or when `call` has ended."""
    deadline = time.monotonic() + LIMIT_S
    while not (found := find()):
        said = call.said() if call else ""
        assert time.monotonic() < deadline, f"{what}: not within {LIMIT_S} s\n{said}"
        assert call is None or call.is_running() or find(), f"{what}: the call has ended\n{said}"
        time.sleep(0.02)
    return found


class Call:
    """A command on the login node that runs in the background."""

    def __init__(self, checkout: BoxedCheckout, *command: object) -> None:
        self._output = tempfile.NamedTemporaryFile(suffix=".txt")  # noqa: SIM115 (as long as this object)
        self._process = subprocess.Popen(
            [str(COMMAND), "run", "--dir", checkout.name, "--", *map(str, command)],
            env=checkout.box.environment,
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def said(self) -> str:
        """What it has printed so far."""
        return Path(self._output.name).read_text(errors="replace")

    def says(self, words: str) -> None:
        """Wait until it has printed these words."""
        wait_for(f"'{words}'", lambda: words in self.said(), self)

    def is_running(self) -> bool:
        return self._process.poll() is None

    def end(self) -> int:
        """Wait for its end; return its exit status."""
        try:
            return self._process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it does not end\n{self.said()}") from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def press_ctrl_c(self) -> None:
        """As the terminal does: to all of its processes, but for the one that leads into the box."""
        for pid in _processes():
            with contextlib.suppress(ProcessLookupError):
                if pid != self._process.pid and os.getpgid(pid) == self._process.pid:
                    os.kill(pid, signal.SIGINT)

    def kill(self) -> None:
        """SIGKILL, to the command alone."""
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        for pid in children.read_text().split():
            os.kill(int(pid), signal.SIGKILL)


@dataclass(frozen=True)
class Rank:
    """A process of a measured program."""

    pid: int
    rank: int
    node: str
    job_id: str

    def stop(self) -> None:
        """Let it answer no more."""
        os.kill(self.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it answer again, if it still is there."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGCONT)


def stopping(
    checkout: BoxedCheckout, ranks: Mapping[str, int], call: Call, lines: int = 1
) -> Iterator[tuple[str, Rank]]:
    """Stop the rank given of each job when it has written so many lines; yield job and rank."""
    waiting = dict(ranks)

    def measuring() -> tuple[str, Rank] | None:
        for job, number in waiting.items():
            if _lines(checkout, job) >= lines:
                for found in _ranks(checkout, job):
                    if found.rank == number:
                        return job, found
        return None

    while waiting:
        job, found = wait_for(f"{', '.join(waiting)} to measure", measuring, call)
        found.stop()
        del waiting[job]
        assert _lines(checkout, job), f"{job} ended just before it was stopped: let it measure for longer"
        yield job, found


def stopped(checkout: BoxedCheckout, job: str, call: Call) -> Rank:
    """Stop the first rank of one job while it measures."""
    return next(stopping(checkout, {job: 0}, call))[1]


def processes(checkout: BoxedCheckout) -> list[str]:
    """The command lines of all processes on all pseudo hosts that are at work in the checkout."""
    return [" ".join(_words(pid)) for pid in _at_work(checkout)]


def records(checkout: BoxedCheckout) -> dict[str, str]:
    """The finished records by job: what each was begun with, which is another when measured again."""
    folder = checkout.folder / RECORDS
    return {
        str(path.relative_to(folder).with_suffix("")): path.read_text().partition("\n")[0]
        for path in folder.rglob("*.jsonl")
    }


def forget(checkout: BoxedCheckout, *jobs: str) -> None:
    """Remove the records of these jobs; of none, all that the campaign has measured."""
    if not jobs:
        shutil.rmtree(checkout.results("faults", "faults"), ignore_errors=True)
    for job in jobs:
        (checkout.folder / RECORDS / f"{job}.jsonl").unlink(missing_ok=True)


def nothing_runs(checkout: BoxedCheckout) -> None:
    """Wait until no job is in the queue, and no process at work on any pseudo host."""
    wait_for("the queue to be empty", lambda: not checkout.run("squeue", "-h").stdout)
    wait_for("no process to be left", lambda: not processes(checkout))


def half_records(checkout: BoxedCheckout) -> list[Path]:
    """What is left of records that were never finished."""
    return [path for path in (checkout.folder / RECORDS).rglob("*") if ".jsonl." in path.name]


def _lines(checkout: BoxedCheckout, job: str) -> int:
    try:
        return (checkout.folder / RECORDS / f"{job}.jsonl.partial").read_text().count("\n")
    except OSError:
        return 0


def _ranks(checkout: BoxedCheckout, job: str) -> Iterator[Rank]:
    for pid in _at_work(checkout):
        words = _words(pid)
        if "/build/" not in f"/{words[0]}" or f"{RECORDS}/{job}.jsonl" not in words:
            continue  # not a program: its launcher, its container
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{pid}/environ").read_text(errors="replace")
            environment = dict(entry.partition("=")[::2] for entry in text.split("\0"))
            yield Rank(
                pid,
                int(environment["SLURM_PROCID"]),
                environment["SLURMD_NODENAME"],
                environment["SLURM_JOB_ID"],
            )


def _at_work(checkout: BoxedCheckout) -> Iterator[int]:
    here = checkout.folder.stat()
    for pid in _processes():
        with contextlib.suppress(OSError):
            there = Path(f"/proc/{pid}/cwd").stat()
            if (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino) and _words(pid):
                yield pid


def _processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _words(pid: int) -> list[str]:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").rstrip("\0").split("\0")
    return []
