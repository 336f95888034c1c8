"""Profiles: what is really submitted for each experiment, from a fresh clone, and by the scripts for LSF."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.slurm import Slurm
from weft import config, container, experiments, launch, processes, sources
from weft import jobs as weft_jobs

GOLDEN = Path(__file__).parent / "golden/submit"
LSF = Path(__file__).resolve().parents[2] / "profiles/lsf"

# Notes its words and refuses the job.
REFUSE = f"""\
#!{sys.executable}
import json, os, sys
with open("submitted.jsonl", "a") as notes:
    notes.write(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:]]) + "\\n")
sys.exit("refused")
"""


@pytest.fixture(scope="module")
def clone(root, tmp_path_factory) -> Path:
    """What a clone of this repository has, and nothing else."""
    folder = tmp_path_factory.mktemp("clone").resolve()
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        source, copy = root / name, folder / name
        if source.is_symlink() or source.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy, follow_symlinks=False)
    return folder


def build(folder: Path, resolved: config.ResolvedConfig) -> None:
    """Let there be programs and image of a system, as if built, without anything in them."""
    files = {}
    for job in weft_jobs.jobs(resolved):
        contained = weft_jobs.is_contained(resolved, job)
        program = experiments.EXPERIMENTS[job.experiment].program
        if program is None:  # a foreign one, which nothing here builds
            continue
        note = sources.note(container.tree(resolved, contained=contained), program)
        files[note] = sources.source_digest(program, folder / "workflow/programs") + "\n"
        files[launch.program_path(resolved, program, contained=contained)] = ""
        if contained:
            files |= {container.image(resolved): "", container.digest_file(resolved): f"{'0' * 64}\n"}
            files[container.identity_file(resolved)] = "recipe\n"
    # Each after what it is built from.
    for name, text in sorted(files.items(), key=lambda item: ("images" not in item[0], "/bin/" in item[0])):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def first_and_largest(resolved: config.ResolvedConfig) -> list[weft_jobs.Job]:
    """Two jobs of each experiment: the first, and the one with the most ranks and nodes."""
    of_experiment: dict[str, list[weft_jobs.Job]] = {}
    for job in weft_jobs.jobs(resolved):
        of_experiment.setdefault(job.experiment, []).append(job)
    chosen = []
    for measured in of_experiment.values():
        largest = max(measured, key=lambda job: (job.ranks or 0, job.nodes or 0))
        chosen += [measured[0]] + [largest] * (largest != measured[0])
    return chosen


def submitted(folder: Path, *words: str, command: str) -> list[list[str]]:
    """Call Snakemake where ``command`` refuses every job; return the words of each job's first submission."""
    slurm = Slurm(folder / ".stand_ins")
    slurm.is_now(
        partitions={"gpu": {"Default": "YES", "MaxTime": "UNLIMITED", "State": "UP", "Nodes": "n[1-8]"}},
        nodes={
            f"n{index}": {
                "state": "idle",
                "cpus": 96,
                "memory": 1000000,
                "gres": "gpu:8",
                "features": "(null)",
            }
            for index in range(1, 9)
        },
        associations=[{"account": name, "qos": "normal"} for name in ("proj", "my_account")],
    )
    stand_ins = folder / ".stand_ins/bin"
    stand_ins.mkdir(exist_ok=True)
    (stand_ins / command).write_text(REFUSE)
    (stand_ins / command).chmod(0o755)
    (folder / "submitted.jsonl").unlink(missing_ok=True)
    environment = {
        **os.environ,
        **slurm.environment,
        processes.MARK: str(folder),
    }  # nothing to look at before
    environment["PATH"] = f"{stand_ins}:{environment['PATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", *words], cwd=folder, env=environment, check=False,
        capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert (folder / "submitted.jsonl").exists(), done.stdout + done.stderr
    calls = map(json.loads, (folder / "submitted.jsonl").read_text().splitlines())
    return list({comment_of(call): call for call in reversed(list(calls))}.values())


def comment_of(call: list[str]) -> str:
    return call[call.index("--comment") + 1] if "--comment" in call else call[-1]


def plain(call: list[str], folder: Path) -> str:
    """The words of a call without what differs from one run to the next."""
    words = [word if not word.startswith("--wrap=") else "--wrap=..." for word in call]
    if "--job-name" in words:
        words[words.index("--job-name") + 1] = "RUN"
    line = shlex.join(words).replace(str(folder), "/CLONE")
    return re.sub(r"\S*/snakejob\.(\w+)\.\d+\.sh", r"SCRIPT_OF_\1", line) + "\n"


@pytest.mark.parametrize(
    ("system", "profile", "command"),
    [("box", "slurm", "sbatch"), ("slurm-8gpu", "slurm", "sbatch"), ("summit", "profiles/lsf", "bsub")],
)
def test_golden_submissions(clone, monkeypatch, system, profile, command):
    """What the executors really submit for smoke. After a change that is meant: WEFT_WRITE_GOLDEN=1."""
    monkeypatch.chdir(clone)
    resolved = config.load(system, "smoke")
    build(clone, resolved)
    targets = [weft_jobs.record_path(resolved, job) for job in first_and_largest(resolved)]
    calls = submitted(
        clone,
        "--profile",
        profile,
        *targets,
        "--config",
        f"system={system}",
        "campaign=smoke",
        command=command,
    )
    lines = sorted({plain(call, clone) for call in calls})
    golden = GOLDEN / f"{system}.txt"
    if os.environ.get("WEFT_WRITE_GOLDEN"):
        golden.write_text("".join(lines))
    assert lines == golden.read_text().splitlines(keepends=True)


def test_snakemake_profile_slurm_is_all_there_is_to_type(clone, monkeypatch):
    monkeypatch.chdir(clone)
    resolved = config.load("slurm-8gpu", "smoke")
    build(clone, resolved)
    target = "results/slurm-8gpu/smoke/records/topology/repeat0.jsonl"
    (call,) = submitted(clone, "--profile", "slurm", target, command="sbatch")
    assert comment_of(call) == "rule_topology_wildcards_repeat0"


def with_stand_in(folder: Path, name: str, script: str) -> dict[str, str]:
    """The environment in which ``name`` is a script that notes its words, a line each, and does more."""
    (folder / name).write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{folder}/words\n{script}\n')
    (folder / name).chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


def run(*words: object, cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in words], cwd=cwd, env=env, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def test_lsf_names_the_job(tmp_path):
    environment = with_stand_in(tmp_path, "bsub", "echo 'Job <4711> is submitted to default queue <batch>.'")
    done = run(LSF / "submit", "p2p_copy", 1, 6, "-P", "A B", "job.sh", cwd=tmp_path, env=environment)
    assert (done.returncode, done.stdout) == (0, "4711\n")
    assert (tmp_path / ".snakemake/lsf_logs").is_dir(), "LSF makes no folder for a log"
    assert (tmp_path / "words").read_text().splitlines()[-3:] == ["-P", "A B", "job.sh"]


@pytest.mark.parametrize("script", ["echo 'Project A is unknown' >&2; exit 255", "echo Welcome"])
def test_lsf_takes_no_job(tmp_path, script):
    environment = with_stand_in(tmp_path, "bsub", script)
    done = run(LSF / "submit", "p2p_copy", 1, 6, "job.sh", cwd=tmp_path, env=environment)
    assert done.returncode != 0
    assert "Project A is unknown" in done.stderr or "bsub named no job, but said: Welcome" in done.stderr


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("echo DONE", "success"),
        ("echo EXIT", "failed"),
        ("echo ZOMBI", "failed"),
        *((f"echo {state}", "running") for state in ("PEND", "RUN", "PSUSP", "USUSP", "SSUSP", "UNKWN")),
        ("echo 'Job <1> is not found' >&2; exit 255", "success"),
        ("echo 'LSF is down. Please wait ...' >&2; exit 255", "running"),
    ],
)  # fmt: skip
def test_the_status_of_a_job_of_lsf(tmp_path, said, status):
    done = run(LSF / "status", 1, cwd=tmp_path, env=with_stand_in(tmp_path, "bjobs", said))
    assert (done.returncode, done.stdout) == (0, f"{status}\n")


def test_jobs_of_lsf_are_cancelled(tmp_path):
    done = run(LSF / "cancel", 1, 2, cwd=tmp_path, env=with_stand_in(tmp_path, "bkill", ""))
    assert done.returncode == 0
    assert (tmp_path / "words").read_text() == "1\n2\n"


@pytest.mark.parametrize(
    ("words", "variables", "sentence"),
    [
        (["tiny"], {}, "campaign.sbatch takes the names of a system and of a campaign"),
        (["tiny", "tiny"], {}, "submit this script: sbatch profiles/slurm/campaign.sbatch SYSTEM CAMPAIGN."),
        (["tiny", "tiny"], {"SLURM_SUBMIT_DIR": "/"}, "submit from the root of Weft's checkout, not from /."),
        (["tiny", "tiny"], {"SLURM_SUBMIT_DIR": "."}, "there is no .venv here yet; call make setup first"),
    ],
)
def test_campaign_in_an_allocation_called_wrongly(checkout, words, variables, sentence):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
    environment |= variables | ({"SLURM_JOB_NUM_NODES": "2"} if variables else {})
    done = run("bash", "profiles/slurm/campaign.sbatch", *words, cwd=checkout.folder, env=environment)
    assert done.returncode == 2
    assert done.stderr.startswith("weft: ")
    assert done.stderr.count("\n") == 1
    assert sentence in done.stderr
