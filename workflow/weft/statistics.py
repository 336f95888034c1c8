"""Order statistics, two levels of repetition, ratios and crossovers. No step assumes a distribution or pools
the levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import bdtr

RATES = ("bandwidth_bytes_per_s", "bus_bandwidth_bytes_per_s", "message_rate_per_s", "atomics_per_s")


@dataclass(frozen=True)
class Interval:
    """Both ends of an interval, in the unit of the values."""

    low: float
    high: float


@dataclass(frozen=True)
class Crossover:
    """Where of two curves the other becomes the lower one.

    size: by interpolation on logarithmic axes; certainly between low and high, the nearest measured sizes on
    either side at which the intervals do not overlap. lower_after: "a" or "b", the curve that is lower (of
    times: faster) above it.
    """

    size: float
    low: float
    high: float
    lower_after: str


def median_interval(samples: ArrayLike, confidence: float = 0.95) -> Interval:
    """Return the nonparametric confidence interval of the median, as the programs' sampler computes it.

    The number of samples below the median is binomial(n, 1/2) whatever the distribution (Le Boudec,
    Performance Evaluation, 2010, ch. 2); between neighbouring ranks it is interpolated so that the coverage
    is the one asked for (Hettmansperger and Sheather, 1986). With too few samples for that confidence it is
    [min, max].

    Raises ValueError without samples, or if confidence is not between 0 and 1.
    """
    values = np.sort(np.asarray(samples, float))
    count = len(values)
    if not count:
        raise ValueError("a median needs at least one sample")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}; it must be between 0 and 1")
    ranks = np.arange(1, (count + 1) // 2 + 1)
    coverage = 1 - 2 * bdtr(
        ranks - 1, count, 0.5
    )  # of the interval from the rank-th least to the rank-th greatest
    enough = np.flatnonzero(coverage >= confidence)
    if not len(enough):
        return Interval(float(values[0]), float(values[-1]))
    rank = int(ranks[enough[-1]])
    wide = coverage[rank - 1]
    narrow = coverage[rank] if rank < len(coverage) else 0.0
    share = (wide - confidence) / (wide - narrow)
    weight = (count - rank) * share / (rank + (count - 2 * rank) * share)
    inner_low, inner_high = (
        (values[rank], values[count - rank - 1]) if rank < len(coverage) else (np.median(values),) * 2
    )
    low = (1 - weight) * values[rank - 1] + weight * inner_low
    high = (1 - weight) * values[count - rank] + weight * inner_high
    return Interval(float(low), float(high))


def ratio_of_medians(
    a: ArrayLike, a_low: ArrayLike, a_high: ArrayLike, b: ArrayLike, b_low: ArrayLike, b_high: ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a / b and a conservative interval, elementwise: least a over greatest b, and the reverse.

    Where both intervals hold, so does this one: two of 95 % give at least 90 %. An end that is not known is
    NaN.
    """
    a, a_low, a_high, b, b_low, b_high = (
        np.asarray(value, float) for value in (a, a_low, a_high, b, b_low, b_high)
    )
    return a / b, a_low / b_high, a_high / b_low


def crossovers(
    size: ArrayLike,
    a: ArrayLike, b: ArrayLike,
    a_interval: tuple[ArrayLike, ArrayLike] | None = None,
    b_interval: tuple[ArrayLike, ArrayLike] | None = None,
) -> list[Crossover]:  # fmt: skip
    """Return where the curves a and b of positive values cross, by ascending size.

    size ascends and is positive. A crossing counts only where the intervals are apart on both sides of it;
    sizes at which they overlap decide nothing. Without intervals (published values), or with NaN ends, the
    values decide.
    """
    size, a, b = (np.asarray(value, float) for value in (size, a, b))
    if np.any(np.diff(size) <= 0) or np.any(size <= 0):
        raise ValueError("sizes must be positive and ascend")
    (a_low, a_high), (b_low, b_high) = _ends(a, a_interval), _ends(b, b_interval)
    lower = np.where(a_high < b_low, -1, np.where(b_high < a_low, 1, 0))  # -1: a is lower, 1: b is
    decided = np.flatnonzero(lower)
    gap, place = np.log(a / b), np.log(size)
    found = []
    for before, after in pairwise(decided):
        if lower[before] == lower[after]:
            continue
        stretch = gap[before : after + 1]
        step = before + int(np.flatnonzero(np.sign(stretch[:-1]) != np.sign(stretch[1:]))[0])
        share = gap[step] / (gap[step] - gap[step + 1])
        at = np.exp(place[step] + share * (place[step + 1] - place[step]))
        found.append(
            Crossover(float(at), float(size[before]), float(size[after]), "a" if lower[after] < 0 else "b")
        )
    return found


def _ends(values: np.ndarray, interval: tuple[ArrayLike, ArrayLike] | None) -> tuple[np.ndarray, np.ndarray]:
    if interval is None:
        return values, values
    low, high = (np.asarray(end, float) for end in interval)
    return np.where(np.isnan(low), values, low), np.where(np.isnan(high), values, high)


def combine_repeats(frame: pd.DataFrame, by: Sequence[str], carry: Sequence[str] = ()) -> pd.DataFrame:
    """Return one row per configuration from one row per configuration and repeat (run); the levels are not
    pooled.

    frame: rows of the table with time_median_s, time_ci_low_s, time_ci_high_s and any of RATES; rows without
    a time are left out. by: what makes a configuration (null equals null). carry: further columns, taken from
    the first run.

    Result, in order of first appearance: by, carry, runs, time_median_s (median of the run medians),
    time_ci_low_s and time_ci_high_s (within a run: median over runs of either end), time_run_min_s and
    time_run_max_s (least and greatest run median), spread ((greatest - least) / median), and the rates
    (payload / time_median_s) with their _ci_low and _ci_high from the interval of the time.
    """
    frame = frame[frame["time_median_s"].notna()]
    group, first = _groups(frame, by)
    result = frame.iloc[first][[*by, *carry]].reset_index(drop=True)
    time = frame["time_median_s"].to_numpy(float)
    runs = np.bincount(group, minlength=len(first))
    median = grouped_quantile(time, group, len(first), 0.5)
    low, high = (
        grouped_quantile(frame[name].to_numpy(float, na_value=np.nan), group, len(first), 0.5)
        for name in ("time_ci_low_s", "time_ci_high_s")
    )
    least, greatest = (grouped_quantile(time, group, len(first), end) for end in (0.0, 1.0))
    result["runs"] = runs
    result["time_median_s"], result["time_ci_low_s"], result["time_ci_high_s"] = median, low, high
    result["time_run_min_s"], result["time_run_max_s"] = least, greatest
    result["spread"] = (greatest - least) / median
    for rate in RATES:
        if rate in frame:
            payload = (frame[rate].to_numpy(float, na_value=np.nan) * time)[first]
            result[rate] = payload / median
            result[f"{rate}_ci_low"], result[f"{rate}_ci_high"] = payload / high, payload / low
    return result


def _groups(frame: pd.DataFrame, by: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the group of each row, numbered by first appearance, and the first row of each group."""
    group = np.zeros(len(frame), np.int64)
    for name in by:
        codes, values = pd.factorize(frame[name], use_na_sentinel=False)
        if len(values) > 1:
            group, _ = pd.factorize(group * len(values) + codes)
    _, first = np.unique(group, return_index=True)
    return group, first if len(frame) else np.zeros(0, np.int64)


def grouped_quantile(values: np.ndarray, group: np.ndarray, groups: int, quantile: float) -> np.ndarray:
    """Return the quantile (linear interpolation) of the values of each group; NaN values are left out, none
    gives NaN.
    """
    known = ~np.isnan(values)
    values, group = values[known], group[known]
    ordered = values[np.lexsort((values, group))]
    count = np.bincount(group, minlength=groups)
    start = np.cumsum(count) - count
    position = quantile * np.maximum(count - 1, 0)
    below = np.floor(position).astype(np.int64)
    above = np.ceil(position).astype(np.int64)
    ordered = np.append(ordered, np.nan)  # where a group at the end is empty
    lower, upper = ordered[start + below], ordered[start + above]
    # Written so that equal neighbours, also infinite ones, give themselves.
    result = np.where(lower == upper, lower, lower + (position - below) * (upper - lower))
    return np.where(count > 0, result, np.nan)
