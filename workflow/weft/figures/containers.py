"""In the container and bare: the same measurements on the same machine, as ratios of their medians."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

from weft.columns import AXES
from weft.figures import quantities as q
from weft.figures import style
from weft.figures.axes import label, telling
from weft.figures.dataset import HOSTS, Dataset
from weft.figures.figure import Figure, draws
from weft.figures.spread import name_of
from weft.statistics import median_interval, ratio_of_medians

ALIKE = 0.02  # a difference of medians that does not matter
FEWEST_RUNS = 5  # of fewer, least and greatest hold the median less often than 15 times of 16
SAME, UNDECIDED, DIFFERENT = "alike", "not told apart", "different"
MOST_ROWS = 48
_TICKS = (0.2, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 1, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5)
_COLOURS = {SAME: style.DATA[2], UNDECIDED: style.DATA[6], DIFFERENT: style.DATA[1]}


def compared(dataset: Dataset) -> pd.DataFrame:
    """One row a configuration measured in a container and bare: benchmark, its axes, container, time_s with
    low_s and high_s in the container and bare (_bare), runs of both, ratio, low, high and verdict.

    An interval is that of the median of the runs, and never narrower than a run's own: a run of either is
    another process on another minute. The MPI library may be another one: a container brings its own.
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
    keys = [axis for axis in keys if runs[axis].notna().any()]
    image = runs["container"].astype(object)
    inside = _medians(runs[image.notna()], [*keys, "container"])
    bare = _medians(runs[image.isna()], keys)
    both = inside.merge(bare, on=keys, suffixes=("", "_bare"))
    ratio, low, high = ratio_of_medians(
        *(both[name] for name in ("time_s", "low_s", "high_s")),
        *(both[f"{name}_bare"] for name in ("time_s", "low_s", "high_s")),
    )
    runs_of_either = both[["runs", "runs_bare"]].min(axis=1)
    return both.assign(ratio=ratio, low=low, high=high, verdict=verdicts(ratio, low, high, runs_of_either))


def _medians(runs: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """One row a configuration: median over runs with its interval, see compared."""
    runs = runs.astype({key: object for key in keys if isinstance(runs[key].dtype, pd.CategoricalDtype)})
    runs = runs.assign(**{key: runs[key].where(runs[key].notna(), None) for key in keys})
    grouped = runs.groupby(keys, dropna=False, sort=True)
    rows = []
    for key, of in grouped:
        times = of["time_median_s"].to_numpy(float)
        between = median_interval(times)
        low = float(np.fmin(between.low, of["time_ci_low_s"].median()))
        high = float(np.fmax(between.high, of["time_ci_high_s"].median()))
        rows.append((*key, float(np.median(times)), low, high, len(times)))
    return pd.DataFrame(rows, columns=[*keys, "time_s", "low_s", "high_s", "runs"])


def verdicts(ratio: np.ndarray, low: np.ndarray, high: np.ndarray, runs: np.ndarray) -> np.ndarray:
    """Say of each ratio: alike (within ALIKE of 1), different, or not told apart.

    That is where its interval holds 1, or rests on fewer than FEWEST_RUNS runs of either.
    """
    alike = np.abs(np.asarray(ratio, float) - 1) <= ALIKE
    holds = (np.asarray(low, float) <= 1) & (np.asarray(high, float) >= 1)
    undecided = holds | (np.asarray(runs) < FEWEST_RUNS)
    return np.where(alike, SAME, np.where(undecided, UNDECIDED, DIFFERENT))


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """One row a benchmark: configurations, how many of each verdict, median, least and greatest ratio."""
    grouped = frame.groupby("benchmark", sort=True)
    counts = {
        verdict: grouped["verdict"].agg(lambda values, verdict=verdict: int((values == verdict).sum()))
        for verdict in (SAME, UNDECIDED, DIFFERENT)
    }
    ratio = grouped["ratio"]
    return pd.DataFrame(
        {
            "configurations": grouped.size(), **counts, "median": ratio.median(), "least": ratio.min(),
            "greatest": ratio.max(),
        }
    ).reset_index()  # fmt: skip


@draws("container")
def container_against_bare(dataset: Dataset) -> Iterator[Figure]:
    """Time in the container over time bare, a row a configuration, with intervals."""
    frame = compared(dataset)
    if frame.empty:
        return
    frame = frame.assign(way=_ways(frame))
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


def _ways(frame: pd.DataFrame) -> pd.Series:
    """Each configuration in words: what tells those of its benchmark apart, the size last."""
    texts = pd.Series("", frame.index, dtype=object)
    for benchmark, of in frame.groupby("benchmark", sort=False):
        axes = [axis for axis in (*AXES, *HOSTS) if axis in of and axis not in ("benchmark", "size_bytes")]
        kept = [axis for axis in telling(of, axes) if axis != "mpi_library"]
        words = label(of, [*kept, "size_bytes"]).astype(str)
        texts[of.index] = name_of(str(benchmark)) + ", " + words
    return texts


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
        y, colour = len(frame) - 1 - place, _COLOURS[row.verdict]
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
    handles = [ax.plot([], [], "o-", color=colour, ms=4.4, mew=0)[0] for colour in _COLOURS.values()]
    canvas.legend(
        handles,
        list(_COLOURS),
        loc="upper left",
        ncols=3,
        bbox_to_anchor=(left / width, 1),
        borderaxespad=0.2,
    )
    return canvas
