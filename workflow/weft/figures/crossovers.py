"""Where one way overtakes another: sizes between which the order of two curves changes, told by their
intervals.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from weft import statistics

COLUMNS = [
    "panel",
    "faster_below",
    "faster_above",
    "size_bytes",
    "last_size_below_bytes",
    "first_size_above_bytes",
]


def winners(points: pd.DataFrame, more_is_better: bool) -> pd.DataFrame:
    """One row a panel, pair of lines and common size: which is faster, or 'undecided' where the intervals
    overlap.

    points: see pooling.pool. Where a source gives no interval the bare values are compared.
    """
    rows = []
    for panel, here in points.groupby("panel", observed=True, sort=False):
        lines = list(here["line"].astype(str).drop_duplicates())
        by_line = {line: here[here["line"].astype(str) == line].set_index("size_bytes") for line in lines}
        for first, second in combinations(lines, 2):
            a, b = by_line[first].align(by_line[second], join="inner", axis=0)
            for size in a.index.sort_values():
                low_a, high_a = _ends(a.loc[size])
                low_b, high_b = _ends(b.loc[size])
                above = 1 if low_a > high_b else -1 if low_b > high_a else 0
                verdict = {0: "undecided", 1: first, -1: second}[above if more_is_better else -above]
                rows.append((str(panel), first, second, size, verdict))
    return pd.DataFrame(rows, columns=["panel", "first", "second", "size_bytes", "faster"])


def _ends(row: pd.Series) -> tuple[float, float]:
    low, high = float(row["low"]), float(row["high"])
    return (
        (low, high) if np.isfinite(low) and np.isfinite(high) else (float(row["value"]), float(row["value"]))
    )


def crossovers(points: pd.DataFrame, more_is_better: bool) -> pd.DataFrame:
    """Where the faster of two lines changes (see statistics.crossovers); columns as in COLUMNS."""
    rows = []
    for panel, here in points.groupby("panel", observed=True, sort=False):
        lines = list(here["line"].astype(str).drop_duplicates())
        by_line = {
            line: here[here["line"].astype(str) == line].set_index("size_bytes").sort_index()
            for line in lines
        }
        for first, second in combinations(lines, 2):
            a, b = by_line[first].align(by_line[second], join="inner", axis=0)
            ends = [(line["low"].to_numpy(float), line["high"].to_numpy(float)) for line in (a, b)]
            for found in statistics.crossovers(a.index.to_numpy(float), a["value"], b["value"], *ends):
                heir, before = (
                    (first, second) if (found.lower_after == "a") != more_is_better else (second, first)
                )
                rows.append((str(panel), before, heir, found.size, found.low, found.high))
    return pd.DataFrame(rows, columns=COLUMNS)


def of_the_best(points: pd.DataFrame, found: pd.DataFrame, more_is_better: bool) -> pd.DataFrame:
    """Those crossovers at which the fastest of all lines changes, and both it and its heir lead for two
    sizes or more.
    """
    if found.empty:
        return found
    order = points.assign(line=points["line"].astype(str), panel=points["panel"].astype(str))
    order = order.sort_values("value", ascending=not more_is_better, kind="stable")
    best = order.drop_duplicates(["panel", "size_bytes"]).sort_values(["panel", "size_bytes"])
    kept = []
    for row in found.itertuples():
        here = best[best["panel"] == row.panel]
        below = here.loc[here["size_bytes"] <= row.last_size_below_bytes, "line"].tail(2)
        above = here.loc[here["size_bytes"] >= row.first_size_above_bytes, "line"].head(2)
        lasting = len(below) == len(above) == 2
        kept.append(bool(lasting and (below == row.faster_below).all() and (above == row.faster_above).all()))
    return found[np.array(kept, bool)]
