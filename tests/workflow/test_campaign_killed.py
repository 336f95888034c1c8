"""Campaigns that are killed, interrupted or left alone, and what the next call finds."""

import contextlib
import os
import signal
from base64 import urlsafe_b64encode

import pytest

from support.tiny import ALL, RESULTS, command_of, is_whole, processes_of
from support.waiting import wait_for

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
