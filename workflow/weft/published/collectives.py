"""NCCL collectives of Tartan: one DGX-1 and SummitDev."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from weft.nccl_tests.operations import bus_factor
from weft.published.intranode import COARSE_GIGABYTES_PER_SECOND, TOO_COARSE
from weft.published.recording import FileKey, Protocol, Recording, measured
from weft.published.reference import Row, integer, number, rate, read

_NCCL_TESTS = Protocol(20, warmup_samples=5)
_REDUCING = {"all_reduce", "reduce", "reduce_scatter"}
# Logs of the same node counts and sizes: runs of one test, the size sweep, and runs left over.
_REPEAT_OF_TEST = {"startup_latency": 0, "sustained_bandwidth": 0, "message_size_sweep": 1}
_REPEAT_OF_LEFT_OVER = 2


def add_collectives(source: Path, recording: Recording) -> None:
    """Add collectives.csv; points without payload, of one GPU, or in running text are left out."""
    needed = {
        "source",
        "system",
        "locator",
        "library",
        "op",
        "n_gpus",
        "test",
        "effective_message_bytes",
        "flag",
    }
    for row in read(source, "collectives", needed):
        reason = _unusable(row)
        if reason:
            recording.leave_out("collectives", row, reason)
            continue
        repeat = _REPEAT_OF_LEFT_OVER if "repeat_run" in row["flag"] else _REPEAT_OF_TEST[row["test"]]
        key = FileKey(row["system"], "collective_nccl", repeat, row["source"], row["locator"])
        recording.add(key, _record(row))


def _unusable(row: Row) -> str | None:
    if row["flag"] == "approximate":
        return "approximate figure in running text"
    if "zero_payload" in row["flag"]:
        return "the element count rounds down to zero per rank: no payload moves"
    if "single_gpu" in row["flag"]:
        return "one GPU: nothing is communicated"
    bandwidth = number(row, "bus_bandwidth_gigabytes_per_second")
    return TOO_COARSE if bandwidth is not None and bandwidth < COARSE_GIGABYTES_PER_SECOND else None


def _record(row: Row) -> dict[str, Any]:
    ranks, size = integer(row, "n_gpus"), integer(row, "effective_message_bytes")
    factor = bus_factor(row["op"], ranks)
    time = number(row, "latency_seconds")
    if time is None:
        bus = rate(row, "bus_bandwidth_gigabytes_per_second")
        time = size * factor / bus
    else:
        bus = size * factor / time
    return measured(
        f"collective.{row['op']}", size, time, _NCCL_TESTS, library=row["library"], ranks=ranks,
        nodes=integer(row, "n_nodes"), in_place=False, datatype="float32", element_bytes=4,
        reduction="sum" if row["op"] in _REDUCING else None,
        block_alignment_bytes=min(16, integer(row, "per_rank_alignment_bytes")),
        bandwidth_bytes_per_s=size / time, bus_bandwidth_bytes_per_s=bus,
    )  # fmt: skip
