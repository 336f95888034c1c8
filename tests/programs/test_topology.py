"""The topology program on the host backend: this machine's records, and adapters of fabricated machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs.records import Record, Result, bad_input, run_program


def of_kind(result: Result, kind: str) -> list[Record]:
    """The records of one kind, in order."""
    return [record for record in result.records if record["record"] == kind]


def write(file: Path, text: str) -> None:
    """Write a small file of sysfs."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text + "\n")


class Machine:
    """A fabricated /sys with two NUMA nodes and adapters."""

    def __init__(self, root: Path, numa_nodes: int = 2) -> None:
        self.root = root
        for node in range(numa_nodes):
            write(root / f"devices/system/node/node{node}/cpulist", str(node))

    def function(self, path: str, numa_node: int) -> Path:
        """Add a PCI function; returns its folder."""
        folder = self.root / "devices" / path
        write(folder / "numa_node", str(numa_node))
        return folder

    def link(self, name: Path, folder: Path) -> None:
        """Make a symbolic link below class/."""
        name.parent.mkdir(parents=True, exist_ok=True)
        name.symlink_to(folder)

    def rdma(self, name: str, path: str, numa_node: int, ports: dict[int, tuple[str, str, str]]) -> None:
        """Add an RDMA device: port -> (rate, state, link layer), as the kernel writes them."""
        self.link(self.root / "class/infiniband" / name / "device", self.function(path, numa_node))
        for port, (rate, state, link_layer) in ports.items():
            files = self.root / "class/infiniband" / name / "ports" / str(port)
            write(files / "rate", rate)
            write(files / "state", state)
            write(files / "link_layer", link_layer)

    def interface(self, name: str, folder: Path | None, speed: str, state: str) -> None:
        """Add a network interface; a virtual one has no folder."""
        files = self.root / "class/net" / name
        write(files / "speed", speed)
        write(files / "operstate", state)
        write(files / "type", "1")
        if folder:
            self.link(files / "device", folder)


def test_this_machine() -> None:
    result = run_program("topology")
    assert result.status == 0, result.stderr
    devices, links = of_kind(result, "device"), of_kind(result, "link")
    count = len(result.environment["devices"])
    assert [device["device"] for device in devices] == list(range(count)) and count >= 4
    pairs = {(link["source"], link["destination"]) for link in links}
    assert len(links) == len(pairs) == count * (count - 1)
    for link in links:
        assert link["source"] != link["destination"]
        assert link["link_class"] in ("NODE", "SYS")
        assert link["limit_bytes_per_s"] > 1e8 and link["limit_origin"] == "memory_measured"
    for device in devices:
        assert device["memory_copy_bytes_per_s"] == pytest.approx(device["memory_bandwidth_bytes_per_s"] / 2)
        assert device["memory_bandwidth_origin"] == "memory_measured"
        own = [link["limit_bytes_per_s"] for link in links if link["source"] == device["device"]]
        assert device["egress_limit_bytes_per_s"] == max(own)
    assert not result.measurements


def test_the_number_of_devices_is_the_one_asked_for() -> None:
    result = run_program("topology", "--host-devices", 2)
    assert len(of_kind(result, "device")) == 2 and len(of_kind(result, "link")) == 2
    alone = run_program("topology", "--host-devices", 1)
    (device,) = of_kind(alone, "device")
    assert device["egress_limit_bytes_per_s"] is None and not of_kind(alone, "link")


def test_adapters_of_a_two_socket_machine(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "sys")
    switch = "pci0000:10/0000:10:01.0/0000:11:00.0/0000:12:00.0"
    machine.rdma(
        "mlx5_0", f"{switch}/0000:13:00.0", 0, {1: ("400 Gb/sec (4X NDR)", "4: ACTIVE", "InfiniBand")}
    )
    machine.rdma(
        "mlx5_1",
        "pci0000:80/0000:80:01.0/0000:81:00.0",
        1,
        {
            1: ("100 Gb/sec (4X EDR)", "1: DOWN", "Ethernet"),
            2: ("2.5 Gb/sec (1X SDR)", "4: ACTIVE", "Ethernet"),
        },
    )
    # The interface of the RDMA device is the same adapter; the bridge is none.
    machine.interface("ib0", machine.root / "devices" / switch / "0000:13:00.0", "400000", "up")
    card = machine.function("pci0000:80/0000:80:02.0/0000:82:00.0", 1)
    machine.interface("eth0", card, "25000", "up")
    virtual = machine.function("pci0000:10/0000:10:05.0", 0) / "virtio2"
    virtual.mkdir()
    machine.interface("eth1", virtual, "-1", "down")
    machine.interface("bridge0", None, "10000", "up")

    result = run_program("topology", "--sysfs", machine.root, "--host-devices", 2)
    assert result.status == 0, result.stderr
    nics = of_kind(result, "nic")
    members = ("nic", "name", "kind", "pci_bus_id", "numa_node", "rate_bytes_per_s", "state")
    seen = [tuple(nic[member] for member in members) for nic in nics]
    assert seen == [
        (0, "mlx5_0", "infiniband", "0000:13:00.0", 0, 50e9, "active"),
        (1, "mlx5_1:1", "ethernet", "0000:81:00.0", 1, 12.5e9, "down"),
        (2, "mlx5_1:2", "ethernet", "0000:81:00.0", 1, 2.5e9 / 8, "active"),
        (3, "eth0", "ethernet", "0000:82:00.0", 1, 25e9 / 8, "up"),
        (4, "eth1", "ethernet", "0000:10:05.0", 0, None, "down"),
    ]
    # The devices lie on this machine's own NUMA nodes, of which the first is 0.
    node_of = {device["device"]: device["numa_node"] for device in of_kind(result, "device")}
    links = of_kind(result, "nic_link")
    assert len(links) == 2 * len(nics)
    for link in links:
        near = node_of[link["device"]] == nics[link["nic"]]["numa_node"]
        assert link["link_class"] == ("NODE" if near else "SYS")


def test_a_machine_without_adapters(tmp_path: Path) -> None:
    result = run_program("topology", "--sysfs", Machine(tmp_path / "sys").root)
    assert result.status == 0
    assert not of_kind(result, "nic") and not of_kind(result, "nic_link")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--sysfs", "/nowhere"), "--sysfs is /nowhere, but must be a folder, as /sys is."),
        (("--host-devices", "0"), "--host-devices"),
        (("--host-devices", "1000"), "--host-devices"),
    ],
)
def test_bad_input(arguments: tuple[str, str], sentence: str) -> None:
    assert sentence in bad_input("topology", *arguments)
