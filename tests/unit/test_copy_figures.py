"""Figures of ways of copying and of remote atomics: what stands beside what, and what is kept apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from support import synthetic
from support.cases import MIB
from support.drawn import copy, figures, table
from weft.report.key_numbers import key_numbers
from weft.report.tables import subject_table

SIZES = (MIB, 2 * MIB, 4 * MIB)
PLAIN: dict[str, Any] = {"streams": 1, "batching": "stream"}


def copies(rate: float, **changes: object) -> list[dict[str, object]]:
    return [copy(0, 1, size, rate, **{**PLAIN, **changes}) for size in SIZES]


def ratios(data: pd.DataFrame, panel: str) -> list[float]:
    return [float(value) for value in data.loc[data["panel"] == panel, "value"]]


def test_each_way_is_set_beside_its_counterpart(tmp_path: Path) -> None:
    dataset = table(
        tmp_path,
        copies(40e9)
        + copies(10e9, peer_access=False)
        + copies(32e9, engine="kernel")
        + copies(44e9, operation="read")
        + copies(50e9, batching="graph"),
    )
    figure = figures(dataset, "copy")["p2p_copy_contrasts"]
    assert ratios(figure.data, "peer access on / off") == pytest.approx([4.0] * 3)
    assert ratios(figure.data, "copy engine / kernel") == pytest.approx([1.25] * 3)
    assert ratios(figure.data, "read / write") == pytest.approx([1.1] * 3)
    assert ratios(figure.data, "as a graph / one by one") == pytest.approx([1.25] * 3)
    row = figure.data.iloc[0]
    assert row["low"] == pytest.approx(4.0 * 0.99 / 1.01)
    assert row["high"] == pytest.approx(4.0 * 1.01 / 0.99)


def test_ways_measured_apart_are_not_compared(tmp_path: Path) -> None:
    other = [copy(1, 0, size, 10e9, **PLAIN, peer_access=False) for size in SIZES]
    assert "p2p_copy_contrasts" not in figures(table(tmp_path, copies(40e9) + other), "copy")


def test_streams_and_graphs_have_figures_of_their_own_and_are_in_no_other(tmp_path: Path) -> None:
    dataset = table(tmp_path, copies(40e9) + copies(60e9, streams=2) + copies(80e9, batching="graph"))
    drawn = figures(dataset, "copy")
    assert list(drawn["p2p_copy_bandwidth"].data["value"]) == pytest.approx([40e9] * 3)
    streams = drawn["p2p_copy_streams"].data.groupby("line", observed=True)["value"].first()
    assert dict(streams) == {"1\u00a0stream": pytest.approx(40e9), "2\u00a0streams": pytest.approx(60e9)}
    graph = drawn["p2p_copy_batching"].data.groupby("line", observed=True)["value"].first()
    assert graph["as a graph"] == pytest.approx(graph["one by one"] / 2)


def test_without_them_there_are_no_such_figures(tmp_path: Path) -> None:
    drawn = figures(table(tmp_path, copies(40e9)), "copy")
    assert not {"p2p_copy_streams", "p2p_copy_batching", "p2p_copy_contrasts"} & set(drawn)


def test_atomics_have_a_figure_a_table_and_a_key_number(tmp_path: Path) -> None:
    records = []
    for address, result, rate in (("one", "unused", 1e9), ("one", "used", 5e8), ("spread", "unused", 4e9)):
        record = synthetic.measurement(
            {
                "benchmark": "p2p.atomics", "source": 0, "destination": 1, "address": address,
                "result": result, "size_bytes": 8,
            },
            1.0,
            device_states=False,
        )  # fmt: skip
        time = 1 / rate
        record["time_s"] |= {"median": time, "ci_low": 0.99 * time, "ci_high": 1.01 * time}
        del record["bandwidth_bytes_per_s"]
        records.append(record | {"atomics_per_s": rate})
    dataset = table(tmp_path, records, experiment="p2p_atomics")
    figure = figures(dataset, "atomics")["p2p_atomics_ways"]
    assert list(figure.data["way"]) == [
        "words 128 B apart, result unused",
        "one word, result unused",
        "one word, result used",
    ]
    assert "4.00\u00a0G/s" in figure.caption
    page = subject_table(dataset, "atomics")
    assert page is not None
    assert "atomics" in page.columns
    (number,) = key_numbers(dataset, "atomics")
    assert number.value == "4.00\u00a0G/s"
