"""Campaigns from beginning to end, with stand-ins for the programs: what runs, is not repeated, is told."""

import contextlib
import json
import os
import signal
import time
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

ALL = [
    "collective_mpi/sweep.ranks2.repeat0", "collective_mpi/sweep.ranks2.repeat1",
    "collective_mpi/sweep.ranks3.repeat0", "collective_mpi/sweep.ranks3.repeat1",
    "p2p_copy/sweep.repeat0", "p2p_copy/sweep.repeat1", "p2p_host/sweep.repeat0", "p2p_host/sweep.repeat1",
    "pt2pt_latency/sweep.ranks2.gpudirect-off.repeat0", "pt2pt_latency/sweep.ranks2.gpudirect-off.repeat1",
    "pt2pt_latency/sweep.ranks2.gpudirect-on.repeat0", "pt2pt_latency/sweep.ranks2.gpudirect-on.repeat1",
    "topology/repeat0",
]  # fmt: skip
RESULTS = "results/tiny/tiny"


def is_whole(record: Path) -> bool:
    return json.loads(record.read_text().splitlines()[-1])["record"] == "end"


def wait_for(condition, what: str, timeout_s: float = 60):
    """Return the first true value of ``condition()``."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited in vain for {what}")


def processes_of(checkout) -> list[int]:
    """Every process that runs in the checkout or was started from there."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cwd").readlink() == checkout.folder:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


@pytest.fixture(scope="module")
def finished(new_checkout, tmp_path_factory):
    """A checkout whose campaign is finished, and what was said; tests that use it leave it finished."""
    checkout = new_checkout(tmp_path_factory.mktemp("finished").resolve())
    done = checkout.campaign()
    assert done.returncode == 0, done.stdout
    assert checkout.starts() == ALL
    return checkout, done.stdout


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


def test_a_second_campaign_waits(checkout):
    checkout.behave(p2p_copy={"sleep_s": 2})
    first = checkout.start(*checkout.campaign_words())
    wait_for(checkout.starts, "the first campaign to measure")
    second = checkout.start(*checkout.campaign_words())
    said, _ = second.communicate(timeout=120)
    assert first.poll() is not None, "the second ended first"
    assert first.communicate()[0].count("The report: ") == 1
    assert f"Another campaign runs in this checkout (pid {first.pid}); waiting for it to end" in said
    assert first.returncode == second.returncode == 0
    assert all(is_whole(record) for record in checkout.records())


def test_a_snakemake_called_by_hand_is_waited_for(checkout):
    checkout.behave(p2p_host={"sleep_s": 2})
    words = [
        "-m",
        "snakemake",
        "--profile",
        "profiles/local",
        "records",
        "--config",
        "system=tiny",
        "campaign=tiny",
    ]
    by_hand = checkout.start(*words)
    wait_for((checkout.folder / "starts.txt").exists, "snakemake to measure")
    done = checkout.campaign()
    assert by_hand.wait(timeout=60) == 0, by_hand.stdout.read()
    assert f"Snakemake runs in this checkout (pid {by_hand.pid}); waiting for it to end" in done.stdout
    assert done.returncode == 0, done.stdout
    assert checkout.starts() == ALL


def test_a_snakemake_on_another_machine_is_not_disturbed(checkout):
    assert checkout.snakemake(f"{RESULTS}/records/topology/repeat0.jsonl").returncode == 0
    note = checkout.folder / ".snakemake/weft.snakemake"
    assert note.read_text().strip() == os.uname().nodename
    locks = checkout.folder / ".snakemake/locks"
    locks.mkdir(exist_ok=True)
    (locks / "0.input.lock").write_text("")
    note.write_text("login2\n")
    done = checkout.campaign()
    assert done.returncode == 2, done.stdout
    assert "was called by hand in this checkout on login2, and may run there still" in done.stdout
    assert locks.exists()
    assert checkout.snakemake("--unlock").returncode == 0
    assert checkout.campaign("records").stdout.count("may run there still") == 0
    assert not note.exists()


VICTIMS = {
    "weft": "-m weft campaign",
    "snakemake": "-m snakemake",
    "launcher": "mpirun -n",
    "program": "build/host/bin/pt2pt",
    "all": "",
}


@pytest.mark.parametrize("victim", VICTIMS)
def test_killed_in_the_middle_and_resumed(checkout, victim):
    """SIGKILL of any process, or of all: the next call completes it and repeats nothing that was finished."""
    checkout.behave(pt2pt_latency={"sleep_s": 3})
    campaign = checkout.start(*checkout.campaign_words())

    def measuring() -> list[int]:
        # A rank that has begun, after at least one other experiment has finished.
        ranks = [pid for pid in processes_of(checkout) if "build/host/bin/pt2pt --output" in command_of(pid)]
        return ranks if len(ranks) > 1 and checkout.records() else []

    wait_for(measuring, "a rank to measure")
    pids = [pid for pid in processes_of(checkout) if VICTIMS[victim] in command_of(pid)]
    assert pids
    for pid in pids if victim == "all" else pids[:1]:
        with contextlib.suppress(ProcessLookupError):  # it may have gone with the one before
            os.kill(pid, signal.SIGKILL)
    if victim in ("weft", "snakemake", "all"):
        campaign.wait(timeout=60)
        wait_for(lambda: processes_of(checkout) == [], "what was started to end with it")
    else:
        assert campaign.wait(timeout=120) == 0, "the job is tried again"
    finished = {path: path.read_text() for path in checkout.records()}
    assert finished
    assert all(is_whole(path) for path in finished)
    checkout.starts()
    checkout.behave()
    done = checkout.campaign()
    assert done.returncode == 0, done.stdout
    # Not by dates: a record that Snakemake could not note any more is kept, and touched.
    assert {path: path.read_text() for path in finished} == finished
    names = {
        path.relative_to(checkout.folder / RESULTS / "records").with_suffix("").as_posix()
        for path in finished
    }
    assert checkout.starts() == sorted(set(ALL) - names), done.stdout
    assert all(is_whole(path) for path in checkout.records())
    assert not list(checkout.folder.rglob("*.partial"))
    wait_for(lambda: processes_of(checkout) == [], "the guard to leave")


def forget(checkout, name: str) -> None:
    """What is left when a campaign is killed after a record file appeared, before Snakemake noted it."""
    key = urlsafe_b64encode(f"{RESULTS}/records/{name}.jsonl".encode()).decode()
    (checkout.folder / ".snakemake/metadata" / key).unlink()
    (checkout.folder / ".snakemake/incomplete" / key).write_text('{"external_jobid": null}')


def test_killed_between_the_record_and_its_note(finished):
    checkout, _ = finished
    assert checkout.campaign().returncode == 0
    checkout.starts()
    forget(checkout, "p2p_host/sweep.repeat0")
    assert checkout.campaign().returncode == 0
    assert checkout.starts() == []
    forget(checkout, "p2p_host/sweep.repeat0")
    checkout.edit(
        "config/campaigns/tiny.yaml",
        "p2p_host:\n    sweep: {sizes_bytes: [64KiB]",
        "p2p_host:\n    sweep: {sizes_bytes: [4]",
    )
    assert checkout.campaign().returncode == 0
    assert checkout.starts() == ["p2p_host/sweep.repeat0", "p2p_host/sweep.repeat1"]
    forget(checkout, "p2p_host/sweep.repeat0")
    (checkout.folder / "workflow/programs/p2p/p2p.cpp").write_text("// yet another\n")
    assert checkout.campaign().returncode == 0
    assert checkout.starts() == [name for name in ALL if name.startswith(("p2p_copy", "p2p_host"))]


def test_interrupted_and_resumed(checkout):
    checkout.behave(p2p_copy={"sleep_s": 20})
    campaign = checkout.start(*checkout.campaign_words())
    wait_for(lambda: "p2p_copy/sweep.repeat0" in checkout.starts(), "the first copy")
    os.killpg(campaign.pid, signal.SIGINT)
    said, _ = campaign.communicate(timeout=60)
    assert campaign.returncode == 130, said
    assert "Interrupted. Call it again to go on: what is finished stays." in said
    wait_for(lambda: processes_of(checkout) == [], "what was started to end with it")
    checkout.behave()
    assert checkout.campaign().returncode == 0


def test_a_terminal_that_is_gone_does_not_end_it(checkout):
    campaign = checkout.start(*checkout.campaign_words())
    campaign.stdout.close()
    assert campaign.wait(timeout=120) == 0
    assert checkout.starts() == ALL
    assert (checkout.folder / RESULTS / "report.html").exists()
