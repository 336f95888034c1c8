"""nccl-tests: what its binaries print, in every format, becomes records; what is not understood is refused.

The logs of 2.19.6 beside this file are real output of a machine with four GPUs; the other formats are
composed here, after what those versions print.
"""

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from weft import schema
from weft.cli import main
from weft.errors import BadInput
from weft.nccl_tests import parse
from weft.nccl_tests.measurements import asked_by, measurements
from weft.nccl_tests.operations import BINARIES, bus_factor, ranges

LOGS = Path(__file__).parent / "nccl_tests"


def log(
    columns: str,
    rows: list[str],
    *,
    sizes: str = "minBytes 8 maxBytes 32 step: 4(factor)",
    settings: str = "warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0",
    ranks: int = 2,
    driven: str = "nThread 1 nGpus 2",
    pids: Callable[[int], int] = lambda _: 77,
    end: str = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.1\n#\n",
    rank: str = "#  Rank {rank:2d} Group  0 Pid {pid:6d} on node1 device {rank:2d} [0x0{rank}] NVIDIA V100",
) -> str:
    devices = [rank.format(rank=number, pid=pids(number)) for number in range(ranks)]
    return "\n".join(
        [
            f"# {driven} {sizes} {settings}",
            "#",
            "# Using devices",
            *devices,
            "#",
            f"#   {columns}",
            *rows,
            end,
        ]
    )


# Columns of the versions, and two rows of all_reduce in each: 8 and 32 bytes, 2 and 8 elements.
WRONG = "size count type redop root time algbw busbw #wrong time algbw busbw #wrong"
FORMATS = {
    "2.0, error": (
        "size count type redop time algbw busbw error time algbw busbw error",
        ["8 2 float sum 4.00 0.00 0.00 2e-07 5.00 0.00 0.00 1e-07",
         "32 8 float sum 4.00 0.01 0.01 0e+00 5.00 0.01 0.01 N/A"],
    ),
    "2.13, #wrong": (WRONG, ["8 2 float sum -1 4.00 0.00 0.00 0 5.00 0.00 0.00 0",
                             "32 8 float sum -1 4.00 0.01 0.01 0 5.00 0.01 0.01 N/A"]),
    "2.19 -I": (
        "size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% "
        "time algbw busbw #wrong i_min i_max i_p99 i_cv%",
        ["8 2 float sum -1 4.00 0.00 0.00 0 3.9 4.2 4.2 1.10 5.00 0.00 0.00 0 4.9 5.1 5.1 1.0",
         "32 8 float sum -1 4.00 0.01 0.01 0 3.9 4.2 4.2 1.10 5.00 0.01 0.01 N/A 4.9 5.1 5.1 1.0"],
    ),
    "2.18 -T": (
        f"{WRONG} timestamp",
        ["8 2 float sum -1 4.00 0.00 0.00 0 5.00 0.00 0.00 0 2026-01-02 03:04:05",
         "32 8 float sum -1 4.00 0.01 0.01 0 5.00 0.01 0.01 N/A 2026-01-02 03:04:05"],
    ),
}  # fmt: skip


def records_of(text: str, operation: str | None = "all_reduce") -> list[dict]:
    output = parse(text, "log")
    records = measurements(output, asked_by(output, operation, "log"), "log")
    for record in records:
        assert schema.is_valid(record), schema.explain(record)
    return records


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_measurements(name):
    records = records_of(log(*FORMATS[name]))
    assert [(r["requested_bytes"], r["in_place"], r["time_s"]["median"]) for r in records] == [
        (8, False, pytest.approx(4e-6)), (8, True, pytest.approx(5e-6)),
        (32, False, pytest.approx(4e-6)), (32, True, pytest.approx(5e-6)),
    ]  # fmt: skip
    assert [r.get("wrong") for r in records] == [0, 0, 0, None], "N/A says that nothing was checked"
    for record in records:
        assert record["library"] == "nccl" and record["timer"] == "source" and record["ranks"] == 2
        assert record["processes"] == "one" and record["graph"] is False
        assert record["time_s"]["operations_per_sample"] == 20
        assert record["bus_bandwidth_bytes_per_s"] == pytest.approx(
            record["size_bytes"] / record["time_s"]["median"]
        )


@pytest.mark.parametrize(("columns", "operation", "reduction", "root"), [
    ("size count type time algbw busbw error time algbw busbw error", "all_gather", None, None),
    ("size count type root time algbw busbw error time algbw busbw error", "broadcast", None, 0),
])  # fmt: skip
def test_operations_without_a_reduction_had_fewer_columns(columns, operation, reduction, root):
    head = "64 8 float" if operation == "all_gather" else "64 16 float 0"
    row = f"{head} 4.00 0.02 {0.01 if operation == 'all_gather' else 0.02} 0e+00 5.00 0.01 0.01 0e+00"
    (one, _) = records_of(log(columns, [row], sizes="minBytes 64 maxBytes 64 step: 2(factor)"), operation)
    assert (one["reduction"], one["root"], one["count"]) == (reduction, root, int(head.split()[1]))


@pytest.mark.parametrize(("operation", "zero"), [("all_reduce", 0), ("all_gather", 4)])
def test_real_output(operation, zero):
    text = (LOGS / f"{operation}.2.19.6.txt").read_text()
    output = parse(text, "log")
    assert (output.version, output.nccl, output.binary) == ("2.19.6", "2.28.9", f"{operation}_perf")
    assert [d.device for d in output.devices] == [0, 1, 2, 3]
    records = records_of(text, None)
    assert len(records) == 28
    assert [r["outcome"] for r in records].count("unsupported") == zero
    large = next(r for r in records if r["requested_bytes"] == 536870912 and not r["in_place"])
    assert large["time_s"]["median"] == pytest.approx(
        {"all_reduce": 2319.72e-6, "all_gather": 1272.92e-6}[operation]
    )
    assert large["time_s"]["operations_per_sample"] == 20
    assert large["ranks"] == 4 and large["wrong"] == 0


def test_old_ranks_have_no_group_and_graphs_are_told():
    text = log(
        *FORMATS["2.13, #wrong"],
        rank="#   Rank {rank:2d} Pid {pid:6d} on node1 device {rank:2d} [0000:0{rank}:00.0] Tesla V100",
        settings="warmup iters: 5 iters: 20 validation: 1 graph: 10",
    )
    assert all(record["graph"] for record in records_of(text))


@pytest.mark.parametrize(("driven", "pids", "processes"), [
    ("nThread 1 nGpus 2", lambda _: 7, "one"), ("nThread 1 nGpus 1", lambda rank: 7 + rank, "one_per_device"),
])  # fmt: skip
def test_how_many_processes(driven, pids, processes):
    text = log(*FORMATS["2.13, #wrong"], driven=driven, pids=pids)
    assert {record["processes"] for record in records_of(text)} == {processes}


def test_wrong_elements_are_wrong():
    rows = [FORMATS["2.13, #wrong"][1][0], "32 8 float sum -1 4.00 0.01 0.01 3 5.00 0.01 0.01 0"]
    records = records_of(log(WRONG, rows, end="# Out of bounds values : 3 FAILED\n"))
    assert [(r["outcome"], r["wrong"]) for r in records] == [
        ("measured", 0), ("measured", 0), ("wrong", 3), ("measured", 0)]  # fmt: skip


def test_a_deviation_is_wrong_only_where_the_last_line_says_so():
    columns, rows = FORMATS["2.0, error"]
    records = records_of(log(columns, rows, end="# Out of bounds values : 2 FAILED\n"))
    assert [r["outcome"] for r in records] == ["wrong", "wrong", "measured", "measured"]


def test_sizes_without_a_row_are_failed_with_the_words_of_the_error():
    failure = "node1: Test NCCL failure common.cu:303 'remote process exited'"
    records = records_of(
        log(WRONG, [FORMATS["2.13, #wrong"][1][0], failure, " .. node1 pid 7: Test failure"], end="")
    )
    assert [(r["requested_bytes"], r["outcome"]) for r in records] == [
        (8, "measured"), (8, "measured"), (32, "failed"), (32, "failed")]  # fmt: skip
    assert records[-1]["reason"] == failure


def test_messages_of_nccl_between_the_rows_are_no_rows():
    rows = FORMATS["2.13, #wrong"][1]
    records = records_of(log(WRONG, [rows[0], "42:17:19 [0] NCCL INFO comm 0x5 rank 0", rows[1]]))
    assert len(records) == 4


REFUSED = [
    (log("size count type redop root cputime algbw busbw #wrong cputime algbw busbw #wrong", []),
     "columns of nccl-tests that are not known here: size count type redop root cputime"),
    (log("size count type redop root time algbw busbw #wrong", []), "not known here"),
    (log("size count type redop root time algbw busbw #wrong time algbw busbw error", []), "not known here"),
    (log(WRONG, ["8 2 float sum -1 4.00 0.00 0.00 0"]), "the row has 9 values for 13 columns"),
    (log(WRONG, ["8 2 float sum -1 fast 0.00 0.00 0 5.00 0.00 0.00 0"]), "could not convert string to float"),
    (log(WRONG, ["16 4 float sum -1 4.00 0.00 0.00 0 5.00 0.00 0.00 0"]),
     "a row of 16 bytes, where one of 8 was asked for"),
    (log(WRONG, ["8 2 float sum -1 4.00 9.00 9.00 0 5.00 0.00 0.00 0"]), "a bus bandwidth of 9 GB/s"),
    (log(WRONG, [*FORMATS["2.13, #wrong"][1], "128 32"]), "the row has 2 values"),
    (log(WRONG, [*FORMATS["2.13, #wrong"][1], FORMATS["2.13, #wrong"][1][1]]),
     "3 rows, but 2 sizes were asked for"),
    (log(WRONG, ["8 2 half sum -1 4.00 0.00 0.00 0 5.00 0.00 0.00 0"]),
     "its elements are half; known are float"),
    (log(*FORMATS["2.13, #wrong"], driven="nThread 2 nGpus 1"), "1 processes with 2 threads of 1 devices"),
    (log(*FORMATS["2.13, #wrong"]) * 2, "a second run of nccl-tests begins"),
    ("a log of something else\n", "this is no output of nccl-tests"),
    ("", "this is no output of nccl-tests"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), REFUSED)
def test_what_is_not_understood_is_refused_in_a_sentence(text, sentence):
    with pytest.raises(BadInput) as refused:
        records_of(text)
    assert sentence in str(refused.value)
    assert str(refused.value).startswith("log") and "\n" not in str(refused.value)


@pytest.mark.parametrize(("sizes", "found"), [
    ([8, 32, 128], [[8, 32, 128]]), ([1024], [[1024]]), ([10, 25], [[10], [25]]),
    ([4, 8, 16, 64, 256], [[4, 16, 64, 256], [8]]), ([24, 8], [[8, 24]]),
])  # fmt: skip
def test_sizes_become_what_calls_of_a_binary_can_take(sizes, found):
    assert ranges(sizes) == found


def test_bus_bandwidth_is_defined_for_every_operation():
    assert {name: bus_factor(name, 4) for name in BINARIES} == {
        "broadcast": 1, "all_gather": 0.75, "reduce": 1, "all_reduce": 1.5, "reduce_scatter": 0.75,
        "all_to_all": 0.75, "scatter": 0.75, "gather": 0.75, "send_recv": 1,
    }  # fmt: skip


BINARY = """#!{python}
import pathlib, sys
asked = dict(zip(sys.argv[1::2], sys.argv[2::2]))
assert asked["-b"] == "8" and asked["-e"] == "536870912" and asked["-f"] == "4" and asked["-g"] == "4", asked
print(pathlib.Path({log!r}).read_text().replace("maxBytes 1073741824", "maxBytes 536870912"), end="")
{more}
"""


def binary(folder: Path, name: str, more: str = "") -> None:
    path = folder / name
    path.write_text(BINARY.format(python=sys.executable, log=str(LOGS / "all_reduce.2.19.6.txt"), more=more))
    path.chmod(0o755)


def witness(tmp_path: Path, *more: str) -> tuple[int, list[dict]]:
    output = tmp_path / "records.jsonl"
    status = main([
        "nccl-tests", "--output", str(output), "--operations", "all_reduce", "--sizes", "8:512MiB:x4",
        "--datatype", "float32", "--reduction", "sum", "--graphs", "off", "--ranks", "4",
        "--processes", "one", "--system", "s", "--campaign", "c", *more,
    ])  # fmt: skip
    records = [json.loads(line) for line in output.read_text().splitlines()]
    for record in records:
        assert schema.is_valid(record), schema.explain(record)
    assert list(tmp_path.glob("*.partial")) == []
    return status, records


def test_a_binary_on_the_path_is_run_and_recorded(tmp_path, monkeypatch):
    binary(tmp_path, "all_reduce_perf")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(sys, "argv", ["/somebodys/folder/weft", "nccl-tests", "--ranks", "4"])
    status, (environment, *records, end) = witness(tmp_path)
    assert status == 0
    assert environment["command_line"] == ["weft", "nccl-tests", "--ranks", "4"]
    assert environment["program"] == "nccl_tests" and environment["software"]["nccl"] == "2.28.9"
    assert end["outcomes"] == {"measured": 28, "unsupported": 0, "wrong": 0, "failed": 0}
    assert {record["size_bytes"] for record in records} == {8 * 4**n for n in range(14)}


def test_the_launcher_stands_before_the_container_and_both_before_the_binary(tmp_path, monkeypatch):
    binary(tmp_path, "all_reduce_perf")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    seen = tmp_path / "seen"
    shell = f'echo "$@" >> {shlex.quote(str(seen))}; "$@"'
    launch, inside = shlex.join(["sh", "-c", shell, "launch"]), shlex.join(["sh", "-c", shell, "inside"])
    assert witness(tmp_path, "--launch", launch, "--inside", inside)[0] == 0
    look, launched, contained = seen.read_text().splitlines()
    assert look == 'sh -c command -v "$0" all_reduce_perf'
    assert launched.startswith("sh -c") and contained.startswith(
        "all_reduce_perf -g 4 -n 20 -w 5 -d float -o sum"
    )


def test_a_binary_that_is_not_there_is_a_hole_and_no_error(tmp_path):
    status, (_, *records, end) = witness(tmp_path)
    assert status == 0
    assert end["outcomes"]["unsupported"] == 28
    assert {record["reason"] for record in records} == {"all_reduce_perf of nccl-tests is not on the PATH"}


def test_a_binary_that_is_not_understood_fails(tmp_path, monkeypatch):
    binary(tmp_path, "all_reduce_perf", "print('9 9 9')")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    status, (_, *records, end) = witness(tmp_path)
    assert (status, end["outcomes"]["failed"]) == (1, 28)
    assert all("the row has 3 values for 13 columns" in record["reason"] for record in records)


def test_a_log_is_imported(tmp_path):
    output = tmp_path / "deep" / "records.jsonl"
    line = ["import-nccl-tests", "--output", str(output), "--system", "s", "--campaign", "c"]
    assert main([*line, str(LOGS / "all_gather.2.19.6.txt")]) == 0
    assert len(output.read_text().splitlines()) == 30


def test_a_log_that_is_not_understood_leaves_nothing(tmp_path, capsys):
    (tmp_path / "log").write_text("x")
    line = ["import-nccl-tests", "--output", str(tmp_path / "out"), "--system", "s", "--campaign", "c"]
    assert main([*line, str(tmp_path / "log")]) == 2
    assert "no output of nccl-tests" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
