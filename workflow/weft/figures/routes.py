"""Routes through another device: against the direct path, plain and in chunks, with the best chunk found."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

from weft.figures import curves, pooling, style
from weft.figures import quantities as q
from weft.figures.axes import SOFTWARE, label, shaped_by, telling
from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws
from weft.figures.marks import dots, size_axis
from weft.figures.measures import BANDWIDTH
from weft.figures.strips import ways

WAYS = ("direct", "via another device, whole", "via another device, in chunks")


def routes(dataset: Dataset) -> pd.DataFrame:
    """Configurations of p2p.route with a column way, one of WAYS; chunk_bytes is the chunk used, NaN for
    whole.
    """
    frame = _with_direct(dataset, dataset.configurations("p2p.route"))
    chunk = (
        frame["chunk"].astype(object).fillna("none").astype(str)
        if "chunk" in frame
        else pd.Series("none", frame.index)
    )
    via = frame["via"].notna() if "via" in frame else pd.Series(False, frame.index)
    way = np.where(~via, WAYS[0], np.where(chunk == "none", WAYS[1], WAYS[2]))
    return frame.assign(way=pd.Categorical(way, categories=WAYS))


def _with_direct(dataset: Dataset, frame: pd.DataFrame) -> pd.DataFrame:
    """The routes, and where they bring no direct ones, the copies of the same pairs, sizes and directions.

    With peer access if it was measured, else as the pair can.
    """
    if "via" not in frame or frame["via"].isna().any() or "p2p.copy" not in dataset.benchmarks():
        return frame
    copies = dataset.configurations("p2p.copy")
    software = [axis for axis in SOFTWARE if axis in frame and axis in copies]
    same = ["source", "destination", "size_bytes", "direction", *software]
    if not set(same) <= set(frame) or "peer_access" not in copies:
        return frame
    copies = copies[copies["engine"] == "copy_engine"].sort_values(
        "peer_access", ascending=False, kind="stable"
    )
    copies = copies.drop_duplicates(same)
    texts = dict.fromkeys(("direction", *software), str)
    wanted = pd.MultiIndex.from_frame(frame[same].astype(texts))
    direct = copies[pd.MultiIndex.from_frame(copies[same].astype(texts)).isin(wanted)]
    return pd.concat([frame, direct], ignore_index=True) if len(direct) else frame


@draws("route")
def route_bandwidth(dataset: Dataset) -> Iterator[Figure]:
    """Bandwidth against size: direct, via another device, in chunks."""
    if "p2p.route" not in dataset.benchmarks():
        return
    frame = routes(dataset)
    if frame["size_bytes"].nunique() < 3:
        return
    panel = label(frame, telling(frame, ("direction", *SOFTWARE)))
    frame = frame.assign(line=frame["way"], panel=panel)
    points = pooling.pool(frame, ["panel", "line", "size_bytes"], BANDWIDTH)
    marks = frame.assign(**{BANDWIDTH.run_column: frame[BANDWIDTH.column]})
    marks = pooling.thin(
        marks[["panel", "line", "size_bytes", BANDWIDTH.run_column]],
        ["panel", "line", "size_bytes"],
        BANDWIDTH.run_column,
    )
    canvas = curves.draw(curves.Curves(points, marks, BANDWIDTH, dict(zip(WAYS, style.DATA, strict=False))))
    at = points[points["size_bytes"] == points["size_bytes"].max()].sort_values("value", ascending=False)
    words = "; ".join(
        f"{row['line']} {BANDWIDTH.text(row['value'], row['low'], row['high'])}" for _, row in at.iterrows()
    )
    caption = f"At {q.size(points['size_bytes'].max())} the median route carries: {words}."
    yield Figure(
        "p2p_route_bandwidth",
        "route",
        "Routes against size",
        caption,
        (
            *shaped_by(frame, dataset.sampling, ("engine", "operation", "peer_access", "direction")),
            "line: median over pairs and intermediate devices",
            "dots: single routes",
        ),
        int(frame["runs"].sum()),
        points,
        style.svg(canvas, "p2p_route_bandwidth", f"Curves. {caption}"),
    )


@draws("route")
def route_ways(dataset: Dataset) -> Iterator[Figure]:
    """The way each pair's routes compare at the largest size."""
    if "p2p.route" not in dataset.benchmarks():
        return
    frame = routes(dataset)
    frame = frame.assign(
        pair=frame["source"].astype(int).astype(str) + " → " + frame["destination"].astype(int).astype(str)
    )
    one_pair = frame["pair"].nunique() <= 4
    axes = ("pair", "via", "chunk", "direction") if one_pair else ("link_class", "via", "chunk", "direction")
    yield from ways(dataset, frame, "p2p_route_ways", "route", "Routes at the largest size", BANDWIDTH, axes)


def lower_median(values: pd.Series) -> float:
    """The median, or the lower of the two middle values: a chunk that was really used."""
    return float(values.quantile(0.5, interpolation="lower"))


@draws("route")
def best_chunks(dataset: Dataset) -> Iterator[Figure]:
    """The best chunk found at each size."""
    if "p2p.route" not in dataset.benchmarks():
        return
    frame = routes(dataset)
    frame = (
        frame[(frame["way"] == WAYS[2]) & frame["chunk_bytes"].notna()]
        if "chunk_bytes" in frame
        else frame.iloc[:0]
    )
    if frame["size_bytes"].nunique() < 2:
        return
    table = frame.groupby("size_bytes")["chunk_bytes"].agg([lower_median, "min", "max", "size"]).reset_index()
    canvas = Canvas(figsize=(5.2, 2.5))
    ax = canvas.add_axes((0.75 / 5.2, 0.46 / 2.5, 4.3 / 5.2, 1.9 / 2.5))
    marks = pooling.thin(frame[["size_bytes", "chunk_bytes"]], ["size_bytes"], "chunk_bytes")
    dots(ax, marks["size_bytes"].to_numpy(float), marks["chunk_bytes"].to_numpy(float), style.DATA[0])
    ax.plot(table["size_bytes"], table["lower_median"], color=style.DATA[0], marker="o", mew=0)
    size_axis(ax, table["size_bytes"])
    ax.set_yscale("log", base=2)
    ax.minorticks_off()
    ticks = [
        2.0**e
        for e in range(int(np.log2(frame["chunk_bytes"].min())), int(np.log2(frame["chunk_bytes"].max())) + 1)
    ]
    ticks = ticks[:: -(-len(ticks) // 7)]
    ax.set_yticks(ticks, [q.size(t).replace(q.NO_BREAK, " ") for t in ticks])
    ax.set_xlabel("size")
    ax.set_ylabel("best chunk")
    last = table.iloc[-1]
    caption = (
        f"The best chunk at {q.size(last['size_bytes'])} is {q.size(last['lower_median'])} "
        f"(median of {q.plural(int(last['size']), 'route')})."
    )
    yield Figure(
        "p2p_route_chunks",
        "route",
        "Best chunk of a route",
        caption,
        shaped_by(frame, dataset.sampling),
        int(frame["runs"].sum()),
        table,
        style.svg(canvas, "p2p_route_chunks", f"Line chart. {caption}"),
    )
