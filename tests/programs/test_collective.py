"""collective on the host backend, through the MPI launcher with 2 to 5 ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs.records import Record, Result, bad_input, run_program

QUICK = ("--budget-s", "0.01", "--min-samples", "3", "--max-samples", "5", "--quiet")
OPERATIONS = (
    *("broadcast", "all_gather", "reduce", "all_reduce", "reduce_scatter"),
    *("all_to_all", "scatter", "gather", "send_recv"),
)
# What all ranks together hold of the operation's size is divided into blocks, one a rank.
WITH_BLOCKS = {"all_gather", "reduce_scatter", "all_to_all", "scatter", "gather"}
REDUCTIONS = {"reduce", "all_reduce", "reduce_scatter"}
ROOTED = {"broadcast", "reduce", "scatter", "gather"}


def bus_factor(operation: str, ranks: int) -> float:
    """Bus bandwidth / algorithm bandwidth, after doc/PERFORMANCE.md of nccl-tests."""
    if operation == "all_reduce":
        return 2 * (ranks - 1) / ranks
    return (ranks - 1) / ranks if operation in WITH_BLOCKS else 1


def collective(ranks: int, *args: object) -> Result:
    result = run_program("collective", *QUICK, *args, ranks=ranks)
    assert result.status == 0, result.stderr
    assert all(record["wrong"] == 0 for record in result.measured)
    assert {record["outcome"] for record in result.measurements} <= {"measured", "unsupported"}
    return result


def operation_of(record: Record) -> str:
    return record["benchmark"].removeprefix("collective.")


@pytest.mark.parametrize("ranks", [2, 3, 4, 5])
def test_every_operation_is_measured_and_right(ranks: int) -> None:
    """In and out of place, with aligned and unaligned blocks, from the smallest sizes on."""
    result = collective(ranks, "--sizes", "4,1KiB,100000,1MiB", "--expect-ranks", ranks, "--expect-nodes", 1)
    assert result.environment["geometry"]["ranks"] == ranks
    seen = {(operation_of(r), r["in_place"], r["requested_bytes"]) for r in result.measured}
    for operation in OPERATIONS:
        for size in (1024, 100000, 1 << 20):
            assert (operation, True, size) in seen
            assert (operation, False, size) in seen or operation == "broadcast"
    for record in result.measured:
        operation, count = operation_of(record), record["count"]
        assert (record["library"], record["ranks"], record["nodes"]) == ("mpi", ranks, 1)
        assert record["devices"] == result.environment["geometry"]["rank_devices"]
        assert record["datatype"] == "float32" and record["element_bytes"] == 4
        assert record["reduction"] == ("sum" if operation in REDUCTIONS else None)
        assert record["root"] == (0 if operation in ROOTED else None)
        assert record["timer"] == "host_clock"
        blocks = ranks if operation in WITH_BLOCKS else 1
        assert record["size_bytes"] == 4 * count * blocks <= record["requested_bytes"]


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_bandwidths_are_those_of_nccl_tests(ranks: int) -> None:
    result = collective(ranks, "--sizes", "64KiB", "--counts", "aligned", "--in-place", "on")
    assert [operation_of(record) for record in result.measured] == [
        operation_of(r) for r in result.measurements
    ]
    for record in result.measured:
        algorithm = record["size_bytes"] / record["time_s"]["median"]
        assert record["bandwidth_bytes_per_s"] == pytest.approx(algorithm)
        factor = bus_factor(operation_of(record), ranks)
        assert record["bus_bandwidth_bytes_per_s"] == pytest.approx(factor * algorithm)


@pytest.mark.parametrize("ranks", [3, 4])
def test_counts_are_divisible_by_sixteen_times_ranks_or_odd(ranks: int) -> None:
    result = collective(ranks, "--sizes", "100000", "--counts", "aligned,unaligned", "--in-place", "on")
    for aligned in (True, False):
        records = [record for record in result.measured if (record["block_alignment_bytes"] == 16) == aligned]
        assert {operation_of(record) for record in records} == set(OPERATIONS)
        for record in records:
            elements = record["size_bytes"] // 4
            assert 100000 - record["size_bytes"] < 4 * 16 * ranks
            assert (elements % (16 * ranks) == 0) == aligned
            if not aligned:
                assert elements // ranks % 2 == 1
                assert record["block_alignment_bytes"] == 4


def test_the_first_ranks_take_part_and_the_others_wait() -> None:
    result = collective(
        5,
        "--participants",
        "2,5,3",
        "--sizes",
        "4KiB",
        "--benchmarks",
        "all_reduce,broadcast",
        "--in-place",
        "on",
    )
    for operation in ("all_reduce", "broadcast"):
        records = [record for record in result.measured if operation_of(record) == operation]
        assert [record["ranks"] for record in records] == [2, 2, 5, 5, 3, 3]
        devices = result.environment["geometry"]["rank_devices"]
        assert all(record["devices"] == devices[: record["ranks"]] for record in records)


@pytest.mark.parametrize("datatype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("reduction", ["sum", "max", "min"])
def test_reductions_are_exact_in_every_datatype(datatype: str, reduction: str) -> None:
    result = collective(
        *(3, "--datatype", datatype, "--reduction", reduction, "--sizes", "12000"),
        *("--benchmarks", "reduce,all_reduce,reduce_scatter"),
    )
    assert result.measured == result.measurements
    assert {record["reduction"] for record in result.measured} == {reduction}
    assert {record["element_bytes"] for record in result.measured} == {8 if datatype == "float64" else 4}


def test_a_key_is_not_taken_for_the_beginning_of_another() -> None:
    result = collective(2, "--benchmarks", "reduce", "--sizes", "4KiB")
    assert {operation_of(record) for record in result.measurements} == {"reduce"}


@pytest.mark.parametrize("in_place", ["on", "off"])
def test_injected_corruption_is_found_on_every_rank_that_receives(in_place: str) -> None:
    ranks = 3
    result = run_program(
        *("collective", *QUICK, "--sizes", "4KiB", "--in-place", in_place, "--inject-corruption"), ranks=ranks
    )
    assert result.status == 1
    checked = {}
    for record in result.measurements:
        if record["outcome"] != "unsupported":
            assert record["outcome"] == "wrong" and "time_s" in record
            checked[operation_of(record)] = record["wrong"]
    receivers = {operation: 1 if operation in {"reduce", "gather"} else ranks for operation in OPERATIONS}
    if in_place == "off":
        del receivers["broadcast"]
    assert checked == receivers


def test_what_a_library_has_not_is_unsupported_with_the_reason() -> None:
    result = collective(2, "--benchmarks", "broadcast", "--sizes", "4KiB", "--in-place", "off")
    assert not result.measured
    assert all("in place" in record["reason"] for record in result.measurements)


def test_nccl_is_unsupported_without_gpus() -> None:
    result = collective(2, "--library", "nccl", "--sizes", "4KiB", "--counts", "aligned")
    assert {operation_of(record) for record in result.measurements} == set(OPERATIONS)
    for record in result.measurements:
        assert record["outcome"] == "unsupported" and record["library"] == "nccl"
        assert "without NCCL" in record["reason"]


def nccl(*args: object, ranks: int = 2) -> Result:
    """NCCL on the host backend: nothing is measured, but what NCCL lacks is known without it."""
    return collective(
        ranks, "--library", "nccl", "--sizes", "4KiB", "--counts", "nccl_tests", "--in-place", "off", *args
    )


def reasons(result: Result) -> dict[str, str]:
    return {operation_of(record): record["reason"] for record in result.measurements}


def test_nccl_has_a_tree_for_all_reduce_alone() -> None:
    of = reasons(nccl("--algorithm", "tree"))
    assert "without NCCL" in of.pop("all_reduce")
    for operation, reason in of.items():
        exchange = operation in {"all_to_all", "scatter", "gather", "send_recv"}
        assert ("sends and receives" if exchange else f"no tree for {operation}") in reason


@pytest.mark.parametrize("choice", [("--algorithm", "ring"), ("--protocol", "ll128")])
def test_sends_and_receives_have_no_algorithm(choice: tuple[str, str]) -> None:
    of = reasons(nccl(*choice))
    assert {operation for operation, reason in of.items() if "without NCCL" in reason} == {
        *("broadcast", "all_gather", "reduce", "all_reduce", "reduce_scatter")
    }


@pytest.mark.parametrize(
    ("choice", "variables"),
    [
        ((), {}),
        (("--algorithm", "tree"), {"NCCL_ALGO": "Tree"}),
        (("--protocol", "ll"), {"NCCL_PROTO": "LL"}),
        (
            ("--transport", "p2p"),
            {"NCCL_P2P_DISABLE": "0", "NCCL_SHM_DISABLE": "1", "NCCL_P2P_LEVEL": "SYS"},
        ),
        (("--transport", "shm"), {"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "0"}),
        (
            ("--transport", "socket"),
            {"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1", "NCCL_NET": "Socket"},
        ),
    ],
)
def test_a_choice_reaches_nccl_as_its_variables_and_the_record(
    choice: tuple[str, ...], variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "NCCL_ALGO",
        "NCCL_PROTO",
        "NCCL_P2P_DISABLE",
        "NCCL_SHM_DISABLE",
        "NCCL_P2P_LEVEL",
        "NCCL_NET",
    ):
        monkeypatch.delenv(name, raising=False)
    result = nccl(*choice, "--benchmarks", "all_reduce")
    found = {name: v for name, v in result.environment["variables"].items() if name.startswith("NCCL_")}
    assert found == variables
    (record,) = result.measurements
    chosen = {"algorithm": "auto", "protocol": "auto", "transport": "auto", "processes": "one_per_device"}
    if choice:
        chosen[choice[0].removeprefix("--")] = choice[1]
    assert {name: record[name] for name in chosen} == chosen
    assert record["graph"] is False


def test_one_process_drives_the_devices_of_all() -> None:
    result = run_program(
        *("collective", *QUICK, "--library", "nccl", "--processes", "one", "--host-devices", 4),
        *("--sizes", "4KiB", "--benchmarks", "all_reduce", "--participants", "2,4", "--in-place", "off"),
        *("--counts", "nccl_tests", "--graphs", "off,on"),
    )
    assert result.status == 0, result.stderr
    assert [(r["ranks"], r["graph"], r["devices"], r["processes"]) for r in result.measurements] == [
        (2, False, [0, 1], "one"),
        (2, True, [0, 1], "one"),
        (4, False, [0, 1, 2, 3], "one"),
        (4, True, [0, 1, 2, 3], "one"),
    ]


def test_mpi_has_no_graphs_and_none_of_the_choices() -> None:
    result = collective(2, "--benchmarks", "all_reduce", "--sizes", "4KiB", "--graphs", "on")
    assert all("no CUDA graph" in record["reason"] for record in result.measurements)
    assert not {"graph", "processes", "algorithm", "protocol", "transport"} & result.measurements[0].keys()


@pytest.mark.parametrize(("ranks", "block_bytes"), [(3, 16), (4, 16)])
def test_counts_of_nccl_tests_are_the_sizes_asked_for_or_blocks_of_sixteen_bytes(
    ranks: int, block_bytes: int
) -> None:
    result = collective(ranks, "--sizes", "8,1000,1MiB", "--counts", "nccl_tests", "--in-place", "on")
    for record in result.measured:
        if operation_of(record) in WITH_BLOCKS:
            assert record["count"] * 4 == record["requested_bytes"] // ranks // block_bytes * block_bytes
            assert record["block_alignment_bytes"] == 16
        else:
            assert record["size_bytes"] == record["requested_bytes"] == 4 * record["count"]
    too_few = {operation_of(r) for r in result.measurements if "too few elements" in r.get("reason", "")}
    assert too_few == WITH_BLOCKS


def test_too_few_elements_for_the_ranks_are_unsupported() -> None:
    result = collective(5, "--benchmarks", "all_gather", "--sizes", "16", "--in-place", "on")
    assert [record["outcome"] for record in result.measurements] == ["unsupported", "unsupported"]
    assert all("too few elements" in record["reason"] for record in result.measurements)


def test_one_rank_alone_is_unsupported() -> None:
    result = run_program("collective", *QUICK, "--sizes", "4KiB")
    assert result.status == 0
    assert {record["outcome"] for record in result.measurements} == {"unsupported"}
    assert all("two participants" in record["reason"] for record in result.measurements)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--sizes", "1022"), "not a multiple of the element, 4 bytes"),
        (("--sizes", "12", "--datatype", "float64"), "not a multiple of the element, 8 bytes"),
        (("--sizes", "0"), "0 bytes"),
        (("--library", "gloo"), "mpi, nccl"),
        (("--participants", "3"), "ranks"),
        (("--participants", "1"), "2 ranks at least"),
        (("--benchmarks", "allreduce"), "all_reduce"),
        (("--datatype", "float16"), "float32"),
        (("--reduction", "product"), "sum"),
        (("--counts", "odd"), "aligned"),
        (("--in-place", "yes"), "on"),
        (("--library", "nccl", "--processes", "one"), "2 were started; start one"),
        (("--library", "nccl", "--algorithm", "nvls"), "auto, ring, tree"),
        (("--algorithm", "ring"), "is for --library nccl"),
        (("--transport", "shm"), "is for --library nccl"),
        (("--graphs", "yes"), "on"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(args: tuple[str, ...], words: str) -> None:
    assert words in bad_input("collective", *args, ranks=2)


def test_an_unexpected_geometry_is_refused() -> None:
    assert "3 ranks" in bad_input("collective", "--expect-ranks", 3, ranks=2)
    assert "2 nodes" in bad_input("collective", "--expect-nodes", 2, ranks=2)
    assert "2 ranks" in bad_input("collective", "--expect-ranks", 2)  # a singleton, started without launcher


def test_an_output_that_cannot_be_written_is_refused_by_all_ranks(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = run_program("collective", *QUICK, ranks=3, output=tmp_path / "file" / "records.jsonl")
    assert result.status == 2
    assert result.stderr.count("cannot be written") == 1
