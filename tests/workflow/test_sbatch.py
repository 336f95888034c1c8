"""sbatch scripts: what they ask for, that they measure what the rules would, that Snakemake takes it over."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from weft import config, processes, sbatch
from weft.cli import main

GOLDEN = Path(__file__).parent / "golden/sbatch"
RESULTS = "results/tiny/tiny"

# Starts the program that the options precede, once: the rank that writes.
SRUN = """\
#!/usr/bin/env bash
echo "srun $*" >>launched.txt
while [[ ${1:-} == -* ]]; do shift; done
exec "$@"
"""


@pytest.fixture
def cluster(checkout):
    """The tiny system on a Slurm cluster of two nodes, of which only srun is there."""
    checkout.edit(
        "config/systems/tiny.yaml",
        "mpi: openmpi",
        "nodes: 2\ncores: 8\nmpi: openmpi\nlauncher: srun\n"
        "scheduler: {kind: slurm, account: proj, partition: gpu, gres: 'gpu:{devices}'}",
    )
    folder = checkout.folder / "bin"
    folder.mkdir()
    (folder / "srun").write_text(SRUN)
    (folder / "srun").chmod(0o755)
    return checkout


def weft(checkout, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = checkout.run("-m", "weft", "sbatch", "--system", "tiny", "--campaign", "tiny", *arguments)
    assert done.returncode == 0, done.stdout
    return done


def submit(checkout, script: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script as a job does: by its path, from a folder somewhere."""
    path = f"{checkout.folder / 'bin'}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", script], cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True,
        check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def submit_all(checkout, folder: Path) -> None:
    for line in weft(checkout).stdout.splitlines():
        done = submit(checkout, checkout.folder / line, folder)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("system", ["box", "slurm-8gpu"])
def test_golden_script(root, monkeypatch, system):
    """What smoke's scripts ask for, and some of one. After a change that is meant: WEFT_WRITE_GOLDEN=1."""
    resolved = config.load(system, "smoke", root)
    monkeypatch.setattr(Path, "cwd", lambda: Path("/CHECKOUT"))
    monkeypatch.setattr(sys, "prefix", "/CHECKOUT/.venv")
    of_experiment = {}
    for job in sbatch.jobs(resolved):
        of_experiment.setdefault(job.experiment, []).append(job)
    found = {
        f"{system}.options.txt": "".join(
            f"{experiment}: {' '.join(sbatch.directives(resolved, measured))}\n"
            for experiment, measured in of_experiment.items()
        ),
        f"{system}.pt2pt_latency.sbatch": sbatch.script(
            resolved, of_experiment["pt2pt_latency"][:2], Path("/CHECKOUT/pt2pt_latency.sbatch")
        ),
    }
    for name, text in found.items():
        if os.environ.get("WEFT_WRITE_GOLDEN"):
            (GOLDEN / name).write_text(text)
        assert text == (GOLDEN / name).read_text()


def test_records_land_where_the_rules_expect_them(cluster, tmp_path_factory):
    submit_all(cluster, tmp_path_factory.mktemp("elsewhere"))
    started = cluster.starts()
    assert len(started) == 13
    launched = (cluster.folder / "launched.txt").read_text()
    assert "--nodes=1 --ntasks=3 --ntasks-per-node=3 --cpus-per-task=2 --gres=gpu:2" in launched
    assert (cluster.folder / RESULTS / "logs/p2p_copy/sweep.repeat0.log").exists()
    done = cluster.snakemake("--quiet", "rules")
    assert done.returncode == 0, done.stdout
    assert (cluster.folder / RESULTS / "report.html").exists()
    assert cluster.starts() == [], "Snakemake measured what was there"
    done = cluster.snakemake("-n")
    assert "Nothing to be done" in done.stdout, done.stdout


def test_what_is_there_is_not_measured_again(cluster, tmp_path):
    submit_all(cluster, tmp_path)
    (cluster.folder / RESULTS / "records/p2p_copy/sweep.repeat1.jsonl").unlink()
    cluster.starts()
    submit_all(cluster, tmp_path)
    assert cluster.starts() == ["p2p_copy/sweep.repeat1"]


def test_a_record_made_anew_is_not_taken_for_an_old_one(cluster, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{cluster.folder / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv(processes.MARK, str(cluster.folder))  # as if inside an allocation
    submit_all(cluster, tmp_path)
    done = cluster.snakemake("-R", "p2p_copy")
    assert done.returncode == 0, done.stdout
    cluster.edit("config/campaigns/tiny.yaml", "sizes_bytes: [4, 64KiB]", "sizes_bytes: [8, 64KiB]")
    for record in (cluster.folder / RESULTS / "records/p2p_copy").iterdir():
        record.unlink()
    cluster.starts()
    submit_all(cluster, tmp_path)
    assert cluster.starts() == ["p2p_copy/sweep.repeat0", "p2p_copy/sweep.repeat1"]
    done = cluster.snakemake()
    assert done.returncode == 0, done.stdout
    assert cluster.starts() == []


def test_a_failure_does_not_keep_the_others(cluster, tmp_path):
    cluster.behave(collective_mpi={"status": 2}, p2p_copy={"status": 1})
    weft(cluster)
    folder = cluster.folder / RESULTS / "sbatch"
    done = submit(cluster, folder / "collective_mpi.sbatch", tmp_path)
    assert done.returncode == 1
    assert len(cluster.starts()) == 4, "each was tried"
    assert (
        f"weft: failed, for the reason in {RESULTS}/logs/collective_mpi/sweep.ranks2.repeat0.log."
        in done.stderr
    )
    assert "weft: 4 failed; submit this script again to repeat just those." in done.stderr
    assert (
        "this cannot be"
        in (cluster.folder / RESULTS / "logs/collective_mpi/sweep.ranks2.repeat0.log").read_text()
    )
    assert submit(cluster, folder / "p2p_copy.sbatch", tmp_path).returncode == 0, "wrong results are results"


def test_what_was_not_built_is_one_sentence(cluster, tmp_path):
    (cluster.programs / "pt2pt").unlink()
    weft(cluster)
    done = submit(cluster, cluster.folder / RESULTS / "sbatch/pt2pt_latency.sbatch", tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "weft: there is no build/host/bin/pt2pt here; build it first, where there is a network:"
        " make programs SYSTEM=tiny CAMPAIGN=tiny\n"
    )
    assert cluster.starts() == []


def test_another_folder(cluster, tmp_path):
    done = weft(cluster, "--output", str(tmp_path / "my scripts"))
    assert f"{tmp_path}/my scripts/topology.sbatch\n" in done.stdout
    text = (tmp_path / "my scripts/topology.sbatch").read_text()
    assert f"# sbatch '{tmp_path}/my scripts/topology.sbatch'\n" in text.replace("#   sbatch", "# sbatch")


def test_a_word_is_read_by_sbatch_as_it_was_written(cluster):
    """Read as Slurm reads it: a backslash keeps what follows it."""
    options = ["--comment=it's; $(touch pwned) \"#\\", "--wait-all-nodes=1"]
    resolved = config.load("tiny", "tiny", cluster.folder)
    resolved.system["scheduler"]["options"] = options
    lines = sbatch.directives(resolved, list(sbatch.jobs(resolved))[:1])
    read = [re.sub(r"\\(.)", r"\1", word) for line in lines for word in re.split(r"(?<!\\) ", line)]
    assert all(option in read for option in options), read
    assert not [line for line in lines if re.search(r"(?<!\\)['\"#;$()]", line)]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("kind: slurm", "kind: lsf"), "scheduler.kind is lsf, but sbatch scripts are for slurm;"),
        (("scheduler: {", "environment: {A: x}\n#"), "tiny.yaml has no scheduler, so there is nothing"),
        (("gres:", 'options: ["--comment=a\\nb"], gres:'), "scheduler.options has '--comment=a\\nb'; a line"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(cluster, monkeypatch, capsys, change, sentence):
    cluster.edit("config/systems/tiny.yaml", *change)
    monkeypatch.chdir(cluster.folder)
    assert main(["sbatch", "--system", "tiny", "--campaign", "tiny"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert sentence in said
