"""What a job needs of the machine, and the same in the words of its scheduler."""

from __future__ import annotations

import math
import shlex

from weft.config import ResolvedConfig
from weft.experiments import measurements
from weft.jobs import Job, axes_of
from weft.launch import Geometry, devices_of, gres

Resources = dict[str, int | str]
_TOPOLOGY_COPY_BYTES = 2**30  # at most: workflow/programs/topology/devices_host.cpp


def resources(config: ResolvedConfig, job: Job) -> Resources:
    """Return what a job needs: nodes, ranks, devices and mem_mb (per node), runtime (minutes, at most).

    A system with a scheduler adds what the executor of its profile reads: names and values are those of the
    executor plugin, values that reach its shell are quoted.
    """
    axes = axes_of(config, job)
    geometry = Geometry.of(config, job.processes or 1, job.nodes)
    devices = devices_of(config, geometry)
    # Four buffers of the largest size a device; two of the topology's, larger than any cache.
    members = job.ranks if job.processes == 1 else geometry.ranks_per_node
    used = min(devices, members) if job.ranks else devices
    buffer_bytes = 4 * used * max(axes.get("sizes_bytes", [0]))
    if job.experiment == "topology":
        buffer_bytes = 2 * _TOPOLOGY_COPY_BYTES
    memory_mb = 1000 + math.ceil(buffer_bytes / 1e6)
    # After thrice the time budgets a job has certainly hung.
    budget_s = axes.get("sampling", config.campaign["sampling"])["time_budget_s"]
    runtime_min = 5 + math.ceil(measurements(config, job) * (3 * budget_s + 0.5) / 60)
    needed: Resources = {
        "nodes": geometry.nodes,
        "ranks": geometry.ranks,
        "devices": devices,
        "mem_mb": memory_mb,
        "runtime": runtime_min,
    }
    return needed | scheduled(config, geometry)


def scheduled(config: ResolvedConfig, geometry: Geometry) -> Resources:
    """Return the resources that only the scheduler's executor reads; none without a scheduler."""
    scheduler = config.system["scheduler"]
    if scheduler is None:
        return {}
    return _slurm(config, geometry) if scheduler["kind"] == "slurm" else _lsf(config)


def _slurm(config: ResolvedConfig, geometry: Geometry) -> Resources:
    scheduler = config.system["scheduler"]
    extra = [f"--ntasks-per-node={geometry.ranks_per_node}"]
    if scheduler["exclusive"]:
        extra.append("--exclusive")
    if scheduler["reservation"]:
        extra.append(f"--reservation={scheduler['reservation']}")
    found: Resources = {
        # The plugin starts the shell line once, on the first node, where the key `mpi` is there; it refuses a
        # value for one task. The line's launcher starts all processes.
        "mpi": "srun" if geometry.ranks > 1 else "",
        "tasks": geometry.ranks,
        "cpus_per_task": geometry.cores_per_rank,
        "slurm_extra": shlex.join([*extra, *scheduler["options"]]),
    }
    if scheduler["gres"]:
        found |= {"gres": gres(config, geometry) or "", "tasks_per_gpu": 0}  # 0: ask for no tasks by device
    names = {
        "account": "slurm_account",
        "partition": "slurm_partition",
        "qos": "qos",
        "constraint": "constraint",
    }
    return found | {name: scheduler[key] for key, name in names.items() if scheduler[key]}


def _lsf(config: ResolvedConfig) -> Resources:
    scheduler = config.system["scheduler"]
    words = []
    for key, option in (("account", "-P"), ("partition", "-q"), ("reservation", "-U")):
        if scheduler[key]:
            words += [option, scheduler[key]]
    return {"lsf_options": shlex.join([*words, *scheduler["options"]])}
