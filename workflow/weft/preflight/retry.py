"""What a job that failed asks for when it is tried again: more, but no more than the cluster ever gives."""

from __future__ import annotations

import functools

from weft.config import ResolvedConfig
from weft.preflight import slurm
from weft.preflight.ask import Unanswered


def more(config: ResolvedConfig, resource: str, first: int, attempt: int) -> int:
    """Return ``mem_mb`` or ``runtime`` (minutes) for an attempt of a job that asked for ``first`` at first.

    A job that asks Slurm for more than a partition has is not refused everywhere: it may wait for ever.
    """
    scheduler = config.system["scheduler"]
    wanted = first * attempt
    if attempt == 1 or scheduler is None or scheduler["kind"] != "slurm":
        return wanted
    return min(wanted, max(first, _most(scheduler["partition"]).get(resource, wanted)))


@functools.cache
def _most(partition: str | None) -> dict[str, int]:
    """What every node of the partitions has, and the shortest of their limits, as far as Slurm tells."""
    names = partition.split(",") if partition else []
    most: dict[str, int] = {}
    try:
        known = slurm.partitions().values()
        meant = [one for one in known if one.name in names or (not names and one.is_default)]
        limits = [one.max_time_min for one in meant if one.max_time_min is not None]
        if limits:
            most["runtime"] = min(limits)
        memories = [node.memory_mb for one in meant for node in slurm.nodes(one.name)]
        if memories:
            most["mem_mb"] = min(memories)
    except Unanswered:
        return most
    return most
