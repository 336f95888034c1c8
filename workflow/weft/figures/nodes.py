"""Messages between nodes: every pair of nodes, and beside messages within a node."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pandas as pd

from weft.figures import curves, matrix, pooling, style, transports
from weft.figures import quantities as q
from weft.figures.axes import SOFTWARE, label, shaped_by, telling
from weft.figures.dataset import BETWEEN, HOSTS, WITHIN, Dataset
from weft.figures.figure import Figure, draws
from weft.figures.measures import LATENCY, Measure, unit_of
from weft.figures.transports import KINDS

COLOURS = {WITHIN: style.DATA[2], BETWEEN: style.DATA[0]}
MOST_PANELS = 8
FEWEST_PAIRS = 3
LONG = 30  # letters of a panel's title that need half the width
_TRANSPORT = ("placement", "gpudirect")
_JOB = ("ranks", "nodes", "pairs")  # pairs that share a network are as fast as the job lets them


@draws("message")
def node_matrices(dataset: Dataset) -> Iterator[Figure]:
    """Every pair of nodes, source by destination; on the diagonal messages within a node."""
    for benchmark, measure, what, _ in KINDS[:3]:
        if benchmark in dataset.benchmarks():
            frame = _node_pairs(dataset.configurations(benchmark), measure)
            for size in _sizes(frame, measure):
                key = f"{benchmark.replace('.', '_')}_nodes_{q.size(size).replace(q.NO_BREAK, '')}".lower()
                here = frame[frame["size_bytes"] == size]
                yield _matrix(dataset, here, key, measure, f"{what}, {q.size(size)}: every pair of nodes")


def _node_pairs(frame: pd.DataFrame, measure: Measure) -> pd.DataFrame:
    """One row a pair of nodes, size and transport: the median over their ranks, in the job of most pairs."""
    if "reach" not in frame or measure.column not in frame or not (frame["reach"] == BETWEEN).any():
        return frame.iloc[:0]
    if "chunk" in frame:
        frame = frame[frame["chunk"].isna() | (frame["chunk"] == "none")]
    job = [axis for axis in _JOB if axis in frame]
    between = frame[frame["reach"] == BETWEEN].drop_duplicates([*HOSTS, *job])
    counts = between.groupby(job, observed=True, dropna=False).size()
    if counts.empty or counts.max() < FEWEST_PAIRS:
        return frame.iloc[:0]
    most = counts.idxmax()
    for axis, value in zip(job, most if isinstance(most, tuple) else (most,), strict=True):
        frame = frame[frame[axis] == value]
    keys = [a for a in (*HOSTS, "reach", "size_bytes", *_TRANSPORT, *SOFTWARE, *job) if a in frame]
    columns = [measure.column, *(measure.companion(end) for end in ("low", "high", "run_min", "run_max"))]
    wanted = {name: (name, "median") for name in columns} | {"runs": ("runs", "sum")}
    for name in ("samples", "confidence", "limit_bytes_per_s"):
        if name in frame:
            wanted[name] = (name, "median")
    return frame.groupby(keys, observed=True, dropna=False).agg(**wanted).reset_index()


def _sizes(frame: pd.DataFrame, measure: Measure) -> list[float]:
    """The largest size at which most pairs were measured, and of latency the smallest before it."""
    if frame.empty:
        return []
    pairs = frame.drop_duplicates([*HOSTS, "size_bytes"]).groupby("size_bytes").size()
    sizes = sorted(pairs[pairs >= 0.8 * pairs.max()].index)
    return list(dict.fromkeys([sizes[0], sizes[-1]] if measure is LATENCY else [sizes[-1]]))


def _matrix(dataset: Dataset, frame: pd.DataFrame, key: str, measure: Measure, title: str) -> Figure:
    hosts = sorted({*frame[HOSTS[0]].astype(str), *frame[HOSTS[1]].astype(str)}, key=natural)
    panel_of = label(frame, telling(frame, (*_TRANSPORT, *SOFTWARE)))
    named = list(panel_of.cat.categories)[:MOST_PANELS]
    scale, unit = unit_of(measure, frame[measure.column])
    names = short_names(hosts)
    frame = frame.assign(
        **{end: frame[end].astype(str).map(dict(zip(hosts, names, strict=True))) for end in HOSTS}
    )
    panels = [
        matrix.panel(one, frame[panel_of == one], *HOSTS, measure.column, scale, names, None) for one in named
    ]
    between = frame[(frame["reach"] == BETWEEN) & panel_of.isin(named)]
    low, high = (between.loc[between[measure.column].agg(end)] for end in ("idxmin", "idxmax"))
    cells = [
        f"{measure.text(row[measure.column], row[measure.companion('low')], row[measure.companion('high')])} "
        f"({row[HOSTS[0]]} → {row[HOSTS[1]]})"
        for row in (low, high)
    ]
    count = between.drop_duplicates(list(HOSTS)).shape[0]
    caption = (
        f"Over {q.plural(count, 'pair')} of {q.plural(len(hosts), 'node')}, {measure.name} reaches from "
        f"{cells[0]} to {cells[1]}, a factor of {high[measure.column] / low[measure.column]:.2f}."
    )
    canvas = matrix.draw(panels, names, [], f"{measure.name}, {unit}", ("source", "destination"))
    further = len(panel_of.cat.categories) - len(named)
    return Figure(
        key,
        "message",
        title,
        caption,
        (
            *shaped_by(frame, dataset.sampling, [*_TRANSPORT, *SOFTWARE, *_JOB]),
            "a cell: median over the ranks of both nodes",
        ),
        int(frame["runs"].sum()),
        frame,
        style.svg(canvas, key, f"Heat map. {caption}"),
        (f"{further} further transports, for want of room: see the CSV",) if further else (),
        wide=True,
    )


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """Sorts node2 before node10."""
    parts = re.split(r"(\d+)", name)
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in parts)


def short_names(hosts: list[str]) -> list[str]:
    """Host names without their domain, where they differ without it."""
    short = [host.partition(".")[0] for host in hosts]
    return short if len(set(short)) == len(hosts) else hosts


@draws("message")
def reach_curves(dataset: Dataset) -> Iterator[Figure]:
    """Within a node against between nodes, a panel a transport; a figure a container and library."""
    for benchmark, measure, what, _ in KINDS[:3]:
        if benchmark not in dataset.benchmarks():
            continue
        frame, _, left_out = transports.load(dataset, benchmark, measure)
        if "reach" not in frame or frame["reach"].nunique() < 2:
            continue
        software = label(frame, telling(frame, SOFTWARE))
        for number, (name, here) in enumerate(frame.groupby(software, observed=True, sort=True)):
            key = f"{benchmark.replace('.', '_')}_reach{f'_{number + 1}' if number else ''}"
            title = f"{what}: within a node against between nodes{f', {name}' if name else ''}"
            yield from _reach(dataset, benchmark, here, measure, (key, title, what), left_out)


def _reach(
    dataset: Dataset, benchmark: str, frame: pd.DataFrame, measure: Measure, words: tuple[str, str, str],
    left_out: tuple[str, ...],
) -> Iterator[Figure]:  # fmt: skip
    key, title, what = words
    rest = telling(frame, ("ranks", "pairs", "chunk"))  # nodes: reach says it
    panel = label(frame, [*_TRANSPORT, *rest])
    both = frame.groupby(panel, observed=True)["reach"].transform("nunique") > 1
    if not both.any():
        return
    runs = transports.marks(dataset, benchmark, measure, frame, rest)
    runs = runs.assign(panel=label(runs, [*_TRANSPORT, *rest]), line=runs["reach"].astype(str))
    frame = frame.assign(panel=panel, line=frame["reach"].astype(str))[both]
    points = pooling.pool(frame, ["panel", "line", "size_bytes"], measure)
    points = points.astype({"panel": str})
    wide = max(map(len, points["panel"])) > LONG
    canvas = curves.draw(
        curves.Curves(
            points, pooling.marks_of(runs, points, measure), measure, COLOURS, log_y=True,
            columns=2 if wide else 3, panel_height=1.9,
        )
    )  # fmt: skip
    caption = _caption(points, measure, what)
    yield Figure(
        key,
        "message",
        title,
        caption,
        (
            *shaped_by(frame, dataset.sampling, ("ranks", "window", *SOFTWARE)),
            "band: within-run interval",
            "dots: single runs",
        ),
        int(frame["runs"].sum()),
        points,
        style.svg(canvas, key, f"Curves against size. {caption}"),
        left_out,
    )


def _caption(points: pd.DataFrame, measure: Measure, what: str) -> str:
    """Both values of one transport, and the limit of the network where it is known."""
    first = points["panel"].astype(str).iloc[0]
    here = points[points["panel"].astype(str) == first]
    end = "max" if measure.more_is_better else "min"
    common = set.intersection(*(set(of["size_bytes"]) for _, of in here.groupby("line", observed=True)))
    at = here[here["size_bytes"] == (max if end == "max" else min)(common)].set_index("line")
    within, between = at.loc[WITHIN], at.loc[BETWEEN]
    ratio = within["value"] / between["value"] if end == "max" else between["value"] / within["value"]
    limit = between.get("limit")
    share = (
        f", {q.percent(between['value'] / limit)} of the network's {q.rate(limit)}"
        if end == "max" and q.is_number(limit)
        else ""
    )
    return (
        f"{what} of {q.size(at['size_bytes'].iloc[0])} ({first}) is "
        f"{measure.text(within['value'], within['low'], within['high'])} within a node and "
        f"{measure.text(between['value'], between['low'], between['high'])} between nodes{share}: "
        f"a factor of {q.number(ratio)}."
    )
