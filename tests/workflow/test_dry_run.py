"""Every campaign on every system, as far as Snakemake can go without measuring."""

import subprocess
import sys

import pytest

from weft import config, experiments
from weft import jobs as weft_jobs


def snakemake(root, *arguments: str) -> str:
    command = [sys.executable, "-m", "snakemake", "--profile", "profiles/local", *arguments]
    done = subprocess.run(
        command, cwd=root, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("system", ["local", "h200x4", "box", "slurm-8gpu"])
@pytest.mark.parametrize("campaign", ["smoke", "standard", "full"])
def test_dry_run(root, tmp_path, system, campaign):
    resolved = config.load(system, campaign, root)
    jobs = list(weft_jobs.jobs(resolved))
    said = snakemake(root, "-n", "--forceall", "--config", f"system={system}", f"campaign={campaign}")
    counts = {}
    for line in said.split("Job stats:")[1].splitlines()[3:]:
        if not line.strip():
            break
        rule, count = line.split()
        counts[rule] = int(count)
    for experiment in experiments.EXPERIMENTS:
        assert counts.get(experiment, 0) == sum(job.experiment == experiment for job in jobs), experiment
    assert counts["table"] == counts["report"] == counts["resolved_config"] == 1
    assert f"results/{system}/{campaign}/report.html" in said
    assert ("NCCL needs GPUs" in said) == (resolved.backend == "host")


def test_defaults_explain_themselves(root):
    said = snakemake(root, "-n", "--forceall")
    assert "results/local/smoke/report.html" in said
    assert "Copies between two devices (sweep.repeat0)" in said
    assert "MPI latency (sweep.ranks2.gpudirect-off.repeat1)" in said


def test_a_table_of_records_that_are_there_needs_no_measuring(checkout):
    records = checkout.folder / "results/published/other/records"
    records.mkdir(parents=True)
    (records / "copy.jsonl.gz").write_bytes(b"")
    done = checkout.snakemake("-n", "results/published/other/report.html")
    assert done.returncode == 0, done.stdout
    assert (
        "results/published/other/records/copy.jsonl.gz" in done.stdout.split("Reason")[0]
        or "table" in done.stdout
    )
    assert "p2p_copy" not in done.stdout
    assert "resolved_config" not in done.stdout


def test_unknown_campaign_is_one_sentence(checkout):
    done = checkout.run(
        "-m", "snakemake", "--profile", "profiles/local", "-n", "--config", "campaign=tinny", "system=tiny"
    )
    assert done.returncode != 0
    assert "There is no campaign 'tinny', did you mean 'tiny'?" in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize(
    "name", ["p2p_copy/swep.repeat0", "p2p_copy/sweep.repeat2", "collective_mpi/sweep.ranks4.repeat0"]
)
def test_a_result_that_the_campaign_lacks(checkout, name):
    done = checkout.snakemake("-n", f"results/tiny/tiny/records/{name}.jsonl")
    assert done.returncode != 0
    assert f"No rule to produce results/tiny/tiny/records/{name}.jsonl" in done.stdout
    assert "Traceback" not in done.stdout
