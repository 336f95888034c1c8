"""Measurements whose links were counted: by NVLink, staged through the host."""

from support.cases import MIB
from support.synthetic import measurement

MESSAGE = {
    "benchmark": "pt2pt.bandwidth", "source": 0, "destination": 1, "source_rank": 0, "destination_rank": 1,
    "source_host": "n1", "destination_host": "n1", "placement": "device", "gpudirect": True,
    "chunk_bytes": None, "ranks": 2, "nodes": 1, "pairs": 1, "size_bytes": MIB,
}  # fmt: skip
COLLECTIVE = {
    "benchmark": "collective.all_reduce", "library": "nccl", "ranks": 2, "nodes": 1, "devices": [0, 1],
    "in_place": False, "size_bytes": MIB,
}  # fmt: skip
HOST = {
    "benchmark": "p2p.host",
    "device": 0,
    "direction": "host_to_device",
    "memory": "pinned",
    "size_bytes": MIB,
}


def counted(case, *devices, operations=4, payload=True):
    """A measurement with what its devices counted, in payloads: (NVLink out, in, PCIe out, in)."""
    moved = operations * case["size_bytes"]
    names = (
        "nvlink_transmitted_bytes",
        "nvlink_received_bytes",
        "pcie_transmitted_bytes",
        "pcie_received_bytes",
    )
    entries = [
        {
            "device": index,
            **{n: round(v * moved) for n, v in zip(names, values, strict=True) if v is not None},
        }
        for index, values in enumerate(devices)
    ]
    proof = {"operations": operations, "devices": entries} | ({"payload_bytes": moved} if payload else {})
    return measurement(case, 1.0, device_states=False) | {"path_proof": proof}


NVLINK = ((1, 0, 0.0002, 0.0001), (0, 1, 0.0001, 0.0002))
STAGED = ((0, 0, 1.094, 0.001), (0, 0, 0.094, 1.079))
