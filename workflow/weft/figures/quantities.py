"""Numbers as people read them: sizes, rates and times with units, never more digits than the interval
supports.
"""

from __future__ import annotations

import math

KIB = 1024
BINARY_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
TIME_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
RATE_UNITS = ((1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s"))
MESSAGE_UNITS = ((1e6, "M messages/s"), (1e3, "k messages/s"), (1.0, "messages/s"))
ATOMIC_UNITS = ((1e9, "G/s"), (1e6, "M/s"), (1e3, "k/s"), (1.0, "/s"))
NO_BREAK = "\u00a0"


def is_number(value: float | None) -> bool:
    """Whether value is a finite number."""
    return value is not None and math.isfinite(value)


def size(size_bytes: float) -> str:
    """A payload in binary units: 65536 -> 64 KiB, 40000000 -> 38.1 MiB."""
    value, unit = float(size_bytes), 0
    while value >= KIB and unit + 1 < len(BINARY_UNITS):
        value /= KIB
        unit += 1
    text = f"{value:.0f}" if value == round(value) else f"{value:.3g}"
    return f"{text}{NO_BREAK}{BINARY_UNITS[unit]}"


def decimals_for(value: float, low: float | None = None, high: float | None = None) -> int:
    """Decimals that the interval [low, high] supports: down to the first digit of its half-width.

    At most four and at least two significant digits; three where there is no interval.
    """
    if value == 0 or not math.isfinite(value):
        return 0
    magnitude = math.floor(math.log10(abs(value)))
    digits = 3
    if is_number(low) and is_number(high):
        half_width = (high - low) / 2
        digits = 4 if half_width <= 0 else magnitude - math.floor(math.log10(half_width)) + 1
        digits = min(4, max(2, digits))
    return max(0, digits - 1 - magnitude)


def number(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """A bare number rounded to what its interval supports; a dash where there is none."""
    if not is_number(value):
        return "–"
    return f"{value:.{decimals_for(value, low, high)}f}"


def _scaled(value: float, units: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    for scale, unit in units:
        if abs(value) >= scale * 0.9995:
            return scale, unit
    return units[-1]


def scale_of(value: float, units: tuple[tuple[float, str], ...]) -> float:
    """What a value is divided by to be printed in its unit."""
    return _scaled(value, units)[0]


def quantity(
    value: float | None,
    units: tuple[tuple[float, str], ...],
    low: float | None = None,
    high: float | None = None,
) -> str:
    """A value in the largest of the units that keeps it above one."""
    if not is_number(value):
        return "–"
    scale, unit = _scaled(value, units)
    low_scaled, high_scaled = (
        (low / scale, high / scale) if is_number(low) and is_number(high) else (None, None)
    )
    return f"{number(value / scale, low_scaled, high_scaled)}{NO_BREAK}{unit}"


def interval(
    low: float | None, high: float | None, value: float, units: tuple[tuple[float, str], ...]
) -> str:
    """[low, high] in the unit of value, one digit more than the value itself; empty where there is no
    interval.
    """
    if not (is_number(low) and is_number(high) and is_number(value)):
        return ""
    scale, _ = _scaled(value, units)
    decimals = decimals_for(value / scale, low / scale, high / scale)
    first, second = (f"{bound / scale:.{decimals}f}" for bound in (low, high))
    if first == second and low != high:
        first, second = (f"{bound / scale:.{decimals + 1}f}" for bound in (low, high))
    return f"[{first}, {second}]"


def span(low: float, high: float) -> str:
    """'9.04 to 10.3', with as many digits, up to five, as tell the two apart."""
    for digits in (3, 4, 5):
        first, second = (
            f"{v:.{max(0, digits - 1 - math.floor(math.log10(abs(v))))}f}" if v else "0" for v in (low, high)
        )
        if first != second:
            break
    return f"{first} to {second}"


def rate(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """Bytes per second, 1 GB/s = 1e9 B/s."""
    return quantity(value, RATE_UNITS, low, high)


def time(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """Seconds as ns, µs, ms or s."""
    return quantity(value, TIME_UNITS, low, high)


def percent(fraction: float | None) -> str:
    """A share as per cent: 0.0234 -> 2.3 %, 0.924 -> 92 %."""
    if not is_number(fraction):
        return "–"
    value = 100 * fraction
    return f"{value:.0f}{NO_BREAK}%" if abs(value) >= 9.95 else f"{value:.1f}{NO_BREAK}%"


def count(value: int) -> str:
    """An integer with thin spaces between thousands."""
    return f"{int(value):,}".replace(",", "\u202f")


def plural(value: int, noun: str, nouns: str | None = None) -> str:
    """1 pair, 2 pairs."""
    return f"{count(value)}{NO_BREAK}{noun if value == 1 else nouns or noun + 's'}"
