"""The sections on what carried the bytes and on what it cost: figures, tables, marks, and silence."""

import json

import pandas as pd
import pytest

from support import synthetic
from support.cases import COPY, MIB
from support.counted import MESSAGE, NVLINK, STAGED, counted
from weft.evidence.verdict import OTHER
from weft.figures import Dataset, draw, style
from weft.figures.cost import REST, costs
from weft.figures.paths import measured_paths
from weft.report import paths
from weft.table import build_table

style.apply()


@pytest.fixture
def dataset(tmp_path):
    def make(*records, experiment="p2p_copy", end=None, **environment):
        first = synthetic.environment(experiment, 0) | environment
        synthetic.write_file(
            tmp_path / "0.jsonl", [synthetic.environment("topology", 0), *synthetic.topology()]
        )
        synthetic.write_file(tmp_path / "1.jsonl", [first, *records])
        *lines, last = (tmp_path / "1.jsonl").read_text().splitlines()
        lines.append(json.dumps(json.loads(last) | (end or {})))
        (tmp_path / "1.jsonl").write_text("\n".join(lines) + "\n")
        build_table([tmp_path / "0.jsonl", tmp_path / "1.jsonl"], tmp_path / "t", tmp_path / "p")
        assert (tmp_path / "p").read_text() == "[]"
        return Dataset(tmp_path / "t")

    return make


def test_figure_has_the_shares_and_verdicts_of_every_way(dataset) -> None:
    found = dataset(
        counted(COPY, *NVLINK),
        counted(COPY | {"size_bytes": 2 * MIB}, *STAGED),
        counted(COPY | {"peer_access": False}, *STAGED),
    )
    (figure,) = draw(found, "path")
    on, off = (
        figure.data[figure.data["way"].str.endswith(end)].iloc[0] for end in ("access on", "access off")
    )
    assert (on["proven"], on["other"], on["not_told"], on["nvlink_share_max"]) == (1, 1, 0, 1)
    assert (off["proven"], off["nvlink_share"]) == (1, 0)
    assert off["pcie_share"] == pytest.approx(1.188, abs=0.001)
    assert "2 are proven" in figure.caption and "1 took another" in figure.caption


def test_what_took_another_way_is_listed_and_its_section_warns(dataset) -> None:
    found = dataset(
        counted(MESSAGE | {"gpudirect": False, "placement": "pinned"}, *NVLINK), counted(COPY, *NVLINK)
    )
    frame = measured_paths(found)
    tables = {header[0:2]: rows for _, header, rows in paths.path_tables(frame)}
    ((way, where, size, promised, seen, nvlink, _, basis, _),) = tables["way", "where"]
    assert (way, where) == ("pt2pt bandwidth, pinned, GPUDirect off", "rank 0 → 1")
    assert (size, promised, seen, nvlink, basis) == ("1\u00a0MiB", "PCIe", "NVLink", "100\u00a0%",
                                                     "its own counters")  # fmt: skip
    assert paths.warnings(frame, ("pt2pt.",)).startswith("1 measurement of this section took another way")
    assert paths.warnings(frame, ("p2p.copy",)) == paths.warnings(frame, ()) == ""
    assert found.runs("pt2pt.bandwidth")["path_verdict"].astype(str).tolist() == [OTHER]


def test_nothing_is_drawn_where_nothing_was_counted_and_the_page_says_why(dataset) -> None:
    found = dataset(synthetic.measurement(COPY, 1.0, device_states=False))
    assert list(draw(found, "path")) == []
    (note,) = paths.path_notes(found, measured_paths(found))
    assert note.startswith("No link was counted")


def test_variables_that_ucx_does_not_use_and_lines_not_read_are_said(dataset) -> None:
    report = {"record": "library_report", "library": "ucx", "logs": 2, "version": "1.22.0", "protocols": [],
              "unused_variables": ["UCX_IB_X"], "unread": ["| a | b | c |"]}  # fmt: skip
    found = dataset(counted(COPY, *NVLINK), report)
    unused, unread = paths.path_notes(found, measured_paths(found))
    assert "UCX_IB_X" in unused and "| a | b | c |" in unread


def test_cost_is_time_on_the_clock_times_the_devices_that_the_run_held(dataset) -> None:
    geometry = {"ranks": 3, "nodes": 1, "rank_hosts": ["a"] * 3, "rank_devices": [0, 1, 1]}
    found = dataset(
        counted(MESSAGE, *NVLINK), synthetic.measurement(COPY, 1.0, samples=300),
        experiment="pt2pt_bandwidth", end={"wall_time_s": 7.5}, geometry=geometry,
    )  # fmt: skip
    row = costs(found).set_index("experiment").loc["pt2pt_bandwidth"]
    assert (row["device_s"], row["wall_time_s"], row["measurements"], row["converged"]) == (15, 7.5, 2, 0.5)
    assert row["half_width"] == pytest.approx(0.01)
    (figure,) = draw(found, "cost")
    assert "2\u00a0measurements" in figure.caption


def test_cost_is_parted_by_what_it_went_into(dataset) -> None:
    phases_s = {
        "MPI_Init": 9,
        "warm-up": 1,
        "sampling": 2,
        "filling": 0.5,
        "verification": 0.25,
        "else": 0.125,
    }
    found = dataset(counted(COPY, *NVLINK), end={"wall_time_s": 4, "phases_s": phases_s})
    row = costs(found).set_index("experiment").loc["p2p_copy"]
    parts = row[["sampling", "proof of the path", "filling and verification", REST]] / row["device_s"] * 4
    assert parts.tolist() == [3, 0, 0.75, 0.125], "starting is not in the wall time"
    (figure,) = draw(found, "cost")
    assert "Sampling took 77" in figure.caption


def test_no_cost_where_no_run_says_how_long_it_took(dataset) -> None:
    found = dataset(counted(COPY, *NVLINK), end={"wall_time_s": None})
    assert "p2p_copy" not in costs(found).get("experiment", pd.Series(dtype=str)).tolist()
