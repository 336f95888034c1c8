"""Which of two transports is faster at each size, and where one overtakes the other."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Rectangle

from weft.figures import pooling, style, transports
from weft.figures import quantities as q
from weft.figures.axes import shaped_by
from weft.figures.crossovers import crossovers, winners
from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws
from weft.figures.measures import Measure
from weft.figures.transports import KINDS, TRANSPORTS, short


@draws("message")
def message_crossovers(dataset: Dataset) -> Iterator[Figure]:
    """Which of two transports is faster at each size."""
    for benchmark, measure, what, _ in KINDS[:3]:
        if benchmark not in dataset.benchmarks():
            continue
        frame, _, left_out = transports.load(dataset, benchmark, measure)
        if frame.empty:
            continue
        points = pooling.pool(frame, ["panel", "line", "size_bytes"], measure)
        points["panel"] = points["panel"].astype(str)
        for number, panel in enumerate(dict.fromkeys(points["panel"])):
            here = frame[frame["panel"].astype(str) == panel]
            key = f"{benchmark.replace('.', '_')}_crossovers{f'_{number + 1}' if number else ''}"
            of = points[points["panel"] == panel]
            yield from _crossovers(dataset, here, of, measure, what, panel, key, left_out)


def _crossovers(
    dataset: Dataset, frame: pd.DataFrame, points: pd.DataFrame, measure: Measure, what: str, panel: str,
    key: str, left_out: tuple[str, ...],
) -> Iterator[Figure]:  # fmt: skip
    decided = winners(points, measure.more_is_better)
    if decided.empty:
        return
    found = crossovers(points, measure.more_is_better)
    pairs = decided.groupby(["first", "second"], sort=False).ngroups
    caption = (
        f"Among {q.plural(pairs, 'pair')} of transports the order changes {q.count(len(found))} "
        f"times between {q.size(decided['size_bytes'].min())} and "
        f"{q.size(decided['size_bytes'].max())}; "
        f"{q.percent((decided['faster'] == 'undecided').mean())} of the comparisons are undecided."
    )
    note = (
        "points: sizes at which one is faster, its interval apart from the other's"
        if frame["time_low_s"].notna().any()
        else ("the source gives no intervals: bare values are compared")
    )
    yield Figure(
        key,
        "message",
        f"{what}: which transport is faster{f' {panel}' if panel else ''}",
        caption,
        (*shaped_by(frame, dataset.sampling), *([panel] if panel else []), note),
        int(frame["runs"].sum()),
        found,
        style.svg(_tiles(decided), key, f"Tile chart. {caption}"),
        left_out,
    )


def _tiles(decided: pd.DataFrame) -> Canvas:
    """A row a pair of transports, a tile a size: colour and pattern of the faster one, empty where
    undecided.
    """
    pairs = list(decided.groupby(["first", "second"], sort=False).groups)
    sizes = sorted(decided["size_bytes"].unique())
    lines = [n for n in TRANSPORTS if n in {*decided["first"], *decided["second"]}]
    width, left, top = 7.7, 2.75, 0.26 * (1 + (len(lines) > 3)) + 0.04
    height = top + 0.24 * len(pairs) + 0.5
    canvas = Canvas(figsize=(width, height))
    ax = canvas.add_axes(
        (left / width, 0.46 / height, (width - left - 0.25) / width, 0.24 * len(pairs) / height)
    )
    for row, (pair, here) in enumerate(decided.groupby(["first", "second"], sort=False)):
        y = len(pairs) - 1 - row
        for size, faster in zip(here["size_bytes"], here["faster"], strict=True):
            ax.add_patch(_tile(sizes.index(size), y, faster))
        assert pair == pairs[row]
    ax.set_xlim(-0.5, len(sizes) - 0.5)
    ax.set_ylim(-0.5, len(pairs) - 0.5)
    every = -(-len(sizes) // 8)
    ax.set_xticks(range(0, len(sizes), every), [q.size(s).replace(q.NO_BREAK, " ") for s in sizes[::every]])
    ax.set_yticks(
        range(len(pairs)), [f"{short(a)} – {short(b)}" for a, b in pairs[::-1]], color=style.INK, fontsize=7.4
    )
    ax.tick_params(length=0)
    ax.grid(False)
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.set_xlabel("size")
    handles = [_tile(0, 0, name) for name in lines] + [_tile(0, 0, "undecided")]
    canvas.legend(
        handles,
        [*lines, "undecided"],
        loc="upper left",
        ncols=3,
        bbox_to_anchor=(0.1 / width, 1),
        borderaxespad=0.2,
        handlelength=1.1,
        handleheight=1.0,
    )
    return canvas


def _tile(x: float, y: float, faster: str) -> Rectangle:
    box = (x - 0.44, y - 0.36)
    if faster == "undecided":
        return Rectangle(box, 0.88, 0.72, facecolor=style.NO_DATA, edgecolor=style.NO_DATA, lw=0.8)
    filled = not faster.endswith("off")
    colour = transports.COLOURS[faster]
    return Rectangle(box, 0.88, 0.72, facecolor=colour if filled else "none", edgecolor=colour, lw=1.2)
