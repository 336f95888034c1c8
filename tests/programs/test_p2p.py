"""The program p2p on the host backend: every benchmark, every axis, verification, bad input."""

import itertools
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from programs.records import Record, Result, bad_input, command, run_program

CORES = len(os.sched_getaffinity(0))
QUICK = "--min-samples 3 --budget-s 0.005"


def p2p(benchmark: str, arguments: str, *, status: int = 0) -> Result:
    """Run one benchmark with few samples and return what it left, after a look at the exit status."""
    words = f"--quiet --benchmarks {benchmark} {QUICK} {arguments}".split()
    result = run_program("p2p", *words)
    assert result.status == status, result.stderr
    return result


def points(records: list[Record], axes: str) -> list[tuple[object, ...]]:
    """The values of the axes, in the order of the records."""
    return [tuple(record[axis] for axis in axes.split()) for record in records]


def assert_bandwidth(record: Record, transfers: int = 1) -> None:
    """The bandwidth is the payload of all transfers over the median time."""
    expected = transfers * record["size_bytes"] / record["time_s"]["median"]
    assert record["bandwidth_bytes_per_s"] == pytest.approx(expected)


# What each benchmark does


def test_list_names_benchmarks_and_axes() -> None:
    line = [str(word) for word in command("p2p", "--list")]
    listed = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    for word in (*ONE_OF_EACH, "size_bytes", "peer_access", "chunk_bytes", "pattern", "memory"):
        assert word in listed


def test_copy_measures_the_product_of_its_axes() -> None:
    result = p2p("copy", "--pairs 0:1,2:0 --sizes 1,7,4KiB,100003")
    product = itertools.product(
        ((0, 1), (2, 0)),
        ("unidirectional", "bidirectional"),
        ("copy_engine", "kernel"),
        ("write", "read"),
        (True, False),
        (1, 7, 4096, 100003),
    )
    expected = [(*pair, *rest) for pair, *rest in product]
    found = points(
        result.measurements, "source destination direction engine operation peer_access size_bytes"
    )
    assert len(found) == len(expected)
    assert set(found) == set(expected)
    for record in result.measurements:
        assert record["benchmark"] == "p2p.copy"
        if record["engine"] == "kernel" and not record["peer_access"]:
            assert record["outcome"] == "unsupported"
            assert "without peer access" in record["reason"]
        else:
            assert record["outcome"] == "measured"
            assert record["wrong"] == 0
            assert_bandwidth(record, transfers=2 if record["direction"] == "bidirectional" else 1)


def test_copy_by_several_streams_and_as_a_graph() -> None:
    result = p2p("copy", "--pairs 0:1 --sizes 4,100003 --streams 1,3 --batching stream,graph")
    product = itertools.product(
        ("unidirectional", "bidirectional"),
        (True, False),
        ("copy_engine", "kernel"),
        ("write", "read"),
        (1, 3),
        ("stream", "graph"),
        (4, 100003),
    )
    axes = "direction peer_access engine operation streams batching size_bytes"
    assert points(result.measurements, axes) == list(product)
    for record in result.measurements:
        reasons = [
            words
            for words, applies in (
                ("without peer access", record["engine"] == "kernel" and not record["peer_access"]),
                ("part of a graph", record["batching"] == "graph" and not record["peer_access"]),
                ("no part for each of 3 streams", record["streams"] == 3 and record["size_bytes"] == 4),
            )
            if applies
        ]
        if reasons:
            assert record["outcome"] == "unsupported"
            assert reasons[0] in record["reason"]
        else:
            assert record["outcome"] == "measured"
            assert record["wrong"] == 0
            assert_bandwidth(record, transfers=2 if record["direction"] == "bidirectional" else 1)


def test_copy_by_kernel_says_what_it_was_launched_with() -> None:
    result = p2p("copy", "--pairs 0:1 --sizes 64 --peer-access on")
    for record in result.measured:
        assert record.get("kernel_grid") == ("1x1x1" if record["engine"] == "kernel" else None)


def test_copy_of_all_pairs() -> None:
    result = p2p(
        "copy", "--host-devices 3 --sizes 64 --directions unidirectional --peer-access on --operations read"
    )
    expected = [(a, b) for a in range(3) for b in range(3) if a != b for _ in ("copy_engine", "kernel")]
    assert points(result.measured, "source destination") == expected


def test_host_measures_the_product_of_its_axes() -> None:
    result = p2p("host", "--devices 0,3 --sizes 3,64KiB")
    directions = ("host_to_device", "device_to_host", "bidirectional")
    product = list(itertools.product(("pinned", "pageable"), directions, (3, 65536)))
    places = [("one_device", 0), ("one_device", 3), ("all_devices", None)]
    expected = [(*place, *rest) for place in places for rest in product]
    assert points(result.measured, "pattern device memory direction size_bytes") == expected
    for record in result.measured:
        alone = record["pattern"] == "one_device"
        assert record.get("devices") == (None if alone else [0, 3])
        ways = 2 if record["direction"] == "bidirectional" else 1
        assert_bandwidth(record, transfers=ways if alone else 2 * ways)


def test_all_host_links_at_once_are_at_least_two() -> None:
    records = p2p("host", "--devices 2 --host-patterns all_devices --sizes 4").measurements
    assert records
    for record in records:
        assert record["outcome"] == "unsupported"
        assert "at least two" in record["reason"]


def test_atomics_measures_the_product_of_its_axes() -> None:
    result = p2p("atomics", "--pairs 0:1,2:0")
    product = itertools.product(((0, 1), (2, 0)), ("one", "neighbouring", "spread"), ("unused", "used"))
    expected = [(*pair, *rest) for pair, *rest in product]
    assert points(result.measured, "source destination address result") == expected
    for record in result.measured:
        assert record["wrong"] == 0
        assert record["atomics_per_s"] == pytest.approx(1 / record["time_s"]["median"])
        assert "bandwidth_bytes_per_s" not in record


def test_fanout_counts_every_transfer() -> None:
    result = p2p("fanout", "--host-devices 5 --devices 0,2,4 --sizes 1000")
    expected = [
        *itertools.product(("one_to_all", "all_to_one"), (0, 2, 4), ("write", "read")),
        *itertools.product(("all_pairs",), (None,), ("write", "read")),
    ]
    assert points(result.measured, "pattern device operation") == expected
    for record in result.measured:
        assert record["devices"] == [0, 2, 4]
        assert_bandwidth(
            record, transfers={"one_to_all": 2, "all_to_one": 2, "all_pairs": 6}[record["pattern"]]
        )


def test_fanout_needs_two_devices() -> None:
    records = p2p("fanout", "--devices 1 --sizes 4").measurements
    assert {record["pattern"] for record in records} == {"one_to_all", "all_to_one", "all_pairs"}
    for record in records:
        assert record["outcome"] == "unsupported"
        assert "at least two devices" in record["reason"]


def test_smallest_copy() -> None:
    result = p2p("latency", "--methods smallest_copy --pairs 0:1,1:0")
    assert points(result.measured, "source peer_access") == [(0, True), (0, False), (1, True), (1, False)]
    for record in result.measured:
        assert record["size_bytes"] == 4
        assert record.get("bandwidth_bytes_per_s") is None


def test_smallest_copy_as_a_graph() -> None:
    records = p2p(
        "latency", "--pairs 0:1 --batching stream,graph --methods smallest_copy,start_up"
    ).measurements
    copies = [record for record in records if record["method"] == "smallest_copy"]
    assert points(copies, "peer_access batching outcome") == [
        (True, "stream", "measured"),
        (True, "graph", "measured"),
        (False, "stream", "measured"),
        (False, "graph", "unsupported"),
    ]
    alone = [record for record in records if record["method"] == "start_up"]
    assert points(alone, "peer_access batching outcome") == [
        (True, None, "measured"),
        (False, None, "measured"),
    ]


def test_start_up_is_timed_by_the_host() -> None:
    records = p2p("latency", "--pairs 0:1,1:0 --methods start_up").measured
    assert points(records, "source peer_access") == [(0, True), (0, False), (1, True), (1, False)]
    for record in records:
        assert record["timer"] == "host_clock"
        assert record["wrong"] == 0
        assert record["engine"] == "copy_engine"
        assert record.get("bandwidth_bytes_per_s") is None


@pytest.mark.skipif(CORES < 2, reason="a flag passed to and fro needs two cores")
def test_load_store() -> None:
    on, off = p2p("latency", "--methods load_store --pairs 0:1").measurements
    assert on["outcome"] == "measured"
    assert on["timer"] == "host_clock"
    assert on["wrong"] == 0
    assert on["time_s"]["operations_per_sample"] > 1
    assert off["outcome"] == "unsupported"
    assert "without peer access" in off["reason"]


@pytest.mark.skipif(
    CORES > 255, reason="there are at most 256 devices, so that each has a core of its own here"
)
def test_load_store_between_devices_of_one_core_is_unsupported() -> None:
    result = p2p("latency", f"--methods load_store --peer-access on --host-devices {CORES + 1}")
    shared = [record for record in result.measurements if record["outcome"] == "unsupported"]
    assert shared
    for record in shared:
        assert f"devices {record['source']} and {record['destination']} share core" in record["reason"]


def test_route_takes_every_via_and_the_direct_way() -> None:
    result = p2p("route", "--host-devices 4 --pairs 0:1,2:3 --sizes 100,1000 --chunks none")
    ways = [(0, None, 1), (0, 2, 1), (0, 3, 1), (2, None, 3), (2, 0, 3), (2, 1, 3)]
    expected = [(*way, size) for way, size in itertools.product(ways, (100, 1000))]
    assert points(result.measured, "source via destination size_bytes") == expected
    for record in result.measured:
        assert record["chunk_bytes"] is None
        assert_bandwidth(record)


def test_route_finds_the_best_chunk() -> None:
    result = p2p("route", "--pairs 0:1 --via 2 --sizes 64KiB,1MiB")
    expected = [(None, 1 << 16), (None, 1 << 20), (2, 1 << 16), (2, 1 << 20), (2, 1 << 20)]
    assert points(result.measured, "via size_bytes") == expected
    *whole, best = result.measured
    assert all(record["chunk_bytes"] is None and "chunk_search" not in record for record in whole)
    tried = {entry["chunk_bytes"]: entry["time_s"] for entry in best["chunk_search"]}
    assert list(tried) == [1 << 16, 1 << 17, 1 << 18, 1 << 19]
    assert best["chunk_bytes"] == min(tried, key=tried.__getitem__)


def test_route_in_chunks_of_given_sizes() -> None:
    result = p2p("route", "--pairs 0:1 --via 3 --sizes 100,100003 --chunks 99,4KiB")
    relayed = [record for record in result.measured if record["via"] == 3]
    assert points(relayed, "chunk_bytes size_bytes") == [(99, 100), (99, 100003), (4096, 100003)]


def test_route_skips_pairs_that_end_at_the_via() -> None:
    result = p2p("route", "--via 1 --host-devices 3 --sizes 8 --chunks none")
    expected = [(0, None, 2), (0, 1, 2), (2, None, 0), (2, 1, 0)]
    assert points(result.measured, "source via destination") == expected


def test_route_needs_three_devices() -> None:
    result = p2p("route", "--host-devices 2 --sizes 8,16")
    expected = [(0, None, 8), (0, None, 16), (1, None, 8), (1, None, 16)]
    assert points(result.measurements, "source via size_bytes") == expected
    for record in result.measurements:
        assert record["outcome"] == "unsupported"
        assert "third device" in record["reason"]


# What all benchmarks share

ONE_OF_EACH = {
    "copy": "--pairs 0:1 --peer-access on --engines kernel --sizes 5",
    "latency": "--pairs 0:1 --peer-access on",
    "host": "--devices 1 --sizes 4KiB",
    "route": "--pairs 0:1 --via 2 --sizes 128KiB",
    "fanout": "--devices 0,1 --sizes 64",
    "atomics": "--pairs 0:1",
}


@pytest.mark.parametrize("benchmark", ONE_OF_EACH)
def test_a_flipped_byte_is_wrong(benchmark: str) -> None:
    assert p2p(benchmark, ONE_OF_EACH[benchmark]).end["outcomes"]["wrong"] == 0
    result = p2p(benchmark, f"{ONE_OF_EACH[benchmark]} --inject-corruption", status=1)
    ran = [record for record in result.measurements if record["outcome"] != "unsupported"]
    assert ran
    for record in ran:
        assert record["outcome"] == "wrong"
        assert record["wrong"] >= 1


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [("fan", {"p2p.fanout"}), ("copy,lat", {"p2p.copy", "p2p.latency"})],
)
def test_benchmarks_are_chosen_by_key_or_prefix(chosen: str, expected: set[str]) -> None:
    result = p2p(chosen, "--sizes 4 --pairs 0:1 --devices 0,1")
    assert {record["benchmark"] for record in result.measurements} == expected


def test_without_a_choice_every_benchmark_runs() -> None:
    arguments = f"--quiet {QUICK} --sizes 4 --pairs 0:1 --devices 0,1 --chunks none".split()
    result = run_program("p2p", *arguments)
    assert {record["benchmark"] for record in result.measurements} == {f"p2p.{key}" for key in ONE_OF_EACH}


@pytest.mark.parametrize("benchmark", ["copy", "host", "route", "fanout"])
def test_sizes_beyond_the_memory_are_unsupported_and_the_others_measured(benchmark: str) -> None:
    arguments = (
        "--engines copy_engine --pairs 0:1 --via 2 --devices 0,1 --chunks none --sizes 4KiB,1048576GiB"
    )
    result = p2p(benchmark, arguments)
    small = [record for record in result.measurements if record["size_bytes"] == 4096]
    large = [record for record in result.measurements if record["size_bytes"] == 1 << 50]
    assert len(small) == len(large) > 0
    assert {record["outcome"] for record in small} == {"measured"}
    assert {record["outcome"] for record in large} == {"unsupported"}
    for record in large:
        assert "GiB, more than half of the" in record["reason"]


def test_a_sample_lasts_as_long_as_asked_for() -> None:
    def operations(sample_s: float) -> int:
        words = f"--benchmarks latency --methods smallest_copy {ONE_OF_EACH['latency']} --min-samples 3"
        words += f" --quiet --budget-s 0.2 --min-sample-s {sample_s}"
        result = run_program("p2p", *words.split())
        return result.measured[0]["time_s"]["operations_per_sample"]

    assert operations(2e-3) > 8 * operations(20e-6)


def test_samples_are_kept_when_asked_for() -> None:
    for flag in ("", "--keep-samples"):
        for record in p2p("latency", f"{ONE_OF_EACH['latency']} --methods smallest_copy {flag}").measured:
            summary = record["time_s"]
            assert summary["samples"] >= 3
            assert ("values" in summary) == bool(flag)
            assert len(summary.get("values", [])) == (summary["samples"] if flag else 0)


def test_progress_names_each_case() -> None:
    arguments = f"--benchmarks copy {QUICK} --pairs 0:1 --sizes 64KiB --engines copy_engine".split()
    progress = run_program("p2p", *arguments).stderr
    assert "p2p.copy 0->1 64KiB copy_engine write " in progress
    assert "p2p.copy 0<->1 64KiB copy_engine read staged " in progress


def test_a_killed_run_leaves_no_final_file(tmp_path: Path) -> None:
    output = tmp_path / "records.jsonl"
    partial = tmp_path / "records.jsonl.partial"
    line = command("p2p", "--output", output, "--quiet", "--benchmarks", "copy", "--sizes", "4:64KiB:x2")
    with subprocess.Popen([str(word) for word in line]) as process:
        while not (partial.exists() and '"measurement"' in partial.read_text()):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) != 0
    assert not output.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--sizes 0", "--sizes 0"),
        ("--sizes -4", "--sizes -4"),
        ("--sizes 4KB", "--sizes 4KB KiB"),
        ("--sizes=", "--sizes"),
        ("--pairs 0:0", "--pairs 0:0"),
        ("--pairs 0:4 --host-devices 4", "--pairs 4 devices"),
        ("--pairs 0-1", "--pairs 0-1"),
        ("--devices 0,9 --host-devices 4", "--devices 9"),
        ("--via 7 --host-devices 4", "--via 7"),
        ("--pairs 0:1,2:3 --via 2", "--via 2:3"),
        ("--pairs 0:1 --via 1", "--via 0:1"),
        ("--engines warp", "--engines warp copy_engine"),
        ("--operations push", "--operations push write"),
        ("--peer-access maybe", "--peer-access maybe on"),
        ("--directions up", "--directions up unidirectional"),
        ("--memory managed", "--memory managed pinned"),
        ("--host-directions up", "--host-directions up host_to_device"),
        ("--patterns ring", "--patterns ring one_to_all"),
        ("--methods guess", "--methods guess load_store"),
        ("--batching batch", "--batching batch graph"),
        ("--streams 0", "--streams 0"),
        ("--streams 17", "--streams 17"),
        ("--kernel-grid 264x512x8", "--kernel-grid 264x512x8 cuda"),
        ("--addresses two", "--addresses two spread"),
        ("--results both", "--results both unused"),
        ("--host-patterns both", "--host-patterns both all_devices"),
        ("--chunks some", "--chunks some"),
        ("--chunks 1MiB --sizes 64KiB", "--chunks 1MiB 64KiB"),
        ("--benchmarks copie", "--benchmarks copie copy"),
        ("--host-devices 0", "--host-devices 0"),
        ("--host-devices 4096", "--host-devices 4096"),
        ("--pear-access on", "--pear-access --peer-access"),
    ],
)
def test_bad_input_is_one_sentence(arguments: str, words: str) -> None:
    sentence = bad_input("p2p", *arguments.split())
    for word in words.split():
        assert word in sentence


def test_an_output_that_cannot_be_written_is_bad_input(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("in the way")
    result = run_program("p2p", "--sizes", 4, output=file / "records.jsonl")
    assert result.status == 2
    assert len(result.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == [file]
