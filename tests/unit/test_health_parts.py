"""Health of what is within nodes: the same device or link of other nodes is its peer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from weft.health import Health
from weft.health.examine import examine
from weft.health.groups import COLUMNS, groups

MIB = 2**20
Slower = Callable[[pd.DataFrame], np.ndarray]  # the factor of each row's time


def named(found: Health) -> set[str]:
    return {f"{finding.kind} {finding.name}" for finding in found.findings}


def copies(random: np.random.Generator, hosts: int, slower: Slower, backend: str = "cuda") -> pd.DataFrame:
    """Copies between four devices of each node, both ways, four runs each."""
    rows = pd.DataFrame(
        [
            {"hostname": f"node{h + 1}", "source": s, "destination": d, "file": f"node{h + 1}.{run}"}
            for h in range(hosts) for run in range(4) for s in range(4) for d in range(4) if s != d
        ]
    )  # fmt: skip
    rows = rows.assign(
        benchmark="p2p.copy", size_bytes=64 * MIB, engine="copy_engine", operation="write", peer_access=True,
        direction="unidirectional", outcome="measured", device_backend=backend,
    )  # fmt: skip
    time = np.where((rows["source"] < 2) == (rows["destination"] < 2), 1e-3, 2e-3)  # two kinds of links
    rows["link_class"] = np.where(time < 1.5e-3, "NV2", "NV1")
    time = time * slower(rows) * np.exp(random.normal(0, 0.01, len(rows)))
    rows = rows.assign(
        time_median_s=time, time_ci_low_s=0.99 * time, time_ci_high_s=1.01 * time,
        bandwidth_bytes_per_s=64 * MIB / time,
    )  # fmt: skip
    return rows.reindex(columns=list(dict.fromkeys(COLUMNS)))


def at(host: str | None = None, device: int | None = None, pair: tuple[int, int] | None = None) -> Slower:
    def slower(rows: pd.DataFrame) -> np.ndarray:
        where = rows["hostname"] == host if host else pd.Series(True, rows.index)
        if device is not None:
            where &= (rows["source"] == device) | (rows["destination"] == device)
        if pair:
            where &= (rows["source"] == pair[0]) & (rows["destination"] == pair[1])
        return np.where(where, 1.6, 1.0)

    return slower


@pytest.mark.parametrize(
    ("hosts", "slower", "expected"),
    [
        (4, at("node2"), {"node node2"}),
        (4, at("node2", device=1), {"device node2 device 1"}),
        (4, at("node2", pair=(3, 0)), {"part node2 device 3 → 0"}),
        (4, lambda rows: np.ones(len(rows)), set()),
        (4, at(device=1), set()),  # so it is on every node
        (1, at(device=1), {"device node1 device 1"}),
        (1, lambda rows: np.ones(len(rows)), set()),
    ],
)
def test_parts_of_nodes(hosts: int, slower: Slower, expected: set[str]) -> None:
    assert named(examine(list(groups(copies(np.random.default_rng(14), hosts, slower))))) == expected


def test_arenas_of_one_host_are_no_hardware() -> None:
    found = examine(list(groups(copies(np.random.default_rng(15), 1, at(device=1), backend="host"))))
    assert not found.sick and not found.tested
