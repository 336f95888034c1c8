"""The table as a file, from files of records: whole or damaged, few or many, read as a whole or in part."""

import orjson
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support import synthetic
from support.built_table import BuiltTable
from support.cases import COPY
from support.synthetic import environment, measurement, write_file, write_synthetic
from weft.columns import (
    MEASUREMENT,
    identity_columns,
)
from weft.errors import BadInput
from weft.records import find_record_files
from weft.table import build_table, read_table


def test_integers_written_as_floats_are_read(tmp_path, table_of):
    record = measurement(COPY | {"size_bytes": 2}, 1.0, device_states=False)
    write_file(tmp_path / "records/0.jsonl", [environment("p2p_copy", 0), record, measurement(COPY, 1.0)])
    text = (tmp_path / "records/0.jsonl").read_bytes().replace(b'"size_bytes":2,', b'"size_bytes":2e0,')
    (tmp_path / "records/0.jsonl").write_bytes(text)
    built = BuiltTable(tmp_path, [tmp_path / "records/0.jsonl"])
    assert built.rows["size_bytes"].tolist() == [2, 1 << 20]
    assert built.problems == []


def test_number_beyond_the_column_is_said(table_of):
    built = table_of(
        [
            environment("p2p_copy", 0),
            measurement(COPY, 1.0) | {"size_bytes": 2**64 - 1},
            measurement(COPY, 1.0),
        ]
    )
    assert len(built.rows) == 1
    assert "records/0.jsonl line 2: a number is too large" in built.problems[0]["sentence"]


def test_bad_file_is_a_problem_and_the_rest_is_used(tmp_path):
    good, bad, empty = (tmp_path / name for name in ("a.jsonl", "b.jsonl", "c.jsonl"))
    write_file(good, [environment("p2p_copy", 0), measurement(COPY, 1.0)])
    write_file(
        bad, [environment("p2p_copy", 1), measurement(COPY, 1.0), measurement(COPY | {"size_bytes": 4}, 1.0)]
    )
    bad.write_bytes(bad.read_bytes()[:-200])  # in the middle of the second measurement
    empty.touch()
    built = BuiltTable(tmp_path, [good, bad, empty, tmp_path / "gone.jsonl"])
    assert built.rows["file"].tolist() == ["a.jsonl", "b.jsonl"]
    assert [problem["file"] for problem in built.problems] == ["b.jsonl", "b.jsonl", "c.jsonl", "gone.jsonl"]
    assert built.summary.problems == 4


def test_file_without_environment_keeps_its_measurements(tmp_path):
    write_file(tmp_path / "a.jsonl", [measurement(COPY, 1.0)])
    rows = BuiltTable(tmp_path, [tmp_path / "a.jsonl"]).rows
    assert len(rows) == 1
    assert rows[["system", "campaign", "repeat", "hostname"]].isna().all(axis=None)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    write_synthetic(folder, 100_000, seed=5)
    return folder


def test_many_rows_hold_what_their_lines_say(many):
    """10^5 rows in several processes: counts by hand, and a sample of rows against their own lines."""
    built = BuiltTable(many, find_record_files([many]), processes=2)
    assert built.problems == []
    assert built.summary.rows == 100_000
    lines = {
        path.relative_to(many).as_posix(): path.read_bytes().split(b"\n")
        for path in find_record_files([many])
    }
    outcomes = pd.Series([outcome for text in lines.values() for outcome in _outcomes(text)]).value_counts()
    assert built.rows["outcome"].value_counts().to_dict() == outcomes.to_dict()
    for _, row in built.rows.sample(500, random_state=1).iterrows():
        record = orjson.loads(lines[row["file"]][row["line"] - 1])
        for name in MEASUREMENT:
            if name != "link_class":
                assert row[name] == record.get(name) or (pd.isna(row[name]) and record.get(name) is None), (
                    name
                )
        if record["outcome"] == "measured":
            assert row["time_median_s"] == record["time_s"]["median"]
        if record["benchmark"] == "p2p.copy" and record["peer_access"]:
            assert row["link_class"] == synthetic.link_class(record["source"], record["destination"])
            assert row["nvlink_share"] == 1.0 or record["outcome"] != "measured"
    configurations = built.rows.groupby([*identity_columns(), "repeat"], dropna=False, observed=True).size()
    assert (configurations == 1).all()


def _outcomes(lines):
    return [
        record["outcome"]
        for record in map(orjson.loads, filter(None, lines))
        if record["record"] == "measurement"
    ]


def test_same_records_give_the_same_bytes(tmp_path):
    paths = write_synthetic(tmp_path / "records", 25_000)
    built = [
        BuiltTable(tmp_path / name, order, processes)
        for name, order, processes in (("a", paths, 1), ("b", paths[::-1], 2))
    ]
    assert built[0].path.read_bytes() == built[1].path.read_bytes()


def test_synthetic_files_are_the_same_each_time(tmp_path):
    for name in ("a", "b"):
        paths = write_synthetic(tmp_path / name, 3000, seed=2)
    assert sum(path.stat().st_size for path in paths) > 0
    for path in paths:
        assert path.read_bytes() == (tmp_path / "a" / path.relative_to(tmp_path / "b")).read_bytes()


def test_nothing_half_written_is_left(tmp_path, monkeypatch):
    write_file(tmp_path / "a.jsonl", [environment("p2p_copy", 0), measurement(COPY, 1.0)])
    monkeypatch.setattr(
        pq.ParquetWriter, "write_table", lambda *_, **__: (_ for _ in ()).throw(OSError(28, "No space left"))
    )
    with pytest.raises(BadInput, match="cannot be written: No space left"):
        build_table([tmp_path / "a.jsonl"], tmp_path / "out/table.parquet", tmp_path / "out/problems.json")
    assert list((tmp_path / "out").iterdir()) == []


def test_output_below_a_file_is_bad_input(tmp_path):
    (tmp_path / "a").touch()
    with pytest.raises(BadInput, match="cannot be written"):
        build_table([], tmp_path / "a/table.parquet", tmp_path / "problems.json")


def test_reading_what_is_no_table_is_bad_input(tmp_path, table_of):
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    with pytest.raises(BadInput, match="cannot be read as a table"):
        read_table(tmp_path / "x.parquet")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "y.parquet")
    with pytest.raises(BadInput, match="not a table of this version"):
        read_table(tmp_path / "y.parquet")
    built = table_of([environment("p2p_copy", 0), measurement(COPY, 1.0)])
    pq.write_table(pq.read_table(built.path).drop_columns(["via"]), tmp_path / "z.parquet")
    with pytest.raises(BadInput, match="not a table of this version"):
        read_table(tmp_path / "z.parquet")


def test_some_columns_can_be_read_alone(table_of):
    built = table_of([environment("p2p_copy", 0), measurement(COPY, 1.0)])
    rows, metadata = read_table(built.path, ["outcome", "size_bytes"])
    assert list(rows.columns) == ["outcome", "size_bytes"]
    assert metadata == built.metadata
