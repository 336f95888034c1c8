"""What NVML said of the devices of a measurement, in one value a row."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Keys of a device state that hold a value before and one after.
STATE_PAIRS = (
    "sm_clock_hz", "temperature_c", "throttle_reasons", "ecc_uncorrected", "nvlink_replay_errors",
    "nvlink_recovery_errors", "nvlink_crc_errors",
)  # fmt: skip

# Clocks event reasons (nvml.h) that slow a busy device: power cap, hardware slowdown, thermal, power brake.
# The others (idle, application clocks, sync boost, display clock) are settings, not trouble.
_THROTTLE_BITS = 0x04 | 0x08 | 0x20 | 0x40 | 0x80


def summarise_states(states: pa.Array) -> dict[str, pa.Array]:
    """Summarise what NVML said of all participating devices in one value a row; null where nothing."""
    rows = len(states)
    row = np.asarray(pc.list_parent_indices(states))
    flat = pc.list_flatten(states)

    def pair(key: str) -> tuple[np.ndarray, np.ndarray]:
        """Before and after, one value a device state; NaN where it is absent."""
        values = pc.struct_field(flat, key)
        result = np.full((len(values), 2), np.nan)
        result[np.asarray(pc.is_valid(values))] = _floats(pc.list_flatten(values)).reshape(-1, 2)
        return result[:, 0], result[:, 1]

    def reduce(function: np.ufunc, values: np.ndarray) -> np.ndarray:
        """One value a row; NaN where no device of the row has one."""
        result = np.full(rows, np.nan)
        known = ~np.isnan(values)
        function.at(result, row[known], values[known])
        return result

    def difference(*keys: str) -> np.ndarray:
        changes = [after - before for before, after in map(pair, keys)]
        total = np.where(np.all(np.isnan(changes), axis=0), np.nan, np.nansum(changes, axis=0))
        return _sum_by(row, total, rows)

    throttled = reduce(np.fmax, np.fmax(*map(_slowed, pair("throttle_reasons"))))
    return {
        "throttled": pa.array(throttled > 0, mask=np.isnan(throttled)),
        "sm_clock_hz_min": _nullable(reduce(np.fmin, np.fmin(*pair("sm_clock_hz")))),
        "temperature_c_max": _nullable(reduce(np.fmax, np.fmax(*pair("temperature_c")))),
        "ecc_uncorrected_delta": _nullable(difference("ecc_uncorrected"), pa.int64()),
        "nvlink_errors_delta": _nullable(
            difference("nvlink_replay_errors", "nvlink_recovery_errors", "nvlink_crc_errors"), pa.int64()
        ),
    }


def _slowed(reasons: np.ndarray) -> np.ndarray:
    slowed = (np.nan_to_num(reasons).astype(np.int64) & _THROTTLE_BITS) != 0
    return np.where(np.isnan(reasons), np.nan, slowed)


def _sum_by(row: np.ndarray, values: np.ndarray, rows: int) -> np.ndarray:
    known = ~np.isnan(values)
    total = np.bincount(row[known], values[known], minlength=rows)
    return np.where(np.bincount(row[known], minlength=rows) > 0, total, np.nan)


def _floats(array: pa.Array) -> np.ndarray:
    return array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)


def _nullable(values: np.ndarray, kind: pa.DataType | None = None) -> pa.Array:
    array = pa.array(values, from_pandas=True)
    return array if kind is None else array.cast(kind)
