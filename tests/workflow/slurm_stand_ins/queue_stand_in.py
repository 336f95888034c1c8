"""Stand-ins for the commands that submit, show, end and start jobs; all run at once."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from facts import STATE, cluster, filled, option, parse, refuse

FIELDS = {"i": "id", "T": "state", "j": "name", "k": "comment", "Z": "folder", "P": "partition"}
ACTIVE = ("PENDING", "RUNNING", "COMPLETING")


def sbatch(words: list[str]) -> None:
    options, rest = parse(words)
    known = cluster()
    partition = option(options, "-p", "--partition") or next(iter(known["partitions"]))
    account = option(options, "-A", "--account")
    if partition not in known["partitions"]:
        refuse(
            f"sbatch: error: invalid partition specified: {partition}\n"
            "sbatch: error: Batch job submission failed: Invalid partition name specified"
        )
    if known["accounting"] and account and account not in {own["account"] for own in known["associations"]}:
        refuse(
            "sbatch: error: Batch job submission failed: "
            "Invalid account or account/partition combination specified"
        )
    (STATE / "jobs").mkdir(exist_ok=True)
    with (STATE / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ids = [int(path.stem) for path in job_files()]
        job = {
            "id": max(ids, default=0) + 1,
            "name": option(options, "--job-name", "-J") or "wrap",
            "comment": options.get("--comment", "(null)"),
            "folder": option(options, "-D", "--chdir") or str(Path.cwd()),
            "partition": partition,
            "state": "PENDING",
            "words": ["sbatch", *words],
        }
        note(job)
    script = options["--wrap"] if "--wrap" in options else Path(rest[0]).read_text()
    print(job["id"], flush=True)
    if os.fork():
        return
    os.setsid()
    run_job(job, script, (option(options, "--output", "-o") or "slurm-%j.out").replace("%j", str(job["id"])))


def run_job(job: dict, script: str, output: str) -> None:
    """Run a job to its end, as a node would: on another machine, where no campaign finds its processes."""
    environment = {name: value for name, value in os.environ.items() if name != "WEFT_CAMPAIGN_IN"}
    environment |= {
        "SLURM_JOB_ID": str(job["id"]),
        "SLURM_JOB_PARTITION": job["partition"],
        "SLURM_CLUSTER_NAME": "stand_in",
    }
    with Path(output).open("ab") as log, Path(os.devnull).open() as nothing:
        for channel in (1, 2):
            os.dup2(log.fileno(), channel)
        os.dup2(nothing.fileno(), 0)
    note({**job, "state": "RUNNING", "group": os.getpgid(0)})
    done = subprocess.run(["/bin/sh", "-c", script], cwd=job["folder"], env=environment, check=False)
    note({**job, "state": "FAILED" if done.returncode else "COMPLETED"})


def squeue(words: list[str]) -> None:
    options, _ = parse(words)
    form = option(options, "-o", "--format") or "%i %P %j %u %T"
    wanted = option(options, "-j", "--jobs")
    name = options.get("--name")
    if not {"-h", "--noheader"} & set(options):
        print("JOBID")
    for path in job_files():
        job = json.loads(path.read_text())
        shown = job["state"] in ACTIVE or option(options, "--states", "-t") == "all"
        meant = name in (None, job["name"]) and (wanted is None or str(job["id"]) in wanted.split(","))
        if shown and meant:
            values = {field: job[key] for field, key in FIELDS.items()}
            print(filled(form, {**values, "u": os.environ.get("USER", "user")}))


def scancel(words: list[str]) -> None:
    _, ids = parse(words)
    for path in job_files():
        job = json.loads(path.read_text())
        if str(job["id"]) in ids and job["state"] in ACTIVE:
            if "group" in job:
                # Its steps are sessions of their own, which the node would end too.
                for pid in processes_of(str(job["id"])):
                    os.kill(pid, signal.SIGKILL)
                os.killpg(job["group"], signal.SIGKILL)
            note({**job, "state": "CANCELLED"})


def srun(words: list[str]) -> None:
    options, command = parse(words)
    if options.get("--mpi") == "list":
        known = cluster()
        print("MPI plugin types are...\n" + "\n".join(f"\t{name}" for name in known["mpi"]))
        if known["pmix"]:
            print("specific pmix plugin versions available: " + ",".join(known["pmix"]))
        return
    ranks = int(option(options, "-n", "--ntasks") or 1)
    tasks = [
        subprocess.Popen(
            command, env={**os.environ, "SLURM_PROCID": str(rank), "OMPI_COMM_WORLD_RANK": str(rank)}
        )
        for rank in range(ranks)
    ]
    sys.exit(max(task.wait() if task.wait() >= 0 else 128 - task.returncode for task in tasks))


def job_files() -> list[Path]:
    return sorted((STATE / "jobs").glob("*.json"), key=lambda path: int(path.stem))


def note(job: dict) -> None:
    path = STATE / "jobs" / f"{job['id']}.json"
    partial = path.with_suffix(f".{os.getpid()}")
    partial.write_text(json.dumps(job))
    partial.rename(path)


def processes_of(job_id: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            variables = (entry / "environ").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue
        if {f"SLURM_JOB_ID={job_id}".encode(), f"STAND_IN_SLURM={STATE}".encode()} <= set(variables):
            found.append(int(entry.name))
    return found
