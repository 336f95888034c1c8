# What the rules share. All that thinks is in workflow/weft; here its answers get the names that rules use.
import os
import re
import shlex
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

PACKAGE = str(Path(workflow.basedir) / "workflow")
sys.path.insert(0, PACKAGE)

from weft import config as weft_config
from weft import container, experiments, launch, left_jobs, preflight, processes, room, sources
from weft import jobs as weft_jobs
from weft import resources as weft_resources
from weft.errors import BadInput
from weft.preflight import retry

try:
    CONFIG = weft_config.load(config.get("system", "local"), config.get("campaign", "smoke"))
except BadInput as problem:
    raise WorkflowError(str(problem)) from None

# Shell lines find the interpreter that runs Snakemake, its MPI (unless the system has its own), and Weft.
os.environ.update(launch.search_paths(CONFIG))
os.environ["PYTHONPATH"] = PACKAGE
WEFT = shlex.join([sys.executable, "-m", "weft"])

# Two measurements at once would measure each other. A profile for many nodes allows more.
if "machine" not in workflow.global_resources:
    workflow.register_resource("machine", 1)

RESULTS = weft_jobs.results(CONFIG)
JOBS = list(weft_jobs.jobs(CONFIG))
RECORDS = [weft_jobs.record_path(CONFIG, job) for job in JOBS]
NAMED = {(job.experiment, job.name): job for job in JOBS}

for skipped in CONFIG.skipped:
    logger.info(f"Skipped: {skipped['experiment']}, sweep {skipped['sweep']}: {skipped['reason']}.")


wildcard_constraints:
    tree="[^/]+",
    image="[^/]+",
    program="|".join(sorted({entry.program for entry in experiments.EXPERIMENTS.values() if entry.program})),
    system="[^/]+",
    campaign="[^/]+",


def names(experiment):
    """What the wildcard `job` of a rule may be: the jobs of the campaign. Never nothing, which would be anything."""
    return "|".join(sorted(re.escape(name) for other, name in NAMED if other == experiment)) or "none"


def needs(experiment):
    """The function that gives a rule what its job runs."""

    def inputs(wildcards):
        return programs_of(job_of(experiment, wildcards))

    return inputs


def programs_of(job):
    """What a job runs: the program, and the image it runs in where there is one.

    Both are ancient. A binary carries the commit, so it is another after every commit to anything, and an image
    built anew is another file; the texts beside them tell whether they are still what they were.
    """
    contained = weft_jobs.is_contained(CONFIG, job)
    program = experiments.EXPERIMENTS[job.experiment].program
    files = []
    if program:
        files = [
            ancient(launch.program_path(CONFIG, program, contained=contained)),
            sources.note(container.tree(CONFIG, contained=contained), program),
        ]
    if contained:
        files += [ancient(container.image(CONFIG)), identity()]
    return files


def command(experiment):
    """The function that gives a rule its whole shell line, every word quoted."""

    def line(wildcards):
        return experiments.shell_line(CONFIG, job_of(experiment, wildcards))

    return line


def job_of(experiment, wildcards):
    return NAMED[experiment, wildcards.job]


def measured(experiment):
    """The resources of a measuring rule, by name: each a number, or a function of the job."""

    def of_job(name):
        # A job that ended badly gets more memory and time when it is tried again: it may have lacked them.
        def value(wildcards, attempt):
            found = weft_resources.resources(CONFIG, job_of(experiment, wildcards))[name]
            return retry.more(CONFIG, name, found, attempt) if name in ("mem_mb", "runtime") else found

        return value

    names = [job for job in JOBS if job.experiment == experiment][:1]
    kinds = weft_resources.resources(CONFIG, names[0]) if names else {}
    return {"machine": 1, **{name: of_job(name) for name in kinds}}


def again(times):
    """How often a rule that failed is tried again. By the Snakemake that the user called: it starts another in
    each job, and that would try again there, as often, before the job fails."""
    return times if workflow.is_main_process else 0


def records_of(wildcards):
    """The record files of a table: those of the campaign in hand, or those that are there."""
    folder = f"results/{wildcards.system}/{wildcards.campaign}"
    if folder == RESULTS:
        return RECORDS
    return sorted(
        str(path) for path in Path(folder, "records").rglob("*.jsonl*") if path.suffix in (".jsonl", ".gz")
    )


def resolved_config_of(wildcards):
    """The resolved config of a report; imported records have none."""
    path = f"results/{wildcards.system}/{wildcards.campaign}/config.resolved.yaml"
    return [path] if path.startswith(f"{RESULTS}/") or Path(path).exists() else []


def package_files(*patterns):
    """Source files of the Python package: when they change, what they made is made anew."""
    return sorted(
        str(path) for pattern in patterns for path in Path("workflow").glob(pattern) if path.is_file()
    )


def check_site():
    """What can be known to be wrong before jobs are submitted, and what a killed run left in the queue."""
    if processes.MARK in os.environ or workflow.touch:
        return  # `weft campaign` has done it, or there is nothing to do
    processes.note_snakemake(Path.cwd())
    executor = workflow.executor_plugin.name
    run = {(job.rule.name, getattr(job.wildcards, "job", None)) for job in workflow.dag.needrun_jobs()}
    measuring = [job for key, job in NAMED.items() if key in run]
    if measuring and (CONFIG.system["scheduler"] or executor != "local"):
        try:
            preflight.check(CONFIG, logger.warning, executor, measuring)
        except BadInput as problem:
            raise WorkflowError(str(problem)) from None
    if executor == "slurm":
        left_jobs.cancel(Path.cwd(), logger.warning)


def say_if_full():
    """A log that is on a full disk, too, cannot say why its job failed."""
    if sentence := room.lack(Path(RESULTS)):
        logger.error(sentence)


# Status 1 with a record file says: some cases were wrong or failed. The campaign goes on to the report, and
# `weft campaign` ends with status 1 for it. Everything else that is not 0 fails the job.
MEASURE = "{params.command} > {log} 2>&1 || {{ [ $? -eq 1 ] && [ -s {output} ]; }}"

# Where libraries write down how they move the data of devices, what they wrote becomes part of the record.
MEASURE_RANKS = MEASURE + (" && {WEFT} reports {output} >> {log} 2>&1" if CONFIG.backend == "cuda" else "")
