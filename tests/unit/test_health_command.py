"""`weft health`: what it prints, and the status it ends with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support import cluster, synthetic
from weft.cli import main
from weft.health import examine_table
from weft.health.words import text, verdict
from weft.table import build_table

MIB = 2**20


def written(folder: Path, **changes: object) -> Path:
    paths = cluster.write_cluster(folder / "records", bare=False, **changes)
    build_table(paths, folder / "table.parquet", folder / "problems.json")
    return folder / "table.parquet"


def test_status_and_tables_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    healthy, slow = written(tmp_path / "healthy"), written(tmp_path / "slow", slow={"node3": 2.0})
    assert main(["health", "--table", str(healthy)]) == 0
    words = capsys.readouterr().out
    assert words.startswith("Nothing is sick") and "4\u00a0nodes" in words and "found from" in words
    assert main(["health", "--table", str(slow)]) == 1
    words = capsys.readouterr().out
    assert re.search(r"\nnode3 +both ways +messages between nodes", words)
    assert not any(f"\nnode{n}" in words for n in (1, 2, 4))


def test_bad_input_and_nothing_to_compare_are_neither_healthy_nor_sick(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    two = written(tmp_path, nodes=2)
    for path, words in ((two, "nothing that health could compare"), (tmp_path / "absent", "absent")):
        assert main(["health", "--table", str(path)]) == 2
        problem = capsys.readouterr().err
        assert words in problem and problem.count("\n") == 1


def test_without_peers_nothing_is_called_healthy(tmp_path: Path) -> None:
    words = verdict(examine_table(written(tmp_path, nodes=2)))
    assert words.startswith("Nothing could be compared") and "chance" not in words


def test_wrong_bytes_are_sickness_without_statistics(tmp_path: Path) -> None:
    imaginary = cluster.Cluster()
    good = list(imaginary.matrix("bandwidth", (MIB,), ("device",)))
    bad = {
        key: value
        for key, value in good[0].items()
        if key not in ("time_s", "bandwidth_bytes_per_s", "timer")
    }
    bad |= {"outcome": "wrong", "reason": "3 bytes", "wrong": 3}
    synthetic.write_file(
        tmp_path / "bad.jsonl", [imaginary.environment("pt2pt_bandwidth", 0, 4, True), bad, *good[1:]]
    )
    build_table([tmp_path / "bad.jsonl"], tmp_path / "table.parquet", tmp_path / "problems.json")
    found = examine_table(tmp_path / "table.parquet")
    assert found.wrong == [("node1 → node2", 1)]
    assert found.sick and "node1 → node2 (1\u00a0measurement)" in text(found)
