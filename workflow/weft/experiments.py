"""The experiments: which program runs each, which option an axis becomes, which command measures a job."""

from __future__ import annotations

import itertools
import math
import shlex
import sys
from dataclasses import dataclass
from typing import Any

from weft import container
from weft.config import ResolvedConfig
from weft.evidence.logs import log_of
from weft.jobs import Job, axes_of, is_contained, record_path
from weft.launch import Geometry, command_parts, devices_of
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
    """A rule of the workflow: its program, the benchmark it selects, the option that each axis becomes.

    ``program`` None: what it measures with is not built here.
    """

    program: str | None
    benchmark: str | None
    options: dict[str, str]
    library: str | None = None


_SIZES = {"sizes_bytes": "--sizes"}
_BATCHING = {"batching": "--batching"}
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
    "p2p_copy": Experiment(
        "p2p",
        "copy",
        {**_SIZES, **_P2P, **_BATCHING, "directions": "--directions", "streams": "--streams"},
    ),
    "p2p_latency": Experiment("p2p", "latency", {**_P2P, **_BATCHING, "methods": "--methods"}),
    "p2p_atomics": Experiment(
        "p2p", "atomics", {"pairs": "--pairs", "addresses": "--addresses", "results": "--results"}
    ),
    "p2p_host": Experiment(
        "p2p",
        "host",
        {
            **_SIZES,
            "devices": "--devices",
            "memory": "--memory",
            "host_directions": "--host-directions",
            "host_patterns": "--host-patterns",
        },
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
    "collective_nccl": Experiment("collective", None, {**_REDUCTIONS, "graphs": "--graphs"}, "nccl"),
    "nccl_tests": Experiment(
        None,
        None,
        {
            **_SIZES,
            "operations": "--operations",
            "datatype": "--datatype",
            "reduction": "--reduction",
            "graphs": "--graphs",
            "iterations": "--iterations",
        },
    ),
}

_SAMPLING = {
    "precision": "--precision",
    "confidence": "--confidence",
    "min_sample_s": "--min-sample-s",
    "min_samples": "--min-samples",
    "max_samples": "--max-samples",
    "time_budget_s": "--budget-s",
}


def shell_line(config: ResolvedConfig, job: Job) -> str:
    """Return the line of a shell that measures ``job``, every word quoted."""
    variables = f"{image_variables(config)} " if is_contained(config, job) else ""
    return variables + shlex.join(job_command(config, job))


def image_variables(config: ResolvedConfig) -> str:
    """Return the assignments of a shell that tell a program which image it runs in, and its digest.

    What the runtime notes is neither for the user's home nor for another job: one that was killed leaves its
    notes.
    """
    image, digest = shlex.quote(container.image(config)), shlex.quote(container.digest_file(config))
    notes = 'APPTAINER_CONFIGDIR="$PWD/build/apptainer/${SLURM_JOB_ID:-$$}"'
    return f"{notes} WEFT_CONTAINER={image} WEFT_CONTAINER_DIGEST=sha256:$(cat {digest})"


def job_command(config: ResolvedConfig, job: Job) -> list[str]:
    """Return the launch line that measures ``job``, as `job_parts` does."""
    return [word for part in job_parts(config, job) for word in part]


def job_parts(config: ResolvedConfig, job: Job) -> list[list[str]]:
    """Return the launch line that measures ``job``, by what its words are for (`launch.command_parts`).

    Raises BadInput when the campaign has no such sweep, or the sweep no such geometry.
    """
    experiment = EXPERIMENTS[job.experiment]
    axes = axes_of(config, job)
    if experiment.program is None:
        return _witness_parts(config, job, axes)
    arguments = ["--output", record_path(config, job)]
    if experiment.benchmark:
        arguments += ["--benchmarks", experiment.benchmark]
    if experiment.library:
        arguments += ["--library", experiment.library]
    if job.gpudirect == "off":
        axes = {**axes, "placements": [place for place in axes["placements"] if place != "device"]}
    if job.processes != job.ranks and axes["participants"] == "all":
        axes = {**axes, "participants": [job.ranks]}
    arguments += _options(experiment, axes)
    if job.gpudirect:
        arguments += ["--gpudirect", job.gpudirect]
    arguments += [word for option, value in job.choices for word in (f"--{option}", value)]
    if config.backend == "host":
        arguments += ["--host-devices", str(config.system["devices_per_node"])]
    arguments += sampling_arguments(axes.get("sampling", config.campaign["sampling"]))
    if config.system["watchdog_s"] is not None:
        arguments += ["--watchdog-s", str(config.system["watchdog_s"])]
    arguments += _identity(config, job)
    geometry = Geometry.of(config, job.processes, job.nodes) if job.processes else None
    if geometry:
        arguments += ["--expect-ranks", str(geometry.ranks), "--expect-nodes", str(geometry.nodes)]
        if geometry.ranks % geometry.nodes == 0:
            arguments += ["--expect-ranks-per-node", str(geometry.ranks_per_node)]
    arguments += ["--expect-devices", str(devices_of(config, geometry or Geometry.of(config, 1)))]
    return command_parts(
        config,
        experiment.program,
        arguments,
        geometry,
        job.gpudirect,
        contained=is_contained(config, job),
        reports=_report_variables(config, job),
    )


def _witness_parts(config: ResolvedConfig, job: Job, axes: dict[str, Any]) -> list[list[str]]:
    """The line of `weft nccl-tests`, which starts the binaries itself: those of the image, or of the PATH."""
    geometry = Geometry.of(config, job.processes, job.nodes) if job.processes != 1 else None
    contained = is_contained(config, job)
    launch = command_parts(config, "./", [], geometry, contained=contained)[:-1]
    inside = launch.pop() if contained else []
    arguments = ["--output", record_path(config, job), *_options(EXPERIMENTS[job.experiment], axes)]
    arguments += ["--ranks", str(job.ranks)]
    arguments += ["--processes", dict(job.choices).get("processes", "one_per_device")]
    arguments += [*_identity(config, job), "--launch", shlex.join(itertools.chain(*launch))]
    arguments += ["--inside", shlex.join(inside)]
    python = ["env", "PYTHONPATH=workflow", sys.executable, "-m", "weft", "nccl-tests"]
    return [python, arguments]


def _identity(config: ResolvedConfig, job: Job) -> list[str]:
    return [
        *("--repeat", str(job.repeat), "--system", config.system_name),
        *("--campaign", config.campaign_name, "--experiment", job.experiment),
    ]


def _options(experiment: Experiment, axes: dict[str, Any]) -> list[str]:
    """The option that each axis of the sweep becomes, with its value."""
    given = [(option, axes[axis], axis) for axis, option in experiment.options.items() if axis in axes]
    return [word for option, value, axis in given for word in (option, _argument(axis, value))]


def makes_reports(config: ResolvedConfig, job: Job) -> bool:
    """Return whether libraries write logs during a job, for `weft reports` to digest into its record."""
    return bool(_report_variables(config, job))


def _report_variables(config: ResolvedConfig, job: Job) -> dict[str, str]:
    """Return the variables with which MPI and NCCL write down how they move the data of devices.

    NCCL's subsystem TUNING, which tells algorithm and protocol, would write a line in every timed call.
    """
    if job.ranks is None or config.backend != "cuda":
        return {}
    record = record_path(config, job)
    log = log_of(record, "ucx")
    variables = {name: text.replace("{ucx_log}", log) for name, text in config.mpi["report"].items()}
    if EXPERIMENTS[job.experiment].library == "nccl":
        variables |= {
            "NCCL_DEBUG": "INFO",
            "NCCL_DEBUG_SUBSYS": "INIT,GRAPH",
            "NCCL_DEBUG_FILE": log_of(record, "nccl"),
        }
    return variables


def sampling_arguments(sampling: dict[str, Any]) -> list[str]:
    """Return the options that every program has for how a measurement is sampled."""
    given = {option: sampling[key] for key, option in _SAMPLING.items() if sampling[key] is not None}
    arguments = [text for option, value in given.items() for text in (option, str(value))]
    return arguments + (["--keep-samples"] if sampling["keep_samples"] else [])


def measurements(config: ResolvedConfig, job: Job) -> int:
    """Return an upper bound of the measurements that a job makes: the product of its axes."""
    devices = config.system["devices_per_node"]
    members = job.ranks or devices
    all_of = {"pairs": members * (members - 1), "via": devices - 2, "devices": devices, "participants": 1}
    axes = axes_of(config, job)
    counts = [2 if axes.get("chunks_bytes") == "auto" else 1]
    for axis in EXPERIMENTS[job.experiment].options:
        value = axes.get(axis)
        counts.append(all_of.get(axis, 1) if value == "all" else len(value) if isinstance(value, list) else 1)
    return math.prod(counts)


def _argument(axis: str, value: Any) -> str:
    if not isinstance(value, list):
        return str(value)
    in_bytes = axis.endswith("_bytes")
    return ",".join(format_size(item) if in_bytes else str(item) for item in value)
