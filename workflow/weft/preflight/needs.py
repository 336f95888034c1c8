"""What the jobs of a campaign ask a cluster for, in the scheduler's units."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from weft.config import ResolvedConfig
from weft.jobs import Job
from weft.launch import Geometry, gres
from weft.preflight.slurm import gres_counts
from weft.resources import resources


@dataclass(frozen=True)
class Need:
    """What a job asks for; CPUs, memory and generic resources on each of its nodes."""

    job: str
    nodes: int
    ranks: int
    cpus: int
    memory_mb: int
    runtime_min: int
    gres: dict[str, int]


def needs(config: ResolvedConfig, jobs: Iterable[Job]) -> list[Need]:
    """Return what each of ``jobs`` asks for."""
    found = []
    for job in jobs:
        geometry = Geometry.of(config, job.processes or 1, job.nodes)
        asked = resources(config, job)
        found.append(
            Need(
                job.path,
                geometry.nodes,
                geometry.ranks,
                geometry.ranks_per_node * geometry.cores_per_rank,
                int(asked["mem_mb"]),
                int(asked["runtime"]),
                gres_counts(gres(config, geometry) or ""),
            )
        )
    return found


def greatest(found: list[Need], key: Callable[[Need], int]) -> Need:
    """Return the job that asks for most."""
    return max(found, key=key)
