"""What Snakemake costs on a cluster: forty experiments of a second by sbatch, Weft's profiles and ReFrame.

They run on the cluster in a box, so the machine must be Debian and the user root.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.process import output_of
from benchmarks.rows import ROOT, Benchmark, Quantity, UnavailableError, Value

_BOX = str(ROOT / "tests/cluster/box")
_CHECKOUT = "scheduler_benchmark"  # below the home folder of the box, where it stays for the next time
_WAYS = ("sbatch", "executor", "allocation", "reframe")


def benchmarks() -> Iterator[Benchmark]:
    """Yield the benchmark on the bare nodes, and the one in the container of the box."""
    for key, container in (("bare", "off"), ("container", "on")):
        quantities = (
            Quantity(f"40 experiments of 1 s, {key}: sbatch alone", "s", None),
            Quantity("  more by profiles/slurm", "s", ("<=", 60)),
            Quantity("  more by profiles/allocation", "s", ("<=", 20)),
            Quantity("  more by ReFrame", "s", None),
            Quantity("  processor time of a job's Snakemake, of which it has two", "s", None),
        )
        yield Benchmark(f"scheduler.{key}", quantities, lambda container=container: _measure(container))


def _measure(container: str) -> list[Value]:
    if os.geteuid() or not Path("/etc/debian_version").exists():
        raise UnavailableError("the cluster in a box needs root, on Debian")
    with _cluster():
        _box("put", str(ROOT), _CHECKOUT)
        _box("build", "--dir", _CHECKOUT, "--", "envs/setup")
        _start("build", "prepare", container)
        bare_s, *others_s = (float(_start("run", way, container)) for way in _WAYS)
        job_start_s = float(_start("run", "job_start", container))
    return [Value(bare_s), *(Value(wall_s - bare_s) for wall_s in others_s), Value(job_start_s)]


@contextmanager
def _cluster() -> Iterator[None]:
    """The box, up; down again afterwards unless it was up before."""
    was_down = _box("status").strip() == "down"
    _box("up")
    try:
        yield
    finally:
        if was_down:
            _box("down")


def _start(command: str, way: str, container: str) -> str:
    words = [".venv/bin/python", "-m", "benchmarks.scheduler_ways", way, "--container", container]
    return _box(command, "--dir", _CHECKOUT, "--", "env", "PYTHONPATH=workflow:tests", *words)


def _box(*words: str) -> str:
    return output_of([_BOX, *words], os.environ)
