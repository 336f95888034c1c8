"""pt2pt on the host backend, through the MPI launcher with 2 to 5 ranks."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

from programs.records import Record, Result, bad_input, binaries, read_records, run_program

QUICK = ("--budget-s", "0.01", "--min-samples", "3", "--max-samples", "5", "--quiet")
BENCHMARKS = ("latency", "bandwidth", "bidirectional_bandwidth", "message_rate")


def pt2pt(ranks: int, *args: object) -> Result:
    result = run_program("pt2pt", *QUICK, *args, ranks=ranks)
    assert result.status == 0, result.stderr
    assert result.measured == result.measurements
    assert all(record["wrong"] == 0 for record in result.measurements)
    return result


def of(result: Result, benchmark: str) -> list[Record]:
    return [record for record in result.measurements if record["benchmark"] == f"pt2pt.{benchmark}"]


def ends(records: list[Record]) -> list[tuple[int, int]]:
    return [(record["source_rank"], record["destination_rank"]) for record in records]


def ordered_pairs(ranks: int) -> set[tuple[int, int]]:
    return set(itertools.permutations(range(ranks), 2))


def unordered_pairs(ranks: int) -> set[tuple[int, int]]:
    return set(itertools.combinations(range(ranks), 2))


@pytest.mark.parametrize("ranks", [2, 3, 4, 5])
def test_every_benchmark_measures_every_pair_and_placement(ranks: int) -> None:
    result = pt2pt(ranks, "--sizes", "8,100001", "--schedule", "rounds", "--expect-ranks", ranks)
    for placement, size in itertools.product(("device", "pinned", "pageable"), (8, 100001)):
        for benchmark in BENCHMARKS:
            records = [
                record
                for record in of(result, benchmark)
                if record["placement"] == placement and record["size_bytes"] == size
            ]
            assert {record["ranks"] for record in records} == {ranks}
            assert {record["nodes"] for record in records} == {1}
            assert {record["timer"] for record in records} == {"host_clock"}
            if benchmark == "message_rate":
                assert len(records) == 1 and "source_rank" not in records[0]
                assert records[0]["pairs"] == ranks // 2
            else:
                wanted = ordered_pairs if benchmark == "bandwidth" else unordered_pairs
                assert sorted(ends(records)) == sorted(wanted(ranks))
                assert {record["pairs"] for record in records} == {ranks // 2}


@pytest.mark.parametrize("ranks", [4, 5])
def test_a_round_has_no_rank_twice(ranks: int) -> None:
    records = of(
        pt2pt(
            ranks,
            *("--benchmarks", "bandwidth", "--sizes", "8", "--placements", "device"),
            *("--schedule", "rounds"),
        ),
        "bandwidth",
    )
    left = records
    while left:
        at_once = left[: left[0]["pairs"]]
        left = left[len(at_once) :]
        assert {record["pairs"] for record in at_once} == {len(at_once)}
        busy = list(itertools.chain.from_iterable(ends(at_once)))
        assert len(set(busy)) == len(busy)


def test_sequential_pairs_are_alone_and_in_the_order_given() -> None:
    result = pt2pt(
        4,
        *("--sizes", "64", "--pairs", "3:1,0:2,2:0", "--placements", "device"),
        *("--benchmarks", "latency,bandwidth"),
    )
    for benchmark in ("latency", "bandwidth"):
        records = of(result, benchmark)
        assert ends(records) == [(3, 1), (0, 2), (2, 0)]
        assert {record["pairs"] for record in records} == {1}


def test_samples_of_a_pair_without_the_leader_are_its_own() -> None:
    (record,) = of(
        pt2pt(
            3,
            *("--benchmarks", "latency", "--pairs", "1:2", "--sizes", "64"),
            *("--placements", "device", "--keep-samples"),
        ),
        "latency",
    )
    time = record["time_s"]
    assert len(time["values"]) == time["samples"] >= 3
    assert time["quantiles"]["min"] == min(time["values"])
    assert min(time["values"]) <= time["median"] <= max(time["values"])
    assert record["source_host"] == record["destination_host"] != ""
    assert (record["source"], record["destination"]) == (1, 2)


def test_values_are_as_osu_defines_them() -> None:
    result = pt2pt(4, "--sizes", "4KiB", "--window", "10", "--placements", "device", "--pairs", "0:1")
    size, window = 4096, 10

    def payload(record: Record) -> float:
        return pytest.approx(record["bandwidth_bytes_per_s"] * record["time_s"]["median"])

    (latency,), (one_way,), (both_ways,), (rate,) = (of(result, benchmark) for benchmark in BENCHMARKS)
    assert size == payload(latency)
    assert "window" not in latency
    assert window * size == payload(one_way)
    assert 2 * window * size == payload(both_ways)
    assert 2 * window * size == payload(rate)
    assert rate["pairs"] == 2
    assert rate["message_rate_per_s"] * size == pytest.approx(rate["bandwidth_bytes_per_s"])
    assert {record["window"] for record in (one_way, both_ways, rate)} == {window}


def test_larger_messages_take_longer() -> None:
    small, large = of(
        pt2pt(2, "--benchmarks", "latency", "--sizes", "8,16MiB", "--placements", "device"), "latency"
    )
    assert 0 < small["time_s"]["median"] < large["time_s"]["median"]


@pytest.mark.parametrize("ranks", [2, 3])
def test_chunks_named(ranks: int) -> None:
    result = pt2pt(ranks, "--sizes", "1000,300001", "--chunks", "1000,64KiB", "--window", "3")
    for benchmark, placement in itertools.product(BENCHMARKS, ("device", "pinned", "pageable")):
        records = [record for record in of(result, benchmark) if record["placement"] == placement]
        # A chunk as large as the message is no chunk.
        assert {(record["size_bytes"], record["chunk_bytes"]) for record in records} == {
            (300001, 1000),
            (300001, 65536),
        }


def test_best_chunk_is_searched_and_measured_beside_the_whole_message() -> None:
    result = pt2pt(
        3,
        *("--benchmarks", "latency,bandwidth", "--sizes", "64KiB,1MiB", "--window", "2"),
        *("--chunks", "auto", "--pairs", "1:2"),
    )
    assert len(result.measured) == 2 * 3 * 3
    whole = [record for record in result.measured if "chunk_search" not in record]
    best = [record for record in result.measured if "chunk_search" in record]
    assert {record["chunk_bytes"] for record in whole} == {None}
    assert {record["size_bytes"] for record in best} == {1 << 20}
    for record in best:
        tried = record["chunk_search"]
        assert [entry["chunk_bytes"] for entry in tried] == [64 << 10, 256 << 10]
        assert record["chunk_bytes"] == min(tried, key=lambda entry: entry["time_s"])["chunk_bytes"]


def test_gpudirect_is_recorded_and_off_leaves_out_the_device_placement() -> None:
    on = pt2pt(2, "--benchmarks", "latency", "--sizes", "8", "--gpudirect", "on")
    off = pt2pt(2, "--benchmarks", "latency", "--sizes", "8", "--gpudirect", "off")
    assert [(record["placement"], record["gpudirect"]) for record in on.measured] == [
        ("device", True),
        ("pinned", True),
        ("pageable", True),
    ]
    assert [(record["placement"], record["gpudirect"]) for record in off.measured] == [
        ("pinned", False),
        ("pageable", False),
    ]


def test_geometry_and_library_are_recorded() -> None:
    environment = pt2pt(
        3, "--benchmarks", "message_rate", "--sizes", "8", "--placements", "device", "--host-devices", "2"
    ).environment
    geometry = environment["geometry"]
    assert geometry["ranks"] == 3 and geometry["nodes"] == 1
    assert geometry["rank_devices"] == [0, 1, 0]
    assert geometry["rank_hosts"] == [environment["host"]["hostname"]] * 3
    assert len(geometry["rank_cpus"]) == 3 and all(geometry["rank_cpus"])
    software = environment["software"]
    assert software["mpi_library"].startswith("Open MPI")
    assert software["mpi_standard"] == "3.1"
    assert software["mpi_cuda_aware"] is False


def test_messages_beyond_the_count_of_mpi_are_unsupported() -> None:
    result = run_program(
        "pt2pt",
        *(*QUICK, "--benchmarks", "latency", "--sizes", "8,3GiB", "--placements", "device"),
        ranks=2,
    )
    assert result.status == 0, result
    small, large = result.measurements
    assert (small["outcome"], large["outcome"]) == ("measured", "unsupported")
    assert "exceeds MPI's count" in large["reason"]


@pytest.mark.parametrize("schedule", ["sequential", "rounds"])
def test_corruption_is_caught_at_every_receiver(schedule: str) -> None:
    result = run_program(
        "pt2pt",
        *(*QUICK, "--sizes", "8,64KiB", "--chunks", "1KiB", "--window", "2", "--schedule", schedule),
        "--inject-corruption",
        ranks=4,
    )
    assert result.status == 1
    assert {record["outcome"] for record in result.measurements} == {"wrong"}
    for record in result.measurements:
        both_ways = record["benchmark"] in ("pt2pt.latency", "pt2pt.bidirectional_bandwidth")
        receivers = 2 if both_ways else record["pairs"] if "source_rank" not in record else 1
        assert record["wrong"] == receivers
    assert {record["size_bytes"] for record in result.measurements} == {65536}


def test_an_error_of_one_rank_ends_those_that_wait_for_it(mpirun, build: Path) -> None:
    done = mpirun(3, build / "tests/mpi_library", "--throw-while-others-wait", timeout_s=60)
    assert done.returncode == 1
    assert "weft: rank 1 of 3: rank 1 gave up on purpose" in done.stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--sizes", "0"), "--sizes 0"),
        (("--sizes", "8", "--pairs", "0:3"), "there is no 3"),
        (("--sizes", "8", "--pairs", "1:1"), "different ranks"),
        (("--placements", "shared"), '"shared" is unknown'),
        (("--placements", "device", "--gpudirect", "off"), "needs --gpudirect on"),
        (("--gpudirect", "maybe"), "give one of on, off"),
        (("--schedule", "random"), "give one of sequential, rounds"),
        (("--window", "0"), "--window 0"),
        (("--sizes", "8", "--chunks", "8"), "not smaller than the largest"),
        (("--chunks", "some"), "--chunks"),
        (("--expect-ranks", "2"), "--expect-ranks asks for 2 ranks, but MPI sees 3"),
        (("--expect-nodes", "2"), "--expect-nodes asks for 2 nodes, but the ranks are on 1"),
        (("--expect-ranks-per-node", "2"), "asks for 2 ranks on each node, but"),
        (("--expect-devices", "8"), "--expect-devices asks for 8, but"),
        (("--pairs", "inter_node"), "--pairs inter_node needs ranks on two nodes or more"),
        (("--pairs", "node_pairs"), "--pairs node_pairs needs ranks on two nodes or more"),
        (("--expect-ranks", "-1"), "--expect-ranks -1"),
        (("--benchmarks", "speed"), "speed"),
        (("--windw", "3"), "--window"),
        (("--peer-access", "on"), "--peer-access"),
    ],
)
def test_bad_input_is_refused_in_one_sentence_of_one_rank(args: tuple[str, ...], words: str) -> None:
    assert words in bad_input("pt2pt", *args, ranks=3)


def test_one_process_alone_is_refused() -> None:
    assert "needs 2 ranks or more" in bad_input("pt2pt")
    assert "asks for 2 ranks, but MPI sees 1" in bad_input("pt2pt", "--expect-ranks", "2")


def test_processes_that_mpi_does_not_join_are_refused_by_one(mpirun, tmp_path: Path) -> None:
    """A launcher of another MPI starts N singletons: made here by taking away what MPI_Init joins them by."""
    script = tmp_path / "singleton"
    script.write_text(
        "#!/bin/bash\n"
        "for name in $(compgen -e | grep -E '^(PMIX|PRTE|PMI)_'); do unset $name; done\n"
        f'exec {binaries() / "pt2pt"} --output {tmp_path}/records.jsonl "$@"\n'
    )
    script.chmod(0o755)
    done = mpirun(3, script)
    sentences = [line for line in done.stderr.splitlines() if line.startswith("pt2pt:")]
    assert done.returncode == 2
    assert len(sentences) == 1 and "started 3 processes, but MPI joins none of them" in sentences[0]
    assert "(mpirun of Open MPI" in sentences[0] and "library, Open MPI v5" in sentences[0]
    assert list(tmp_path.iterdir()) == [script]


def test_tasks_of_a_step_that_mpi_does_not_join_are_refused() -> None:
    step = {"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0", "SLURM_MPI_TYPE": "none"}
    done = run_program("pt2pt", env=step)
    assert done.status == 2
    assert done.stderr.startswith(
        "pt2pt: The launcher (srun --mpi=none) started 4 processes, but MPI joins none"
    )


def test_one_visible_device_of_a_grant_is_refused_with_the_options_that_make_it() -> None:
    done = run_program("p2p", "--expect-devices", "4", env={"SLURM_JOB_ID": "1", "CUDA_VISIBLE_DEVICES": "2"})
    assert done.status == 2
    assert (
        "shows 1 to this process" in done.stderr and "without --gpus-per-task and --gpu-bind" in done.stderr
    )
    granted = {"SLURM_JOB_ID": "1", "CUDA_VISIBLE_DEVICES": "0,1,2,3"}
    options = ("--benchmarks", "latency", "--sizes", "8", "--expect-devices", "4")
    assert run_program("p2p", *QUICK, *options, env=granted).status == 0


def isolated(folder: Path, line: str) -> Path:
    """A command that starts each rank in namespaces of its own, as containers of a node may be."""
    script = folder / "isolated"
    script.write_text(f"#!/bin/bash\n{line}\n")
    script.chmod(0o755)
    return script


NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes namespaces everywhere")


@NEEDS_ROOT
def test_ranks_of_a_node_without_shared_memory_are_refused_in_one_sentence(mpirun, tmp_path: Path) -> None:
    line = 'exec unshare --mount bash -c \'mount -t tmpfs none /dev/shm && exec "$@"\' _ "$@"'
    output = tmp_path / "records.jsonl"
    done = mpirun(2, isolated(tmp_path, line), binaries() / "pt2pt", *QUICK, "--output", output)
    said = done.stderr.replace("\0", "")  # which the launcher puts behind its own words
    sentences = [line for line in said.splitlines() if line.startswith("pt2pt:")]
    assert done.returncode == 2
    assert len(sentences) == 1 and "do not see the same /dev/shm" in sentences[0]
    assert not output.exists()


@NEEDS_ROOT
def test_ranks_that_may_not_read_each_others_memory_are_recorded(mpirun, tmp_path: Path) -> None:
    output = tmp_path / "records.jsonl"
    options = ("--benchmarks", "latency", "--sizes", "8", "--placements", "device", "--output", output)
    loud = [word for word in QUICK if word != "--quiet"]
    alone = isolated(tmp_path, 'exec unshare --user --map-root-user "$@"')
    done = mpirun(2, alone, binaries() / "pt2pt", *loud, *options)
    assert done.returncode == 0
    assert read_records(output)[0]["software"]["cross_memory_attach"] is False
    assert done.stderr.count("note: ranks of one node may not read each other's memory") == 1
    done = mpirun(2, binaries() / "pt2pt", *loud, *options)
    assert read_records(output)[0]["software"]["cross_memory_attach"] is True
    assert "note:" not in done.stderr


def test_help_and_list_need_no_launcher(run_program) -> None:
    for option in ("--help", "--list", "--version"):
        done = run_program("pt2pt", option)
        assert done.returncode == 0 and done.stdout and not done.stderr
    listed = run_program("pt2pt", "--list").stdout
    assert all(f"pt2pt.{benchmark}\n" in listed for benchmark in BENCHMARKS)
    assert listed.count("placements") == len(BENCHMARKS)


def test_help_is_said_once(mpirun) -> None:
    done = mpirun(3, "pt2pt", "--version")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 1
