"""Collectives against the number of participants of one node."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

from weft.figures import pooling, style
from weft.figures import quantities as q
from weft.figures.axes import SOFTWARE, describe, label, say, telling
from weft.figures.collectives import LEAST_ALIGNED, load
from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws
from weft.figures.measures import BUS_BANDWIDTH, unit_of


@draws("collective")
def against_participants(dataset: Dataset) -> Iterator[Figure]:
    """Bus bandwidth against the participants of one node, aligned and unaligned blocks told apart."""
    frame = load(dataset)
    if frame.empty or BUS_BANDWIDTH.column not in frame:
        return
    frame = frame[frame["nodes"] == 1].dropna(subset=[BUS_BANDWIDTH.column])
    frame = frame[frame["in_place"] == frame.groupby(["library", "collective"])["in_place"].transform("min")]
    spans = frame.groupby("octave")[["ranks"]].nunique()["ranks"]
    if spans.empty or spans.max() < 2:
        return
    octave = spans[spans == spans.max()].index.max()
    frame = frame[frame["octave"] == octave]
    frame = frame.assign(
        blocks=np.where(
            frame["alignment"] >= LEAST_ALIGNED,
            "aligned",
            np.where(frame["alignment"].notna(), "unaligned", "unknown"),
        )
    )
    points = pooling.pool(
        frame.assign(panel=frame["collective"], line=label(frame, ["library", *telling(frame, SOFTWARE)])),
        ["panel", "line", "ranks", "blocks"],
        BUS_BANDWIDTH,
    )
    size = q.size(2.0**octave)
    caption = _participants_caption(points, size)
    yield Figure(
        "collective_participants",
        "collective",
        "Bus bandwidth against the number of participants",
        caption,
        (
            f"{size} (sizes rounded to a power of two)",
            *describe(frame, ("in_place", "datatype", "reduction")),
            "filled: blocks of a multiple of 16 bytes",
            "open: smaller alignment",
        ),
        int(frame["runs"].sum()),
        points,
        style.svg(_participants(points), "collective_participants", f"Dot and line chart. {caption}"),
    )


def _participants_caption(points: pd.DataFrame, size: str) -> str:
    both = points.pivot_table(
        index=["panel", "line", "ranks"], columns="blocks", values="value", observed=True
    )
    if {"aligned", "unaligned"} <= set(both):
        ratio = (both["unaligned"] / both["aligned"]).dropna()
        if len(ratio):
            return (
                f"At {size}, unaligned blocks reach a median of {q.percent(ratio.median())} of the bus "
                f"bandwidth of aligned ones; "
                f"the lowest is {ratio.idxmin()[0]} on {say('ranks', ratio.idxmin()[2])} with "
                f"{q.percent(ratio.min())}."
            )
    best, worst = points.loc[points["value"].idxmax()], points.loc[points["value"].idxmin()]
    return (
        f"At {size}, bus bandwidth runs from "
        f"{BUS_BANDWIDTH.text(worst['value'], worst['low'], worst['high'])} ({worst['panel']}, "
        f"{say('ranks', worst['ranks'])}) to "
        f"{BUS_BANDWIDTH.text(best['value'], best['low'], best['high'])} ({best['panel']}, "
        f"{say('ranks', best['ranks'])})."
    )


def _participants(points: pd.DataFrame) -> Canvas:
    panels, libraries = sorted(points["panel"].unique()), sorted(points["line"].astype(str).unique())
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    width, height = 7.7, 0.5 + rows * 1.85 + (rows - 1) * 0.3
    canvas = Canvas(figsize=(width, height))
    grid = canvas.subplots(rows, columns, squeeze=False, sharex=True)
    scale, unit = unit_of(BUS_BANDWIDTH, points["value"])
    top = float(points["max"].max()) / scale
    for position, ax in enumerate(grid.ravel()):
        if position >= len(panels):
            ax.set_visible(False)
            continue
        here = points[points["panel"] == panels[position]]
        for colour, library in zip(style.DATA, libraries, strict=False):
            of = here[here["line"] == library].sort_values("ranks")
            best = of.groupby("ranks", as_index=False)["value"].max()
            ax.plot(best["ranks"], best["value"] / scale, color=colour, lw=1, alpha=0.6)
            for blocks, face in (("aligned", colour), ("unknown", colour), ("unaligned", style.SURFACE)):
                these = of[of["blocks"] == blocks]
                ax.vlines(
                    these["ranks"],
                    these["min"] / scale,
                    these["max"] / scale,
                    color=colour,
                    lw=1.2,
                    alpha=0.5,
                )
                ax.plot(these["ranks"], these["value"] / scale, "o", color=colour, mfc=face, mew=1.1, ms=4.4)
        ax.set_title(panels[position])
        ax.set_ylim(0, top * 1.1)
        ax.set_xticks(sorted(points["ranks"].unique()))
        ax.tick_params(labelbottom=position + columns >= len(panels), labelleft=position % columns == 0)
        if position + columns >= len(panels):
            ax.set_xlabel("participants")
        if position % columns == 0:
            ax.set_ylabel(f"bus bandwidth, {unit}")
    canvas.subplots_adjust(
        left=0.62 / width,
        right=1 - 0.12 / width,
        top=1 - 0.52 / height,
        bottom=0.46 / height,
        wspace=0.1,
        hspace=0.24,
    )
    handles = [
        grid[0, 0].plot([], [], "o-", color=c, mew=1.1, ms=4.4)[0]
        for c, _ in zip(style.DATA, libraries, strict=False)
    ]
    handles += [
        grid[0, 0].plot([], [], "o", color=style.MUTED, mfc=face, mew=1.1, ms=4.4)[0]
        for face in (style.MUTED, style.SURFACE)
    ]
    names = [*libraries, "aligned blocks", "unaligned blocks"]
    canvas.legend(
        handles,
        names,
        loc="upper left",
        ncols=len(names),
        bbox_to_anchor=(0.62 / width, 1),
        borderaxespad=0.1,
    )
    return canvas
