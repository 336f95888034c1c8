"""The experiments: which program runs each, which option an axis becomes, which jobs a campaign needs."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.config import ResolvedConfig
from weft.errors import BadInput
from weft.launch import Geometry, command_line
from weft.sizes import format_size

_P2P = {
    "pairs": "--pairs",
    "engines": "--engines",
    "operations": "--operations",
    "peer_access": "--peer-access",
}
_PT2PT = {
    "placements": "--placements",
    "chunks_bytes": "--chunks",
    "window_messages": "--window",
    "schedule": "--schedule",
}
_COLLECTIVE = {"operations": "--benchmarks", "participants": "--participants", "counts": "--counts"}


@dataclass(frozen=True)
class Experiment:
    """A rule of the workflow: its program, the benchmark it selects, the option that each axis becomes."""

    program: str
    benchmark: str | None
    options: dict[str, str]
    library: str | None = None


_SIZES = {"sizes_bytes": "--sizes"}
_MESSAGES = {**_SIZES, **_PT2PT, "pairs": "--pairs"}
_REDUCTIONS = {
    **_COLLECTIVE,
    **_SIZES,
    "in_place": "--in-place",
    "datatype": "--datatype",
    "reduction": "--reduction",
}
EXPERIMENTS = {
    "topology": Experiment("topology", None, {}),
    "p2p_copy": Experiment("p2p", "copy", {**_SIZES, **_P2P, "directions": "--directions"}),
    "p2p_latency": Experiment("p2p", "latency", {**_P2P, "methods": "--methods"}),
    "p2p_host": Experiment(
        "p2p",
        "host",
        {**_SIZES, "devices": "--devices", "memory": "--memory", "host_directions": "--host-directions"},
    ),
    "p2p_route": Experiment("p2p", "route", {**_SIZES, **_P2P, "via": "--via", "chunks_bytes": "--chunks"}),
    "p2p_fanout": Experiment(
        "p2p", "fanout", {**_SIZES, **_P2P, "devices": "--devices", "patterns": "--patterns"}
    ),
    "pt2pt_latency": Experiment("pt2pt", "latency", _MESSAGES),
    "pt2pt_bandwidth": Experiment("pt2pt", "bandwidth", _MESSAGES),
    "pt2pt_bidirectional_bandwidth": Experiment("pt2pt", "bidirectional_bandwidth", _MESSAGES),
    "pt2pt_message_rate": Experiment("pt2pt", "message_rate", _MESSAGES),
    "collective_mpi": Experiment("collective", None, _REDUCTIONS, "mpi"),
    "collective_nccl": Experiment("collective", None, _REDUCTIONS, "nccl"),
}

# What each program is made of, as in the floor plan of the house: a change there makes it another program.
_FOLDERS = {
    "topology": ("core", "topology"),
    "p2p": ("core", "topology", "p2p"),
    "pt2pt": ("core", "mpi", "pt2pt"),
    "collective": ("core", "mpi", "collective"),
}
_SAMPLING = {
    "precision": "--precision",
    "confidence": "--confidence",
    "min_samples": "--min-samples",
    "max_samples": "--max-samples",
    "time_budget_s": "--budget-s",
}


@dataclass(frozen=True)
class Job:
    """One run of a program: a sweep on one geometry. What means nothing to an experiment is None."""

    experiment: str
    repeat: int
    sweep: str | None = None
    ranks: int | None = None
    gpudirect: str | None = None

    @property
    def name(self) -> str:
        """The path of its files below `records`, `logs` and `benchmarks`, without suffix."""
        parts = [
            self.sweep,
            f"ranks{self.ranks}" if self.ranks else None,
            f"gpudirect-{self.gpudirect}" if self.gpudirect else None,
            f"repeat{self.repeat}",
        ]
        return f"{self.experiment}/{'.'.join(part for part in parts if part)}"


def results(config: ResolvedConfig) -> str:
    """Return the folder of a campaign's results, relative to the checkout."""
    return f"results/{config.system_name}/{config.campaign_name}"


def record_path(config: ResolvedConfig, job: Job) -> str:
    """Return the record file of a job, relative to the checkout."""
    return f"{results(config)}/records/{job.name}.jsonl"


def jobs(config: ResolvedConfig) -> Iterator[Job]:
    """Yield every job of a campaign, the repeats of one after the other so that they lie apart in time."""
    yield Job("topology", 0)
    for repeat in range(config.campaign["repeats"]):
        for experiment in config.campaign["experiments"]:
            for sweep, axes in config.sweeps(experiment).items():
                for ranks in axes.get("ranks", [None]):
                    for gpudirect in _switches(axes):
                        yield Job(experiment, repeat, sweep, ranks, gpudirect)


def job_command(config: ResolvedConfig, job: Job) -> list[str]:
    """Return the launch line that measures ``job``.

    Raises BadInput when the campaign has no such sweep, or the sweep no such geometry.
    """
    experiment = EXPERIMENTS[job.experiment]
    axes = _axes(config, job)
    arguments = ["--output", record_path(config, job)]
    if experiment.benchmark:
        arguments += ["--benchmarks", experiment.benchmark]
    if experiment.library:
        arguments += ["--library", experiment.library]
    if job.gpudirect == "off":
        axes = {**axes, "placements": [place for place in axes["placements"] if place != "device"]}
    for axis, option in experiment.options.items():
        if axis in axes:
            arguments += [option, _argument(axis, axes[axis])]
    if job.gpudirect:
        arguments += ["--gpudirect", job.gpudirect]
    if config.backend == "host":
        arguments += ["--host-devices", str(config.system["devices_per_node"])]
    arguments += sampling_arguments(axes.get("sampling", config.campaign["sampling"]))
    arguments += ["--repeat", str(job.repeat), "--system", config.system_name]
    arguments += ["--campaign", config.campaign_name, "--experiment", job.experiment]
    geometry = None
    if job.ranks:
        geometry = Geometry.of(config, job.ranks)
        arguments += ["--expect-ranks", str(geometry.ranks), "--expect-nodes", str(geometry.nodes)]
    return command_line(config, experiment.program, arguments, geometry, job.gpudirect)


def sampling_arguments(sampling: dict[str, Any]) -> list[str]:
    """Return the options that every program has for how a measurement is sampled."""
    arguments = [text for key, option in _SAMPLING.items() for text in (option, str(sampling[key]))]
    return arguments + (["--keep-samples"] if sampling["keep_samples"] else [])


def measurements(config: ResolvedConfig, job: Job) -> int:
    """Return an upper bound of the measurements that a job makes: the product of its axes."""
    devices = config.system["devices_per_node"]
    members = job.ranks or devices
    all_of = {"pairs": members * (members - 1), "via": devices - 2, "devices": devices, "participants": 1}
    axes = _axes(config, job)
    counts = [2 if axes.get("chunks_bytes") == "auto" else 1]
    for axis in EXPERIMENTS[job.experiment].options:
        value = axes.get(axis)
        counts.append(all_of.get(axis, 1) if value == "all" else len(value) if isinstance(value, list) else 1)
    return math.prod(counts)


def resources(config: ResolvedConfig, job: Job) -> dict[str, int]:
    """Return what a job needs: nodes, ranks, devices and mem_mb (per node), runtime (minutes, at most)."""
    axes = _axes(config, job)
    geometry = Geometry.of(config, job.ranks or 1)
    devices = config.system["devices_per_node"]
    if job.ranks:
        devices = min(devices, geometry.ranks_per_node)
    # Four buffers of the largest size a device. After thrice the time budgets a job has certainly hung.
    memory_mb = 1000 + math.ceil(4 * devices * max(axes.get("sizes_bytes", [0])) / 1e6)
    budget_s = axes.get("sampling", config.campaign["sampling"])["time_budget_s"]
    runtime_min = 5 + math.ceil(measurements(config, job) * (3 * budget_s + 0.5) / 60)
    return {
        "nodes": geometry.nodes,
        "ranks": geometry.ranks,
        "devices": devices,
        "mem_mb": memory_mb,
        "runtime": runtime_min,
    }


def source_digest(program: str, sources: Path = Path("workflow/programs")) -> str:
    """Return a digest of the sources of ``program``: what decides whether its results are still its own.

    The binary would not do: it carries the commit, so it is another after every commit to anything.
    """
    digest = hashlib.sha256()
    for path in source_files(program, sources):
        digest.update(f"{path.relative_to(sources)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def source_files(program: str, sources: Path = Path("workflow/programs")) -> list[Path]:
    """Return the files that make ``program``, in order."""
    files = [sources / "CMakeLists.txt", *(sources / "cmake").glob("*.cmake")]
    for folder in _FOLDERS[program]:
        files += [path for path in (sources / folder).rglob("*") if path.is_file()]
    return sorted(path for path in files if path.exists())


def _axes(config: ResolvedConfig, job: Job) -> dict[str, Any]:
    axes = {} if job.sweep is None else config.sweeps(job.experiment).get(job.sweep)
    if axes is None or job.repeat >= config.campaign["repeats"] or job.ranks not in axes.get("ranks", [None]):
        raise BadInput(
            f"Campaign '{config.campaign_name}' has no job {job.name} on system '{config.system_name}'."
        )
    return axes


def _switches(axes: dict[str, Any]) -> list[str | None]:
    """GPUDirect off needs a placement other than the device's own memory."""
    return [
        switch
        for switch in axes.get("gpudirect", [None])
        if switch != "off" or any(place != "device" for place in axes["placements"])
    ]


def _argument(axis: str, value: Any) -> str:
    if not isinstance(value, list):
        return str(value)
    in_bytes = axis.endswith("_bytes")
    return ",".join(format_size(item) if in_bytes else str(item) for item in value)
