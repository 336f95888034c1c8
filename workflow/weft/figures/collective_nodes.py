"""Collectives against the number of nodes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from weft.figures import curves, pooling, style
from weft.figures import quantities as q
from weft.figures.axes import SOFTWARE, label, say, shaped_by, telling
from weft.figures.collectives import load, plain
from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws
from weft.figures.measures import ALGORITHM_BANDWIDTH, BUS_BANDWIDTH, TIME, Measure

MOST_SIZES = 4


@draws("collective")
def against_nodes(dataset: Dataset) -> Iterator[Figure]:
    """Bus bandwidth, algorithm bandwidth and time, a panel an operation, a line a size."""
    frame = load(dataset)
    if frame.empty:
        return
    frame = plain(frame)
    layout = ["library", "collective", "layout", *(axis for axis in SOFTWARE if axis in frame)]
    frame = frame[frame["nodes"] > 1]
    several = frame.groupby(layout, observed=True, dropna=False)["nodes"].transform("nunique") > 1
    frame = frame[several] if len(frame) else frame
    if frame.empty:
        return
    sizes = 2.0 ** np.sort(frame["octave"].dropna().unique())
    sizes = sizes[np.unique(np.linspace(0, len(sizes) - 1, min(len(sizes), MOST_SIZES)).round().astype(int))]
    frame = frame[frame["octave"].isin(np.log2(sizes))]
    frame = frame.assign(
        panel=label(frame, ["collective", *telling(frame, ("library", "layout", *SOFTWARE))]),
        line=[q.size(2.0**octave) for octave in frame["octave"]],
    )
    names = [q.size(size) for size in sizes]
    for measure, key in (
        (BUS_BANDWIDTH, "bus_bandwidth"),
        (ALGORITHM_BANDWIDTH, "bandwidth"),
        (TIME, "time"),
    ):
        if measure.column in frame and frame[measure.column].notna().any():
            yield _figure(
                dataset, frame.dropna(subset=[measure.column]), names, measure, f"collective_nodes_{key}"
            )


def _figure(dataset: Dataset, frame: pd.DataFrame, sizes: list[str], measure: Measure, key: str) -> Figure:
    points = pooling.pool(frame, ["panel", "line", "nodes"], measure)
    ends = [measure.companion("run_min"), measure.companion("run_max")]
    marks = frame[["panel", "line", "nodes", *ends]].melt(
        ["panel", "line", "nodes"], ends, value_name=measure.run_column
    )
    colours = dict(zip(sizes, (style.DATA[i] for i in (5, 0, 2, 1)), strict=False))
    canvas = curves.draw(
        curves.Curves(
            points, marks, measure, colours, x="nodes", x_label="nodes", log_y=True, columns=3,
            panel_height=1.85, limits=measure is BUS_BANDWIDTH,
        )
    )  # fmt: skip
    caption = _caption(points, measure, sizes[-1] if measure.more_is_better else sizes[0])
    name = measure.name.capitalize()
    return Figure(
        key,
        "collective",
        f"Collectives against the number of nodes: {measure.name}",
        f"{name} {caption}",
        (
            *shaped_by(frame, dataset.sampling, ("layout", "in_place", "datatype", "reduction")),
            "band: within-run interval",
            "dots: least and greatest run",
        ),
        int(frame["runs"].sum()),
        points,
        style.svg(canvas, key, f"Curves against nodes. {name} {caption}"),
    )


def _caption(points: pd.DataFrame, measure: Measure, size: str) -> str:
    """From fewest to most nodes, of the operation that changes most."""
    here = points[points["line"] == size].sort_values("nodes")
    ends = here.groupby("panel", observed=True)["value"].agg(["first", "last"])
    change = ends["last"] / ends["first"]
    panel = change.idxmin() if measure.more_is_better else change.idxmax()
    of = here[here["panel"] == panel]
    first, last = of.iloc[0], of.iloc[-1]
    return (
        f"of {panel}, {size}, goes from {measure.text(first['value'], first['low'], first['high'])} on "
        f"{say('nodes', first['nodes'])} to {measure.text(last['value'], last['low'], last['high'])} on "
        f"{say('nodes', last['nodes'])}."
    )
