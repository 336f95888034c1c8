"""Collectives compared: in place against out of place, one library against another."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from matplotlib.figure import Figure as Canvas

from weft.figures import style
from weft.figures.axes import WORDS, label, say, shaped_by, telling
from weft.figures.collectives import load
from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws
from weft.figures.marks import size_axis


@draws("collective")
def in_place(dataset: Dataset) -> Iterator[Figure]:
    """Time in place relative to out of place."""
    frame = load(dataset)
    if frame.empty or frame["in_place"].nunique() < 2:
        return
    index = ["library", "software", "collective", "ranks", "nodes", "size_bytes", "alignment"]
    both = (
        frame.assign(alignment=frame["alignment"].fillna(0))
        .pivot_table(index=index, columns="in_place", values="time_s")
        .dropna()
    )
    if both.empty:
        return
    ratio = (both[1] / both[0]).rename("in_place_over_out_of_place").reset_index()
    yield from ratios(
        dataset,
        frame,
        ratio,
        "in_place_over_out_of_place",
        "collective_in_place",
        "In place against out of place",
        "Time in place is a median of {} of the time out of place ({}: {} to {}).",
        "time in place / out of place",
    )


@draws("collective")
def libraries(dataset: Dataset) -> Iterator[Figure]:
    """Time of one library relative to another, where both were measured alike."""
    frame = load(dataset)
    if frame.empty or frame["library"].nunique() != 2:
        return
    first, second = sorted(frame["library"].unique())
    index = ["collective", "software", "ranks", "nodes", "size_bytes", "in_place"]
    both = frame.pivot_table(index=index, columns="library", values="time_s", observed=True).dropna()
    if both.empty:
        return
    ratio = (both[second] / both[first]).rename("ratio").reset_index()
    one, other = WORDS.get(second, second), WORDS.get(first, first)
    yield from ratios(
        dataset,
        frame,
        ratio,
        "ratio",
        "collective_libraries",
        f"{one} against {other}",
        f"{one} takes a median of {{}} of the time of {other} ({{}}: {{}} to {{}}).",
        f"time of {one} / time of {other}",
    )


def ratios(
    dataset: Dataset,
    frame: pd.DataFrame,
    ratio: pd.DataFrame,
    column: str,
    key: str,
    title: str,
    sentence: str,
    axis: str,
) -> Iterator[Figure]:
    """Ratios against size, a panel an operation, a line a number of participants; one is equal."""
    ratio = ratio.assign(line=label(ratio, telling(ratio, ("ranks", "nodes"))).astype(str))
    points = ratio.groupby(["collective", "line", "size_bytes"], as_index=False)[column].median()
    panels = sorted(points["collective"].unique())
    lines = list(ratio.sort_values(["ranks", "nodes"])["line"].unique())
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    width, height = 7.7, 0.5 + rows * 1.7 + (rows - 1) * 0.3
    canvas = Canvas(figsize=(width, height))
    grid = canvas.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for position, ax in enumerate(grid.ravel()):
        if position >= len(panels):
            ax.set_visible(False)
            continue
        ax.axhline(1, color=style.MUTED, lw=0.9)
        for colour, line in zip(style.DATA * 9, lines, strict=False):
            of = points[(points["collective"] == panels[position]) & (points["line"] == line)]
            ax.plot(of["size_bytes"], of[column], color=colour, marker="o", ms=2.6, mew=0)
        size_axis(ax, points["size_bytes"], 4 if columns > 2 else 7)
        ax.set_yscale("log")
        low, high = min(points[column].min(), 0.8), max(points[column].max(), 1.25)
        ax.set_ylim(low / 1.1, high * 1.1)
        ticks = [
            t
            for t in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 1, 1.2, 1.5, 2, 3, 5, 10, 20, 50)
            if low / 1.1 <= t <= high * 1.1
        ]
        ticks = ticks if len(ticks) <= 7 else [t for t in ticks if t in (0.02, 0.1, 0.5, 1, 2, 10, 50)]
        ax.set_yticks(ticks, [f"{t:g}" for t in ticks])
        ax.minorticks_off()
        ax.set_title(panels[position])
        last = position + columns >= len(panels)
        ax.tick_params(labelbottom=last)
        if last:
            ax.set_xlabel("size")
    canvas.supylabel(axis, fontsize=8.5, x=0.006)
    canvas.subplots_adjust(
        left=0.62 / width,
        right=1 - 0.18 / width,
        top=1 - 0.5 / height,
        bottom=0.46 / height,
        wspace=0.1,
        hspace=0.26,
    )
    handles = [grid[0, 0].plot([], [], color=c)[0] for c, _ in zip(style.DATA * 9, lines, strict=False)]
    canvas.legend(
        handles,
        lines if len(lines) > 1 else [say("ranks", ratio["ranks"].iloc[0])],
        loc="upper left",
        ncols=min(len(lines), 7),
        bbox_to_anchor=(0.62 / width, 1),
        borderaxespad=0.1,
    )
    values = ratio[column]
    caption = sentence.format(
        f"{values.median():.2f}",
        "middle half",
        f"{values.quantile(0.25):.2f}",
        f"{values.quantile(0.75):.2f}",
    )
    yield Figure(
        key,
        "collective",
        title,
        caption,
        shaped_by(frame, dataset.sampling, ("datatype", "reduction")),
        int(frame["runs"].sum()),
        ratio,
        style.svg(canvas, key, f"Curves against size. {caption}"),
    )
