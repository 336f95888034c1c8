"""Copies compared: the same copy done in two ways, as the ratio of their bandwidths against size."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from weft.columns import AXES
from weft.figures import curves, style
from weft.figures import quantities as q
from weft.figures.axes import label, shaped_by, telling
from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws
from weft.figures.measures import Measure

RATIO = Measure("ratio of bandwidths", "ratio", "ratio", ((1.0, ""),))
# Axis, what stands above and below the line of the fraction, and the title of the panel.
CONTRASTS = (
    ("peer_access", 1, 0, "peer access on / off"),
    ("engine", "copy_engine", "kernel", "copy engine / kernel"),
    ("operation", "read", "write", "read / write"),
    ("batching", "graph", "stream", "as a graph / one by one"),
)
_RATE = "bandwidth_bytes_per_s"
_ENDS = (_RATE, f"{_RATE}_low", f"{_RATE}_high")


def contrasts(frame: pd.DataFrame) -> pd.DataFrame:
    """Pairs of configurations of p2p.copy that differ in one axis of CONTRASTS and the class of path.

    Columns: panel, size_bytes, direction, ratio of the medians over runs, and low and high, its interval:
    where both intervals hold, so does this.
    """
    found = []
    for axis, above, below, panel in CONTRASTS:
        if axis not in frame:
            continue
        same = [name for name in AXES if name in frame and name not in (axis, "link_class")]
        known = frame.astype(dict.fromkeys(same, object))
        upper, lower = (known.loc[known[axis] == value, [*same, *_ENDS]] for value in (above, below))
        both = upper.merge(lower, on=same, suffixes=("_above", "_below"))
        value, low, high = (
            (both[f"{one}_above"] / both[f"{other}_below"]).astype(float)
            for one, other in zip(_ENDS, (_RATE, _ENDS[2], _ENDS[1]), strict=True)
        )
        kept = both[["size_bytes", "direction", "source", "destination"]]
        found.append(kept.assign(panel=panel, ratio=value, low=low, high=high))
    result = pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=["size_bytes"])
    return result.astype({"size_bytes": float})


@draws("copy")
def copy_contrasts(dataset: Dataset) -> Iterator[Figure]:
    """On against off, copy engine against kernel, read against write, graph against one by one."""
    if "p2p.copy" not in dataset.benchmarks():
        return
    frame = dataset.configurations("p2p.copy")
    if not {"direction", "source", "destination"} <= set(frame):
        return
    frame = frame[frame["source"].notna() & (frame["source"] != frame["destination"])]
    ratios = contrasts(frame.dropna(subset=[_RATE]))
    if ratios.empty or ratios["size_bytes"].nunique() < 2:
        return
    ratios = ratios.assign(line=label(ratios, telling(ratios, ("direction",))))
    panels = [panel for *_, panel in CONTRASTS if panel in set(ratios["panel"])]
    ratios["panel"] = pd.Categorical(ratios["panel"], categories=panels)
    points = (
        ratios.groupby(["panel", "line", "size_bytes"], observed=True)
        .agg(
            value=("ratio", "median"), low=("low", "median"), high=("high", "median"),
            min=("ratio", "min"), max=("ratio", "max"), comparisons=("ratio", "size"),
        )
        .reset_index()
    )  # fmt: skip
    lines = list(ratios["line"].cat.categories)
    marks = points.iloc[:0].assign(ratio=1.0)[["panel", "line", "size_bytes", "ratio"]]
    canvas = curves.draw(
        curves.Curves(points, marks, RATIO, dict(zip(lines, style.DATA, strict=False)), limits=False)
    )
    for axes in canvas.axes:
        axes.axhline(1, color=style.MUTED, lw=0.9)
    largest = ratios[
        ratios["size_bytes"] == ratios.groupby("panel", observed=True)["size_bytes"].transform("max")
    ]
    words = "; ".join(
        f"{panel} {here['ratio'].median():.2f} at {q.size(here['size_bytes'].max())}"
        for panel, here in largest.groupby("panel", observed=True)
    )
    caption = f"The median ratio of bandwidths is: {words}."
    yield Figure(
        "p2p_copy_contrasts",
        "copy",
        "Ways of copying compared",
        caption,
        (
            *shaped_by(frame, dataset.sampling),
            "line: median over pairs and what else was alike",
            "band: ratio of the ends of both intervals",
        ),
        int(frame["runs"].sum()),
        points,
        style.svg(canvas, "p2p_copy_contrasts", f"Curves against size. {caption}"),
    )
