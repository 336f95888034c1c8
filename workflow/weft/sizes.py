"""Sizes in bytes, as campaigns and programs write them: ``100``, ``64KiB``, ``4:1GiB:x4``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from weft.errors import BadInput

_UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_SIZE = re.compile(r"([0-9]+)(KiB|MiB|GiB)?")
_RANGE = re.compile(r"([^:]+):([^:]+):x([0-9]+)")


def parse_size(value: int | str) -> int:
    """Return the bytes that ``value`` names. Raises BadInput when it is no size, or 0."""
    match = _SIZE.fullmatch(str(value))
    if not match:
        raise BadInput(
            f"'{value}' is not a size; write a number of bytes, or one with KiB, MiB or GiB, as in 64KiB"
        )
    size_bytes = int(match[1]) * _UNITS[match[2] or ""]
    if size_bytes == 0:
        raise BadInput(f"the size '{value}' is 0, but there must be something to move; 1 is the smallest")
    return size_bytes


def parse_sizes(values: Iterable[int | str]) -> list[int]:
    """Return the bytes of every size and range of ``values``, ascending, none twice."""
    sizes: set[int] = set()
    for value in values:
        match = _RANGE.fullmatch(str(value))
        if not match:
            sizes.add(parse_size(value))
            continue
        size_bytes, high, factor = parse_size(match[1]), parse_size(match[2]), int(match[3])
        if factor < 2:
            raise BadInput(f"the range '{value}' never ends; its factor must be 2 or more")
        if size_bytes > high:
            raise BadInput(f"the range '{value}' is empty; write the smaller size first")
        while size_bytes <= high:
            sizes.add(size_bytes)
            size_bytes *= factor
    return sorted(sizes)


def format_size(size_bytes: int) -> str:
    """Return ``size_bytes`` in the largest unit that divides it: ``64KiB``, ``100``."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size_bytes % factor == 0:
            return f"{size_bytes // factor}{unit}"
    return str(size_bytes)
