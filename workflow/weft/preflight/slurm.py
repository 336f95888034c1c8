"""What a Slurm cluster says of itself, asked in forms that old versions know too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from weft.preflight.ask import Unanswered, ask

_NOT_UP = re.compile(r"^down|drain|fail|unk|inval|error|maint")


@dataclass(frozen=True)
class Partition:
    """A partition of the cluster. None is no limit, or everybody."""

    name: str
    is_default: bool
    state: str
    max_time_min: int | None
    max_nodes: int | None
    accounts: tuple[str, ...] | None
    qos: tuple[str, ...] | None


@dataclass(frozen=True)
class Node:
    """A node: state in small letters, CPUs as Slurm counts them, generic resources as it writes them."""

    name: str
    state: str
    cpus: int
    memory_mb: int
    gres: str
    features: frozenset[str]

    @property
    def is_up(self) -> bool:
        """Whether a job can start on it now or after those that are there."""
        return not self.state.endswith("*") and not _NOT_UP.search(self.state)


@dataclass(frozen=True)
class Association:
    """An account that a user may charge; no partition: in every one."""

    account: str
    partition: str
    qos: tuple[str, ...]


def partitions() -> dict[str, Partition]:
    """Return the partitions by name. Raises Unanswered when Slurm does not tell."""
    found = {}
    for line in ask(["scontrol", "show", "partition", "--oneliner"]).splitlines():
        fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
        if name := fields.get("PartitionName"):
            max_nodes = fields.get("MaxNodes", "")
            found[name] = Partition(
                name,
                fields.get("Default") == "YES",
                fields.get("State", "UP"),
                minutes(fields.get("MaxTime", "UNLIMITED")),
                int(max_nodes) if max_nodes.isdigit() else None,
                _listed(fields.get("AllowAccounts", "ALL")),
                _listed(fields.get("AllowQos", "ALL")),
            )
    if not found:
        raise Unanswered("scontrol names no partition")
    return found


def nodes(partition: str) -> list[Node]:
    """Return the nodes of a partition. Raises Unanswered when Slurm does not tell."""
    found = []
    for line in ask(["sinfo", "-h", "-N", "-p", partition, "-o", "%N|%T|%c|%m|%G|%f"]).splitlines():
        name, state, cpus, memory_mb, gres, features = [*line.strip().split("|"), *[""] * 6][:6]
        if not cpus.isdigit() or not memory_mb.isdigit():
            raise Unanswered(f"sinfo writes '{line.strip()}' of a node")
        found.append(
            Node(name, state.lower(), int(cpus), int(memory_mb), gres, frozenset(_listed(features) or ()))
        )
    return found


def associations(user: str) -> list[Association]:
    """Return what a user may charge on this cluster; nothing where accounts do not matter.

    Raises Unanswered when there is no accounting.
    """
    form = "format=cluster,account,partition,qos"
    rows = [
        [*line.split("|"), "", "", "", ""][:4]
        for line in ask(["sacctmgr", "-n", "-P", "show", "associations", f"user={user}", form]).splitlines()
    ]
    here = _cluster_name() if len({cluster for cluster, *_ in rows}) > 1 else None
    return [
        Association(account, partition, _listed(qos) or ())
        for cluster, account, partition, qos in rows
        if here in (None, cluster)
    ]


def qos_names() -> list[str]:
    """Return the qualities of service there are. Raises Unanswered when there is no accounting."""
    return ask(["sacctmgr", "-n", "-P", "show", "qos", "format=name"]).split()


def reservations() -> list[str]:
    """Return the reservations there are. Raises Unanswered when Slurm does not tell."""
    return re.findall(r"^ReservationName=(\S+)", ask(["scontrol", "show", "reservation", "--oneliner"]), re.M)


def mpi_types() -> tuple[list[str], list[str]]:
    """Return what may follow `srun --mpi=`, and the versions of PMIx among it.

    Raises Unanswered when srun does not list them.
    """
    said = ask(["srun", "--mpi=list"], both=True)
    types = re.findall(r"^(?:srun:)?\s+([a-z0-9_]+)\s*$", said, re.M)
    versions = re.findall(r"\bpmix_v\d+\b", said)
    if not types:
        raise Unanswered("srun --mpi=list lists nothing")
    return types, sorted(set(versions))


def gres_count(gres: str, wanted: str) -> int:
    """Return how many of `gpu` or `gpu:h200`, the ``wanted``, a node with `gpu:h200:4(S:0-1)` has."""
    return sum(
        count
        for name, count in gres_counts(bare_gres(gres)).items()
        if name == wanted or name.startswith(f"{wanted}:")
    )


def bare_gres(gres: str) -> str:
    """Return the generic resources of a node without the sockets they are on."""
    return re.sub(r"\([^)]*\)", "", gres)


def gres_counts(text: str) -> dict[str, int]:
    """Return the counts in `gpu:h200:4,shard:8` by name and type; a resource without a number is one."""
    counts: dict[str, int] = {}
    for item in filter(None, text.split(",")):
        name, _, count = item.rpartition(":")
        has_count = re.fullmatch(r"\d+[KMG]?", count) is not None
        factor = {"K": 2**10, "M": 2**20, "G": 2**30}.get(count[-1:], 1) if has_count else 1
        key, number = (name, int(count.rstrip("KMG")) * factor) if has_count else (item, 1)
        counts[key] = counts.get(key, 0) + number
    return counts


def minutes(limit: str) -> int | None:
    """Return a limit written [DAYS-]HOURS:MINUTES:SECONDS in minutes, rounded down; None is none."""
    if not re.fullmatch(r"(\d+-)?\d+(:\d+)*", limit):
        return None
    days, _, clock = limit.rpartition("-")
    seconds = 0
    for part in clock.split(":"):
        seconds = 60 * seconds + int(part)
    return int(days or 0) * 24 * 60 + seconds // 60


def counted_by_state(found: Sequence[Node]) -> str:
    """Return `3 up, 1 drained (n4)`."""
    up = sum(node.is_up for node in found)
    groups: dict[str, list[str]] = {}
    for node in found:
        if not node.is_up:
            groups.setdefault(node.state.rstrip("*~#!%$@^-+") or "unknown", []).append(node.name)
    words = [f"{len(names)} {state} ({_some(names)})" for state, names in sorted(groups.items())]
    return ", ".join([f"{up} up", *words])


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")


def _cluster_name() -> str | None:
    try:
        found = re.search(r"^ClusterName\s*=\s*(\S+)", ask(["scontrol", "show", "config"]), re.M)
    except Unanswered:
        return None
    return found[1] if found else None


def _listed(text: str) -> tuple[str, ...] | None:
    if text in ("ALL", "", "(null)", "N/A"):
        return None
    return tuple(text.split(","))
