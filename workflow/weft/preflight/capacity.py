"""Does a partition let the jobs run as long, and have as much for them, as they ask for?"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from weft.errors import did_you_mean
from weft.preflight import slurm
from weft.preflight.findings import Findings, known_are
from weft.preflight.needs import Need, greatest
from weft.preflight.slurm import Node, Partition


def of_partition(
    partition: Partition, constraint: str | None, asked: Sequence[Need], findings: Findings
) -> tuple[list[str], list[str]]:
    """Return what a partition would refuse of the jobs ``asked``, and what it would let wait."""
    where = f"partition {partition.name}"
    problems: list[str] = []
    if partition.state in ("INACTIVE", "DRAIN"):
        problems.append(f"{where} takes no jobs now: Slurm calls it {partition.state}.")
    longest = greatest(asked, lambda need: need.runtime_min)
    if partition.max_time_min is not None and longest.runtime_min > partition.max_time_min:
        problems.append(
            f"{longest.job} asks for {longest.runtime_min} minutes, but {where} ends jobs after"
            f" {partition.max_time_min}; name another, or lower time_budget_s of the campaign."
        )
    widest = greatest(asked, lambda need: need.nodes)
    if partition.max_nodes is not None and widest.nodes > partition.max_nodes:
        problems.append(
            f"{widest.job} needs {widest.nodes} nodes, but {where} gives a job {partition.max_nodes} at most;"
            " lower nodes."
        )
    nodes = findings.known(f"the nodes of {where}", lambda: slurm.nodes(partition.name))
    if not nodes:
        return problems, []
    if widest.nodes > len(nodes):
        problems.append(
            f"{widest.job} needs {widest.nodes} nodes, but {where} has {len(nodes)}"
            f" ({slurm.counted_by_state(nodes)}); lower nodes."
        )
    problems += _without_feature(nodes, where, constraint) + _too_small(nodes, where, asked)
    return problems, _waits(partition, nodes, widest)


def _waits(partition: Partition, nodes: Sequence[Node], widest: Need) -> list[str]:
    if partition.state == "DOWN":
        return [f"Slurm starts no jobs in partition {partition.name} now, its state is DOWN: they will wait."]
    up = sum(node.is_up for node in nodes)
    if widest.nodes > up:
        return [
            f"Partition {partition.name} has {slurm.counted_by_state(nodes)}: jobs of more nodes than are up,"
            f" such as {widest.job} with {widest.nodes}, will wait for the others."
        ]
    return []


def _without_feature(nodes: Sequence[Node], where: str, constraint: str | None) -> list[str]:
    there_are = sorted(set().union(*(node.features for node in nodes)))
    return [
        f"scheduler.constraint has '{feature}', a feature that no node of {where} has"
        + (did_you_mean(feature, there_are) or known_are(there_are))
        for feature in re.findall(r"[A-Za-z_][\w.-]*", constraint or "")
        if feature not in there_are
    ]


def _too_small(nodes: Sequence[Node], where: str, asked: Sequence[Need]) -> list[str]:
    """What too few nodes have enough of."""
    problems = []

    def check(noun: str, wanted: Callable[[Need], int], has: Callable[[Node], int], remedy: str) -> None:
        def enough(need: Need) -> int:
            return sum(has(node) >= wanted(need) for node in nodes)

        unmet = [need for need in asked if enough(need) < min(need.nodes, len(nodes))]
        if not unmet:
            return
        most = greatest(unmet, wanted)
        on = f"on each of {most.nodes} nodes" if most.nodes > 1 else "on a node"
        best = max(map(has, nodes))
        if enough(most):
            having = f"{where} has {enough(most)} such"
        else:
            having = f"no node of {where} has " + (f"more than {best}" if best else "any")
        problems.append(f"{most.job} needs {wanted(most)} {noun} {on}, but {having}; {remedy}.")

    check("CPUs", lambda need: need.cpus, lambda node: node.cpus, "lower cores")
    check("MB of memory", lambda need: need.memory_mb, lambda node: node.memory_mb, "lower max_size_bytes")
    kinds = sorted({kind for node in nodes for kind in slurm.gres_counts(slurm.bare_gres(node.gres))})
    remedy = f"scheduler.gres: Slurm knows {', '.join(kinds)} there" if kinds else "take scheduler.gres out"
    for name in sorted({name for need in asked for name in need.gres}):
        check(
            name,
            lambda need, name=name: need.gres.get(name, 0),
            lambda node, name=name: slurm.gres_count(node.gres, name),
            remedy,
        )
    return problems
