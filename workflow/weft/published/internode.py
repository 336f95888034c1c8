"""Messages between two nodes: Tartan's five transports on SummitDev."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from weft.published.recording import FileKey, Protocol, Recording, measured
from weft.published.reference import Row, flag, integer, number, rate, read

_PLACEMENT = {"device": "device", "pinned_host": "pinned", "unpinned_host": "pageable"}
_BEST_OF_20 = Protocol(1, samples=20)
_NOTE = "best, not median, of 20 messages one at a time, timed at the sender with the copy from the device"
# The sweep begins here; the crashed run printed no line, so it ended at its first size.
_FIRST_SIZE_BYTES = 4


def add_internode(source: Path, recording: Recording) -> None:
    """Add p2p_internode.csv as pt2pt.bandwidth with one message in flight."""
    needed = {
        "source",
        "system",
        "locator",
        "buffer_memory",
        "gpudirect_enabled",
        "message_bytes",
        "status",
        "value_origin",
    }
    for row in read(source, "p2p_internode", needed):
        if row["value_origin"] != "stated":
            recording.leave_out("p2p_internode", row, "approximate figure in running text")
            continue
        key = FileKey(row["system"], "pt2pt_bandwidth", 0, row["source"], row["locator"])
        recording.add(key, _failed(row) if row["status"] != "ok" else _measured(row))


def _axes(row: Row) -> dict[str, Any]:
    return {
        "source_rank": 0, "destination_rank": 1,
        "ranks": integer(row, "n_gpus"), "nodes": integer(row, "n_nodes"),
        "pairs": 1, "window": 1, "placement": _PLACEMENT[row["buffer_memory"]],
        "gpudirect": flag(row, "gpudirect_enabled"), "chunk_bytes": None,
    }  # fmt: skip


def _measured(row: Row) -> dict[str, Any]:
    bandwidth, size = rate(row, "bandwidth_gigabytes_per_second"), integer(row, "message_bytes")
    if number(row, "latency_seconds") is None:
        raise ValueError(f"{row['locator']}: a row that is ok must have both bandwidth and latency")
    return measured(
        "pt2pt.bandwidth",
        size,
        size / bandwidth,
        _BEST_OF_20,
        **_axes(row),
        bandwidth_bytes_per_s=bandwidth,
        note=_NOTE,
    )


def _failed(row: Row) -> dict[str, Any]:
    reason = row["status"].removeprefix("failed_").replace("_", " ")
    return {
        "record": "measurement", "outcome": "failed", "benchmark": "pt2pt.bandwidth",
        "size_bytes": _FIRST_SIZE_BYTES,
        "reason": f"{reason}: {row['note']} (the log ends before the first size)", **_axes(row),
    }  # fmt: skip
