"""The numbers behind a subject's figures as a table: one row a configuration, limited in rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from weft.columns import AXES
from weft.figures import Dataset
from weft.figures import quantities as q
from weft.figures.axes import NAMES, describe, missing, say, varying
from weft.figures.dataset import HOSTS
from weft.figures.measures import ATOMICS, BANDWIDTH, BUS_BANDWIDTH, MESSAGE_RATE, TIME, Measure

MOST_ROWS = 500

# Section -> benchmarks (or prefixes ending in a dot) whose numbers its table holds. Order is the page's.
SUBJECTS: dict[str, tuple[str, ...]] = {
    "health": (),
    "topology": (),
    "copy": ("p2p.copy",),
    "latency": ("p2p.latency",),
    "atomics": ("p2p.atomics",),
    "host": ("p2p.host",),
    "route": ("p2p.route",),
    "fanout": ("p2p.fanout",),
    "message": ("pt2pt.",),
    "collective": ("collective.",),
    "path": (),
    "container": (),
    "against": (),
    "efficiency": (),
    "repeats": (),
    "cost": (),
}
_UNPRINTED = ("datatype", "element_bytes", "count", "reduction", "root", "window", "devices")
# What is not said where it is the same for all rows.
_UNSAID = (*_UNPRINTED, "benchmark", "program", "graph", "processes", "algorithm", "protocol", "transport")


@dataclass(frozen=True)
class SubjectTable:
    """columns and rows of text; note says what is shared by all rows, and how many are not shown."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    note: str


def benchmarks_of(dataset: Dataset, subject: str) -> list[str]:
    """Measured benchmarks of a subject."""
    wanted = SUBJECTS[subject]
    return [
        b
        for b in dataset.benchmarks()
        if any(b == w or (w.endswith(".") and b.startswith(w)) for w in wanted)
    ]


def subject_table(dataset: Dataset, subject: str) -> SubjectTable | None:
    """The table of a subject; None where nothing was measured."""
    frames = [dataset.configurations(b).assign(benchmark=b) for b in benchmarks_of(dataset, subject)]
    if not frames:
        return None
    total = sum(map(len, frames))
    share = max(1, MOST_ROWS // len(frames))
    frame = pd.concat(
        [_thinned(f, share if total > MOST_ROWS else len(f)) for f in frames], ignore_index=True
    )
    axes = [
        a
        for a in varying(frame, (*AXES, *HOSTS))
        if a not in _UNPRINTED and not (a == "link_class" and frame[a].isna().all())
    ]
    axes = (
        [a for a in axes if a == "benchmark"]
        + [a for a in axes if a not in ("benchmark", "size_bytes")]
        + [a for a in axes if a == "size_bytes"]
    )
    order = [a for a in axes if a in frame]
    frame = frame.sort_values(order, kind="stable") if order else frame
    rate = BUS_BANDWIDTH if subject == "collective" else BANDWIDTH
    has_rates = rate.column in frame and frame[rate.column].notna().any()
    counted = [
        (header, measure)
        for header, measure in (("messages", MESSAGE_RATE), ("atomics", ATOMICS))
        if measure.column in frame and frame[measure.column].notna().any()
    ]
    header = [*(NAMES.get(a, a) for a in axes), "time", "interval", "between runs"]
    numeric = [*(_numeric(frame[a]) or a == "size_bytes" for a in axes), True, True, True]
    columns = [[_axis(a, v) for v in frame[a].astype(object)] for a in axes]
    columns += [*_measured(frame, TIME), _spread(frame)]
    if has_rates:
        header += [rate.name, "interval"]
        columns += _measured(frame, rate)
    for name, measure in counted:
        header += [name]
        columns += _measured(frame, measure)[:1]
    if "efficiency" in frame and frame["efficiency"].notna().any():
        header += ["limit", "of limit"]
        columns += [
            [q.rate(v) for v in frame["limit_bytes_per_s"]],
            [q.percent(v) for v in frame["efficiency"]],
        ]
    header += ["runs"]
    columns += [[str(int(v)) for v in frame["runs"]]]
    numeric += [True] * (len(header) - len(numeric))
    shared = describe(frame, [a for a in AXES if a not in _UNSAID])
    left = (
        f" {q.count(len(frame))} of {q.count(total)} configurations, spread over sizes; all are in "
        f"table.parquet."
        if len(frame) < total
        else f" {q.plural(total, 'configuration')}."
    )
    note = (f"The same for all rows: {', '.join(shared)}." if shared else "") + left
    return SubjectTable(
        "Median, its interval within a run, and least and greatest median of the runs where there are "
        "several",
        tuple(header),
        tuple(zip(*columns, strict=True)),
        tuple(numeric),
        note.strip(),
    )


def _thinned(frame: pd.DataFrame, most: int) -> pd.DataFrame:
    """Rows at a few sizes, as many sizes as there is room for, then as many rows."""
    if len(frame) <= most:
        return frame
    sizes = np.sort(frame["size_bytes"].unique())
    rows = len(frame) / len(sizes)
    kept = max(1, min(len(sizes), int(most // rows)))
    chosen = (
        sizes[np.unique(np.linspace(len(sizes) - 1, 0, kept).round().astype(int))] if kept > 1 else sizes[-1:]
    )
    return frame[frame["size_bytes"].isin(chosen)].iloc[:most]


def _numeric(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column)


def _axis(axis: str, value: object) -> str:
    if missing(value):
        return "–"
    if axis in (
        "source",
        "destination",
        "via",
        "device",
        "source_rank",
        "destination_rank",
        "ranks",
        "nodes",
        "pairs",
        "streams",
        "root",
        "window",
    ):
        return str(int(value))  # type: ignore[call-overload]
    if axis in ("peer_access", "gpudirect", "graph"):
        return "on" if value else "off"
    if axis == "in_place":
        return "yes" if value else "no"
    if axis == "benchmark":
        return say(axis, str(value).split(".", 1)[1])
    return say(axis, value)


def _measured(frame: pd.DataFrame, measure: Measure) -> list[list[str]]:
    value, low, high = (
        frame[c] for c in (measure.column, measure.companion("low"), measure.companion("high"))
    )
    cells = list(zip(value, low, high, strict=True))
    return [
        [measure.text(v, a, b) for v, a, b in cells],
        [q.interval(a, b, v, measure.units) or "–" for v, a, b in cells],
    ]


def _spread(frame: pd.DataFrame) -> list[str]:
    several = frame["runs"] > 1
    return [
        f"{q.number(1e6 * a)}–{q.number(1e6 * b)}{q.NO_BREAK}µs" if more else "–"
        for a, b, more in zip(frame["time_run_min_s"], frame["time_run_max_s"], several, strict=True)
    ]


def device_rows(devices: Sequence[dict[str, object]]) -> list[dict[str, str]]:
    """What the topology says of each device, in words."""

    def amount(value: object) -> str:
        return q.size(float(value)) if value else "–"  # type: ignore[arg-type]

    def rate(value: object) -> str:
        return q.rate(float(value)) if value else "–"  # type: ignore[arg-type]

    def pcie(device: dict[str, object]) -> str:
        generation, width = device.get("pcie_generation"), device.get("pcie_width")
        return f"gen {generation}" + (f" ×{width}" if width else "") if generation else "–"

    def nvlinks(device: dict[str, object]) -> str:
        return (
            f"{device['nvlink_count']} × {rate(device.get('nvlink_rate_bytes_per_s'))}"
            if device.get("nvlink_count")
            else "–"
        )

    return [
        {
            "device": str(d["device"]),
            "name": str(d["name"]),
            "NUMA node": _or_dash(d.get("numa_node")),
            "CPUs": _or_dash(d.get("cpu_affinity")),
            "memory": amount(d.get("memory_bytes")),
            "memory bandwidth": rate(d.get("memory_bandwidth_bytes_per_s")),
            "PCIe": pcie(d),
            "host link limit": rate(d.get("host_link_limit_bytes_per_s")),
            "NVLinks": nvlinks(d),
            "egress limit": rate(d.get("egress_limit_bytes_per_s")),
        }
        for d in devices
    ]


def _or_dash(value: object) -> str:
    return "–" if value is None or value == "" else str(value)
