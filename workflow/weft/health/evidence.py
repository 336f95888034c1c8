"""What a deviation is in seconds or bytes a second: a measurement that shows it, beside its peers'."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from weft.health.groups import LATENCY, Group
from weft.statistics import Interval, median_interval, ratio_of_medians

_TELLING = ("pt2pt.bandwidth", "pt2pt.bidirectional_bandwidth")  # shown rather than others, in this order


@dataclass(frozen=True)
class Evidence:
    """A value with its interval, the median of its peers' values with its own, and the ratio of both.

    unit: "bytes/s", or "s" of times. Of a node the value is its best link's, and peers are the links between
    healthy nodes; over runs the median.
    """

    benchmark: str
    size_bytes: int
    unit: str
    value: float
    interval: Interval
    peers: int
    peers_median: float
    peers_interval: Interval
    ratio: float
    ratio_interval: Interval


def evidence(group: Group, members: np.ndarray, peers: list[np.ndarray]) -> Evidence:
    """Return the measurement of a unit (its members) beside its peers (the members of each)."""
    rows = _family(group, members, peers)
    rate = bool(rows["payload_bytes"].notna().all()) and group.quantity != LATENCY
    value, *ends = _value(rows, members, rate)
    others = np.array([_value(rows, of, rate) for of in peers])
    others = others[~np.isnan(others[:, 0])]
    middle, around = _middle(others)
    ratio, low, high = ratio_of_medians(value, *ends, middle, around.low, around.high)
    return Evidence(
        str(rows["benchmark"].iloc[0]), int(rows["size_bytes"].iloc[0]), "bytes/s" if rate else "s",
        value, Interval(*ends), len(others), middle, around, float(ratio), Interval(float(low), float(high)),
    )  # fmt: skip


def _middle(others: np.ndarray) -> tuple[float, Interval]:
    """Return the median of the peers (value, low, high) and its interval, no narrower than their own are."""
    around = median_interval(others[:, 0])
    _, low, high = np.median(others, axis=0)
    interval = Interval(float(np.fmin(low, around.low)), float(np.fmax(high, around.high)))
    return float(np.median(others[:, 0])), interval


def _family(group: Group, members: np.ndarray, peers: list[np.ndarray]) -> pd.DataFrame:
    """Return the slower direction of each member and run, of the family that tells most of a unit.

    Of those in which most of its peers were measured: bandwidth, and the largest size; of latencies the
    smallest.
    """
    rows = group.rows.sort_values("time_s").drop_duplicates(["family", "run", "member"], keep="last")
    own = set(rows.loc[rows["member"].isin(members), "family"])
    everyone = np.concatenate([members, *peers])

    def telling(family: int) -> tuple[int, int, float]:
        here = rows[rows["family"] == family]
        size = float(here["size_bytes"].iloc[0])
        name = str(here["benchmark"].iloc[0])
        preference = _TELLING.index(name) if name in _TELLING else len(_TELLING)
        return (
            -here["member"].isin(everyone).sum(),
            preference,
            size if group.quantity == LATENCY else -size,
        )

    return rows[rows["family"] == min(own, key=telling)]


def _value(rows: pd.DataFrame, members: np.ndarray, rate: bool) -> tuple[float, float, float]:
    """Return the fastest member's value and interval, the median over runs; NaN where not measured."""
    here = rows[rows["member"].isin(members)].drop_duplicates("run")  # rows ascend in time
    if here.empty:
        return np.nan, np.nan, np.nan
    time, low, high = (here[name] for name in ("time_s", "low_s", "high_s"))
    if rate:
        payload = here["payload_bytes"]
        time, low, high = payload / time, payload / high, payload / low
    return tuple(float(column.median()) for column in (time, low, high))  # type: ignore[return-value]
