"""Two campaigns in one checkout, or a campaign and a Snakemake called by hand: one at a time."""

import os

from support.tiny import ALL, RESULTS, is_whole
from support.waiting import wait_for


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
