"""The ways to run NCCL, and nccl-tests beside our harness: in figures and table, never pooled with others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import synthetic
from weft.cli import main
from weft.figures import REGISTRY, Dataset, Figure, collectives, draw, style, witness
from weft.report.key_numbers import key_numbers
from weft.report.sections import witness_rows
from weft.table import build_table

style.apply()
LOGS = Path(__file__).parent / "nccl_tests"
USUAL = {
    "algorithm": "auto",
    "protocol": "auto",
    "transport": "auto",
    "graph": False,
    "processes": "one_per_device",
}
SIZES = tuple(8 * 4**power for power in range(14))
# What 2.19.6 printed, in microseconds, out of place: all_reduce of 4 GPUs.
PRINTED = (
    19.33,
    20.28,
    19.82,
    19.50,
    20.41,
    19.45,
    21.45,
    21.57,
    22.93,
    30.38,
    62.22,
    173.38,
    612.09,
    2319.72,
)


def row(size: int, time_us: float, **changes: Any) -> dict[str, Any]:
    """A measurement of all_reduce on four GPUs."""
    record = synthetic.measurement(
        {
            "benchmark": "collective.all_reduce", "size_bytes": size, "requested_bytes": size, "ranks": 4,
            "nodes": 1, "library": "nccl", "devices": [0, 1, 2, 3], "in_place": False, "count": size // 4,
            "datatype": "float32", "element_bytes": 4, "reduction": "sum", "root": None,
            "block_alignment_bytes": min(16, size // 4 * 4), **USUAL, **changes,
        },
        1.0,
        device_states=False,
    )  # fmt: skip
    time_s = 1e-6 * time_us
    record["time_s"] |= {"median": time_s, "ci_low": 0.99 * time_s, "ci_high": 1.01 * time_s}
    return record | {"bandwidth_bytes_per_s": size / time_s, "bus_bandwidth_bytes_per_s": 1.5 * size / time_s}


def rows(factor: float, shift_us: float = 0, **changes: Any) -> list[dict[str, Any]]:
    """Our times as those of nccl-tests: times a factor from 1 MiB on, and shifted below."""
    return [
        row(size, factor * time if size >= 2**20 else time + shift_us, **changes)
        for size, time in zip(SIZES, PRINTED, strict=True)
    ]


def dataset(folder: Path, *records: list[dict[str, Any]], log: str = "") -> Dataset:
    """A table of our records and, where ``log`` says of which processes, of those of nccl-tests."""
    path = folder / "ours.jsonl"
    environment = synthetic.environment("collective_nccl", 0)
    synthetic.write_file(path, [environment, *(record for each in records for record in each)])
    paths = [path]
    if log:
        paths.append(folder / "theirs.jsonl")
        line = ["import-nccl-tests", "--output", str(paths[1]), "--system", synthetic.SYSTEM]
        line += ["--campaign", synthetic.CAMPAIGN, str(LOGS / "all_reduce.2.19.6.txt")]
        assert main(line) == 0
        text = paths[1].read_text().replace('"processes":"one"', f'"processes":"{log}"')
        paths[1].write_text(text)
    summary = build_table(paths, folder / "table.parquet", folder / "problems.json")
    assert summary.problems == 0, (folder / "problems.json").read_text()
    return Dataset(folder / "table.parquet")


def figures(of: Dataset) -> dict[str, Figure]:
    assert REGISTRY
    return {figure.key: figure for figure in draw(of, "collective")}


def test_other_ways_are_drawn_apart_from_the_usual_one(tmp_path):
    of = dataset(
        tmp_path, rows(1), rows(1.5, algorithm="tree"), rows(1.2, algorithm="ring"),
        rows(10, transport="shm"), rows(1, -12.0, graph=True), rows(1, 3.0, processes="one"),
    )  # fmt: skip
    drawn = figures(of)
    assert set(drawn["collective_nccl_ways"].data["line"]) == {
        "NCCL's choice", "tree", "ring", "shared memory", "CUDA graph", "one process",
    }  # fmt: skip
    assert set(drawn["collective_nccl_small"].data["line"]) == {
        "launched one by one", "CUDA graph", "one process",
    }  # fmt: skip
    assert drawn["collective_nccl_small"].data["size_bytes"].max() == 32768
    ratio = drawn["collective_nccl_ring_tree"].data.set_index("size_bytes")["ring_over_tree"]
    assert ratio[SIZES[-1]] == pytest.approx(1.2 / 1.5)
    usual = drawn["collective_nccl_bus_bandwidth"].data.set_index("size_bytes")
    assert usual.loc[SIZES[-1], "value"] == pytest.approx(1.5 * SIZES[-1] / 2319.72e-6)
    assert (usual["configurations"] == 1).all()


def test_records_of_before_there_were_ways_are_drawn_as_ever(tmp_path):
    old = [{key: value for key, value in record.items() if key not in USUAL} for record in rows(1)]
    drawn = figures(dataset(tmp_path, old))
    assert "collective_nccl_bus_bandwidth" in drawn
    assert not {"collective_nccl_ways", "collective_nccl_small", "collective_witness"} & set(drawn)


def test_the_witness_is_set_beside_the_same_way_of_ours_alone(tmp_path):
    of = dataset(tmp_path, rows(0.5), rows(1.01, 2.0, processes="one"), log="one")
    both = witness.compared(of)
    assert list(both["size_bytes"]) == list(SIZES), "one process, out of place, and nothing else"
    large = both[both["size_bytes"] >= 2**20]
    assert large["ratio"].to_numpy() == pytest.approx(1.01)
    assert (large["ratio_low"] < large["ratio"]).all() and (large["ratio"] < large["ratio_high"]).all()
    assert both[both["size_bytes"] < 2**20]["difference_s"].to_numpy() == pytest.approx(2e-6)
    caption = figures(of)["collective_witness"].caption
    assert "5 of 5\u00a0times agree within ±3 %" in caption
    assert "a median of +2.0\u00a0µs" in caption


@pytest.mark.parametrize(("factor", "agree"), [(1.02, 5), (1.04, 0), (0.96, 0)])
def test_agreement_is_within_three_per_cent(tmp_path, factor, agree):
    of = dataset(tmp_path, rows(factor, processes="one"), log="one")
    assert f"{agree} of 5\u00a0times agree" in figures(of)["collective_witness"].caption


def test_the_witness_is_in_no_other_figure_or_key_number(tmp_path):
    ours = rows(1), rows(1.5, algorithm="tree"), rows(1.4, algorithm="ring")
    of = dataset(tmp_path / "both", *ours, log="one_per_device")
    alone = dataset(tmp_path / "alone", *ours)
    for key, figure in figures(alone).items():
        assert figure.data.equals(figures(of)[key].data), key
    assert key_numbers(of, "collective") == key_numbers(alone, "collective")
    assert not collectives.load(of)["program"].eq(collectives.WITNESS).any()


def test_the_table_has_a_row_a_size(tmp_path):
    table = witness_rows(dataset(tmp_path, rows(1.01, 2.0, processes="one"), log="one"))
    assert len(table) == len(SIZES)
    assert table[0][2] == "8\u00a0B" and table[0][-1] == "+2.00\u00a0µs"
    assert table[-1][6:8] == ["1.010", "[1.000, 1.020]"]


def test_small_sizes_without_aligned_counts_stay_in_the_curve(tmp_path):
    frame = collectives.plain(collectives.load(dataset(tmp_path, rows(1))))
    assert frame["size_bytes"].min() == 8
