"""What was not measured, and why; what did not converge; what could not be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from weft.figures import Dataset
from weft.figures import quantities as q
from weft.figures.axes import say
from weft.figures.spread import name_of

MOST_ROWS = 200
OUTCOMES = ("wrong", "failed", "unsupported")
_WHERE = ("source", "destination", "via", "device", "source_rank", "destination_rank", "ranks")


@dataclass(frozen=True)
class Hole:
    """Rows of one benchmark that ended alike for the same reason; example: the first of them."""

    outcome: str
    benchmark: str
    reason: str
    rows: int
    example: str


@dataclass(frozen=True)
class Unconverged:
    """Rows of one benchmark whose interval stayed wider than asked for; widths relative to the median."""

    benchmark: str
    stopped_by: str
    rows: int
    of: int
    median_width: str
    widest: str
    example: str


def holes(dataset: Dataset) -> tuple[list[Hole], int]:
    """Holes grouped by outcome, benchmark and reason: the worst outcomes first; and how many groups there
    are in all.
    """
    columns = ["outcome", "benchmark", "reason", "file", "line", "size_bytes", *_WHERE]
    table = dataset.table(columns, pc.field("outcome") != "measured")
    if not len(table):
        return [], 0
    table = table.append_column("row", pa.array(range(len(table))))
    grouped = table.group_by(["outcome", "benchmark", "reason"], use_threads=False).aggregate(
        [("row", "min"), ("row", "count")]
    )
    groups = sorted(
        grouped.to_pylist(),
        key=lambda g: (OUTCOMES.index(g["outcome"]), -g["row_count"], g["benchmark"], g["reason"] or ""),
    )
    first = (
        table.take(pa.array([g["row_min"] for g in groups[:MOST_ROWS]], pa.int64())).to_pylist()
        if groups
        else []
    )
    return [
        Hole(
            g["outcome"],
            name_of(g["benchmark"]),
            g["reason"] or "no reason recorded",
            g["row_count"],
            _example(row),
        )
        for g, row in zip(groups, first, strict=False)
    ], len(groups)


def _example(row: dict[str, Any]) -> str:
    words = [f"{say_place(row)}"] if say_place(row) else []
    if row["size_bytes"]:
        words.append(q.size(row["size_bytes"]))
    return ", ".join([*words, f"{row['file']}:{row['line']}"])


def say_place(row: dict[str, Any]) -> str:
    """Between which devices or ranks: '0 → 1 via 2'."""
    for first, second in (("source_rank", "destination_rank"), ("source", "destination")):
        if row.get(first) is not None and row.get(second) is not None:
            prefix = "rank " if first == "source_rank" else ""
            via = f" via {row['via']}" if row.get("via") is not None else ""
            return f"{prefix}{row[first]} → {row[second]}{via}"
    if row.get("device") is not None:
        return f"device {row['device']}"
    return say("ranks", row["ranks"]) if row.get("ranks") else ""


def unconverged(dataset: Dataset) -> list[Unconverged]:
    """Measured rows that did not reach their precision, by benchmark and what stopped them."""
    columns = [
        "benchmark",
        "stopped_by",
        "time_median_s",
        "time_ci_low_s",
        "time_ci_high_s",
        "size_bytes",
        "file",
        "line",
        *_WHERE,
    ]
    where = (pc.field("outcome") == "measured") & (pc.field("converged") == False)  # noqa: E712
    table = dataset.table(columns, where)
    if not len(table):
        return []
    width = pc.divide(
        pc.subtract(table["time_ci_high_s"], table["time_ci_low_s"]), pc.multiply(table["time_median_s"], 2)
    )
    frame = pa.table(
        {"benchmark": table["benchmark"], "stopped_by": table["stopped_by"], "width": width}
    ).to_pandas()
    counts = dataset.counts
    result = []
    for (benchmark, stopped_by), here in frame.groupby(["benchmark", "stopped_by"], observed=True, sort=True):
        measured = counts[(counts["benchmark"] == benchmark) & (counts["outcome"] == "measured")][
            "rows"
        ].sum()
        worst = here["width"].idxmax() if here["width"].notna().any() else here.index[0]
        row = table.slice(int(worst), 1).to_pylist()[0]
        result.append(
            Unconverged(
                name_of(str(benchmark)),
                say("stopped_by", stopped_by),
                len(here),
                int(measured),
                f"±{q.percent(here['width'].median())}",
                f"±{q.percent(here['width'].max())}",
                _example(row),
            )
        )
    return result
