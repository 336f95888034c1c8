"""What a campaign finds of earlier ones: records that Snakemake could not note, builds that were deleted."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from pathlib import Path

from weft import container, experiments, jobs, launch, sources
from weft.config import ResolvedConfig
from weft.experiments import EXPERIMENTS
from weft.jobs import Job


def finished_unnoted(config: ResolvedConfig, checkout: Path) -> list[str]:
    """Return the record files that Snakemake takes for interrupted, but that are what it would measure now.

    A record file appears whole or not at all, and says with which arguments it was made.
    """
    paths = {jobs.record_path(config, job): job for job in jobs.jobs(config)}
    return [
        path
        for path, job in paths.items()
        if _is_unnoted(path, checkout) and _is_of_now(config, job, checkout / path)
    ]


def lost_builds(config: ResolvedConfig) -> list[str]:
    """Return the programs and the image that records were measured with and that are no longer there.

    To be built before anything else: Snakemake would measure all again with what it finds missing.
    """
    lost = []
    for job in jobs.jobs(config):
        if Path(jobs.record_path(config, job)).exists():
            contained = jobs.is_contained(config, job)
            program = EXPERIMENTS[job.experiment].program
            lost += [launch.program_path(config, program, contained=contained)] if program else []
            lost += [container.image(config)] if contained else []
    return [path for path in dict.fromkeys(lost) if not Path(path).exists()]


def _is_unnoted(path: str, checkout: Path) -> bool:
    mark = urlsafe_b64encode(path.encode()).decode()
    return (checkout / ".snakemake/incomplete" / mark).exists() and (checkout / path).exists()


def _is_of_now(config: ResolvedConfig, job: Job, record: Path) -> bool:
    program = EXPERIMENTS[job.experiment].program
    if program is None:
        return False
    contained = jobs.is_contained(config, job)
    binary = launch.program_path(config, program, contained=contained)
    words = experiments.job_command(config, job)
    try:
        environment = json.loads(record.read_text(encoding="utf-8").partition("\n")[0])
        noted = (
            Path(sources.note(container.tree(config, contained=contained), program))
            .read_text(encoding="utf-8")
            .strip()
        )
        is_newer = record.stat().st_mtime > Path(binary).stat().st_mtime
    except (OSError, ValueError):
        return False
    same_arguments = environment.get("command_line", [])[1:] == words[words.index(binary) + 1 :]
    return same_arguments and is_newer and noted == sources.source_digest(program)
