"""The table: every column as the records say, limits from the topology, holes and problems kept."""

import json

import numpy as np
import orjson
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support import synthetic
from support.examples import example, file
from support.synthetic import CAMPAIGN, SYSTEM, environment, measurement, write_file, write_synthetic
from weft import schema
from weft.columns import (
    AXES,
    DERIVED,
    MEASUREMENT,
    ORIGIN,
    ORIGIN_AXES,
    QUANTILES,
    TABLE_SCHEMA,
    TIME,
    identity_columns,
)
from weft.errors import BadInput
from weft.origin import mpi_library
from weft.records import find_record_files
from weft.table import build_table, read_table

COPY = {
    "benchmark": "p2p.copy", "size_bytes": 1 << 20, "source": 0, "destination": 1, "engine": "copy_engine",
    "operation": "write", "peer_access": True, "direction": "unidirectional",
}  # fmt: skip


class Built:
    """A table built from record files, and what was wrong with them."""

    def __init__(self, folder, paths, processes=1):
        self.path = folder / "table.parquet"
        self.summary = build_table(paths, self.path, folder / "problems.json", processes)
        self.rows, self.metadata = read_table(self.path)
        self.problems = json.loads((folder / "problems.json").read_text())


@pytest.fixture
def build(tmp_path):
    """Build a table of records in files; each file is a list of records, its end is added."""

    def make(*files, **options):
        for index, records in enumerate(files):
            write_file(tmp_path / f"records/{index}.jsonl", records)
        return Built(tmp_path, sorted((tmp_path / "records").glob("*.jsonl")), **options)

    return make


def with_topology(*measurements):
    return [environment("p2p_copy", 0), *synthetic.topology(), *measurements]


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
    built = Built(tmp_path, [tmp_path / "a.jsonl"])
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


def test_types_are_those_of_the_contract(build):
    built = build([environment("p2p_copy", 0), measurement(COPY, 1.0)])
    assert pq.read_schema(built.path).remove_metadata().equals(TABLE_SCHEMA)
    assert isinstance(built.rows["benchmark"].dtype, pd.CategoricalDtype)
    assert built.rows["size_bytes"].dtype == pd.Int64Dtype()
    assert built.rows["peer_access"].dtype == pd.BooleanDtype()


def limits(built):
    rows = built.rows.sort_values("line")
    return list(
        zip(
            rows["link_class"].astype(object).where(rows["link_class"].notna(), None),
            rows["limit_bytes_per_s"].round(3).astype(object).where(rows["limit_bytes_per_s"].notna(), None),
            rows["limit_origin"].astype(object).where(rows["limit_origin"].notna(), None),
            strict=True,
        )
    )


HOST = {"benchmark": "p2p.host", "size_bytes": 1000, "device": 3, "memory": "pinned"}
MESSAGE = {
    "benchmark": "pt2pt.bandwidth", "size_bytes": 1000, "source": 0, "destination": 1, "ranks": 2, "nodes": 1,
    "pairs": 1,
    "placement": "device", "gpudirect": True, "chunk_bytes": None, "source_host": "a",
    "destination_host": "a",
}  # fmt: skip
FANOUT = {"benchmark": "p2p.fanout", "size_bytes": 1000, "device": 2, "devices": [0, 1, 2]}
COLLECTIVE = {
    "benchmark": "collective.all_reduce",
    "size_bytes": 1000,
    "library": "nccl",
    "ranks": 2,
    "in_place": True,
}
BY_CLASS = {**COPY, "source": None, "destination": None}


@pytest.mark.parametrize(
    ("axes", "expected"),
    [
        (COPY, ("NV2", 50e9, "nvlink")),
        ({**COPY, "destination": 2}, ("NV1", 25e9, "nvlink")),
        ({**COPY, "direction": "bidirectional"}, ("NV2", 100e9, "nvlink")),
        ({**COPY, "destination": 5}, ("SYS", 16e9, "pcie")),
        ({**COPY, "peer_access": False}, ("PHB", 16e9, "pcie")),
        ({**COPY, "peer_access": False, "destination": 4, "direction": "bidirectional"},
        ("SYS", 32e9, "pcie")),
        ({**COPY, "destination": 0}, ("X", 450e9, "memory_computed")),
        ({**COPY, "destination": 0, "direction": "bidirectional"}, ("X", 450e9, "memory_computed")),
        ({**COPY, "destination": 99}, (None, None, None)),
        ({**COPY, "benchmark": "p2p.latency", "method": "smallest_copy"}, ("NV2", 50e9, "nvlink")),
        ({**COPY, "benchmark": "p2p.route", "destination": 5, "via": 1, "chunk_bytes": None},
        ("SYS", 50e9, "nvlink")),
        ({**COPY, "benchmark": "p2p.route", "destination": 5, "via": 2, "chunk_bytes": None},
        ("SYS", 16e9, "pcie")),
        ({**COPY, "benchmark": "p2p.route", "via": None, "chunk_bytes": None}, ("NV2", 50e9, "nvlink")),
        ({**HOST, "direction": "host_to_device"}, (None, 16e9, "pcie")),
        ({**HOST, "direction": "bidirectional"}, (None, 32e9, "pcie")),
        ({**HOST, "direction": "device_to_host", "device": None}, (None, 16e9, "pcie")),
        ({**HOST, "direction": "device_to_host", "device": None, "pattern": "all_devices", "devices": [0, 3]},
         (None, 32e9, "pcie")),
        ({**HOST, "direction": "bidirectional", "pattern": "one_device"}, (None, 32e9, "pcie")),
        ({**COPY, "benchmark": "p2p.atomics", "address": "one", "result": "used", "atomics_per_s": 1e9},
         ("NV2", None, None)),
        ({**FANOUT, "pattern": "one_to_all"}, (None, 150e9, "nvlink")),
        ({**FANOUT, "pattern": "all_pairs"}, (None, 450e9, "nvlink")),
        (MESSAGE, ("NV2", 50e9, "nvlink")),
        ({**MESSAGE, "benchmark": "pt2pt.bidirectional_bandwidth"}, ("NV2", 100e9, "nvlink")),
        ({**MESSAGE, "placement": "pinned"}, ("PHB", 16e9, "pcie")),
        ({**MESSAGE, "nodes": 2}, ("NV2", 50e9, "nvlink")),
        ({**MESSAGE, "destination_host": "b", "nodes": 2}, (None, 12.5e9, "nic")),
        ({**MESSAGE, "benchmark": "pt2pt.message_rate"}, ("NV2", None, None)),
        ({**COLLECTIVE, "devices": [0, 1]}, (None, 150e9, "nvlink")),
        ({**COLLECTIVE, "nodes": 2}, (None, 12.5e9, "nic")),
        ({**BY_CLASS, "link_class": "NV1"}, ("NV1", 25e9, "nvlink")),
        ({**BY_CLASS, "link_class": "NV2", "direction": "bidirectional"}, ("NV2", 100e9, "nvlink")),
        ({**BY_CLASS, "link_class": "PHB", "peer_access": False}, ("PHB", 16e9, "pcie")),
        ({**BY_CLASS, "link_class": "NV9"}, ("NV9", None, None)),
    ],
)  # fmt: skip
def test_limit_is_that_of_the_path_taken(build, axes, expected):
    built = build(with_topology(measurement(axes, 1.0, device_states=False)))
    assert built.problems == []
    assert limits(built) == [expected]


def test_efficiency_is_rate_over_limit(build):
    one, collective = measurement(COPY, 1.0), measurement(COLLECTIVE | {"devices": [0, 1]}, 1.0)
    rows = build(with_topology(one, collective)).rows
    assert rows["efficiency"].tolist() == pytest.approx(
        [one["bandwidth_bytes_per_s"] / 50e9, collective["bus_bandwidth_bytes_per_s"] / 150e9]
    )


def test_slowest_participant_limits_a_collective(build):
    topology = synthetic.topology()
    topology[1]["egress_limit_bytes_per_s"] = 40e9
    del topology[7]["egress_limit_bytes_per_s"]
    rows = [
        measurement(COLLECTIVE | axes, 1.0)
        for axes in ({"devices": [0, 1]}, {"devices": [2, 3]}, {"devices": [2, 7]})
    ]
    built = build([environment("collective_nccl", 0), *topology, *rows])
    assert [limit for _, limit, _ in limits(built)] == [40e9, 150e9, None]


def test_slower_host_link_limits_a_staged_copy(build):
    topology = synthetic.topology()
    topology[1]["host_link_limit_bytes_per_s"] = 8e9
    rows = [
        measurement(COPY | {"peer_access": False, "source": s, "destination": d}, 1.0)
        for s, d in ((0, 1), (1, 0))
    ]
    built = build([environment("p2p_copy", 0), *topology, *rows])
    assert [limit for _, limit, _ in limits(built)] == [8e9, 8e9]


def test_topology_of_another_campaign_is_not_used(build):
    own = environment("p2p_copy", 0)
    other = environment("topology", 0, campaign="other")
    elsewhere = environment("topology", 0, host={**own["host"], "hostname": "node2"})
    weaker = [
        record | {"limit_bytes_per_s": 1e9} if record["record"] == "link" else record
        for record in synthetic.topology()
    ]
    assert limits(build([own, measurement(COPY, 1.0)], [other, *synthetic.topology()])) == [
        (None, None, None)
    ]
    built = build(
        [own, measurement(COPY, 1.0)],
        [elsewhere, *weaker],
        [environment("topology", 0), *synthetic.topology()],
    )
    assert limits(built) == [("NV2", 50e9, "nvlink")]


def test_without_topology_there_is_no_limit(build):
    built = build([environment("p2p_copy", 0), measurement(COPY, 1.0)])
    assert limits(built) == [(None, None, None)]
    assert np.isnan(built.rows["efficiency"].tolist()[0])


def test_holes_are_rows_with_their_reason(build):
    holes = [
        synthetic.hole(COPY | {"size_bytes": size}, outcome)
        for size, outcome in ((1, "unsupported"), (2, "wrong"), (3, "failed"))
    ]
    built = build([environment("p2p_copy", 0), measurement(COPY, 1.0), *holes])
    assert built.rows["outcome"].tolist() == ["measured", "unsupported", "wrong", "failed"]
    assert built.rows["reason"].tolist()[1:] == [
        "made to be unsupported",
        "made to be wrong",
        "made to be failed",
    ]
    assert built.summary.rows == 4
    assert built.summary.holes == built.metadata["holes"] == 3


def test_same_measurement_twice_is_said_and_counted_once(build):
    first, again = measurement(COPY, 1.0), measurement(COPY, 2.0)
    other = measurement(COPY | {"size_bytes": 4}, 1.0)
    built = build(
        [environment("p2p_copy", 0), first, other, again], [environment("p2p_copy", 0), again, other]
    )
    assert len(built.rows) == 2
    assert built.rows["time_median_s"].tolist()[0] == first["time_s"]["median"]
    assert [(problem["file"], problem["line"]) for problem in built.problems] == [
        ("records/0.jsonl", 4),
        ("records/1.jsonl", 2),
    ]
    assert (
        "records/0.jsonl line 4: the same configuration and repeat as records/0.jsonl line 2"
        in built.problems[0]["sentence"]
    )
    assert "(and 1 more of this file)" in built.problems[1]["sentence"]


@pytest.mark.parametrize("change", [
    {"repeat": 1}, {"system": "b"}, {"campaign": "b"}, {"device_backend": "host"},
    {"host": environment("x", 0)["host"] | {"hostname": "other"}}, {"container": "openmpi.sif"},
    {"software": {"mpi_library": "MPICH 4.2.1"}},
])  # fmt: skip
def test_repeats_and_other_systems_are_no_duplicates(build, change):
    built = build(
        [environment("p2p_copy", 0), measurement(COPY, 1.0)],
        [environment("p2p_copy", 0) | change, measurement(COPY, 1.0)],
    )
    assert len(built.rows) == 2
    assert built.problems == []


def test_sizes_that_round_to_one_and_holes_with_other_reasons_are_no_duplicates(build):
    sizes = [measurement(COLLECTIVE | {"requested_bytes": size}, 1.0) for size in (999, 1000)]
    holes = [
        synthetic.hole(COLLECTIVE, "unsupported") | {"reason": reason}
        for reason in ("too few", "too few, aligned")
    ]
    built = build([environment("collective_mpi", 0), *sizes, *holes, holes[0]])
    assert len(built.rows) == 4
    assert [problem["line"] for problem in built.problems] == [6]


def test_null_is_a_value_of_an_axis_of_its_own(build):
    route = {**COPY, "benchmark": "p2p.route", "chunk_bytes": None}
    built = build(
        [environment("p2p_route", 0), *(measurement(route | {"via": via}, 1.0) for via in (None, 0, 2))]
    )
    assert len(built.rows) == 3


@pytest.mark.parametrize(("change", "configurations"), [
    ({"container": "openmpi.sif"}, 2),
    ({"software": {"mpi_library": "MPICH 4.2.1"}}, 2),
    ({"container_digest": "sha256:1", "scheduler": {"kind": "slurm", "job_id": "2"}}, 1),
    ({"host": environment("x", 0)["host"] | {"hostname": "other"}}, 1),
])  # fmt: skip
def test_repeats_of_a_configuration_may_differ_in_host_and_job_but_not_in_what_they_ran_with(
    build, change, configurations
):
    built = build(
        [environment("p2p_copy", 0), measurement(COPY, 1.0)],
        [environment("p2p_copy", 1) | change, measurement(COPY, 1.0)],
    )
    assert built.problems == []
    axes = identity_columns()
    assert built.rows.groupby(axes, dropna=False, observed=True).ngroups == configurations


@pytest.mark.parametrize(("words", "short"), [
    ("Open MPI v5.0.11, package: Open MPI user@localhost Distribution, ident: 5.0.11, repo rev: v5.0.11rc1",
    "Open MPI 5.0.11"),
    ("MPICH Version:      4.2.1", "MPICH 4.2.1"),
    ("MVAPICH2-GDR Version : 2.3.7 Mon May 23 20:00:00 EST 2022", "MVAPICH2-GDR 2.3.7"),
    ("MPI VERSION    : CRAY MPICH version 8.1.27.26 (ANL base 3.4a2)", "Cray MPICH 8.1.27.26"),
    ("Intel(R) MPI Library 2021.11 for Linux* OS", "Intel MPI 2021.11"),
    ("a library of tomorrow", "a library of tomorrow"),
    (None, None),
])  # fmt: skip
def test_mpi_library_is_called_by_name_and_version(words, short):
    assert mpi_library(words) == short


@pytest.mark.parametrize("name", [name for name in AXES if name not in ("chunk", "devices", *ORIGIN_AXES)])
def test_every_axis_makes_a_configuration(build, name):
    one = example("measurement")
    other = {
        "benchmark": "p2p.latency", "via": 3, "engine": "copy_engine", "operation": "read",
        "peer_access": False,
        "direction": "bidirectional", "memory": "pageable", "method": "load_store", "pattern": "all_pairs",
        "batching": "graph", "address": "spread", "result": "unused",
        "placement": "pinned", "gpudirect": False, "library": "mpi", "in_place": True, "datatype": "x",
        "graph": True, "processes": "one", "algorithm": "ring", "protocol": "ll", "transport": "shm",
        "reduction": None,
        "link_class": None,
    }.get(name, 7)  # fmt: skip
    built = build([environment("p2p_copy", 0), one, one | {name: other}])
    assert built.problems == []
    assert len(built.rows) == 2


def test_chunk_axis_is_what_was_asked_for(build):
    """Two repeats whose searches found different chunks are repeats of each other."""
    route = {**COPY, "benchmark": "p2p.route", "via": 2}
    tried = {"chunk_search": [{"chunk_bytes": 4, "time_s": 1.0}]}
    rows = [
        route | {"chunk_bytes": None},
        route | {"chunk_bytes": 65536},
        route | {"chunk_bytes": 4, **tried},
    ]
    built = build(
        [environment("p2p_route", 0), *(measurement(row, 1.0) for row in rows), measurement(COPY, 1.0)],
        [environment("p2p_route", 0), measurement(route | {"chunk_bytes": 8, **tried}, 1.0)],
    )
    assert built.rows["chunk"].astype(object).where(built.rows["chunk"].notna(), None).tolist() == [
        "none",
        "65536",
        "auto",
        None,
    ]
    assert len(built.problems) == 1


def test_search_that_could_not_run_is_another_hole_than_whole_messages(build):
    hole = {"record": "measurement", "outcome": "unsupported", "reason": "it takes no device memory"}
    whole = MESSAGE | hole
    built = build([environment("pt2pt_bandwidth", 0), whole, whole | {"chunk_search": []}])
    assert built.problems == []
    assert built.rows["chunk"].tolist() == ["none", "auto"]


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
def test_device_states_are_summarised(build, axes, more, expected):
    row = build(
        [environment("p2p_copy", 0), measurement(COPY | axes, 1.0, device_states=False) | more]
    ).rows.iloc[0]
    assert {name: None if pd.isna(row[name]) else row[name] for name in expected} == expected


def test_integers_written_as_floats_are_read(tmp_path, build):
    record = measurement(COPY | {"size_bytes": 2}, 1.0, device_states=False)
    write_file(tmp_path / "records/0.jsonl", [environment("p2p_copy", 0), record, measurement(COPY, 1.0)])
    text = (tmp_path / "records/0.jsonl").read_bytes().replace(b'"size_bytes":2,', b'"size_bytes":2e0,')
    (tmp_path / "records/0.jsonl").write_bytes(text)
    built = Built(tmp_path, [tmp_path / "records/0.jsonl"])
    assert built.rows["size_bytes"].tolist() == [2, 1 << 20]
    assert built.problems == []


def test_number_beyond_the_column_is_said(build):
    built = build(
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
    built = Built(tmp_path, [good, bad, empty, tmp_path / "gone.jsonl"])
    assert built.rows["file"].tolist() == ["a.jsonl", "b.jsonl"]
    assert [problem["file"] for problem in built.problems] == ["b.jsonl", "b.jsonl", "c.jsonl", "gone.jsonl"]
    assert built.summary.problems == 4


def test_file_without_environment_keeps_its_measurements(tmp_path):
    write_file(tmp_path / "a.jsonl", [measurement(COPY, 1.0)])
    rows = Built(tmp_path, [tmp_path / "a.jsonl"]).rows
    assert len(rows) == 1
    assert rows[["system", "campaign", "repeat", "hostname"]].isna().all(axis=None)


def test_no_measurements_give_an_empty_table(build):
    built = build([environment("topology", 0), *synthetic.topology()])
    assert built.rows.empty
    assert built.summary.files == 1
    assert len(built.metadata["devices"]) == synthetic.DEVICES


def test_metadata_says_what_was_measured_on(build):
    files = [[environment("p2p_copy", repeat), measurement(COPY, 1.0)] for repeat in range(3)]
    metadata = build([environment("topology", 0), *synthetic.topology()], *files).metadata
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


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    write_synthetic(folder, 100_000, seed=5)
    return folder


def test_many_rows_hold_what_their_lines_say(many):
    """10^5 rows in several processes: counts by hand, and a sample of rows against their own lines."""
    built = Built(many, find_record_files([many]), processes=2)
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
        Built(tmp_path / name, order, processes)
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


def test_reading_what_is_no_table_is_bad_input(tmp_path, build):
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    with pytest.raises(BadInput, match="cannot be read as a table"):
        read_table(tmp_path / "x.parquet")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "y.parquet")
    with pytest.raises(BadInput, match="not a table of this version"):
        read_table(tmp_path / "y.parquet")
    built = build([environment("p2p_copy", 0), measurement(COPY, 1.0)])
    pq.write_table(pq.read_table(built.path).drop_columns(["via"]), tmp_path / "z.parquet")
    with pytest.raises(BadInput, match="not a table of this version"):
        read_table(tmp_path / "z.parquet")


def test_some_columns_can_be_read_alone(build):
    built = build([environment("p2p_copy", 0), measurement(COPY, 1.0)])
    rows, metadata = read_table(built.path, ["outcome", "size_bytes"])
    assert list(rows.columns) == ["outcome", "size_bytes"]
    assert metadata == built.metadata
