"""Tables of single sections of the page, beside those of configurations: rows of text."""

from __future__ import annotations

from typing import Any

import pandas as pd

from weft.figures import Dataset, against, containers, ratios, witness
from weft.figures import quantities as q
from weft.figures.spread import name_of, spread_table
from weft.health import Health, words


def health_tables(health: Health) -> dict[str, Any]:
    """The verdict and the tables of the section on health."""
    tables = (
        ("What is sick, by the measurement that shows it best.", words.SICK, words.sick_rows(health)),
        (
            "What was compared, and the smallest ratio of times that would have been found.",
            words.TESTED,
            words.tested_rows(health),
        ),
        ("What could not be compared.", words.UNTESTED, words.untested_rows(health)),
    )
    return {
        "sick": health.sick,
        "verdict": words.verdict(health),
        "tables": [table for table in tables if table[2]],
    }


def affinity(metadata: dict[str, Any]) -> dict[str, Any]:
    """Which network adapter is how near to which device: rows of link classes, one a device."""
    nics = metadata.get("nics", [])
    near = {(link["device"], link["nic"]): link.get("link_class") for link in metadata.get("nic_links", [])}
    if not nics:
        return {}
    devices = sorted({d for d, _ in near})
    return {
        "nics": [
            {
                "name": n["name"],
                "numa": n.get("numa_node"),
                "rate": q.rate(n.get("rate_bytes_per_s")),
                "state": n.get("state") or "",
            }
            for n in nics
        ],
        "rows": [(d, [near.get((d, n["nic"])) or "–" for n in nics]) for d in devices],
    }


def container_tables(dataset: Dataset) -> list[tuple[str, tuple[str, ...], list[list[str]]]]:
    frame = containers.compared(dataset)
    caption = (
        "Configurations measured both in the container and bare. Ratio: median time in the container over "
        "that bare."
    )
    return [] if frame.empty else [(caption, _SUMMARY, _summary_rows(frame))]


def against_tables(dataset: Dataset) -> list[tuple[str, tuple[str, ...], list[list[str]]]]:
    """By benchmark, and those configurations that differ most."""
    frame = against.compared(dataset)
    if frame.empty:
        return []
    caption = "Configurations that both have. Ratio: median time here over that there."
    furthest = against.furthest(frame)
    rows = [
        [
            str(row.way),
            q.time(row.time_s, row.low_s, row.high_s),
            q.time(row.time_s_there, row.low_s_there, row.high_s_there),
            f"{row.ratio:.3f} [{row.ratio_low:.3f}, {row.ratio_high:.3f}]",
            str(row.verdict),
        ]
        for row in furthest.rename(columns={"low": "ratio_low", "high": "ratio_high"}).itertuples()
    ]
    header = ("configuration", "here", "there", "ratio", "verdict")
    return [
        (caption, _SUMMARY, _summary_rows(frame)),
        *([(_furthest_caption(len(rows)), header, rows)] if rows else []),
    ]


def _furthest_caption(rows: int) -> str:
    return "The one that is not alike." if rows == 1 else f"The {rows} that are furthest from alike."


_SUMMARY = (
    "benchmark", "configurations", ratios.SAME, ratios.UNDECIDED, ratios.DIFFERENT, "median ratio", "least",
    "greatest",
)  # fmt: skip


def _summary_rows(frame: pd.DataFrame) -> list[list[str]]:
    return [
        [
            name_of(str(row[1])),
            *(q.count(number) for number in row[2:6]),
            *(f"{ratio:.3f}" for ratio in row[6:]),
        ]
        for row in ratios.summary(frame).itertuples()
    ]


def witness_rows(dataset: Dataset) -> list[list[str]]:
    """Our times beside those of nccl-tests: operation, way, size, ours with interval, theirs, ratio with
    interval, difference.
    """
    return [
        [
            str(row.collective),
            str(row.way) or "–",
            q.size(row.size_bytes),
            q.time(row.ours_s, row.low_s, row.high_s),
            q.interval(row.low_s, row.high_s, row.ours_s, q.TIME_UNITS) or "–",
            q.time(row.theirs_s),
            f"{row.ratio:.3f}",
            f"[{row.ratio_low:.3f}, {row.ratio_high:.3f}]" if q.is_number(row.ratio_low) else "–",
            f"{1e6 * row.difference_s:+.2f}{q.NO_BREAK}µs",
        ]
        for row in witness.compared(dataset).itertuples()
    ]


def spread_rows(spread: Any) -> list[list[str]]:
    if spread.empty:
        return []
    return [
        [
            str(r.benchmark),
            q.count(r.configurations),
            q.count(r.runs),
            q.percent(r.between_median),
            q.percent(r.between_p95),
            q.percent(r.within_median),
            q.percent(r.within_p95),
            q.percent(r.share_within_10_percent),
        ]
        for r in spread_table(spread).itertuples()
    ]
