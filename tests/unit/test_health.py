"""Health names what is sick and nothing else, on clusters whose state is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from weft.health import Health
from weft.health.examine import examine
from weft.health.groups import COLUMNS, Group, groups

MIB, KIB = 2**20, 2**10
Slower = Callable[[pd.DataFrame], np.ndarray]  # the factor of each row's time


def table(nodes: int = 4, runs: int = 3, slower: Slower | None = None) -> pd.DataFrame:
    """Medians of bandwidth (both directions) and latency between all nodes, `runs` jobs of each, no noise."""
    place = np.array([(i, j) for i in range(nodes) for j in range(nodes) if i != j])
    parts = [
        pd.DataFrame(
            {
                "benchmark": benchmark, "size_bytes": size, "source_rank": pairs[:, 0],
                "destination_rank": pairs[:, 1], "time_median_s": time, "file": f"{benchmark}{run}",
            }
        )
        for benchmark, size, time, pairs in (
            ("pt2pt.bandwidth", MIB, 0.57, place),
            ("pt2pt.latency", 8, 30e-6, place[place[:, 0] < place[:, 1]]),
        )
        for run in range(runs)
    ]  # fmt: skip
    rows = pd.concat(parts, ignore_index=True)
    hosts = {
        f"{end}_host": "node" + (rows[f"{end}_rank"] + 1).astype(str) for end in ("source", "destination")
    }
    rows = rows.assign(**hosts)
    rows["time_median_s"] *= slower(rows) if slower else 1.0
    rows = rows.assign(
        ranks=nodes, nodes=nodes, pairs=nodes // 2, placement="device", gpudirect=True, outcome="measured",
        hostname="node1", device_backend="host", time_ci_low_s=rows["time_median_s"] * 0.99,
        time_ci_high_s=rows["time_median_s"] * 1.01,
        bandwidth_bytes_per_s=64 * rows["size_bytes"] / rows["time_median_s"],
    )  # fmt: skip
    return rows.reindex(columns=list(dict.fromkeys(COLUMNS)))


def noisy(
    group: Group, random: np.random.Generator, noise: float = 0.03, jitter: float = 0.5,
    disturbed_nodes: float = 0.01, disturbed_pairs: float = 0.02,
) -> Group:  # fmt: skip
    """Add what a busy machine does: noise (of bandwidth) or jitter (of latency) to the slower side more.

    Now and then a node is disturbed throughout a job, or a pair while it is measured, by 40 % on average and
    by twice that at times.
    """
    rows, (_, nodes) = group.rows, group.levels[0]
    shape = rows["run"].max() + 1, len(nodes)
    own = np.where(random.random(shape) < disturbed_nodes, random.exponential(0.4, shape), 0)
    both = own[rows["run"].to_numpy()[:, None], group.ends[rows["member"]]].max(axis=1)
    count = len(rows)
    pair = np.where(random.random(count) < disturbed_pairs, random.exponential(0.4, count), 0)
    usual = random.normal(0, jitter if group.quantity == "latency" else noise, count)
    factor = np.exp(np.where(usual > 0, usual, usual / 3) + both + pair)
    return replace(
        group, rows=rows.assign(**{name: rows[name] * factor for name in ("time_s", "low_s", "high_s")})
    )


QUIET = {"noise": 1e-9, "jitter": 1e-9, "disturbed_nodes": 0.0, "disturbed_pairs": 0.0}


def health(rows: pd.DataFrame, seed: int = 0, **noise: float) -> Health:
    random = np.random.default_rng(seed)
    return examine([noisy(group, random, **noise) for group in groups(rows)])


def named(found: Health) -> set[str]:
    return {f"{finding.kind} {finding.name}" for finding in found.findings}


def large(rows: pd.DataFrame) -> pd.Series:
    return rows["size_bytes"] >= MIB


def of_node(node: str, factor: float = 2.0, ends: tuple[str, ...] = ("source", "destination")) -> Slower:
    """A node whose large messages take longer: both ways, or only those it sends or receives."""
    return lambda rows: np.where(
        large(rows) & np.logical_or.reduce([rows[f"{end}_host"] == node for end in ends]), factor, 1.0
    )


def of_link(one: str, other: str, factor: float = 2.0, both: bool = True) -> Slower:
    def slower(rows: pd.DataFrame) -> np.ndarray:
        way = (rows["source_host"] == one) & (rows["destination_host"] == other)
        back = (rows["source_host"] == other) & (rows["destination_host"] == one)
        return np.where(large(rows) & (way | (back & both)), factor, 1.0)

    return slower


@pytest.mark.parametrize(("nodes", "runs", "clusters"), [(3, 3, 300), (4, 3, 400), (4, 6, 100), (8, 4, 200)])
def test_healthy_clusters_are_called_healthy(nodes: int, runs: int, clusters: int) -> None:
    """1000 noisy, now and then disturbed clusters in all: at most 1 % with a false alarm."""
    random = np.random.default_rng(nodes + runs)
    found = list(groups(table(nodes, runs)))
    alarms = sum(examine([noisy(group, random) for group in found]).sick for _ in range(clusters))
    assert alarms <= 0.01 * clusters


@pytest.mark.parametrize(("nodes", "runs", "clusters"), [(3, 10, 50), (4, 4, 150), (8, 4, 100), (16, 4, 40)])
def test_a_node_of_half_rate_is_named_and_only_it(nodes: int, runs: int, clusters: int) -> None:
    """In 99 % of the same clusters at least."""
    random = np.random.default_rng(nodes)
    found = list(groups(table(nodes, runs, of_node("node2"))))
    named_alone = sum(
        named(examine([noisy(group, random) for group in found])) == {"node node2"} for _ in range(clusters)
    )
    assert named_alone >= 0.99 * clusters


def test_of_three_nodes_with_two_slow_links_the_node_between_is_named() -> None:
    found = health(table(3, 3, of_node("node2")), disturbed_nodes=0)
    assert named(found) == {"node node2"}
    assert found.findings[0].members == 2


def test_two_sick_of_four_are_named() -> None:
    def slower(rows: pd.DataFrame) -> np.ndarray:
        return np.maximum(of_node("node1")(rows), of_node("node4")(rows))

    assert named(health(table(4, 4, slower))) == {"node node1", "node node4"}


def test_the_way_that_is_slow_is_told() -> None:
    for ends, way in ((("source",), "away"), (("destination",), "back"), (("source", "destination"), "both")):
        found = health(table(4, 3, of_node("node3", ends=ends)))
        assert named(found) == {"node node3"}
        assert {finding.way for finding in found.findings} == {way}


def test_a_slow_link_between_healthy_nodes_is_named_as_a_link() -> None:
    for nodes in (3, 4, 9):
        for both, way in ((True, "both"), (False, "back")):
            rows = table(nodes, 4, of_link("node3", "node1", both=both))
            found = health(rows, disturbed_nodes=0.0, disturbed_pairs=0.0)
            assert named(found) == {"link node1 – node3"}
            assert found.findings[0].way == way


def test_links_are_set_beside_the_usual_link_and_not_the_best() -> None:
    """Of noisy links the best of each node are far below the middle; that makes no link slow."""
    for test in health(table(8, 4), jitter=0.5, disturbed_nodes=0.0).tested:
        assert np.median(test.ratios) == pytest.approx(1, abs=0.05)


def test_a_slow_node_does_not_hide_a_slow_link_elsewhere() -> None:
    def slower(rows: pd.DataFrame) -> np.ndarray:
        return np.maximum(of_node("node6")(rows), of_link("node1", "node2", 3.0)(rows))

    assert named(health(table(8, 4, slower))) == {
        "node node6",
        "link node1 – node2",
    }


def test_one_disturbed_run_is_not_sickness() -> None:
    def slower(rows: pd.DataFrame) -> np.ndarray:
        return np.where(rows["file"] == "pt2pt.bandwidth1", of_node("node2", 3.0)(rows), 1.0)

    assert not health(table(4, 4, slower)).sick


def test_what_does_not_matter_is_not_sickness() -> None:
    assert not health(table(6, 4, of_node("node2", 1.1)), **QUIET).sick
    assert named(health(table(6, 4, of_node("node2", 1.2)), **QUIET)) == {"node node2"}


def test_what_is_usual_among_the_peers_is_not_sickness() -> None:
    """Every node has its own rate, from 1 to 1.6 of the best: the slowest is the end of a row, no outlier."""

    def slower(rows: pd.DataFrame) -> np.ndarray:
        return 1 + 0.1 * np.maximum(rows["source_rank"], rows["destination_rank"]).to_numpy(float)

    assert not health(table(7, 4, slower), **QUIET).sick


def test_nodes_of_two_switches_are_healthy() -> None:
    """Latency through one switch or three, as in a fat tree of two leaves."""

    def slower(rows: pd.DataFrame) -> np.ndarray:
        across = rows["source_rank"] % 2 != rows["destination_rank"] % 2
        return np.where(across & ~large(rows), 1.4, 1.0)

    assert not health(table(8, 4, slower), jitter=0.03).sick


def test_transports_are_tested_apart() -> None:
    """A node slow with GPUDirect alone: said of that, and of nothing else."""
    on = table(4, 4, of_node("node2"))
    off = table(4, 4).assign(gpudirect=False, file=lambda rows: rows["file"] + "off")
    found = health(pd.concat([on, off]))
    assert named(found) == {"node node2"}
    assert {finding.group.conditions["gpudirect"] for finding in found.findings} == {True}


def test_several_ranks_of_a_node_count_as_one() -> None:
    found = health(pd.concat([table(4, 4, of_node("node2"))] * 3))
    assert named(found) == {"node node2"}
    assert found.tested[0].runs == (4, 4)


def test_evidence_is_the_value_beside_that_of_the_peers() -> None:
    shown = health(table(4, 3, of_node("node2")), **QUIET).findings[0].evidence
    rate = 64 * MIB / 0.57
    assert (shown.benchmark, shown.size_bytes, shown.unit) == ("pt2pt.bandwidth", MIB, "bytes/s")
    assert shown.value == pytest.approx(rate / 2)
    assert (shown.peers, shown.peers_median) == (3, pytest.approx(rate))
    assert shown.ratio == pytest.approx(0.5)
    assert shown.ratio_interval.low == pytest.approx(0.5 * 0.99 / 1.01)
    assert shown.ratio_interval.high == pytest.approx(0.5 * 1.01 / 0.99)


def test_two_nodes_or_two_runs_are_too_few_and_that_is_said() -> None:
    for nodes, runs, reason in ((2, 9, "2 nodes in all"), (4, 2, "2 here")):
        found = health(table(nodes, runs, of_node("node2")))
        assert not found.sick and not found.tested
        assert all(reason in why for _, why in found.untested) and found.untested
