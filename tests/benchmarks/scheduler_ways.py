"""Start the same experiments in one of several ways, on a login node; prints seconds from call to last end.

PYTHONPATH=workflow:tests .venv/bin/python -m benchmarks.scheduler_ways WAY --container on|off

From the root of a checkout. The way `prepare` builds what the others run, where there is a network.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from weft import config as weft_config
from weft import container, experiments, jobs, sbatch, sources, yaml_file
from weft.config import ResolvedConfig

NAME = "scheduler_benchmark"  # of the system and of the campaign
HERE = Path(__file__).parent
REFRAME = Path("build/reframe")
_LOOK_S = 0.2


def write_config() -> None:
    """Put the campaign where campaigns are, and beside it the system: the box, with every repeat."""
    shutil.copy(HERE / "scheduler_campaign.yaml", f"config/campaigns/{NAME}.yaml")
    system = yaml_file.read(Path("config/systems/box.yaml")) | {"max_repeats": None}
    Path(f"config/systems/{NAME}.yaml").write_text(yaml_file.write(system), encoding="utf-8")


class FailedError(Exception):
    """A way did not end with all records; str says why."""


class Suite:
    """The experiments of the campaign that run with the container, or without; their scripts are written."""

    def __init__(self, config: ResolvedConfig, *, contained: bool) -> None:
        self.config = config
        self.jobs = [
            job
            for job in jobs.jobs(config)
            if job.experiment != "topology" and jobs.is_contained(config, job) == contained
        ]
        self.records = [jobs.record_path(config, job) for job in self.jobs]
        self.scripts = [Path(jobs.results(config), "scripts", f"{job.name}.sbatch") for job in self.jobs]

    def write_scripts(self) -> None:
        for job, path in zip(self.jobs, self.scripts, strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(sbatch.script(self.config, [job], path.resolve()), encoding="utf-8")
        Path(jobs.results(self.config), "logs/sbatch").mkdir(parents=True, exist_ok=True)

    def snakemake(self, profile: str, *arguments: str) -> list[str]:
        settings = ["--config", f"system={NAME}", f"campaign={NAME}"]
        return [sys.executable, "-m", "snakemake", "--profile", profile, *arguments, *settings]


def prepare(suite: Suite) -> None:
    """Build the program, and the image it runs in; install ReFrame beside .venv."""
    job = suite.jobs[0]
    tree = container.tree(suite.config, contained=jobs.is_contained(suite.config, job))
    _run(
        suite.snakemake("profiles/local", sources.note(tree, experiments.EXPERIMENTS[job.experiment].program))
    )
    if not (REFRAME / "bin/python").exists():
        _run([sys.executable, "-m", "venv", "--without-pip", str(REFRAME)])
    hashes = ["--require-hashes", "--build-constraints", "envs/build.txt", "envs/benchmark.txt"]
    uv = ["env", "UV_SYSTEM_CERTS=1", ".venv/bin/uv", "pip", "sync", "--quiet"]
    _run([*uv, "--python", str(REFRAME / "bin/python"), *hashes])


def by_sbatch(suite: Suite) -> None:
    """Each experiment as a script for sbatch, the bare minimum."""
    suite.write_scripts()
    submitted = [_run(["sbatch", "--parsable", str(script)]).strip() for script in suite.scripts]
    _wait_for(submitted)


def by_executor(suite: Suite) -> None:
    """Snakemake submits each experiment: profiles/slurm."""
    _run(suite.snakemake("profiles/slurm", *suite.records))


def in_allocation(suite: Suite) -> None:
    """Snakemake runs all experiments within one allocation: profiles/allocation."""
    nodes = suite.config.system["nodes"]
    resources = ["--resources", "machine=1000", f"nodes={nodes}"]
    words = suite.snakemake("profiles/allocation", *suite.records, *resources)
    scheduler = suite.config.system["scheduler"]
    options = [f"--account={scheduler['account']}", f"--partition={scheduler['partition']}"]
    options += [f"--nodes={nodes}", "--exclusive", "--mem=0", "--time=30", "--output=build/allocation.log"]
    # As profiles/slurm/campaign.sbatch does for a whole campaign with its report.
    script = Path("build/allocation.sbatch")
    script.write_text("\n".join(["#!/bin/sh", f"exec {shlex.join(words)}", ""]), encoding="utf-8")
    _wait_for([_run(["sbatch", "--parsable", *options, str(script)]).strip()])


def by_reframe(suite: Suite) -> None:
    """ReFrame submits each experiment as a test that only runs; the same scripts, the same demands."""
    suite.write_scripts()
    described = [
        {
            "name": job.name.replace(".", "_"),
            "script": str(script.resolve()),
            "record": str(Path(record).resolve()),
            "options": [
                line
                for line in sbatch.directives(suite.config, [job])
                if not line.startswith(("--job-name", "--output"))
            ],
        }
        for job, script, record in zip(suite.jobs, suite.scripts, suite.records, strict=True)
    ]
    listed = REFRAME / "experiments.json"
    listed.write_text(json.dumps(described), encoding="utf-8")
    words = [str(REFRAME / "bin/reframe"), "--config-file", str(HERE / "reframe/settings.py")]
    words += ["--checkpath", str(HERE / "reframe/suite.py"), "--prefix", str(REFRAME / "runs"), "--run"]
    _run(words, WEFT_EXPERIMENTS=str(listed.resolve()))


def job_start(suite: Suite) -> float:
    """Return the processor time, in seconds, of the Snakemake of one job until it would run its line."""
    target = [suite.records[0], "--allowed-rules", suite.jobs[0].experiment, "--force", "--mode", "remote"]
    before = _processor_s()
    _run(suite.snakemake("profiles/local", *target, "--nolock", "--dry-run", "--quiet"))
    return _processor_s() - before


WAYS: dict[str, Callable[[Suite], None]] = {
    "sbatch": by_sbatch,
    "executor": by_executor,
    "allocation": in_allocation,
    "reframe": by_reframe,
}


def measure(way: str, suite: Suite) -> float:
    """Return the wall time of a way, in seconds; raises FailedError unless it left every record."""
    shutil.rmtree(jobs.results(suite.config), ignore_errors=True)
    start_s = time.perf_counter()
    WAYS[way](suite)
    wall_s = time.perf_counter() - start_s
    missing = [record for record in suite.records if not Path(record).exists()]
    if missing:
        logs = "its logs are below build, results and .snakemake of the checkout in the box"
        raise FailedError(f"{way} left {len(missing)} of {len(suite.records)} records out; {logs}")
    return wall_s


def _wait_for(submitted: Sequence[str]) -> None:
    """Wait until none of these jobs is in the queue; a script that failed left no record."""
    mine = set(submitted)
    while mine & set(_run(["squeue", "--noheader", "--format=%i", "--me"]).split()):
        time.sleep(_LOOK_S)


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(words: Sequence[str], **variables: str) -> str:
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=os.environ | variables,
        check=False,
    )
    if done.returncode:
        said = " ".join((done.stderr.strip() or done.stdout.strip()).splitlines()[-3:])
        raise FailedError(f"{shlex.join(words)[:80]}… ended with status {done.returncode}: {said[-400:]}")
    return done.stdout


def main(arguments: Sequence[str]) -> int:
    """Do what the arguments say; 1 with a sentence where it fails."""
    parser = argparse.ArgumentParser(prog="benchmarks.scheduler_ways", description=__doc__.splitlines()[0])
    parser.add_argument("way", choices=["prepare", "job_start", *WAYS])
    parser.add_argument("--container", choices=["on", "off"], required=True)
    options = parser.parse_args(arguments)
    write_config()
    suite = Suite(weft_config.load(NAME, NAME), contained=options.container == "on")
    try:
        if options.way == "prepare":
            prepare(suite)
        else:
            print(job_start(suite) if options.way == "job_start" else measure(options.way, suite))
    except FailedError as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
