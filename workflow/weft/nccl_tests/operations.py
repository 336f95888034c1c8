"""Operations and sizes as nccl-tests has them: its binaries, its bus bandwidth, how it rounds sizes."""

from __future__ import annotations

from collections.abc import Sequence

_ALIGNMENT_BYTES = 16
_WITH_BLOCKS = ("all_gather", "reduce_scatter", "all_to_all", "scatter", "gather")
REDUCING = ("reduce", "all_reduce", "reduce_scatter")

BINARIES = {
    "broadcast": "broadcast_perf",
    "all_gather": "all_gather_perf",
    "reduce": "reduce_perf",
    "all_reduce": "all_reduce_perf",
    "reduce_scatter": "reduce_scatter_perf",
    "all_to_all": "alltoall_perf",
    "scatter": "scatter_perf",
    "gather": "gather_perf",
    "send_recv": "sendrecv_perf",
}
DATATYPES = {"float": ("float32", 4), "double": ("float64", 8), "int32": ("int32", 4)}


def bus_factor(operation: str, ranks: int) -> float:
    """Return bus bandwidth / algorithm bandwidth, sizes being those of the whole operation.

    As nccl-tests defines them (doc/PERFORMANCE.md).
    """
    if operation == "all_reduce":
        return 2 * (ranks - 1) / ranks
    return (ranks - 1) / ranks if operation in _WITH_BLOCKS else 1.0


def alignment_bytes(operation: str, count: int, element_bytes: int, ranks: int) -> int:
    """Return the largest power of two, at most 16, that divides the bytes each participant handles.

    count: elements of a block where the operation has blocks, else of the whole.
    """
    divided = operation not in _WITH_BLOCKS and count % ranks == 0
    handled = (count // ranks if divided else count) * element_bytes
    return max(power for power in (1, 2, 4, 8, 16) if handled % power == 0)


def ranges(sizes_bytes: Sequence[int]) -> list[list[int]]:
    """Return the sizes in groups that one call of a binary can take: each a whole multiple of the one before,
    the same throughout a group.
    """
    rest = sorted(set(sizes_bytes))
    found = []
    while rest:
        factors = [size // rest[0] for size in rest[1:] if size % rest[0] == 0]
        found.append(max(([rest[0]], *(_chain(rest, factor) for factor in factors)), key=len))
        rest = [size for size in rest if size not in found[-1]]
    return found


def _chain(sizes: Sequence[int], factor: int) -> list[int]:
    """The first of ``sizes`` and its multiples by powers of ``factor``, as far as they are there."""
    chain = [sizes[0]]
    while chain[-1] * factor in sizes:
        chain.append(chain[-1] * factor)
    return chain


def rounds_to(operation: str, asked_bytes: int, found_bytes: int, element_bytes: int, ranks: int) -> bool:
    """Return whether a row of ``found_bytes`` is that of ``asked_bytes``.

    Operations with a block a rank round it down, to whole elements or, from 2.12 on, to 16 bytes.
    """
    unit = max(element_bytes, _ALIGNMENT_BYTES) * ranks if operation in _WITH_BLOCKS else element_bytes
    return 0 <= asked_bytes - found_bytes < unit
