"""Campaigns from beginning to end, with stand-ins for the programs: what runs, is not repeated, is told."""

import json
import os

from support.tiny import ALL, RESULTS, processes_of
from support.waiting import wait_for


def test_a_campaign_measures_and_reports(finished):
    checkout, said = finished
    folder = checkout.folder / RESULTS
    assert {path.relative_to(folder).as_posix() for path in folder.iterdir()} == {
        "benchmarks", "config.resolved.yaml", "figures", "logs", "problems.json", "records", "report.html",
        "table.parquet",
    }  # fmt: skip
    assert (
        sorted(path.relative_to(folder / "records").with_suffix("").as_posix() for path in checkout.records())
        == ALL
    )
    for kind, suffix in (("logs", "log"), ("benchmarks", "tsv")):
        for name in ALL:
            assert (folder / kind / f"{name}.{suffix}").exists()
    assert "of 20  Copies between two devices (sweep.repeat1)" in said
    assert "weft: 14 measurements in 0 min" in said
    assert "14 measured, 0 unsupported, 0 wrong, 0 failed." in said
    assert said.rstrip().endswith(f"weft: The report: {RESULTS}/report.html")
    wait_for(lambda: processes_of(checkout) == [], "the guard to leave")


def test_a_second_call_measures_nothing(finished):
    checkout, _ = finished
    done = checkout.campaign()
    assert done.returncode == 0, done.stdout
    assert checkout.starts() == []


def test_touching_a_program_without_changing_it_measures_nothing(finished):
    checkout, _ = finished
    for path in (checkout.programs / "p2p", checkout.folder / "workflow/programs/p2p/p2p.cpp"):
        os.utime(path)
    assert checkout.campaign().returncode == 0
    assert checkout.starts() == []


def test_one_size_changed_measures_its_experiment_only(finished):
    checkout, _ = finished
    checkout.edit("config/campaigns/tiny.yaml", "sizes_bytes: [4, 64KiB]", "sizes_bytes: [8, 64KiB]")
    assert checkout.campaign().returncode == 0
    assert checkout.starts() == ["p2p_copy/sweep.repeat0", "p2p_copy/sweep.repeat1"]
    assert (
        "- 8\n" in (text := (checkout.folder / RESULTS / "config.resolved.yaml").read_text())
        or "[8, 65536]" in text
    )


def test_a_changed_program_measures_what_used_it(finished):
    checkout, _ = finished
    (checkout.folder / "workflow/programs/collective/collective.cpp").write_text("// another\n")
    assert checkout.campaign().returncode == 0
    assert checkout.starts() == [name for name in ALL if name.startswith("collective_mpi")]


def test_one_rule_again(finished):
    checkout, _ = finished
    assert checkout.campaign("-R", "p2p_host").returncode == 0
    assert checkout.starts() == ["p2p_host/sweep.repeat0", "p2p_host/sweep.repeat1"]


def test_one_result_again_by_its_file(finished):
    checkout, _ = finished
    assert checkout.snakemake("-f", f"{RESULTS}/records/topology/repeat0.jsonl").returncode == 0
    assert checkout.starts() == ["topology/repeat0"]
    (checkout.folder / RESULTS / "records/p2p_copy/sweep.repeat1.jsonl").unlink()
    assert checkout.campaign().returncode == 0
    assert checkout.starts() == ["p2p_copy/sweep.repeat1"]


def test_snakemakes_own_report(finished):
    checkout, _ = finished
    done = checkout.snakemake("--report", "own.html")
    assert done.returncode == 0, done.stdout
    assert "report.html" in (checkout.folder / "own.html").read_text()


def test_looking_changes_nothing(finished):
    checkout, _ = finished
    done = checkout.campaign("-n", "--forceall")
    assert done.returncode == 0
    assert "This was a dry-run" in done.stdout
    assert checkout.starts() == []


def test_wrong_results_reach_the_report_and_the_exit_status(checkout):
    checkout.behave(p2p_host={"status": 1}, collective_mpi={"status": 1})
    done = checkout.campaign()
    assert done.returncode == 1, done.stdout
    assert checkout.starts() == ALL, "what is wrong is not tried again"
    assert "8 measured, 0 unsupported, 6 wrong, 0 failed." in done.stdout
    assert "1 wrong: p2p.host in records/p2p_host/sweep.repeat0.jsonl." in done.stdout
    assert (checkout.folder / RESULTS / "report.html").exists()


def test_a_program_that_fails_leaves_a_hole(checkout):
    checkout.behave(p2p_host={"status": 2}, pt2pt_latency={"status": -11})
    done = checkout.campaign()
    assert done.returncode == 1, done.stdout
    assert "Failed: rule p2p_host, for results/tiny/tiny/records/p2p_host/sweep.repeat0.jsonl" in done.stdout
    assert "| stand_in: this cannot be" in done.stdout
    assert "8 measured" in done.stdout
    assert "records/p2p_host/sweep.repeat0.jsonl: " in done.stdout
    assert "Experiments failed, as told above; call it again to repeat just those." in done.stdout
    assert (checkout.folder / RESULTS / "report.html").exists()
    started = checkout.starts()
    assert started.count("p2p_host/sweep.repeat0") == 2, "one retry"
    checkout.behave()
    done = checkout.campaign()
    assert done.returncode == 0, done.stdout
    assert checkout.starts() == [name for name in ALL if name.startswith(("p2p_host", "pt2pt_latency"))]


def test_a_truncated_record_is_a_hole_in_the_report(checkout):
    checkout.behave(p2p_copy={"truncate": True})
    done = checkout.campaign()
    assert done.returncode == 1, done.stdout
    problems = json.loads((checkout.folder / RESULTS / "problems.json").read_text())
    assert {problem["file"] for problem in problems} == {
        "records/p2p_copy/sweep.repeat0.jsonl",
        "records/p2p_copy/sweep.repeat1.jsonl",
    }
    for problem in problems:
        assert problem["sentence"] in done.stdout
    assert (checkout.folder / RESULTS / "report.html").exists()


def test_an_mpi_that_does_not_start_is_one_sentence(checkout):
    checkout.edit("config/mpi/openmpi.yaml", "[mpirun, -n", "[mpirun-of-elsewhere, -n")
    done = checkout.campaign()
    assert done.returncode == 2
    assert done.stdout.count("\n") == 1, done.stdout
    assert "config/mpi/openmpi.yaml: launch.local: there is no mpirun-of-elsewhere here." in done.stdout
    assert not (checkout.folder / "results").exists()
    assert not (checkout.folder / ".snakemake").exists()


def test_an_mpi_that_fails_is_one_sentence(checkout):
    checkout.edit("config/mpi/openmpi.yaml", "core:overload-allowed:if-supported", "nonsense")
    done = checkout.campaign()
    assert done.returncode == 2
    assert done.stdout.count("\n") == 1, done.stdout
    assert not (checkout.folder / "results").exists()
