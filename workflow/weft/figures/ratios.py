"""The same configurations measured in two places or at two times: ratios of their medians, and a verdict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from weft.columns import AXES
from weft.figures import style
from weft.figures.axes import label, telling
from weft.figures.dataset import HOSTS
from weft.figures.spread import name_of
from weft.statistics import median_interval, ratio_of_medians

FEWEST_RUNS = 5  # of fewer, least and greatest hold the median less often than 15 times of 16
SAME, UNDECIDED, DIFFERENT = "alike", "not told apart", "different"
COLOURS = {SAME: style.DATA[2], UNDECIDED: style.DATA[6], DIFFERENT: style.DATA[1]}


def paired(
    runs: pd.DataFrame,
    base: pd.DataFrame,
    keys: Sequence[str],
    suffix: str,
    alike: float,
    more: Sequence[str] = (),
) -> pd.DataFrame:
    """One row a configuration that both have: its keys, time_s with low_s and high_s, runs, the same of the
    base with the suffix, ratio of the medians with low and high, and verdict (see verdicts).

    ``keys`` are axes of either, ``more`` are axes of ``runs`` alone. An interval is that of the median of the
    runs, and never narrower than a run's own: a run of either is another process on another minute.
    """
    runs, base = (of.assign(**{key: None for key in keys if key not in of}) for of in (runs, base))
    keys = [key for key in keys if runs[key].notna().any() or base[key].notna().any()]
    both = _medians(runs, [*keys, *more]).merge(_medians(base, keys), on=keys, suffixes=("", suffix))
    both = both.infer_objects()
    ratio, low, high = ratio_of_medians(
        *(both[name] for name in ("time_s", "low_s", "high_s")),
        *(both[f"{name}{suffix}"] for name in ("time_s", "low_s", "high_s")),
    )
    runs_of_either = both[["runs", f"runs{suffix}"]].min(axis=1)
    return both.assign(
        ratio=ratio, low=low, high=high, verdict=verdicts(ratio, low, high, runs_of_either, alike)
    )


def _medians(runs: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """One row a configuration: median over runs with its interval, see paired."""
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
    frame = pd.DataFrame(rows, columns=[*keys, "time_s", "low_s", "high_s", "runs"])
    return frame.astype(dict.fromkeys(keys, object))


def verdicts(
    ratio: np.ndarray, low: np.ndarray, high: np.ndarray, runs: np.ndarray, alike: float
) -> np.ndarray:
    """Say of each ratio: alike (within ``alike`` of 1), different, or not told apart.

    That is where its interval holds 1, or rests on fewer than FEWEST_RUNS runs of either.
    """
    same = np.abs(np.asarray(ratio, float) - 1) <= alike
    holds = (np.asarray(low, float) <= 1) & (np.asarray(high, float) >= 1)
    undecided = holds | (np.asarray(runs) < FEWEST_RUNS)
    return np.where(same, SAME, np.where(undecided, UNDECIDED, DIFFERENT))


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


def ways(frame: pd.DataFrame) -> pd.Series:
    """Each configuration in words: what tells those of its benchmark apart, the size last."""
    texts = pd.Series("", frame.index, dtype=object)
    for benchmark, of in frame.groupby("benchmark", sort=False):
        axes = [axis for axis in (*AXES, *HOSTS) if axis in of and axis not in ("benchmark", "size_bytes")]
        # After the size, of which the number of elements says nothing more.
        told = telling(of, ("size_bytes", *axes))
        kept = [axis for axis in told if axis not in ("size_bytes", "mpi_library")]
        words = label(of, [*kept, "size_bytes"]).astype(str)
        texts[of.index] = name_of(str(benchmark)) + ", " + words
    return texts
