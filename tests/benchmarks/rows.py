"""The rows of `make benchmark`: what is measured, how, and what was asked of it."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import reproducibility
from benchmarks.process import Usage, output_of, usage_of
from support.mpi import MPI_ENVIRONMENT
from support.synthetic import write_synthetic
from weft.errors import BadInput

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("WEFT_BUILD", ROOT / "build/host")).resolve()
_PACKAGE = os.environ | {"PYTHONPATH": str(ROOT / "workflow")}
_MPI = os.environ | MPI_ENVIRONMENT
GIB = 2**30


@dataclass(frozen=True)
class Value:
    """What one repetition found. low and high: ends of its 95 % interval, where it has one."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Quantity:
    """A line of the table: one quantity of a benchmark.

    unit: "" (a ratio), "%" (of a share), "s" or "bytes". asked: "<=" or ">=" and what, or None where nothing
    was.
    """

    what: str
    unit: str
    asked: tuple[str, float] | None


@dataclass(frozen=True)
class Benchmark:
    """One repetition, `measure`, gives a value for each quantity.

    It raises CommandError where it fails, UnavailableError where there is nothing to measure.
    """

    key: str
    quantities: tuple[Quantity, ...]
    measure: Callable[[], list[Value]] = field(repr=False)
    repeatable: bool = True


class UnavailableError(Exception):
    """A benchmark lacks what it measures; str says what would bring it."""


def benchmarks(samples: list[int], measurements: list[int], runs: list[Path]) -> Iterator[Benchmark]:
    """Yield all benchmarks; the sampler's and the report's at each of these sizes, runs: those compared."""
    for count in samples:
        overhead = Quantity(f"sampler, {count} samples: time beyond a bare loop", "%", ("<=", 0.01))
        yield Benchmark(f"sampler.{count}", (overhead,), lambda count=count: [_overhead(count)])
    share = Quantity("p2p.copy, 64 MiB: share of memcpy's bandwidth", "", (">=", 0.90))
    yield Benchmark("host_copy", (share,), lambda: [_share_of_memcpy()])
    ratio = Quantity("pt2pt.latency, 8 B: over a bare ping-pong's", "", ("<=", 1.05))
    yield Benchmark("pingpong", (ratio,), lambda: [_over_bare_ping_pong()])
    for count in measurements:
        yield Benchmark(f"report.{count}", _report_quantities(count), lambda count=count: _report(count))
    close = Quantity("two runs of smoke: medians within 10 %, >= 1 MiB", "%", (">=", 0.90))
    yield Benchmark("reproducibility", (close,), lambda: [_close_share(runs)], repeatable=False)


def _report_quantities(count: int) -> tuple[Quantity, ...]:
    largest = count >= 10**6
    return (
        Quantity(f"table and report of {count} measurements: time", "s", ("<=", 60) if largest else None),
        Quantity("  of which the table", "s", None),
        Quantity("  processor time", "s", None),
        Quantity("  peak memory", "bytes", ("<=", 2 * GIB) if largest else None),
    )


def _compared(command: list[str], environment: dict[str, str]) -> dict[str, float]:
    return json.loads(output_of(command, environment))["time_ratio"]


def _overhead(samples: int) -> Value:
    ratio = _compared([str(BUILD / "benchmarks/sampler_overhead"), str(samples)], _PACKAGE)
    return Value(ratio["median"] - 1, ratio["ci_low"] - 1, ratio["ci_high"] - 1)


def _share_of_memcpy() -> Value:
    ratio = _compared([str(BUILD / "benchmarks/host_copy"), str(64 * 2**20)], _PACKAGE)
    return Value(1 / ratio["median"], 1 / ratio["ci_high"], 1 / ratio["ci_low"])


def _over_bare_ping_pong() -> Value:
    launcher = [str(ROOT / ".venv/bin/mpirun"), "-n", "2", "--map-by", ":OVERSUBSCRIBE"]
    ratio = _compared([*launcher, str(BUILD / "benchmarks/pingpong"), "8"], _MPI)
    return Value(ratio["median"], ratio["ci_low"], ratio["ci_high"])


def _report(measurements: int) -> list[Value]:
    BUILD.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="benchmark-", dir=BUILD) as scratch:
        folder = Path(scratch)
        write_synthetic(folder / "records", measurements)
        table, problems = str(folder / "table.parquet"), str(folder / "problems.json")
        to_table = _weft(
            "table", "--records", str(folder / "records"), "--output", table, "--problems", problems
        )
        page, figures = str(folder / "report.html"), str(folder / "figures")
        to_report = _weft(
            "report", "--table", table, "--problems", problems, "--output", page, "--figures", figures
        )
    return [
        Value(to_table.wall_s + to_report.wall_s),
        Value(to_table.wall_s),
        Value(to_table.processor_s + to_report.processor_s),
        Value(max(to_table.peak_memory_bytes, to_report.peak_memory_bytes)),
    ]


def _weft(*arguments: str) -> Usage:
    return usage_of([sys.executable, "-m", "weft", *arguments], _PACKAGE)


def _close_share(runs: list[Path]) -> Value:
    missing = [run for run in runs if not run.exists()]
    if missing:
        raise UnavailableError(
            f"{missing[0]} does not exist; make campaign measures it, or --runs names others"
        )
    try:
        result = reproducibility.compare(*reproducibility.runs_of(runs))
    except BadInput as reason:
        raise UnavailableError(str(reason).removesuffix(".")) from None
    if not result.loc["all", "measurements"]:
        raise UnavailableError("the two runs have no measurement in common")
    return Value(float(result.loc["all", "share"]))
