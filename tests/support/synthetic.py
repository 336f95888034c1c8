"""Record files of an imaginary 8-GPU node, for tests and for timing table and report at any number of
measurements.

PYTHONPATH=workflow:tests .venv/bin/python -m support.synthetic --directory DIR --measurements 100000 [--seed
1]
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson

DEVICES = 8
LINK_RATE = 25e9
SIZES = tuple(2**power for power in range(2, 31))
SYSTEM, CAMPAIGN = "synthetic", "benchmark"

# Share of the measurements that each experiment has.
SHARES = {
    "p2p_copy": 0.50,
    "p2p_host": 0.05,
    "p2p_route": 0.10,
    "p2p_fanout": 0.05,
    "p2p_latency": 0.02,
    "pt2pt_bandwidth": 0.10,
    "pt2pt_latency": 0.08,
    "collective_nccl": 0.10,
}
_ENDINGS = ("measured", "unsupported", "wrong", "failed")


def link_class(source: int, destination: int) -> str:
    """A hybrid cube mesh: double links, single links, and pairs without a link."""
    if source // 4 == destination // 4:
        return "NV2" if (source + destination) % 2 else "NV1"
    return "NV2" if destination % 4 == source % 4 else "SYS"


def environment(experiment: str, repeat: int, **changes: Any) -> dict[str, Any]:
    """A valid environment record."""
    return {
        "record": "environment",
        "schema_version": 1,
        "program": experiment.partition("_")[0],
        "weft": {
            "version": "0.1.0",
            "commit": "0" * 40,
            "dirty": False,
            "compiler": "GNU 12",
            "build_type": "Release",
        },
        "system": SYSTEM,
        "campaign": CAMPAIGN,
        "experiment": experiment,
        "repeat": repeat,
        "started_at": f"2026-01-{1 + repeat % 28:02}T00:00:00Z",
        "command_line": [experiment],
        "device_backend": "cuda",
        "host": {
            "hostname": "node1",
            "operating_system": "Linux",
            "kernel": "6.1",
            "cpu_model": "imaginary",
            "logical_cpus": 64,
            "numa_nodes": 2,
            "memory_bytes": 2**39,
        },
        "devices": [{"device": device, "name": "Imaginary GPU"} for device in range(DEVICES)],
        "software": {"cuda_runtime": "12.4"},
        "geometry": None,
        "container_digest": None,
        "scheduler": None,
        "variables": {},
    } | changes


def topology() -> list[dict[str, Any]]:
    """Device, link, nic and nic_link records of the node."""
    devices = [
        {
            "record": "device",
            "device": device,
            "name": "Imaginary GPU",
            "numa_node": device // 4,
            "memory_bytes": 2**34,
            "memory_bandwidth_bytes_per_s": 900e9,
            "memory_bandwidth_origin": "memory_computed",
            "memory_copy_bytes_per_s": 450e9,
            "host_link_limit_bytes_per_s": 16e9,
            "host_link_limit_origin": "pcie",
            "egress_limit_bytes_per_s": 6 * LINK_RATE,
            "egress_limit_origin": "nvlink",
        }
        for device in range(DEVICES)
    ]
    links = [
        {
            "record": "link",
            "source": source,
            "destination": destination,
            "link_class": (kind := link_class(source, destination)),
            "pcie_class": "PHB" if source // 4 == destination // 4 else "SYS",
            "link_count": int(kind[2:]) if kind.startswith("NV") else 0,
            "limit_bytes_per_s": int(kind[2:]) * LINK_RATE if kind.startswith("NV") else 16e9,
            "limit_origin": "nvlink" if kind.startswith("NV") else "pcie",
        }
        for source, destination in itertools.permutations(range(DEVICES), 2)
    ]
    nics = [
        {"record": "nic", "nic": nic, "name": f"mlx5_{nic}", "kind": "infiniband", "rate_bytes_per_s": 12.5e9}
        for nic in range(2)
    ]
    nic_links = [
        {"record": "nic_link", "device": device, "nic": nic, "link_class": "PIX"}
        for device in range(DEVICES)
        for nic in range(2)
    ]
    return [*devices, *links, *nics, *nic_links]


def end(records: list[dict[str, Any]]) -> dict[str, Any]:
    """The end record that belongs to these records."""
    outcomes = Counter(record["outcome"] for record in records if record["record"] == "measurement")
    return {
        "record": "end",
        "measurements": outcomes.total(),
        "outcomes": {outcome: outcomes[outcome] for outcome in _ENDINGS},
        "wall_time_s": 1.0,
    }


_PAIRS = tuple(itertools.permutations(range(DEVICES), 2))
_SWITCH = (True, False)
_MESSAGE = {
    "pair": _PAIRS, "placement": ("device", "pinned", "pageable"), "gpudirect": _SWITCH,
    "chunk_bytes": (None, 2**18),
    "size_bytes": SIZES,
}  # fmt: skip
_COLLECTIVES = ("broadcast", "all_gather", "reduce", "all_reduce", "reduce_scatter", "all_to_all")
# The values of each axis, sizes last.
_GRIDS: dict[str, dict[str, tuple[Any, ...]]] = {
    "p2p_copy": {
        "benchmark": ("p2p.copy",), "pair": _PAIRS, "engine": ("copy_engine", "kernel"),
        "operation": ("write", "read"),
        "peer_access": _SWITCH, "direction": ("unidirectional", "bidirectional"), "size_bytes": SIZES,
    },
    "p2p_host": {
        "benchmark": ("p2p.host",), "device": tuple(range(DEVICES)),
        "direction": ("host_to_device", "device_to_host", "bidirectional"), "memory": ("pinned", "pageable"),
        "size_bytes": SIZES,
    },
    "p2p_route": {
        "benchmark": ("p2p.route",), "pair": _PAIRS, "via": tuple(range(DEVICES)),
        "chunk_bytes": (None, 2**20),
        "size_bytes": SIZES[10:],
    },
    "p2p_fanout": {
        "benchmark": ("p2p.fanout",), "pattern": ("one_to_all", "all_to_one", "all_pairs"),
        "device": tuple(range(DEVICES)), "devices": (list(range(DEVICES)),), "size_bytes": SIZES,
    },
    "p2p_latency": {
        "benchmark": ("p2p.latency",), "pair": _PAIRS, "method": ("smallest_copy", "load_store"),
        "peer_access": _SWITCH, "size_bytes": (4,),
    },
    "pt2pt_bandwidth": {"benchmark": ("pt2pt.bandwidth",), **_MESSAGE},
    "pt2pt_latency": {"benchmark": ("pt2pt.latency",), **_MESSAGE},
    "collective_nccl": {
        "benchmark": tuple(f"collective.{operation}" for operation in _COLLECTIVES),
        "ranks": tuple(range(2, DEVICES + 1)),
        "in_place": _SWITCH, "size_bytes": SIZES,
    },
}  # fmt: skip


def axes(experiment: str) -> Iterator[dict[str, Any]]:
    """The configurations of an experiment, without their results; sizes vary fastest."""
    grid = _GRIDS[experiment]
    for values in itertools.product(*grid.values()):
        configuration = dict(zip(grid, values, strict=True))
        if "pair" in configuration:
            source, destination = configuration.pop("pair")
            if configuration.get("via") in (source, destination):
                continue
            configuration |= {"source": source, "destination": destination}
        if experiment.startswith("pt2pt"):
            configuration |= {
                "source_rank": source, "destination_rank": destination, "source_host": "node1",
                "destination_host": "node1", "ranks": DEVICES, "nodes": 1, "pairs": 1,
            }  # fmt: skip
        elif experiment.startswith("collective"):
            configuration |= {
                "library": "nccl", "nodes": 1, "devices": list(range(configuration["ranks"])),
                "datatype": "float32",
                "element_bytes": 4, "reduction": "sum" if "reduce" in configuration["benchmark"] else None,
            }  # fmt: skip
        yield configuration


def measurement(
    configuration: dict[str, Any], noise: float, *, samples: int = 40, device_states: bool = True
) -> dict[str, Any]:
    """A measured record: 5 us and 20 GB/s, both slower by the noise (1 is none), interval +-1 %."""
    size = configuration["size_bytes"]
    time = (5e-6 + size / 20e9) * noise
    record = {
        "record": "measurement",
        "outcome": "measured",
        **configuration,
        "time_s": {
            "median": time,
            "ci_low": time * 0.99,
            "ci_high": time * 1.01,
            "confidence": 0.95,
            "samples": samples,
            "operations_per_sample": 4,
            "warmup_samples": 3,
            "converged": samples < 200,
            "stopped_by": "precision" if samples < 200 else "time_budget",
            "quantiles": {
                name: time * factor
                for name, factor in (
                    ("min", 0.95),
                    ("p01", 0.955),
                    ("p05", 0.96),
                    ("p25", 0.98),
                    ("p75", 1.03),
                    ("p95", 1.2),
                    ("p99", 1.3),
                    ("max", 1.5),
                )
            },
        },
        "timer": "device_events",
        "bandwidth_bytes_per_s": size / time,
        "wrong": 0,
    }
    if configuration["benchmark"].startswith("collective."):
        record["bus_bandwidth_bytes_per_s"] = size / time * 1.5
    if device_states and "source" in configuration:
        moved = size * samples * 4
        record["payload_bytes_moved"] = moved
        record["device_states"] = [
            {
                "device": device,
                "sm_clock_hz": [1.98e9, 1.98e9],
                "memory_clock_hz": [2.6e9, 2.6e9],
                "temperature_c": [40, 41],
                "power_w": [110.5, 180.25],
                "throttle_reasons": [0, 0],
                "ecc_corrected": [0, 0],
                "ecc_uncorrected": [0, 0],
                "nvlink_replay_errors": [0, 0],
                "nvlink_recovery_errors": [0, 0],
                "nvlink_crc_errors": [0, 0],
                "pcie_replays": [0, 0],
                "nvlink_transmitted_bytes": moved if device == configuration["source"] else 0,
                "nvlink_received_bytes": 0 if device == configuration["source"] else moved,
            }
            for device in (configuration["source"], configuration["destination"])
        ]
    return record


def hole(configuration: dict[str, Any], outcome: str) -> dict[str, Any]:
    """A record of a configuration that was not measured."""
    record = {"record": "measurement", "outcome": outcome, "reason": f"made to be {outcome}", **configuration}
    return record | ({"wrong": 3} if outcome == "wrong" else {})


def write_file(path: Path, records: list[dict[str, Any]]) -> None:
    """Write records, closed by their end record, as a record file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        b"".join(
            orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in [*records, end(records)]
        )
    )


def write_synthetic(
    directory: Path, measurements: int, seed: int = 1, *, device_states: bool = True
) -> list[Path]:
    """Write record files with so many measurements in all below directory, and return their paths.

    Every configuration comes once a repeat, and repeats are added until there are enough; one file an
    experiment and repeat, and one for the topology. 1 % are unsupported, 0.01 % wrong, 0.01 % failed. The
    same arguments give the same bytes.
    """
    random = np.random.default_rng(seed)
    paths = [directory / "topology" / "repeat0.jsonl"]
    write_file(paths[0], [environment("topology", 0), *topology()])
    wanted = {experiment: int(measurements * share) for experiment, share in SHARES.items()}
    wanted["p2p_copy"] += measurements - sum(wanted.values())
    for experiment, count in wanted.items():
        configurations = list(itertools.islice(axes(experiment), count))
        for repeat, first in enumerate(range(0, count, max(1, len(configurations)))):
            chosen = configurations[: count - first]
            noise = random.lognormal(0.0, 0.05, len(chosen))
            samples = random.integers(20, 210, len(chosen))
            fate = random.random(len(chosen))
            records = [environment(experiment, repeat)]
            for configuration, slower, number, chance in zip(chosen, noise, samples, fate, strict=True):
                if chance < 0.0102:
                    outcome = "unsupported" if chance < 0.01 else "wrong" if chance < 0.0101 else "failed"
                    records.append(hole(configuration, outcome))
                else:
                    records.append(
                        measurement(
                            configuration, float(slower), samples=int(number), device_states=device_states
                        )
                    )
            paths.append(directory / experiment / f"repeat{repeat}.jsonl")
            write_file(paths[-1], records)
    return paths


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--directory", type=Path, required=True, help="folder to write the record files below"
    )
    parser.add_argument("--measurements", type=int, required=True, help="how many measurements in all")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers")
    parser.add_argument(
        "--no-device-states", action="store_true", help="as the host backend, which has no NVML"
    )
    arguments = parser.parse_args()
    write_synthetic(
        arguments.directory,
        arguments.measurements,
        arguments.seed,
        device_states=not arguments.no_device_states,
    )
