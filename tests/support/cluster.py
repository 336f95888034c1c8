"""Record files of an imaginary Slurm cluster: messages and collectives over nodes, with container and bare.

PYTHONPATH=workflow:tests .venv/bin/python -m support.cluster --directory DIR [--nodes 4] [--slow node3]
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from support import synthetic

IMAGE, DIGEST = "openmpi.sif", "sha256:" + "c" * 64
NIC_RATE = 125e6  # bytes/s, 1 Gbit/s
WITHIN_RATE = 4e9
LATENCY_S = {True: 25e-6, False: 1.5e-6}  # between nodes, within
TRANSPORTS = (
    ("device", True), ("pinned", True), ("pinned", False), ("pageable", True), ("pageable", False),
)  # fmt: skip
WINDOW = 64
SWEEP = (8, 2**10, 2**14, 2**18, 2**22)
_PAYLOADS = {"latency": 1, "bandwidth": WINDOW, "bidirectional_bandwidth": 2 * WINDOW}


class Cluster:
    """nodes: how many; slow: node -> factor by which its network is slower; noise: of a run's median in
    bandwidth, relative; jitter: likewise of latency, as on machines with fewer cores than ranks.
    """

    def __init__(
        self, nodes: int = 4, seed: int = 1, slow: Mapping[str, float] | None = None, noise: float = 0.02,
        jitter: float = 0.2,
    ) -> None:  # fmt: skip
        self.hosts = [f"node{index + 1}" for index in range(nodes)]
        self.slow = dict(slow or {})
        self._noise, self._jitter = noise, jitter
        self._random = np.random.default_rng(seed)

    def message(self, kind: str, size: int, source: int, destination: int, **changes: Any) -> dict[str, Any]:
        """A message of a pt2pt benchmark between ranks on two nodes (numbers) or on one."""
        between = source != destination
        hosts = self.hosts[source], self.hosts[destination]
        slower = max(self.slow.get(host, 1.0) for host in hosts) if between else 1.0
        rate = NIC_RATE * 0.94 / slower if between else WITHIN_RATE
        payload = size * _PAYLOADS[kind]
        time = LATENCY_S[between] + payload / rate / (2 if kind.startswith("bidirectional") else 1)
        if changes.get("placement") == "pageable":
            time *= 1.02 if between else 1.6
        configuration = {
            "benchmark": f"pt2pt.{kind}", "size_bytes": size, "source": 0, "destination": 0 if between else 1,
            "source_rank": source, "destination_rank": destination, "source_host": hosts[0],
            "destination_host": hosts[1], "placement": "device", "gpudirect": True, "pairs": 1,
            "window": None if kind == "latency" else WINDOW, "chunk_bytes": None,
        }  # fmt: skip
        configuration = {
            key: value for key, value in (configuration | changes).items() if key != "window" or value
        }
        return self.measured(configuration, time, payload, self._jitter if payload < 2**14 else self._noise)

    def measured(
        self, configuration: dict[str, Any], time: float, payload: float, noise: float | None = None
    ) -> dict[str, Any]:
        """A measured record whose median is beside time by a run's noise, to the slower side more often."""
        scale = self._noise if noise is None else noise
        time = float(time * (1 + scale * (abs(self._random.normal()) + 0.2 * self._random.normal())))
        record = synthetic.measurement(configuration, 1.0, device_states=False)
        record["time_s"] |= {
            "median": time,
            "ci_low": 0.99 * time,
            "ci_high": 1.012 * time,
            "confidence": 0.95,
        }
        record["timer"] = "host_clock"
        return record | {"bandwidth_bytes_per_s": payload / time}

    def environment(self, experiment: str, repeat: int, nodes: int, container: bool) -> dict[str, Any]:
        """The environment of a job on the first nodes."""
        ranks = self.hosts[:nodes]
        environment = synthetic.environment(experiment, repeat, system="cluster", campaign="smoke")
        environment["host"] = environment["host"] | {"hostname": ranks[0]}
        return environment | {
            "device_backend": "host",
            "devices": [{"device": device, "name": "host arena"} for device in range(4)],
            "software": {"mpi_library": "Open MPI v5.0.7, package: imaginary"},
            "geometry": {"ranks": nodes, "nodes": nodes, "rank_hosts": ranks, "rank_devices": [0] * nodes},
            "container": IMAGE if container else None,
            "container_digest": DIGEST if container else None,
            "scheduler": {
                "kind": "slurm", "job_id": str(100 + self._random.integers(900)), "partition": "batch",
                "node_list": f"node[1-{nodes}]" if nodes > 1 else "node1",
            },
        }  # fmt: skip

    def matrix(
        self, kind: str, sizes: tuple[int, ...], placements: tuple[str, ...]
    ) -> Iterator[dict[str, Any]]:
        """Every pair of nodes, a rank a node, in rounds; a ping-pong of both directions is one."""
        count = len(self.hosts)
        pairs = itertools.combinations if kind == "latency" else itertools.permutations
        for placement, size, (source, destination) in itertools.product(
            placements, sizes, pairs(range(count), 2)
        ):
            yield self.message(
                kind, size, source, destination, placement=placement, ranks=count, nodes=count,
                pairs=count // 2,
            )  # fmt: skip

    def sweep(self, kind: str, nodes: int) -> Iterator[dict[str, Any]]:
        """Five transports over sizes between two ranks, of one node or of two."""
        for (placement, gpudirect), size in itertools.product(TRANSPORTS, SWEEP):
            yield self.message(
                kind, size, 0, nodes - 1, destination_rank=1, placement=placement, gpudirect=gpudirect,
                ranks=2, nodes=nodes,
            )  # fmt: skip

    def collectives(self, nodes: int) -> Iterator[dict[str, Any]]:
        """Two operations with a rank a node."""
        slower = max(self.slow.get(host, 1.0) for host in self.hosts[:nodes])
        for name, size in itertools.product(("all_reduce", "all_gather"), (2**10, 2**16, 2**20)):
            factor = (2 if name == "all_reduce" else 1) * (nodes - 1) / nodes
            time = LATENCY_S[True] * np.log2(2 * nodes) + factor * size / NIC_RATE * 1.1 * slower
            record = self.measured(
                {
                    "benchmark": f"collective.{name}", "size_bytes": size, "library": "mpi", "ranks": nodes,
                    "nodes": nodes, "devices": [0] * nodes, "in_place": False, "datatype": "float32",
                    "element_bytes": 4, "placement": "device", "gpudirect": True,
                },
                time, size, self._jitter if size < 2**14 else self._noise,
            )  # fmt: skip
            bus = factor * size / record["time_s"]["median"]
            yield record | {"bus_bandwidth_bytes_per_s": bus, "block_alignment_bytes": 16}

    def copies(self, container: bool) -> Iterator[dict[str, Any]]:
        """Copies between devices of a node; host copies are 1.5 % slower in the container."""
        for size, (source, destination) in itertools.product((2**12, 2**20, 2**24), ((0, 1), (0, 2))):
            yield self.measured(
                {
                    "benchmark": "p2p.copy", "source": source, "destination": destination, "size_bytes": size,
                    "engine": "copy_engine", "operation": "write", "peer_access": True,
                    "direction": "unidirectional",
                },
                (2e-6 + size / 8e9) * (1.015 if container else 1.0), size, 0.003,
            )  # fmt: skip


def topology() -> list[dict[str, Any]]:
    """Four devices and an Ethernet adapter."""
    kept = [
        r for r in synthetic.topology() if max(r.get(k, 0) for k in ("device", "source", "destination")) < 4
    ]
    nic = {"record": "nic", "nic": 0, "name": "eth0", "kind": "ethernet", "rate_bytes_per_s": NIC_RATE}
    return [*(r for r in kept if r["record"] in ("device", "link")), nic]


def write_cluster(
    directory: Path, nodes: int = 4, repeats: int = 4, seed: int = 1, *, bare: bool = True, **changes: Any
) -> list[Path]:
    """Write the record files of a campaign and return their paths; bare: some experiments also without the
    container.
    """
    cluster = Cluster(nodes, seed, **changes)
    paths: list[Path] = []

    def write(name: str, repeat: int, width: int, container: bool, records: Iterator[dict[str, Any]]) -> None:
        experiment = name.partition(".")[0]
        path = directory / f"{name}{'' if container else '.container-off'}.repeat{repeat}.jsonl"
        synthetic.write_file(path, [cluster.environment(experiment, repeat, width, container), *records])
        paths.append(path)

    write("topology", 0, 1, True, iter(topology()))
    for repeat in range(repeats):
        for kind, sizes in (("latency", (8, 2**20)), ("bandwidth", (2**18, 2**20))):
            write(
                f"pt2pt_{kind}.matrix", repeat, nodes, True, cluster.matrix(kind, sizes, ("device", "pinned"))
            )
        for kind, width, container in itertools.product(
            _PAYLOADS, (1, 2), (True, False) if bare else (True,)
        ):
            if container or kind == "bandwidth":
                write(
                    f"pt2pt_{kind}.sweep.nodes{width}", repeat, width, container, cluster.sweep(kind, width)
                )
        for width in range(2, nodes + 1):
            write(f"collective_mpi.nodes{width}", repeat, width, True, cluster.collectives(width))
        for container in (True, False) if bare else (True,):
            write("p2p_copy", repeat, 1, container, cluster.copies(container))
    return paths


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--directory", type=Path, required=True, help="folder to write the record files below"
    )
    parser.add_argument("--nodes", type=int, default=4, help="how many nodes")
    parser.add_argument("--repeats", type=int, default=4, help="of every job")
    parser.add_argument("--slow", help="a node whose network has half the rate")
    options = parser.parse_args()
    slow = {options.slow: 2.0} if options.slow else {}
    write_cluster(options.directory, options.nodes, options.repeats, slow=slow)
