"""That the benchmarks run, at sizes too small to say anything, and that what they tell is what they saw."""

import json
import os
import sys
from pathlib import Path

import pytest

from benchmarks import reproducibility, run
from benchmarks.process import CommandError, usage_of
from support.synthetic import axes, environment, measurement, write_file


@pytest.mark.parametrize(
    ("program", "argument", "names"), [("sampler_overhead", 20, "samples"), ("host_copy", 4096, "size_bytes")]
)
def test_comparisons_run(program, argument, names, build: Path, launch) -> None:
    done = launch([build / "benchmarks" / program, argument])
    assert done.returncode == 0, done.stderr
    check_comparison(json.loads(done.stdout), names, argument)


def test_pingpong_runs_with_two_ranks_alone(build: Path, mpirun) -> None:
    program = build / "benchmarks/pingpong"
    done = mpirun(2, program, 64)
    assert done.returncode == 0, done.stderr
    check_comparison(json.loads(done.stdout), "size_bytes", 64)
    refused = mpirun(1, program)
    assert refused.returncode == 2 and "pingpong needs 2 ranks" in refused.stderr


def check_comparison(result: dict, names: str, argument: int) -> None:
    assert result[names] == argument and result["rounds"] > 20
    assert result["plain_s"] > 0 and result["weft_s"] > 0
    ratio = result["time_ratio"]
    assert 0 < ratio["min"] <= ratio["ci_low"] <= ratio["median"] <= ratio["ci_high"] <= ratio["max"]


def test_report_row(tmp_path: Path, capsys) -> None:
    output = tmp_path / "benchmark.json"
    arguments = ["report", "--measurements", "200", "--repetitions", "1", "--json", str(output)]
    assert run.main(arguments) == 0, capsys.readouterr().out
    table = capsys.readouterr().out
    assert "table and report of 200 measurements: time" in table and "report.200" in table
    rows = {row["what"].strip(): row for row in json.loads(output.read_text())["rows"]}
    assert rows["of which the table"]["median"] < rows["table and report of 200 measurements: time"]["median"]
    assert 50e6 < rows["peak memory"]["median"] < 4e9  # pandas alone needs more than the lesser


def test_a_row_without_runs_says_what_is_missing(tmp_path: Path, capsys) -> None:
    arguments = ["reproducibility", "--runs", str(tmp_path / "none"), "--json", str(tmp_path / "all.json")]
    assert run.main(arguments) == 0
    assert "none does not exist; make campaign" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["reports"], "no row is called reports; there are sampler.40,"),
        (["--json", "/proc/none/benchmark.json", "reproducibility", "--runs", "none"], "cannot be written"),
    ],
)
def test_bad_input_is_a_sentence(arguments, sentence, capsys) -> None:
    assert run.main(arguments) == 2
    said = capsys.readouterr().err
    assert sentence in said and "Traceback" not in said


def test_usage_counts_children() -> None:
    child = "import time; hold = bytearray(200 << 20); time.sleep(0.5)"
    start = f"subprocess.run([sys.executable, '-c', {child!r}])"
    parent = f"import subprocess, sys; hold = bytearray(100 << 20); {start}"
    usage = usage_of([sys.executable, "-c", parent], os.environ)
    assert usage.peak_memory_bytes > 300 << 20
    assert usage.wall_s > 0.5 and usage.processor_s > 0


def test_a_command_that_fails_is_named() -> None:
    with pytest.raises(CommandError, match=r"ended with status 3: no such thing"):
        usage_of([sys.executable, "-c", "import sys; print('no such thing'); sys.exit(3)"], os.environ)


def write_run(folder: Path, repeat: int, slower: float) -> Path:
    """A copy of 4 B and ten of 1 to 512 MiB, `slower` than 20 GB/s, of 4 MiB after repeat 0 twice that."""
    copy = next(axes("p2p_copy"))
    copies = [copy | {"size_bytes": size} for size in (4, *(2**power for power in range(20, 30)))]
    records = [
        measurement(copy, slower * (2 if copy["size_bytes"] == 4 << 20 and repeat else 1)) for copy in copies
    ]
    path = folder / f"repeat{repeat}.jsonl"
    write_file(path, [environment("p2p_copy", repeat), *records])
    return path


def test_two_repeats_of_one_run_are_compared(tmp_path: Path, capsys) -> None:
    write_run(tmp_path, 0, 1.0), write_run(tmp_path, 1, 0.95)
    result = reproducibility.compare(*reproducibility.runs_of([tmp_path])).loc["p2p.copy"]
    assert (result["measurements"], result["within"], result["share"]) == (10, 9, 0.9)
    assert result["median_deviation"] == pytest.approx(1 / 0.95 - 1)
    assert result["greatest_deviation"] == pytest.approx(2 * 0.95 - 1)
    assert reproducibility.main([str(tmp_path)]) == 0
    assert "90.0%" in capsys.readouterr().out


def test_two_runs_are_compared_by_the_medians_over_their_repeats(tmp_path: Path) -> None:
    for folder, slower in (("a", (1.0, 1.4)), ("b", (1.4, 1.4))):
        for repeat in (0, 1):
            write_run(tmp_path / folder, 2 * repeat, slower[repeat])
    write_run(tmp_path / "b", 4, 1.4)
    result = reproducibility.compare(*reproducibility.runs_of([tmp_path / "a", tmp_path / "b"])).loc["all"]
    assert result["median_deviation"] == pytest.approx(1.4 / 1.2 - 1)


def test_one_repeat_cannot_be_compared(tmp_path: Path, capsys) -> None:
    path = str(write_run(tmp_path, 0, 1.0))
    assert reproducibility.main([path]) == 2
    assert "holds one repeat; two are needed" in capsys.readouterr().err
    assert reproducibility.main([path] * 3) == 2
    assert "3 runs were given" in capsys.readouterr().err
