"""What tells two rows apart: configurations, their repeats, and what is the same measured twice."""

import pytest

from support import synthetic
from support.built_table import COLLECTIVE, MESSAGE
from support.cases import COPY
from support.examples import example
from support.synthetic import environment, measurement
from weft.columns import (
    AXES,
    ORIGIN_AXES,
    identity_columns,
)
from weft.origin import mpi_library


def test_same_measurement_twice_is_said_and_counted_once(table_of):
    first, again = measurement(COPY, 1.0), measurement(COPY, 2.0)
    other = measurement(COPY | {"size_bytes": 4}, 1.0)
    built = table_of(
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
def test_repeats_and_other_systems_are_no_duplicates(table_of, change):
    built = table_of(
        [environment("p2p_copy", 0), measurement(COPY, 1.0)],
        [environment("p2p_copy", 0) | change, measurement(COPY, 1.0)],
    )
    assert len(built.rows) == 2
    assert built.problems == []


def test_sizes_that_round_to_one_and_holes_with_other_reasons_are_no_duplicates(table_of):
    sizes = [measurement(COLLECTIVE | {"requested_bytes": size}, 1.0) for size in (999, 1000)]
    holes = [
        synthetic.hole(COLLECTIVE, "unsupported") | {"reason": reason}
        for reason in ("too few", "too few, aligned")
    ]
    built = table_of([environment("collective_mpi", 0), *sizes, *holes, holes[0]])
    assert len(built.rows) == 4
    assert [problem["line"] for problem in built.problems] == [6]


def test_null_is_a_value_of_an_axis_of_its_own(table_of):
    route = {**COPY, "benchmark": "p2p.route", "chunk_bytes": None}
    built = table_of(
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
    table_of, change, configurations
):
    built = table_of(
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
def test_every_axis_makes_a_configuration(table_of, name):
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
    built = table_of([environment("p2p_copy", 0), one, one | {name: other}])
    assert built.problems == []
    assert len(built.rows) == 2


def test_chunk_axis_is_what_was_asked_for(table_of):
    """Two repeats whose searches found different chunks are repeats of each other."""
    route = {**COPY, "benchmark": "p2p.route", "via": 2}
    tried = {"chunk_search": [{"chunk_bytes": 4, "time_s": 1.0}]}
    rows = [
        route | {"chunk_bytes": None},
        route | {"chunk_bytes": 65536},
        route | {"chunk_bytes": 4, **tried},
    ]
    built = table_of(
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


def test_search_that_could_not_run_is_another_hole_than_whole_messages(table_of):
    hole = {"record": "measurement", "outcome": "unsupported", "reason": "it takes no device memory"}
    whole = MESSAGE | hole
    built = table_of([environment("pt2pt_bandwidth", 0), whole, whole | {"chunk_search": []}])
    assert built.problems == []
    assert built.rows["chunk"].tolist() == ["none", "auto"]
