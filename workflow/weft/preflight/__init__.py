"""What can be known to be wrong before anything is measured: scheduler, image and MPI, by asking the site."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from weft import jobs as weft_jobs
from weft import room
from weft.config import ResolvedConfig
from weft.errors import BadInput
from weft.jobs import Job
from weft.preflight import image, mpi, scheduler
from weft.preflight.findings import Findings
from weft.preflight.needs import needs

_JOB_ID = {"slurm": "SLURM_JOB_ID", "lsf": "LSB_JOBID"}


def check(
    config: ResolvedConfig,
    say: Callable[[str], None],
    executor: str | None = None,
    jobs: Sequence[Job] | None = None,
) -> Findings:
    """Raise BadInput, a sentence a line, when ``jobs`` could not run; ``say`` what they will wait for.

    ``executor`` is how Snakemake runs jobs: `local`, or the scheduler that it submits them to; None is what
    suits the system. ``jobs`` None are all of the campaign. Returns what was found.
    """
    found = examine(config, executor, jobs)
    if found.problems:
        raise BadInput("\n".join(found.problems))
    for sentence in found.waits:
        say(sentence)
    return found


def examine(
    config: ResolvedConfig, executor: str | None = None, jobs: Sequence[Job] | None = None
) -> Findings:
    """Return what is wrong with the system for ``jobs``, as far as it can be known here."""
    found = Findings()
    kind = config.system["scheduler"]["kind"] if config.system["scheduler"] else None
    allocated = kind is not None and _JOB_ID[kind] in os.environ
    if executor is None:
        executor = "local" if kind is None or allocated else kind
    asked = needs(config, weft_jobs.jobs(config) if jobs is None else jobs)
    if kind is None and executor != "local":
        found.problems.append(
            f"System '{config.system_name}' has no scheduler, but this profile submits jobs ({executor}):"
            " name a system of this cluster; config/systems/slurm-8gpu.yaml is one to copy."
        )
    elif kind is not None and executor == "local" and not allocated:
        found.problems.append(
            f"System '{config.system_name}' has the scheduler {kind}, but this profile runs jobs here: take"
            f" profile {kind}, or call it inside of an allocation."
        )
    elif kind is not None and not scheduler.check_commands(config, found):
        return found
    elif executor == "slurm":
        scheduler.check_submission(config, asked, found)
    elif allocated and kind == "slurm":
        scheduler.check_allocation(asked, found)
    if config.system["container"] is not None:
        image.check_image(config, found)
    if any(need.ranks > 1 for need in asked) and kind != "lsf":  # jsrun is where LSF's jobs run, not here
        mpi.check_launcher(config, found)
    if sentence := room.lack(Path(weft_jobs.results(config))):
        found.problems.append(sentence)
    if not found.problems and executor == "local" and (allocated or config.system["nodes"] == 1):
        mpi.check_start(config, asked, found)
    return found
