"""Campaigns through the profile slurm, with stand-ins for Slurm: they run, fail, end early, are resumed."""

import functools
import os
import re
import shutil
import signal
from pathlib import Path

import pytest

from support import waiting
from support.slurm import STAND_INS, Slurm

JOBS = ["collective_mpi/sweep.ranks3.repeat0", "p2p_host/sweep.repeat0", "topology/repeat0"]
SETTINGS = ("--slurm-init-seconds-before-status-checks", "1", "--seconds-between-status-checks", "1")
CAMPAIGN = (
    "-m",
    "weft",
    "campaign",
    "--system",
    "cluster",
    "--campaign",
    "few",
    "--profile",
    "slurm",
    *SETTINGS,
)
SNAKEMAKE = ("-m", "snakemake", "--profile", "slurm", *SETTINGS, "records")
CONFIG = ("--config", "system=cluster", "campaign=few")
RECORDS = "results/cluster/few/records"
TIMEOUT_S = 240
wait_for = functools.partial(waiting.wait_for, timeout_s=TIMEOUT_S)
# The executor looks 10 s later each time that nothing has ended.
POLL_EVERY_SECOND = """
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor
RemoteExecutor.next_seconds_between_status_checks = property(lambda self: 1, lambda self, seconds: None)
"""


class Cluster:
    """A checkout on a cluster of stand-ins, with the campaign `few`."""

    def __init__(self, checkout, slurm: Slurm) -> None:
        self.checkout, self.slurm = checkout, slurm
        snakefile = checkout.folder / "Snakefile"
        text = snakefile.read_text()
        snakefile.unlink()
        snakefile.write_text(text + POLL_EVERY_SECOND)
        (checkout.folder / "slurm").symlink_to("profiles/slurm")
        for name, folder in (("cluster", "systems"), ("few", "campaigns")):
            shutil.copy(STAND_INS / f"{name}.yaml", checkout.folder / "config" / folder)

    def start(self, *words: str):
        return self.checkout.start(*words, env=self.slurm.environment)

    def run(self, *words: str) -> tuple[int, str]:
        process = self.start(*words)
        said, _ = process.communicate(timeout=TIMEOUT_S)
        return process.returncode, said

    def records(self) -> list[str]:
        folder = self.checkout.folder / RECORDS
        return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.jsonl"))

    def running(self) -> list[dict]:
        """The Slurm jobs that run, when each has got as far as a measured program."""
        names = self.starts.read_text() if self.starts.exists() else ""
        running = self.slurm.jobs("RUNNING")
        return running if "p2p_host" in names else []

    @property
    def starts(self) -> Path:
        return self.checkout.folder / "starts.txt"


@pytest.fixture
def cluster(checkout, tmp_path_factory) -> Cluster:
    return Cluster(checkout, Slurm(tmp_path_factory.mktemp("slurm")))


def test_a_campaign_through_the_queue(cluster):
    status, said = cluster.run(*CAMPAIGN)
    assert status == 0, said
    assert cluster.records() == JOBS
    assert len(cluster.slurm.jobs("COMPLETED")) == len(cluster.slurm.jobs()) == len(JOBS)
    assert "3 measurements" in said or "2 measured" in said
    shown = [words for words in cluster.slurm.calls("scontrol") if words[1:3] == ["show", "partition"]]
    assert len(shown) == 1, "the site is asked once, not by every job"
    status, said = cluster.run(*CAMPAIGN)
    assert status == 0, said
    assert len(cluster.slurm.jobs()) == len(JOBS), "a second call submits nothing"


def test_a_program_that_refuses_is_heard_on_the_terminal(cluster):
    cluster.checkout.behave(p2p_host={"status": 2})
    limited = {"Default": "YES", "MaxTime": "00:08:00", "State": "UP", "Nodes": "n[1-4]"}
    cluster.slurm.is_now(partitions={"gpu": limited})
    status, said = cluster.run(*CAMPAIGN)
    assert status == 1, said
    tries = [job["words"] for job in cluster.slurm.jobs() if "p2p_host" in job["comment"]]
    assert [words[words.index("-t") + 1] for words in tries] == ["6", "8"], (
        "more time, but not more than there is"
    )
    assert "Failed: rule p2p_host" in said
    assert "SLURM status is: 'FAILED'." in said
    assert "| stand_in: this cannot be" in said
    assert "Exiting because a job execution failed" not in said
    assert cluster.records() == [name for name in JOBS if "p2p_host" not in name]
    status, said = cluster.run(*SNAKEMAKE[:-1], f"{RECORDS}/p2p_host/sweep.repeat0.jsonl", *CONFIG)
    assert status == 1
    assert "stand_in: this cannot be" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("words", [SNAKEMAKE, (*SNAKEMAKE[:-1], f"{RECORDS}/topology/repeat0.jsonl")])
def test_snakemake_itself_submits_nothing_that_cannot_run(cluster, words):
    cluster.slurm.is_now(associations=[{"account": "chem", "qos": "normal"}])
    status, said = cluster.run(*words, *CONFIG)
    assert status == 1
    assert "scheduler.account is 'proj', which user" in said
    assert "Traceback" not in said
    assert not cluster.slurm.calls("sbatch")
    assert not cluster.starts.exists()


def test_looking_asks_nobody(cluster):
    cluster.slurm.is_now(controller=False)
    assert cluster.run(*SNAKEMAKE, "-n", *CONFIG)[0] == 0
    assert cluster.run(*CAMPAIGN, "-n")[0] == 0


def test_interrupted(cluster):
    """SIGINT of all processes of the terminal, as Ctrl-C does: every Slurm job is cancelled."""
    cluster.checkout.behave(p2p_host={"sleep_s": 600})
    campaign = cluster.start(*CAMPAIGN)
    running = wait_for(cluster.running, "a job to measure")
    os.killpg(campaign.pid, signal.SIGINT)
    said, _ = campaign.communicate(timeout=TIMEOUT_S)
    assert campaign.returncode == 130, said
    assert not cluster.slurm.jobs("RUNNING") + cluster.slurm.jobs("PENDING")
    cancelled = {word for words in cluster.slurm.calls("scancel") for word in words[1:]}
    assert {str(job["id"]) for job in running if "p2p_host" in job["comment"]} <= cancelled
    completes(cluster)


@pytest.mark.parametrize("victim", ["weft campaign", "snakemake"])
def test_killed(cluster, victim):
    """SIGKILL: what is in Slurm's queue is cancelled by who is left, and the next call completes it."""
    cluster.checkout.behave(p2p_host={"sleep_s": 600})
    campaign = cluster.start(*CAMPAIGN)
    wait_for(cluster.running, "a job to measure")
    os.kill(campaign.pid if victim == "weft campaign" else child_of(campaign.pid), signal.SIGKILL)
    campaign.wait(timeout=TIMEOUT_S)
    wait_for(lambda: not cluster.slurm.jobs("RUNNING"), "the jobs to be cancelled")
    completes(cluster)


def test_snakemake_killed_by_hand_and_resumed(cluster):
    """Jobs of a killed Snakemake are cancelled by the next one, or the next campaign, which says so."""
    cluster.checkout.behave(p2p_host={"sleep_s": 600})
    for resume in ((*SNAKEMAKE, *CONFIG), CAMPAIGN):
        by_hand = cluster.start(*SNAKEMAKE, *CONFIG)
        (left,) = wait_for(
            lambda: [job for job in cluster.running() if "p2p_host" in job["comment"]], "a job to measure"
        )
        os.killpg(by_hand.pid, signal.SIGKILL)
        by_hand.wait(timeout=TIMEOUT_S)
        assert cluster.slurm.jobs("RUNNING"), "Slurm's jobs go on without it"
        if resume[1] == "snakemake":
            assert cluster.run(*SNAKEMAKE, "--unlock", *CONFIG)[0] == 0
        cluster.checkout.behave()
        status, said = cluster.run(*resume)
        assert status == 0, said
        (ids,) = re.findall(r"Cancelled what was left in Slurm's queue: jobs? ([\d, ]+)\.", said)
        assert str(left["id"]) in ids.split(", ")
        assert cluster.records() == JOBS
        cluster.checkout.behave(p2p_host={"sleep_s": 600})
        (cluster.checkout.folder / RECORDS / "p2p_host/sweep.repeat0.jsonl").unlink()
        cluster.starts.unlink()


def test_a_job_of_somebody_elses_is_left_alone(cluster):
    """A script that was submitted by hand in this checkout, and a run in another checkout."""
    run = "0f5e7b1c-1111-4222-8333-123456789abc"
    folder = str(cluster.checkout.folder)
    for name, where in (("pt2pt_latency", folder), (run, "/tmp"), (run, folder)):
        script = ("sbatch", "--job-name", name, "--output", "/dev/null", "-D", where, "--wrap=sleep 600")
        assert cluster.checkout.run(
            "-c", f"import subprocess; subprocess.run({script})", env=cluster.slurm.environment
        )
    status, said = cluster.run(*CAMPAIGN)
    assert status == 0, said
    assert "Cancelled what was left in Slurm's queue: job 3." in said
    assert [job["id"] for job in cluster.slurm.jobs("RUNNING")] == [1, 2]
    cluster.checkout.run(
        "-c", "import subprocess; subprocess.run(('scancel', '1', '2'))", env=cluster.slurm.environment
    )


def test_two_campaigns_at_once(cluster):
    cluster.checkout.behave(p2p_host={"sleep_s": 3})
    first = cluster.start(*CAMPAIGN)
    wait_for(cluster.running, "a job to measure")
    second = cluster.start(*CAMPAIGN)
    said, _ = second.communicate(timeout=TIMEOUT_S)
    assert first.poll() == 0
    assert second.returncode == 0, said
    assert f"Another campaign runs in this checkout (pid {first.pid}); waiting for it to end" in said
    assert "Cancelled" not in said
    assert len(cluster.slurm.jobs()) == len(JOBS)


def test_a_campaign_waits_for_snakemake_and_leaves_its_jobs_alone(cluster):
    cluster.checkout.behave(p2p_host={"sleep_s": 3})
    by_hand = cluster.start(*SNAKEMAKE, *CONFIG)
    wait_for(cluster.running, "a job to measure")
    status, said = cluster.run(*CAMPAIGN)
    assert by_hand.wait(timeout=TIMEOUT_S) == 0
    assert status == 0, said
    assert f"Snakemake runs in this checkout (pid {by_hand.pid}); waiting for it to end" in said
    assert not cluster.slurm.calls("scancel")


def completes(cluster: Cluster) -> None:
    """The next call repeats what is missing, and nothing else."""
    before, submitted = set(cluster.records()), len(cluster.slurm.jobs())
    assert "p2p_host/sweep.repeat0" not in before
    cluster.checkout.behave()
    status, said = cluster.run(*CAMPAIGN)
    assert status == 0, said
    assert cluster.records() == JOBS
    assert len(cluster.slurm.jobs()) - submitted == len(set(JOBS) - before)


def child_of(pid: int) -> int:
    """The Snakemake that a campaign started."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                if parent == pid and b"snakemake" in (entry / "cmdline").read_bytes():
                    return int(entry.name)
            except OSError:
                continue
    raise AssertionError("no Snakemake")
