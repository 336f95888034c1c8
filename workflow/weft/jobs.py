"""The jobs of a campaign: one run of a program each, and the files that are named after it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from weft.config import ResolvedConfig
from weft.errors import BadInput

# What NCCL reads once in a process, and how many processes there are: by axis of a sweep the option of the
# program, and the choice that needs no name.
CHOICES = {
    "processes": ("processes", "one_per_device"),
    "algorithms": ("algorithm", "auto"),
    "protocols": ("protocol", "auto"),
    "transports": ("transport", "auto"),
}


@dataclass(frozen=True)
class Job:
    """One run of a program: a sweep on one geometry. What means nothing to an experiment is None.

    ``nodes`` is None for as few as have places for the ranks; ``container`` is `off` for the bare machine
    where the system has a container; ``choices`` are pairs of an option and its value, where that is not the
    one that needs no name.
    """

    experiment: str
    repeat: int
    sweep: str | None = None
    ranks: int | None = None
    gpudirect: str | None = None
    nodes: int | None = None
    container: str | None = None
    choices: tuple[tuple[str, str], ...] = ()

    @property
    def processes(self) -> int | None:
        """How many processes the launcher starts: one a rank, or one that drives the devices of all."""
        return 1 if ("processes", "one") in self.choices else self.ranks

    @property
    def name(self) -> str:
        """The name of its files below `records/EXPERIMENT`, without suffix."""
        parts = [
            self.sweep,
            f"ranks{self.ranks}" if self.ranks else None,
            f"nodes{self.nodes}" if self.nodes else None,
            f"gpudirect-{self.gpudirect}" if self.gpudirect else None,
            *(f"{option}-{value}" for option, value in self.choices),
            f"container-{self.container}" if self.container else None,
            f"repeat{self.repeat}",
        ]
        return ".".join(part for part in parts if part)

    @property
    def path(self) -> str:
        """The path of its files below `records`, `logs` and `benchmarks`, without suffix."""
        return f"{self.experiment}/{self.name}"


def results(config: ResolvedConfig) -> str:
    """Return the folder of a campaign's results, relative to the checkout."""
    return f"results/{config.system_name}/{config.campaign_name}"


def record_path(config: ResolvedConfig, job: Job) -> str:
    """Return the record file of a job, relative to the checkout."""
    return f"{results(config)}/records/{job.path}.jsonl"


def jobs(config: ResolvedConfig) -> Iterator[Job]:
    """Yield every job of a campaign, the repeats of one after the other so that they lie apart in time."""
    yield Job("topology", 0)
    for repeat in range(config.campaign["repeats"]):
        for experiment in config.campaign["experiments"]:
            for sweep, axes in config.sweeps(experiment).items():
                for (ranks, nodes), gpudirect, container, choices in itertools.product(
                    _geometries(axes), _switches(axes), _containers(config, axes), _choices(axes)
                ):
                    yield Job(experiment, repeat, sweep, ranks, gpudirect, nodes, container, choices)


def axes_of(config: ResolvedConfig, job: Job) -> dict[str, Any]:
    """Return the axes of the sweep of ``job``; none for the topology.

    Raises BadInput when there is no such job.
    """
    axes = {} if job.sweep is None else config.sweeps(job.experiment).get(job.sweep)
    if (
        axes is None
        or job.repeat >= config.campaign["repeats"]
        or (job.ranks, job.nodes) not in _geometries(axes)
        or job.container not in _containers(config, axes)
        or job.choices not in _choices(axes)
    ):
        raise BadInput(
            f"Campaign '{config.campaign_name}' has no job {job.path} on system '{config.system_name}'."
        )
    return axes


def is_contained(config: ResolvedConfig, job: Job) -> bool:
    """Return whether a job runs in the system's container: there is one, and the job does not leave it."""
    return config.system["container"] is not None and job.container != "off"


def _geometries(axes: dict[str, Any]) -> list[tuple[int | None, int | None]]:
    """Ranks and nodes of each job of a sweep."""
    ranks = axes.get("ranks", [None])
    return list(zip(ranks, axes.get("nodes") or [None] * len(ranks), strict=True))


def _switches(axes: dict[str, Any]) -> list[str | None]:
    """GPUDirect off needs a placement other than the device's own memory."""
    return [
        switch
        for switch in axes.get("gpudirect", [None])
        if switch != "off" or any(place != "device" for place in axes["placements"])
    ]


def _containers(config: ResolvedConfig, axes: dict[str, Any]) -> list[str | None]:
    """The bare machine has a name only where there is a container to leave."""
    if config.system["container"] is None:
        return [None]
    return [None if switch == "on" else switch for switch in axes.get("container", ["on"])]


def _choices(axes: dict[str, Any]) -> list[tuple[tuple[str, str], ...]]:
    """The product of CHOICES, each without those that need no name."""
    named = [
        [() if value == default else ((option, value),) for value in axes.get(axis, [default])]
        for axis, (option, default) in CHOICES.items()
    ]
    return [tuple(itertools.chain(*choice)) for choice in itertools.product(*named)]
