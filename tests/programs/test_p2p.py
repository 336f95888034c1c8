"""What all benchmarks of p2p share on the host backend: choice, verification, sampling, bad input."""

import signal
import subprocess
import time
from pathlib import Path

import pytest

from programs.p2p import ONE_OF_EACH, QUICK, p2p
from programs.records import bad_input, command, run_program


def test_list_names_benchmarks_and_axes() -> None:
    line = [str(word) for word in command("p2p", "--list")]
    listed = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    for word in (*ONE_OF_EACH, "size_bytes", "peer_access", "chunk_bytes", "pattern", "memory"):
        assert word in listed


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
