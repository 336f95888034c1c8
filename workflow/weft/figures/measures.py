"""What is plotted: bandwidth, bus bandwidth, time, or a rate of messages or atomics, its unit chosen for a
whole figure.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from weft.figures import quantities as q


@dataclass(frozen=True)
class Measure:
    """A quantity of a combined frame: column and its companions column_low, _high, _run_min, _run_max."""

    name: str
    column: str
    run_column: str
    units: tuple[tuple[float, str], ...]
    more_is_better: bool = True

    def companion(self, which: str) -> str:
        """The column of low, high, run_min or run_max."""
        if self.column.endswith("_s") and not self.more_is_better:
            return f"{self.column.removesuffix('_s')}_{which}_s"
        return f"{self.column}_{which}"

    def unit(self, values: pd.Series | np.ndarray) -> tuple[float, str]:
        """Scale and name of the unit in which the values' median lies between 1 and 1000, so far as there
        is one.
        """
        finite = np.asarray(values, float)
        finite = finite[np.isfinite(finite) & (finite > 0)]
        middle = float(np.median(finite)) if finite.size else 1.0
        return next(((scale, unit) for scale, unit in self.units if middle >= scale), self.units[-1])

    def text(self, value: float, low: float | None = None, high: float | None = None) -> str:
        """The value with its unit."""
        return q.quantity(value, self.units, low, high)


_GB = (1e9, "GB/s")
BANDWIDTH = Measure("bandwidth", "bandwidth_bytes_per_s", "bandwidth_bytes_per_s", q.RATE_UNITS)
BUS_BANDWIDTH = Measure(
    "bus bandwidth", "bus_bandwidth_bytes_per_s", "bus_bandwidth_bytes_per_s", q.RATE_UNITS
)
ALGORITHM_BANDWIDTH = Measure(
    "algorithm bandwidth", "bandwidth_bytes_per_s", "bandwidth_bytes_per_s", q.RATE_UNITS
)
MESSAGE_RATE = Measure("message rate", "message_rate_per_s", "message_rate_per_s", q.MESSAGE_UNITS)
ATOMICS = Measure("rate of atomics", "atomics_per_s", "atomics_per_s", q.ATOMIC_UNITS)
TIME = Measure("time", "time_s", "time_median_s", q.TIME_UNITS, more_is_better=False)
LATENCY = Measure("latency", "time_s", "time_median_s", q.TIME_UNITS, more_is_better=False)


def rate_unit(values: pd.Series | np.ndarray) -> tuple[float, str]:
    """GB/s unless everything is far below it: links compare best in one unit."""
    largest = float(np.nanmax(np.asarray(values, float))) if len(values) else 0.0
    return _GB if largest >= 5e8 else (1e6, "MB/s")


def unit_of(measure: Measure, values: pd.Series | np.ndarray) -> tuple[float, str]:
    """The unit of a figure's axis."""
    return rate_unit(values) if measure.units is q.RATE_UNITS else measure.unit(values)
