"""The columns of the table: one row is one measurement. Names, types and order are the contract with every
reader.
"""

from __future__ import annotations

import pyarrow as pa

TEXT = pa.dictionary(pa.int32(), pa.string())
_I32, _I64, _F64, _BOOL = pa.int32(), pa.int64(), pa.float64(), pa.bool_()

# Where the row comes from: the file's environment record. published_source and locator: imported files only.
# container: the image's file name, null without one. mpi_library: name and version, "Open MPI 5.0.7". job_id,
# partition and node_list: of the scheduler, in its own notation.
ORIGIN: dict[str, pa.DataType] = {
    "file": TEXT, "line": _I32, "program": TEXT, "system": TEXT, "campaign": TEXT, "experiment": TEXT,
    "repeat": _I32,
    "device_backend": TEXT, "hostname": TEXT, "started_at": TEXT, "weft_commit": TEXT, "weft_dirty": _BOOL,
    "published_source": TEXT, "locator": TEXT,
    "container": TEXT, "container_digest": TEXT, "mpi_library": TEXT, "job_id": TEXT, "partition": TEXT,
    "node_list": TEXT,
}  # fmt: skip

# Keys of a measurement record that are columns as they are (link_class is completed from the topology).
MEASUREMENT: dict[str, pa.DataType] = {
    "outcome": TEXT, "reason": TEXT, "benchmark": TEXT, "size_bytes": _I64, "source": _I32,
    "destination": _I32,
    "via": _I32, "device": _I32, "engine": TEXT, "operation": TEXT, "peer_access": _BOOL, "direction": TEXT,
    "memory": TEXT, "method": TEXT, "pattern": TEXT, "streams": _I32, "batching": TEXT, "address": TEXT,
    "result": TEXT, "atomics_per_s": _F64, "kernel_grid": TEXT, "chunk_bytes": _I64, "source_rank": _I32,
    "destination_rank": _I32, "source_host": TEXT, "destination_host": TEXT, "ranks": _I32, "nodes": _I32,
    "placement": TEXT, "gpudirect": _BOOL, "window": _I32, "pairs": _I32, "message_rate_per_s": _F64,
    "library": TEXT,
    "in_place": _BOOL, "count": _I64, "requested_bytes": _I64, "datatype": TEXT, "element_bytes": _I32,
    "reduction": TEXT,
    "root": _I32,
    "graph": _BOOL, "processes": TEXT, "algorithm": TEXT, "protocol": TEXT, "transport": TEXT,
    "block_alignment_bytes": _I32, "timer": TEXT, "bandwidth_bytes_per_s": _F64,
    "bus_bandwidth_bytes_per_s": _F64,
    "wrong": _I64, "payload_bytes_moved": _I64, "note": TEXT, "link_class": TEXT,
}  # fmt: skip

# Keys of time_s -> column; QUANTILES likewise of time_s.quantiles.
TIME: dict[str, tuple[str, pa.DataType]] = {
    "median": ("time_median_s", _F64), "ci_low": ("time_ci_low_s", _F64), "ci_high": ("time_ci_high_s", _F64),
    "confidence": ("confidence", _F64), "samples": ("samples", _I64),
    "operations_per_sample": ("operations_per_sample", _I64), "warmup_samples": ("warmup_samples", _I64),
    "converged": ("converged", _BOOL), "stopped_by": ("stopped_by", TEXT),
}  # fmt: skip
QUANTILES: dict[str, str] = {
    name: f"time_{name}_s" for name in ("min", "p01", "p05", "p25", "p75", "p95", "p99", "max")
}

# Computed here. devices: "0,1,2,3". chunk: "none", "auto" (the best of those tried, named in chunk_bytes) or
# the bytes.
# efficiency: (bus) bandwidth / limit. path_payload_bytes: payload of the operations while which links were
# counted; nvlink_share, pcie_share: bytes counted / bytes to be sent (evidence/counters.py). path_expected,
# path_seen, path_verdict: evidence/verdict.py; path_basis_bytes: size_bytes of the row whose counters the
# verdict rests on. library_path: the way that the MPI library or NCCL says it chose.
DERIVED: dict[str, pa.DataType] = {
    "devices": TEXT, "chunk": TEXT, "bandwidth_ci_low_bytes_per_s": _F64,
    "bandwidth_ci_high_bytes_per_s": _F64,
    "limit_bytes_per_s": _F64, "limit_origin": TEXT, "efficiency": _F64, "throttled": _BOOL,
    "sm_clock_hz_min": _F64,
    "temperature_c_max": _F64, "ecc_uncorrected_delta": _I64, "nvlink_errors_delta": _I64,
    "path_payload_bytes": _I64, "nvlink_share": _F64, "pcie_share": _F64, "path_expected": TEXT,
    "path_seen": TEXT, "path_verdict": TEXT, "path_basis_bytes": _I64, "library_path": TEXT,
}  # fmt: skip

TABLE_SCHEMA = pa.schema(
    [
        *ORIGIN.items(),
        *MEASUREMENT.items(),
        *TIME.values(),
        *((column, _F64) for column in QUANTILES.values()),
        *DERIVED.items(),
    ]
)

# What a configuration is: rows that agree in all of these (null agrees with null) are repeats of each other.
AXES: tuple[str, ...] = (
    "benchmark", "size_bytes", "source", "destination", "via", "device", "devices", "engine", "operation",
    "peer_access", "direction", "memory", "method", "pattern", "streams",
    "batching", "address", "result", "chunk", "source_rank", "destination_rank",
    "ranks",
    "nodes", "placement", "gpudirect", "window", "pairs", "library", "in_place", "count", "datatype",
    "element_bytes",
    "reduction", "root", "graph", "processes", "algorithm", "protocol", "transport", "link_class",
    "container", "mpi_library", "program",
)  # fmt: skip

# Those axes that the environment record holds, not the measurement's: with what the programs ran, and which
# program it was: nccl-tests measures what ours does.
ORIGIN_AXES: tuple[str, ...] = ("container", "mpi_library", "program")

# What makes a row unique: a configuration on one system, campaign, backend, host and software, in one repeat
# of the job. Two requested sizes may round to one; of cases that cannot run, the reason may be all that tells
# them apart.
IDENTITY_MEASUREMENT: tuple[str, ...] = (
    *(axis for axis in AXES if axis not in ORIGIN_AXES),
    "requested_bytes",
    "reason",
)
# Measurements alike in these differ in size alone.
FAMILY: tuple[str, ...] = tuple(
    name
    for name in IDENTITY_MEASUREMENT
    if name not in ("size_bytes", "count", "chunk", "requested_bytes", "reason")
)
IDENTITY_ORIGIN: tuple[str, ...] = (
    "system", "campaign", "device_backend", "hostname", "repeat", *ORIGIN_AXES,
)  # fmt: skip


def identity_columns() -> list[str]:
    """Return the axes columns: rows equal in all of them are the same configuration (group with
    ``dropna=False``).
    """
    return list(AXES)
