"""Copies within a node: Tartan's pair matrices and size sweep, Dell's pair matrices, the thesis' values by
class.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from weft.published.recording import FileKey, Protocol, Recording, measured
from weft.published.reference import Row, flag, integer, number, rate, read

# Below this, two printed decimals of GB/s are more than 5 % of the value wrong.
COARSE_GIGABYTES_PER_SECOND = 0.10
TOO_COARSE = "bandwidth printed with two decimals and below 0.10 GB/s: rounded by more than 5 %"

# CUDA 9.1's p2pBandwidthLatencyTest, which Tartan's program is made from, copies 10^7 integers, and 1 byte
# for latency.
_SAMPLE_BANDWIDTH_BYTES, _SAMPLE_LATENCY_BYTES = 40_000_000, 1
_DELL_NOTE = (
    "size and direction are not printed: taken as those of the CUDA sample "
    "(40000000 B, latency 1 B; row is destination, column is source)"
)
_LOCAL_NOTE = "printed as bytes read plus bytes written; payload is half of it"
_FALLBACK_NOTE = "peer access was on, but this pair has none: staged through host memory"
_FRACTION_NOTE = "printed as a percentage of the theoretical rate: rounded to 1 % of that"

_PAIR_BANDWIDTH, _PAIR_LATENCY, _SWEEP_LATENCY = Protocol(5), Protocol(10_000), Protocol(100)
_DELL = Protocol(1, warmup_samples=None)
_MGBENCH = Protocol(100)


def add_matrices(source: Path, recording: Recording) -> None:
    """Add p2p_intranode.csv: one record a row, save running-text approximations and local copies'
    read-plus-write.
    """
    needed = {
        "source",
        "system",
        "locator",
        "operation",
        "endpoints",
        "direction",
        "p2p_enabled",
        "path",
        "value_origin",
    }
    for row in read(source, "p2p_intranode", needed):
        if row["value_origin"].startswith("stated_"):
            recording.leave_out("p2p_intranode", row, "approximate figure in running text")
        elif row["source"] == "zarges2019":
            _add_by_class(row, recording)
        else:
            _add_pair(row, recording)


def add_sweep(source: Path, recording: Recording) -> None:
    """Add p2p_intranode_sweep.csv: copies of every size between all pairs.

    Its bandwidth test (5 copies) is repeat 0, its latency test (100 copies, the same copies back to back)
    repeat 1.
    """
    needed = {
        "source",
        "system",
        "locator",
        "direction",
        "p2p_enabled",
        "path",
        "src_gpu",
        "dst_gpu",
        "message_bytes",
        "metric",
    }
    for row in read(source, "p2p_intranode_sweep", needed):
        bandwidth = number(row, "bandwidth_gigabytes_per_second")
        if row["metric"] == "bandwidth" and bandwidth < COARSE_GIGABYTES_PER_SECOND:
            recording.leave_out("p2p_intranode_sweep", row, TOO_COARSE)
            continue
        repeat, protocol = (0, _PAIR_BANDWIDTH) if row["metric"] == "bandwidth" else (1, _SWEEP_LATENCY)
        size = integer(row, "message_bytes")
        axes = _pair_axes(row, integer(row, "src_gpu"), integer(row, "dst_gpu"))
        recording.add(_key(row, "p2p_copy", repeat), _copy(row, size, protocol, axes))


def _add_pair(row: Row, recording: Recording) -> None:
    """Add one entry of a pair matrix of Tartan or Dell."""
    dell = row["source"] == "dell2018"
    latency = row["latency_seconds"] != ""
    repeat = 1 if "descending" in row["locator"] else 0
    source, destination = (row["gpu_col"], row["gpu_row"]) if dell else (row["src_gpu"], row["dst_gpu"])
    size = integer(row, "message_bytes") or (_SAMPLE_LATENCY_BYTES if latency else _SAMPLE_BANDWIDTH_BYTES)
    protocol = _DELL if dell else _PAIR_LATENCY if latency else _PAIR_BANDWIDTH
    axes = _pair_axes(row, int(source), int(destination))
    if dell:
        axes["note"] = "; ".join(filter(None, (axes.get("note"), _DELL_NOTE)))
    if row["path"] == "nvlink_routed":
        axes |= {"via": integer(row, "router_gpu"), "chunk_bytes": None}
        recording.add(_key(row, "p2p_route", repeat), _copy(row, size, protocol, axes, "p2p.route"))
    elif latency:
        axes |= {"method": "smallest_copy"}
        record = measured("p2p.latency", size, number(row, "latency_seconds"), protocol, **axes)
        recording.add(_key(row, "p2p_latency", repeat), record)
    else:
        recording.add(_key(row, "p2p_copy", repeat), _copy(row, size, protocol, axes))


def _pair_axes(row: Row, source: int, destination: int) -> dict[str, Any]:
    axes: dict[str, Any] = {
        "source": source, "destination": destination, "engine": "copy_engine", "operation": None,
        "peer_access": flag(row, "p2p_enabled"), "direction": row["direction"],
    }  # fmt: skip
    if row["path"] == "local" and row["bandwidth_gigabytes_per_second"]:
        axes["note"] = _LOCAL_NOTE
    elif row["path"] == "host_staged" and axes["peer_access"]:
        axes["note"] = _FALLBACK_NOTE
    return axes


def _copy(
    row: Row, size: int, protocol: Protocol, axes: dict[str, Any], benchmark: str = "p2p.copy"
) -> dict[str, Any]:
    """Return a record with time and payload bandwidth, of which the source prints one."""
    payload = size * (2 if axes["direction"] == "bidirectional" else 1)
    if row["latency_seconds"]:
        time = number(row, "latency_seconds")
        bandwidth = payload / time
    else:
        bandwidth = rate(row, "bandwidth_gigabytes_per_second") / (2 if row["path"] == "local" else 1)
        time = payload / bandwidth
    return measured(benchmark, size, time, protocol, **axes, bandwidth_bytes_per_s=bandwidth)


def _add_by_class(row: Row, recording: Recording) -> None:
    """Add a value of the thesis, which names the class of the pair, not the pair; two-way values are per
    direction.
    """
    both = row["direction"] == "bidirectional"
    size = integer(row, "message_bytes")
    per_direction = rate(row, "bandwidth_gigabytes_per_second")
    operation = {"copy": None, "dma_read": "read", "dma_write": "write"}[row["operation"]]
    axes: dict[str, Any] = {"engine": "kernel" if operation else "copy_engine", "operation": operation}
    if row["endpoints"] == "gpu_gpu":
        benchmark, experiment = "p2p.copy", "p2p_copy"
        axes |= {
            "source": None,
            "destination": None,
            "peer_access": flag(row, "p2p_enabled"),
            "direction": row["direction"],
        }
    else:
        # mgbench allocates host memory with cudaMallocHost: pinned.
        benchmark, experiment = "p2p.host", "p2p_host"
        way = {"host_gpu": "host_to_device", "gpu_host": "device_to_host"}[row["endpoints"]]
        axes |= {"device": None, "memory": "pinned", "direction": way}
    if re.fullmatch(r"NV[0-9]+|PIX|PXB|PHB|NODE|SYS", row["link_class"]):
        axes["link_class"] = row["link_class"]
    notes = [_FRACTION_NOTE if row["value_origin"] == "fraction_times_theoretical" else "", row["note"]]
    if any(notes):
        axes["note"] = "; ".join(filter(None, notes))
    axes["bandwidth_bytes_per_s"] = per_direction * (2 if both else 1)
    recording.add(_key(row, experiment, 0), measured(benchmark, size, size / per_direction, _MGBENCH, **axes))


def _key(row: Row, experiment: str, repeat: int) -> FileKey:
    return FileKey(row["system"], experiment, repeat, row["source"], row["locator"])
