"""In the container and bare: the same measurements on the same machine, as ratios of their medians."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

from weft.columns import AXES
from weft.figures import quantities as q
from weft.figures import ratios, style
from weft.figures.dataset import HOSTS, Dataset
from weft.figures.figure import Figure, draws
from weft.figures.ratios import COLOURS, DIFFERENT, SAME, UNDECIDED

ALIKE = 0.02  # a difference of medians that does not matter
MOST_ROWS = 48
_TICKS = (0.2, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 1, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5)


def compared(dataset: Dataset) -> pd.DataFrame:
    """One row a configuration measured in a container and bare: benchmark, its axes, container, time_s with
    low_s and high_s in the container and bare (_bare), runs of both, ratio, low, high and verdict (see
    ratios.paired). The MPI library may be another one: a container brings its own.
    """
    parts = []
    for benchmark in dataset.benchmarks():
        runs = dataset.runs(benchmark)
        if "container" in runs and runs["container"].isna().any() and runs["container"].notna().any():
            parts.append(_pairs(runs).assign(benchmark=benchmark))
    parts = [part for part in parts if len(part)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _pairs(runs: pd.DataFrame) -> pd.DataFrame:
    keys = [axis for axis in (*AXES, *HOSTS) if axis in runs and axis not in ("container", "mpi_library")]
    image = runs["container"].astype(object)
    return ratios.paired(runs[image.notna()], runs[image.isna()], keys, "_bare", ALIKE, more=["container"])


@draws("container")
def container_against_bare(dataset: Dataset) -> Iterator[Figure]:
    """Time in the container over time bare, a row a configuration, with intervals."""
    frame = compared(dataset)
    if frame.empty:
        return
    frame = frame.assign(way=ratios.ways(frame))
    shown = _chosen(frame)
    counts = frame["verdict"].value_counts()
    worst = frame.loc[np.log(frame["ratio"]).abs().idxmax()]
    alike, undecided, different = (counts.get(verdict, 0) for verdict in (SAME, UNDECIDED, DIFFERENT))
    caption = (
        f"Of {q.plural(len(frame), 'configuration')}, {alike} take the same time in the container within "
        f"{100 * ALIKE:g}{q.NO_BREAK}%, {undecided} cannot be told apart, {different} differ; the median "
        f"ratio is {frame['ratio'].median():.3f}, the furthest from 1 is {worst['ratio']:.2f} "
        f"[{worst['low']:.2f}, {worst['high']:.2f}] ({worst['way']})."
    )
    images = ", ".join(sorted(map(str, frame["container"].unique())))
    left = len(frame) - len(shown)
    yield Figure(
        "container_bare",
        "container",
        "Time in the container over time bare",
        caption,
        (
            images,
            "line: least interval of the one over greatest of the other, and the reverse",
            f"band: ±{100 * ALIKE:g}{q.NO_BREAK}%",
        ),
        int(frame["runs"].sum() + frame["runs_bare"].sum()),
        frame,
        style.svg(_forest(shown), "container_bare", f"Forest plot. {caption}"),
        (f"{q.plural(left, 'configuration')} of sizes between, for want of room: see the CSV",)
        if left
        else (),
        wide=True,
    )


def _chosen(frame: pd.DataFrame) -> pd.DataFrame:
    """As many rows as there is room for: the ends of each benchmark's sizes, then those furthest from 1."""
    if len(frame) <= MOST_ROWS:
        return frame
    sizes = frame.groupby("benchmark")["size_bytes"]
    ends = (frame["size_bytes"] == sizes.transform("min")) | (frame["size_bytes"] == sizes.transform("max"))
    order = np.lexsort((-np.log(frame["ratio"]).abs(), ~ends))
    return frame.iloc[np.sort(order[:MOST_ROWS])]


def _forest(frame: pd.DataFrame) -> Canvas:
    names = [str(way).replace(q.NO_BREAK, " ") for way in frame["way"]]
    left = min(6.0, 0.25 + 0.064 * max(map(len, names)))
    width, height = 10.2, 0.2 * len(frame) + 0.86
    canvas = Canvas(figsize=(width, height))
    ax = canvas.add_axes((left / width, 0.46 / height, (width - left - 1.2) / width, 1 - 0.82 / height))
    ax.set_xscale("log")
    low = max(0.2, min(0.94, float(frame["low"].min()) * 0.99))
    high = min(5.0, max(1.06, float(frame["high"].max()) * 1.01))
    ax.set_xlim(low, high)
    ticks = [tick for tick in _TICKS if low <= tick <= high]
    ticks = ticks if len(ticks) < 9 else [tick for tick in ticks if tick not in (0.95, 0.98, 1.02, 1.05)]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.axvspan(1 - ALIKE, 1 + ALIKE, color=style.GRID, lw=0)
    ax.axvline(1, color=style.MUTED, lw=0.9)
    for place, row in enumerate(frame.itertuples()):
        y, colour = len(frame) - 1 - place, COLOURS[row.verdict]
        ax.plot(np.clip([row.low, row.high], low, high), [y, y], color=colour, lw=1.3)
        ax.plot([np.clip(row.ratio, low, high)], [y], "o", color=colour, ms=4.4, mew=0)
        ax.annotate(
            f"{row.ratio:.2f} [{row.low:.2f}, {row.high:.2f}]", (1, y), xycoords=("axes fraction", "data"),
            xytext=(6, 0), textcoords="offset points", va="center", fontsize=7.2, annotation_clip=False,
        )  # fmt: skip
    ax.set_ylim(-0.6, len(frame) - 0.4)
    ax.set_yticks(range(len(frame)), names[::-1], color=style.INK, fontsize=7.6)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel("time in the container / time bare (right: slower in the container)")
    handles = [ax.plot([], [], "o-", color=colour, ms=4.4, mew=0)[0] for colour in COLOURS.values()]
    canvas.legend(
        handles,
        list(COLOURS),
        loc="upper left",
        ncols=3,
        bbox_to_anchor=(left / width, 1),
        borderaxespad=0.2,
    )
    return canvas
