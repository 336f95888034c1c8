"""Figures say what the table says: their words, cells and numbers, not their pixels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from support import synthetic
from support.cases import COPY, MIB
from support.drawn import copy, figures, table, texts
from weft.figures import REGISTRY, draw, pooling


def test_matrix_prints_value_and_class_of_each_pair(tmp_path: Path) -> None:
    runs = [copy(s, d, 64 * MIB, (10 + 3 * s + d) * 1e9) for s in range(3) for d in range(3) if s != d]
    figure = figures(table(tmp_path, runs), "copy")["p2p_copy_matrix_64mib"]
    assert {"11.0", "12.0", "13.0", "15.0", "16.0", "17.0"} <= set(texts(figure))
    assert texts(figure).count("NV2") == sum(
        synthetic.link_class(s, d) == "NV2" for s in range(3) for d in range(3) if s != d
    )
    assert "17.0" in figure.caption and "2→1" in figure.caption
    assert figure.measurements == 6
    row = figure.data.set_index(["source", "destination"]).loc[(2, 1)]
    assert row["bandwidth_bytes_per_s"] == pytest.approx(17e9)


def test_matrix_shows_the_efficiency_against_the_limit(tmp_path: Path) -> None:
    runs = [copy(s, d, 64 * MIB, 20e9) for s in range(3) for d in range(3) if s != d]
    figure = figures(table(tmp_path, runs), "copy")["p2p_copy_efficiency"]
    assert {"40", "80"} <= set(texts(figure))  # 20 GB/s of NV2 = 50 and of NV1 = 25


def test_curve_is_the_median_over_runs_and_keeps_both_levels(tmp_path: Path) -> None:
    sizes = [MIB, 2 * MIB, 4 * MIB, 8 * MIB]
    dataset = table(tmp_path, *[[copy(0, 1, size, rate) for size in sizes] for rate in (9e9, 10e9, 14e9)])
    figure = figures(dataset, "copy")["p2p_copy_bandwidth"]
    last = figure.data.iloc[-1]
    assert last["value"] == pytest.approx(10e9)
    assert (last["min"], last["max"]) == (pytest.approx(9e9), pytest.approx(14e9))
    assert (last["low"], last["high"]) == (pytest.approx(10e9 / 1.01), pytest.approx(10e9 / 0.99))
    assert "3\u00a0runs" in figure.shaped
    assert "10.0\u00a0GB/s" in figure.caption


def test_limit_is_a_line_with_its_number(tmp_path: Path) -> None:
    figure = figures(table(tmp_path, [copy(0, 1, size, 40e9) for size in (MIB, 2 * MIB, 4 * MIB)]), "copy")[
        "p2p_copy_bandwidth"
    ]
    assert "limit 50.0 GB/s" in texts(figure)


def test_local_copies_are_left_out_and_said_so(tmp_path: Path) -> None:
    sizes = (MIB, 2 * MIB, 4 * MIB)
    runs = [copy(0, 1, size, 10e9) for size in sizes] + [copy(0, 0, size, 300e9) for size in sizes]
    figure = figures(table(tmp_path, runs), "copy")["p2p_copy_bandwidth"]
    assert figure.data["max"].max() < 20e9
    assert any("within one device" in text for text in figure.left_out)


def test_one_benchmark_without_topology_is_enough(tmp_path: Path) -> None:
    dataset = table(tmp_path, [copy(0, 1, size, 10e9) for size in (MIB, 2 * MIB, 4 * MIB)], topology=False)
    assert set(figures(dataset, "copy")) == {"p2p_copy_bandwidth", "p2p_copy_time"}
    assert not figures(dataset, "topology")
    assert not figures(dataset, "efficiency")


def test_nothing_measured_draws_nothing(tmp_path: Path) -> None:
    failed = synthetic.hole(COPY, "failed")
    dataset = table(tmp_path, [failed], topology=False)
    assert [f for s, _ in REGISTRY for f in draw(dataset, s)] == []


def collective(
    ranks: int, size: int, rate: float, alignment: int, library: str = "nccl", in_place: bool = False
) -> dict[str, object]:
    record = synthetic.measurement(
        {
            "benchmark": "collective.all_gather",
            "size_bytes": size,
            "library": library,
            "ranks": ranks,
            "in_place": in_place,
        },
        1.0,
        device_states=False,
    )
    return record | {"bus_bandwidth_bytes_per_s": rate, "block_alignment_bytes": alignment}


def test_participants_tell_unaligned_blocks_apart(tmp_path: Path) -> None:
    runs = [collective(ranks, MIB, 40e9, 16) for ranks in (2, 3, 4, 5)]
    runs += [collective(ranks, MIB - 4, 10e9 if ranks in (3, 5) else 38e9, 4) for ranks in (2, 3, 4, 5)]
    figure = figures(table(tmp_path, runs, topology=False, experiment="collective_nccl"), "collective")[
        "collective_participants"
    ]
    unaligned = figure.data[figure.data["blocks"] == "unaligned"].set_index("ranks")["value"]
    assert unaligned[3] == unaligned[5] == pytest.approx(10e9)
    assert unaligned[2] == pytest.approx(38e9)
    assert "all-gather on 3" in figure.caption and "25\u00a0%" in figure.caption
    assert "unaligned blocks" in texts(figure)


def test_libraries_are_compared_where_both_measured(tmp_path: Path) -> None:
    runs = [
        collective(2, size, 1e9, 16, library)
        for size in (MIB, 2 * MIB, 4 * MIB)
        for library in ("mpi", "nccl")
    ]
    for record in runs:
        if record["library"] == "nccl":
            record["time_s"] = record["time_s"] | {"median": record["time_s"]["median"] / 4}
    figure = figures(table(tmp_path, runs, topology=False, experiment="collective"), "collective")[
        "collective_libraries"
    ]
    assert figure.data["ratio"].tolist() == pytest.approx([0.25] * 3)
    assert "0.25" in figure.caption


def test_thinning_keeps_the_ends_of_every_group() -> None:
    values = np.random.default_rng(1).permutation(1000).astype(float)
    runs = pd.DataFrame({"panel": "", "line": np.repeat(["a", "b"], 500), "size_bytes": 4, "v": values})
    kept = pooling.thin(runs, ["panel", "line", "size_bytes"], "v")
    assert len(kept) == 2 * pooling.MARKS_PER_POINT
    for line, group in runs.groupby("line"):
        mine = kept[kept["line"] == line]["v"]
        assert (mine.min(), mine.max()) == (group["v"].min(), group["v"].max())
