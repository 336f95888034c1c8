"""One valid record of each type with every key that the schema knows."""

from __future__ import annotations

import copy
from typing import Any

from support import synthetic

_STATE_PAIRS = (
    "sm_clock_hz", "memory_clock_hz", "temperature_c", "power_w", "throttle_reasons", "ecc_corrected",
    "ecc_uncorrected", "nvlink_replay_errors", "nvlink_recovery_errors", "nvlink_crc_errors", "pcie_replays",
)  # fmt: skip

_ENVIRONMENT = synthetic.environment("p2p_copy", 0) | {
    "devices": [{"device": 0, "name": "GPU", "uuid": "GPU-1", "pci_bus_id": "0000:01:00.0", "cores": "0-3"}],
    "software": {
        "cuda_runtime": "12.4", "cuda_driver": "12.4", "nvidia_driver": "550.1", "nccl": "2.20",
        "nccl_tests": None,
        "mpi_library": "Open MPI",
        "mpi_standard": "3.1", "mpi_cuda_aware": True, "cross_memory_attach": True, "importer": None,
    },
    "geometry": {
        "ranks": 2, "nodes": 1, "rank_hosts": ["a", "a"], "rank_devices": [0, 1], "rank_cpus": ["0", "1-3"],
    },
    "container": "openmpi.sif", "container_digest": "sha256:0",
    "scheduler": {
        "kind": "slurm", "cluster": "c", "job_id": "1", "step_id": "0", "partition": "p",
        "node_list": "n[1-2]",
        "gres": "gpu:4(IDX:0-3)", "cpus_per_task": 2, "cpu_binding": "cores", "restarts": 0,
    },
    "variables": {"CUDA_VISIBLE_DEVICES": "0,1"}, "source": None, "locator": None,
}  # fmt: skip
_DEVICE = synthetic.topology()[0] | {
    "uuid": "GPU-1", "pci_bus_id": "0000:01:00.0", "compute_capability": "9.0", "multiprocessors": 132,
    "cpu_affinity": "0-19", "pcie_generation": 5, "pcie_width": 16, "nvlink_count": 6,
    "nvlink_rate_bytes_per_s": 25e9,
}  # fmt: skip
_LINK = {
    "record": "link", "source": 0, "destination": 1, "link_class": "NV2", "pcie_class": "PHB",
    "link_count": 2,
    "link_rate_bytes_per_s": 25e9, "limit_bytes_per_s": 50e9, "limit_origin": "nvlink", "switched": False,
    "peer_access": True, "peer_atomics": True,
}  # fmt: skip
_NIC = {
    "record": "nic", "nic": 0, "name": "mlx5_0", "kind": "infiniband", "pci_bus_id": "0000:02:00.0",
    "numa_node": 0,
    "rate_bytes_per_s": 12.5e9, "state": "ACTIVE",
}  # fmt: skip
_NIC_LINK = {"record": "nic_link", "device": 0, "nic": 0, "link_class": "PIX"}
_MEASUREMENT = {
    "record": "measurement", "outcome": "measured", "reason": "none", "benchmark": "p2p.copy",
    "size_bytes": 1000,
    "source": 0, "destination": 1, "via": None, "device": 0, "devices": [0, 1], "engine": "kernel",
    "operation": "write",
    "peer_access": True, "direction": "unidirectional", "link_class": "NV2", "memory": "pinned",
    "method": "smallest_copy",
    "pattern": "one_to_all", "streams": 1, "batching": "stream", "address": "one", "result": "used",
    "atomics_per_s": 1e9, "kernel_grid": "264x512x8",
    "chunk_bytes": 100, "chunk_search": [{"chunk_bytes": 100, "time_s": 1e-6}],
    "source_rank": 0,
    "destination_rank": 1, "source_host": "a", "destination_host": "a", "ranks": 2, "nodes": 1,
    "placement": "device",
    "gpudirect": True, "window": 64, "pairs": 1, "message_rate_per_s": 1e6, "library": "nccl",
    "in_place": False,
    "count": 250, "requested_bytes": 1003, "datatype": "float32", "element_bytes": 4, "reduction": "sum",
    "root": 0, "graph": False, "processes": "one_per_device", "algorithm": "auto", "protocol": "auto",
    "transport": "auto", "block_alignment_bytes": 8,
    "time_s": {
        "median": 1e-6, "ci_low": 0.9e-6, "ci_high": 1.25e-6, "confidence": 0.95, "samples": 20,
        "operations_per_sample": 8, "warmup_samples": 2, "converged": True, "stopped_by": "precision",
        "quantiles": {"min": 1e-7, "p01": 2e-7, "p05": 3e-7, "p25": 4e-7, "p75": 5e-7, "p95": 6e-7,
        "p99": 7e-7, "max": 8e-7},
        "values": [1e-6, 1e-6],
    },
    "timer": "device_events", "bandwidth_bytes_per_s": 1e9, "bus_bandwidth_bytes_per_s": 2e9, "wrong": 0,
    "device_states": [
        {
            "device": 0, **{key: [1, 2] for key in _STATE_PAIRS}, "nvlink_transmitted_bytes": 10,
            "nvlink_received_bytes": 1, "rank": 0, "host": "a",
        }
    ],
    "path_proof": {
        "operations": 5, "payload_bytes": 5000,
        "devices": [
            {"device": 0, "rank": 0, "host": "a",
             "nvlink_transmitted_bytes": 5000, "nvlink_received_bytes": 0,
             "pcie_transmitted_bytes": 10, "pcie_received_bytes": 20}
        ],
    },
    "payload_bytes_moved": 10, "note": "an example",
}  # fmt: skip
_REPORT = {
    "record": "library_report", "library": "ucx", "logs": 2, "version": "1.22.0", "unread": [],
    "unused_variables": ["UCX_X"],
    "protocols": [
        {"reach": "intra-node", "operation": "tagged message by ucp_tag_send", "source_memory": "cuda/GPU0",
         "destination_memory": "cuda/GPU1", "low_bytes": 0, "high_bytes": None, "protocol": "zero-copy",
         "transport": "cuda_ipc/cuda"}
    ],
    "communicators": [
        {"ranks": 2, "connections": {"P2P/CUMEM": 24}, "collective_channels": 24, "p2p_channels": 32,
         "choices": [{"operation": "AllReduce", "size_bytes": 8, "algorithm": "ring", "protocol": "ll",
                      "channels": 1}]}
    ],
}  # fmt: skip
_END = {
    "record": "end", "measurements": 1, "outcomes": {"measured": 1, "unsupported": 0, "wrong": 0,
    "failed": 0},
    "wall_time_s": 1.0, "phases_s": {"sampling": 0.5},
}  # fmt: skip

_ALL = {
    record["record"]: record
    for record in (_ENVIRONMENT, _DEVICE, _LINK, _NIC, _NIC_LINK, _MEASUREMENT, _REPORT, _END)
}


def example(kind: str) -> dict[str, Any]:
    """A fresh copy of the example of a record type."""
    return copy.deepcopy(_ALL[kind])


def file() -> list[dict[str, Any]]:
    """The records of a whole valid file: every type once."""
    return [example(kind) for kind in _ALL]
