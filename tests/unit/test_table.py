"""The table: every column as the records say, holes kept."""

import orjson
import pandas as pd
import pyarrow.parquet as pq
import pytest

from support import synthetic
from support.built_table import BuiltTable
from support.cases import COPY
from support.examples import example, file
from support.synthetic import CAMPAIGN, SYSTEM, environment, measurement
from weft import schema
from weft.columns import (
    DERIVED,
    MEASUREMENT,
    ORIGIN,
    QUANTILES,
    TABLE_SCHEMA,
    TIME,
    identity_columns,
)


def test_columns_are_the_keys_of_the_schema():
    """A key that the schema gets must get a column, or be named here as one that needs none."""
    definitions = schema.record_schema()["$defs"]
    nested = {"record", "devices", "chunk_search", "time_s", "device_states", "path_proof"}
    assert set(definitions["measurement"]["properties"]) - nested == set(MEASUREMENT)
    assert set(definitions["time"]["properties"]) - {"quantiles", "values"} == set(TIME)
    assert set(definitions["time"]["properties"]["quantiles"]["properties"]) == set(QUANTILES)
    assert set(identity_columns()) <= set(TABLE_SCHEMA.names)
    assert len(set(TABLE_SCHEMA.names)) == len(TABLE_SCHEMA.names)


def test_every_value_of_a_record_arrives(tmp_path):
    record = example("measurement")
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(map(orjson.dumps, file())))
    built = BuiltTable(tmp_path, [tmp_path / "a.jsonl"])
    assert built.problems == []
    row = built.rows.iloc[0]
    for name in MEASUREMENT:
        assert row[name] == record[name] or (pd.isna(row[name]) and record[name] is None), name
    for key, (name, _) in TIME.items():
        assert row[name] == record["time_s"][key], name
    for key, name in QUANTILES.items():
        assert row[name] == record["time_s"]["quantiles"][key], name
    expected = {
        "file": "a.jsonl", "line": 6, "program": "p2p", "system": SYSTEM, "campaign": CAMPAIGN,
        "experiment": "p2p_copy", "repeat": 0, "device_backend": "cuda", "hostname": "node1",
        "started_at": "2026-01-01T00:00:00Z", "weft_commit": "0" * 40, "weft_dirty": False,
        "container": "openmpi.sif", "container_digest": "sha256:0", "mpi_library": "Open MPI", "job_id": "1",
        "partition": "p", "node_list": "n[1-2]",
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected
    assert row[["published_source", "locator"]].isna().all()
    assert row["devices"] == "0,1"
    assert row["chunk"] == "auto"
    assert row["bandwidth_ci_low_bytes_per_s"] == pytest.approx(1e9 / 1.25)
    assert row["bandwidth_ci_high_bytes_per_s"] == pytest.approx(1e9 / 0.9)
    assert row["sm_clock_hz_min"] == 1
    assert row["temperature_c_max"] == 2
    assert row["ecc_uncorrected_delta"] == 1
    assert row["nvlink_errors_delta"] == 3
    assert row["nvlink_share"] == 1.0
    assert set(ORIGIN) | set(MEASUREMENT) | set(DERIVED) <= set(built.rows.columns)


def test_types_are_those_of_the_contract(table_of):
    built = table_of([environment("p2p_copy", 0), measurement(COPY, 1.0)])
    assert pq.read_schema(built.path).remove_metadata().equals(TABLE_SCHEMA)
    assert isinstance(built.rows["benchmark"].dtype, pd.CategoricalDtype)
    assert built.rows["size_bytes"].dtype == pd.Int64Dtype()
    assert built.rows["peer_access"].dtype == pd.BooleanDtype()


def test_holes_are_rows_with_their_reason(table_of):
    holes = [
        synthetic.hole(COPY | {"size_bytes": size}, outcome)
        for size, outcome in ((1, "unsupported"), (2, "wrong"), (3, "failed"))
    ]
    built = table_of([environment("p2p_copy", 0), measurement(COPY, 1.0), *holes])
    assert built.rows["outcome"].tolist() == ["measured", "unsupported", "wrong", "failed"]
    assert built.rows["reason"].tolist()[1:] == [
        "made to be unsupported",
        "made to be wrong",
        "made to be failed",
    ]
    assert built.summary.rows == 4
    assert built.summary.holes == built.metadata["holes"] == 3


def states(*values, **more):
    return {"device_states": [{"device": device, **state} for device, state in enumerate(values)], **more}


@pytest.mark.parametrize(
    ("axes", "more", "expected"),
    [
        ({}, {}, {"throttled": None, "sm_clock_hz_min": None, "nvlink_share": None,
        "ecc_uncorrected_delta": None}),
        ({}, states({"throttle_reasons": [0, 1 | 2 | 0x10 | 0x100]}), {"throttled": False}),
        ({}, states({"throttle_reasons": [0, 0]}, {"throttle_reasons": [0x40, 0]}), {"throttled": True}),
        ({}, states({"sm_clock_hz": [5, 4]}, {"sm_clock_hz": [6, 7]}, {}),
        {"sm_clock_hz_min": 4, "throttled": None}),
        ({}, states({"temperature_c": [50, 61.5]}, {"temperature_c": [40, 40]}), {"temperature_c_max": 61.5}),
        ({}, states({"ecc_uncorrected": [1, 1]}, {"ecc_uncorrected": [0, 2]}), {"ecc_uncorrected_delta": 2}),
        ({}, states({"nvlink_crc_errors": [1, 4]}, {"nvlink_replay_errors": [0, 2]}),
        {"nvlink_errors_delta": 5}),
        ({}, states({"nvlink_transmitted_bytes": 90}, {"nvlink_transmitted_bytes": 7},
        payload_bytes_moved=100), {"nvlink_share": 0.97}),
        (
            {"direction": "bidirectional"},
            states({"nvlink_transmitted_bytes": 50}, {"nvlink_transmitted_bytes": 45},
            payload_bytes_moved=100),
            {"nvlink_share": 0.95},
        ),
        ({}, states({"nvlink_transmitted_bytes": 90}, payload_bytes_moved=0), {"nvlink_share": None}),
        ({}, states({"nvlink_transmitted_bytes": 90}), {"nvlink_share": None}),
    ],
)  # fmt: skip
def test_device_states_are_summarised(table_of, axes, more, expected):
    row = table_of(
        [environment("p2p_copy", 0), measurement(COPY | axes, 1.0, device_states=False) | more]
    ).rows.iloc[0]
    assert {name: None if pd.isna(row[name]) else row[name] for name in expected} == expected


def test_no_measurements_give_an_empty_table(table_of):
    built = table_of([environment("topology", 0), *synthetic.topology()])
    assert built.rows.empty
    assert built.summary.files == 1
    assert len(built.metadata["devices"]) == synthetic.DEVICES


def test_metadata_says_what_was_measured_on(table_of):
    files = [[environment("p2p_copy", repeat), measurement(COPY, 1.0)] for repeat in range(3)]
    metadata = table_of([environment("topology", 0), *synthetic.topology()], *files).metadata
    assert sorted(metadata) == sorted(
        ["environments", "runs", "devices", "links", "nics", "nic_links", "files", "measurements", "holes"]
    )
    assert [entry["files"] for entry in metadata["environments"]] == [1, 3]
    assert metadata["environments"][1]["program"] == "p2p"
    assert metadata["files"] == 4
    assert metadata["measurements"] == 3
    assert len(metadata["links"]) == 56
    assert metadata["links"][0]["system"] == SYSTEM
    assert metadata["links"][0]["link_class"] == "NV2"
