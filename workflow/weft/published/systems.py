"""The published systems: what their environment and topology records say."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

from weft.published.recording import IMPORTER, FileKey, Recording
from weft.published.reference import GIGABYTE, Row, integer, merged, number, rate, read

# GPUs whose NVLinks all lead to other GPUs (on the POWER systems some lead to the processor).
_ALL_NVLINKS_BETWEEN_GPUS = {"dgx1_p100", "dgx1_v100", "c4140_v100_sxm2"}
# Pairs that the source describes in words instead of a matrix: "all to all", links of a GPU shared evenly by
# its peers.
_ALL_TO_ALL = {"c4140_v100_sxm2"}


class Systems:
    """The systems of the reference CSVs."""

    def __init__(self, source: Path) -> None:
        """source: folder of the reference CSVs."""
        self._rows: dict[str, list[Row]] = defaultdict(list)
        for row in read(
            source, "systems", {"source", "system", "gpus_per_node", "gpu_model", "cuda_version"}
        ):
            self._rows[row["system"]].append(row)
        self._links = read(source, "links", {"system", "matrix", "pair_type", "src", "dst", "link_class"})
        self._affinity = read(source, "cpu_affinity", {"system", "device", "cpu_affinity"})

    def environment(self, source: str, system: str) -> dict[str, Any]:
        """Return the parts of an environment record that describe host, devices and software, as far as is
        printed.
        """
        row = merged(self._rows[system])
        own = merged(row for row in self._rows[system] if row["source"] == source)
        software = {"cuda_runtime": own.get("cuda_version") or None, "nccl": own.get("nccl_version") or None,
                    "importer": IMPORTER}  # fmt: skip
        if "MPI" in own.get("software", ""):
            software["mpi_library"] = own["software"]
        return {
            "host": {
                "hostname": None, "operating_system": None, "kernel": None,
                "cpu_model": row["cpu_model"] or None,
                "logical_cpus": None, "numa_nodes": None, "memory_bytes": integer(row, "system_memory_bytes"),
            },
            "devices": [
                {"device": device, "name": self._name(row)} for device in range(int(row["gpus_per_node"]))
            ],
            "software": software,
        }  # fmt: skip

    def add_topology(self, system: str, recording: Recording) -> None:
        """Add the topology file of a system."""
        source = self._rows[system][0]["source"]
        links = self._link_records(system)
        nics, nic_links = self._nics(system)
        locators = sorted({row["locator"] for row in [*self._rows[system], *self._matrices(system)]})
        key = FileKey(system, "topology", 0, source, "; ".join(locators))
        for record in [*self._devices(system), *links, *nics, *nic_links]:
            recording.add(key, record)

    @staticmethod
    def _name(row: Row) -> str:
        return " ".join(filter(None, (row["gpu_model"], row["gpu_form_factor"])))

    def _matrices(self, system: str) -> list[Row]:
        wanted = ("nvidia_smi_topo_m", "nvidia_smi_topo_mp", "cuda_peer_access")
        return [row for row in self._links if row["system"] == system and row["matrix"] in wanted]

    def _devices(self, system: str) -> list[dict[str, Any]]:
        row = merged(self._rows[system])
        affinity = {r["device"]: r["cpu_affinity"] for r in self._affinity if r["system"] == system}
        memory = rate(row, "gpu_memory_bandwidth_gigabytes_per_second")
        host = rate(row, "cpu_gpu_per_direction_gigabytes_per_second") or rate(
            row, "pcie_per_direction_gigabytes_per_second"
        )
        count = integer(row, "nvlinks_per_gpu")
        link = rate(row, "nvlink_per_link_per_direction_gigabytes_per_second")
        egress = count * link if count and link and system in _ALL_NVLINKS_BETWEEN_GPUS else None
        return [
            {
                "record": "device", "device": device, "name": self._name(row),
                "cpu_affinity": affinity.get(f"GPU{device}"),
                "memory_bytes": integer(row, "gpu_memory_bytes"),
                "memory_bandwidth_bytes_per_s": memory, "memory_bandwidth_origin": memory and "published",
                "memory_copy_bytes_per_s": memory and memory / 2,
                "pcie_generation": integer(row, "pcie_generation"),
                "host_link_limit_bytes_per_s": host, "host_link_limit_origin": host and "published",
                "nvlink_count": count, "nvlink_rate_bytes_per_s": link,
                "egress_limit_bytes_per_s": egress, "egress_limit_origin": egress and "published",
            }
            for device in range(int(row["gpus_per_node"]))
        ]  # fmt: skip

    def _link_records(self, system: str) -> list[dict[str, Any]]:
        if system in _ALL_TO_ALL:
            return self._all_to_all(system)
        matrices: dict[str, dict[tuple[int, int], Row]] = defaultdict(dict)
        for row in self._matrices(system):
            if row["pair_type"] == "gpu_gpu":
                matrices[row["matrix"]][_index(row["src"]), _index(row["dst"])] = row
        pcie, peer = matrices["nvidia_smi_topo_mp"], matrices["cuda_peer_access"]
        records = []
        for pair, row in sorted(matrices["nvidia_smi_topo_m"].items()):
            links = integer(row, "nvlink_count") or 0
            limit = rate(row, "theoretical_per_direction_gigabytes_per_second")
            record = {
                "record": "link", "source": pair[0], "destination": pair[1], "link_class": row["link_class"],
                "pcie_class": pcie[pair]["link_class"] if pair in pcie else None, "link_count": links,
                "link_rate_bytes_per_s": limit / links if limit and links else None,
                "limit_bytes_per_s": limit,
                "limit_origin": limit and "published", "switched": False,
            }  # fmt: skip
            if pair in peer:
                record["peer_access"] = peer[pair]["link_class"] == "PEER"
            records.append(record)
        return records

    def _all_to_all(self, system: str) -> list[dict[str, Any]]:
        row = merged(self._rows[system])
        devices = int(row["gpus_per_node"])
        links = int(row["nvlinks_per_gpu"]) // (devices - 1)
        link = number(row, "nvlink_per_link_per_direction_gigabytes_per_second") * GIGABYTE
        return [
            {
                "record": "link", "source": source, "destination": destination, "link_class": f"NV{links}",
                "pcie_class": None, "link_count": links, "link_rate_bytes_per_s": link,
                "limit_bytes_per_s": links * link, "limit_origin": "published",
                "switched": False, "peer_access": True,
            }
            for source in range(devices) for destination in range(devices) if source != destination
        ]  # fmt: skip

    def _nics(self, system: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the network adapters that the matrices name, else one of the network that the text names."""
        rows = [row for row in self._matrices(system)
                if row["matrix"] == "nvidia_smi_topo_m" and row["pair_type"] == "gpu_nic"
                and row["src"].startswith("GPU")]  # fmt: skip
        names = sorted({row["dst"] for row in rows})
        links = [{"record": "nic_link", "device": _index(row["src"]), "nic": names.index(row["dst"]),
                  "link_class": row["link_class"]} for row in rows]  # fmt: skip
        network = merged(self._rows[system])["network"]
        bits = number(merged(self._rows[system]), "network_gigabits_per_second")
        if not names and network.startswith("InfiniBand"):
            speed = bits * GIGABYTE / 8 if bits else None
            return [
                {"record": "nic", "nic": 0, "name": network, "kind": "infiniband", "rate_bytes_per_s": speed}
            ], []
        return [
            {"record": "nic", "nic": nic, "name": name, "rate_bytes_per_s": None}
            for nic, name in enumerate(names)
        ], links


def _index(device: str) -> int:
    """Return the number of a device name such as GPU3."""
    return int(device.removeprefix("GPU"))
