"""From configurations to points of a figure: medians over what shares a line, and as many single runs as
can be drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from weft.figures.measures import Measure

MARKS_PER_POINT = 8
MARKS = 5000  # of a figure: with more points than this has room for, fewer each


def pool(frame: pd.DataFrame, by: Sequence[str], measure: Measure) -> pd.DataFrame:
    """Combined configurations (see dataset.combine) that share the columns `by`, as one point each.

    value, low and high: medians over the configurations of the value and of its within-run interval; min
    and max: of
    all runs; configurations, runs, limit, efficiency.
    """
    low, high = (measure.companion(w) for w in ("low", "high"))
    least, most = (measure.companion(w) for w in ("run_min", "run_max"))
    wanted = {
        "value": (measure.column, "median"),
        "low": (low, "median"),
        "high": (high, "median"),
        "min": (least, "min"),
        "max": (most, "max"),
        "configurations": (measure.column, "size"),
        "runs": ("runs", "sum"),
    }
    if "limit_bytes_per_s" in frame:
        wanted["limit"] = ("limit_bytes_per_s", "median")
    if "efficiency" in frame:
        wanted["efficiency"] = ("efficiency", "median")
    grouped = frame.groupby(list(by), observed=True, dropna=False, sort=True).agg(**wanted)
    return grouped.reset_index()


def thin(runs: pd.DataFrame, by: Sequence[str], column: str) -> pd.DataFrame:
    """At most MARKS_PER_POINT rows of each group, fewer where there are many groups: least, greatest, and
    ranks between.
    """
    if runs.empty:
        return runs
    group = runs.groupby(list(by), observed=True, dropna=False, sort=True).ngroup().to_numpy()
    order = np.lexsort((runs[column].to_numpy(), group))
    sizes = np.bincount(group)
    rank = np.arange(len(runs)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    n = np.repeat(sizes, sizes)
    steps = np.minimum(n, max(2, min(MARKS_PER_POINT, MARKS // len(sizes)))) - 1
    slot = np.floor(rank * steps / np.maximum(n - 1, 1) + 1e-9)
    previous = np.floor((rank - 1) * steps / np.maximum(n - 1, 1) + 1e-9)
    return runs.iloc[np.sort(order[(rank == 0) | (slot != previous)])]


def marks_of(runs: pd.DataFrame, drawn: pd.DataFrame, measure: Measure) -> pd.DataFrame:
    """Thinned runs of those panels, lines and sizes that are drawn."""
    keys = ["panel", "line", "size_bytes"]
    marks = thin(runs[[*keys, measure.run_column]], keys, measure.run_column).astype(
        {"panel": str, "line": str}
    )
    points = drawn[keys].drop_duplicates().astype({"panel": str, "line": str})
    return marks[pd.MultiIndex.from_frame(marks[keys]).isin(pd.MultiIndex.from_frame(points))]
