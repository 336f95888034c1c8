"""What NVML counted on the links of the devices while a measurement's operations ran, in one value a row."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Of a device: sent and received, over NVLink and over PCIe.
COUNTERS = (
    "nvlink_transmitted_bytes", "nvlink_received_bytes", "pcie_transmitted_bytes", "pcie_received_bytes",
)  # fmt: skip
_F64 = pa.float64()


def share_columns(columns: dict[str, pa.Array], proof: pa.Array, states: pa.Array) -> dict[str, pa.Array]:
    """Return path_payload_bytes, nvlink_share and pcie_share of each row; null where nothing was counted.

    columns: those of the measurement; proof: path_proof; states: device_states, for records that have no
    proof: they counted NVLink, around all operations. A share is of the bytes that devices must send: the
    payload, for each hop of a route, and what ring and tree of a collective send in all. What one device
    sends another receives: the larger sum of the two counts. A copy between a device and the host passes one
    link: both sums count together.
    """
    rows = len(proof)
    devices = pc.struct_field(proof, "devices")
    sums = {name: _sum(devices, name, rows) for name in COUNTERS}
    older = np.asarray(pc.is_null(devices))
    for name in COUNTERS[:2]:
        sums[name] = np.where(older, _sum(states, name, rows), sums[name])
    payload = np.where(older, _floats(columns["payload_bytes_moved"]), _payload(columns, proof))
    payload = np.where(payload > 0, payload, np.nan)
    needed = payload * np.where(np.isnan(_floats(columns["via"])), 1, 2) * _copies(columns)
    host = np.asarray(pc.starts_with(columns["benchmark"].cast(pa.string()), "p2p.host"))
    sent, received, out, back = (sums[name] for name in COUNTERS)
    counted = ~np.isnan(np.fmax(np.fmax(sent, received), np.fmax(out, back)))
    return {
        "path_payload_bytes": _nullable(np.where(counted, payload, np.nan)),
        "nvlink_share": _nullable(np.fmax(sent, received) / needed),
        "pcie_share": _nullable(np.where(host, out + back, np.fmax(out, back)) / needed),
    }


def _copies(columns: dict[str, pa.Array]) -> np.ndarray:
    """How many times its payload, as nccl-tests defines it, a collective sends in all; 1 of the others."""
    ranks = _floats(columns["ranks"])
    of_operation = {
        "all_reduce": 2 * (ranks - 1),
        **dict.fromkeys(("all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce"), ranks - 1),
        **dict.fromkeys(("gather", "scatter"), (ranks - 1) / ranks),
        "send_recv": ranks,
    }
    names = columns["benchmark"].cast(pa.string())
    copies = np.ones(len(names))
    for operation, count in of_operation.items():
        which = np.asarray(pc.fill_null(pc.equal(names, f"collective.{operation}"), False))
        copies = np.where(which & (ranks > 1), count, copies)
    return copies


def _payload(columns: dict[str, pa.Array], proof: pa.Array) -> np.ndarray:
    """Payload of the operations counted; of a benchmark that reports no bandwidth, from its size."""
    told = _floats(pc.struct_field(proof, "payload_bytes"))
    both_ways = np.asarray(pc.fill_null(pc.equal(columns["method"], "load_store"), False))
    sized = _floats(pc.struct_field(proof, "operations")) * _floats(columns["size_bytes"])
    return np.where(np.isnan(told), sized * np.where(both_ways, 2, 1), told)


def _sum(devices: pa.Array, name: str, rows: int) -> np.ndarray:
    """One value a row: the sum over its devices, NaN where none of them was counted."""
    row = np.asarray(pc.list_parent_indices(devices))
    values = _floats(pc.struct_field(pc.list_flatten(devices), name))
    known = ~np.isnan(values)
    total = np.bincount(row[known], values[known], minlength=rows)
    return np.where(np.bincount(row[known], minlength=rows) > 0, total, np.nan)


def _floats(array: pa.Array) -> np.ndarray:
    return array.cast(_F64, safe=False).to_numpy(zero_copy_only=False)


def _nullable(values: np.ndarray) -> pa.Array:
    return pa.array(values, from_pandas=True)
