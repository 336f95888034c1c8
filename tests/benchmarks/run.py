"""What Weft itself costs: a table, and no verdict. Each row names the command that measures it alone."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import scheduler
from benchmarks.process import CommandError
from benchmarks.rows import ROOT, Benchmark, Quantity, UnavailableError, Value, benchmarks
from weft.errors import BadInput

_HEADINGS = ("what", "median", "95 % interval", "repetitions", "asked", "alone: tests/benchmark …")
_ALIGN = "<>>>><"


def main(arguments: Sequence[str]) -> int:
    """Measure the rows asked for and print them; 1: some could not be measured, and why; 2: bad input."""
    options = _parser().parse_args(arguments)
    try:
        found = [*benchmarks(options.samples, options.measurements, options.runs), *scheduler.benchmarks()]
        chosen = _choose(found, options.rows)
        if options.list:
            print("\n".join(benchmark.key for benchmark in chosen))
            return 0
        return _measure(chosen, options.repetitions, options.json)
    except BadInput as problem:
        print(f"benchmark: {problem}", file=sys.stderr)
        return 2


def _measure(chosen: list[Benchmark], repetitions: int, output: Path) -> int:
    before = os.getloadavg()[0]
    rows: list[dict[str, Any]] = []
    missing = []
    failed = False
    for benchmark in chosen:
        print(f"{benchmark.key} …", file=sys.stderr, flush=True)
        try:
            runs = [benchmark.measure() for _ in range(repetitions if benchmark.repeatable else 1)]
        except (UnavailableError, CommandError) as reason:
            failed |= isinstance(reason, CommandError)
            missing.append(f"{benchmark.key} was not measured: {reason}.")
            continue
        for quantity, values in zip(benchmark.quantities, zip(*runs, strict=True), strict=True):
            rows.append(_row(benchmark.key, quantity, values))
    rows += _growth(rows)
    loads = (before, os.getloadavg()[0])
    _print([_cells(row) for row in rows])
    print(f"\nLoad of the machine (its {os.cpu_count()} cores): {loads[0]:.1f} before, {loads[1]:.1f} after.")
    print(*missing, sep="\n", end="\n" if missing else "")
    _write(output, {"load_before": loads[0], "load_after": loads[1], "rows": rows})
    print(f"Every value: {output}")
    return int(failed)


def _row(key: str, quantity: Quantity, values: Sequence[Value]) -> dict[str, Any]:
    """What is said of a quantity: medians over the repetitions, of values and of either end of intervals."""
    known = all(value.low is not None for value in values)
    return {
        "row": key,
        "what": quantity.what,
        "unit": quantity.unit,
        "asked": quantity.asked,
        "median": statistics.median(value.value for value in values),
        "ci_low": statistics.median(value.low for value in values) if known else None,
        "ci_high": statistics.median(value.high for value in values) if known else None,
        "repetitions": [dataclasses.asdict(value) for value in values],
    }


def _growth(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """How the report's time grows from 10^5 to 10^6 measurements, where both were measured."""
    times = {row["row"]: row for row in rows if row["what"].endswith("measurements: time")}
    small, large = times.get("report.100000"), times.get("report.1000000")
    if not small or not large:
        return []
    grown = [
        Value(after["value"] / before["value"])
        for before, after in zip(small["repetitions"], large["repetitions"], strict=True)
    ]
    what = Quantity("time at 1000000 over time at 100000", "", ("<=", 10))
    return [_row("report.100000 report.1000000", what, grown)]


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    unit = row["unit"]
    values = [repetition["value"] for repetition in row["repetitions"]]
    asked = row["asked"]
    return (
        row["what"],
        _text(row["median"], unit),
        "" if row["ci_low"] is None else f"{_text(row['ci_low'], unit)} … {_text(row['ci_high'], unit)}",
        "" if len(values) < 2 else f"{_text(min(values), unit)} … {_text(max(values), unit)}",
        "" if asked is None else f"{'≤' if asked[0] == '<=' else '≥'} {_text(asked[1], unit)}",
        row["row"],
    )


def _text(value: float, unit: str) -> str:
    if unit == "%":
        return f"{100 * value:.2f} %"
    if unit == "bytes":
        return f"{value / 2**30:.2f} GiB"
    return f"{value:.3f}" if unit == "" else f"{value:.1f} {unit}"


def _print(lines: list[tuple[str, ...]]) -> None:
    table = [_HEADINGS, *lines]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        cells = (f"{cell:{side}{width}}" for cell, side, width in zip(line, _ALIGN, widths, strict=True))
        print("  ".join(cells).rstrip())


def _write(path: Path, result: dict[str, Any]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{path.name}.partial")
        partial.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        partial.replace(path)
    except OSError as problem:
        raise BadInput(f"{path} cannot be written: {problem.strerror}.") from None


def _choose(found: list[Benchmark], names: Sequence[str]) -> list[Benchmark]:
    """Those named, whole or up to a dot; all, where none is."""
    for name in names:
        if not any(_is(benchmark, name) for benchmark in found):
            raise BadInput(f"no row is called {name}; there are {', '.join(row.key for row in found)}.")
    return [row for row in found if not names or any(_is(row, name) for name in names)]


def _is(benchmark: Benchmark, name: str) -> bool:
    return name in (benchmark.key, benchmark.key.partition(".")[0])


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tests/benchmark", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("rows", nargs="*", metavar="ROW", help="rows, or what they begin with up to a dot; default: all")
    add("--list", action="store_true", help="name the rows and measure nothing")
    add(
        "--repetitions",
        type=_positive,
        default=3,
        metavar="N",
        help="of each row, a process each (default 3)",
    )
    add("--samples", type=_positive, nargs="+", default=[40, 10000], metavar="N", help="the sampler takes")
    add(
        "--measurements",
        type=_positive,
        nargs="+",
        default=[10**4, 10**5, 10**6],
        metavar="N",
        help="in the report",
    )
    add("--runs", type=Path, nargs="+", default=[ROOT / "results/local/smoke/records"], metavar="RUN",
        help="two tables or folders of records, or one of several repeats")  # fmt: skip
    add(
        "--json", type=Path, default=ROOT / "build/benchmark.json", metavar="FILE", help="where all values go"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
