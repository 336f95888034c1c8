# What the rules share. All that thinks is in workflow/weft; here its answers get the names that rules use.
import os
import shlex
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

PACKAGE = str(Path(workflow.basedir) / "workflow")
sys.path.insert(0, PACKAGE)

from weft import config as weft_config
from weft import experiments, launch
from weft.errors import BadInput

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

RESULTS = experiments.results(CONFIG)
JOBS = list(experiments.jobs(CONFIG))
RECORDS = [experiments.record_path(CONFIG, job) for job in JOBS]

for skipped in CONFIG.skipped:
    logger.info(f"Skipped: {skipped['experiment']}, sweep {skipped['sweep']}: {skipped['reason']}.")


def axis(name):
    """What a wildcard may be: the values that the jobs of the campaign have. Never nothing, which would be anything."""
    return "|".join(sorted({str(getattr(job, name)) for job in JOBS} - {"None"})) or "none"


wildcard_constraints:
    sweep=axis("sweep"),
    ranks=axis("ranks"),
    gpudirect=axis("gpudirect"),
    repeat=axis("repeat"),
    program="|".join(sorted({entry.program for entry in experiments.EXPERIMENTS.values()})),
    system="[^/]+",
    campaign="[^/]+",


def binary(name):
    """The binary of a program, and the image it runs in where there is one.

    The binary is ancient: it carries the commit, so it is another after every commit to anything.
    """
    image = CONFIG.system["container"]
    return [ancient(launch.program_path(CONFIG, name)), *([image] if image else [])]


def sources_of(name):
    """What tells whether a program is still the same: a file with the digest of its sources."""
    return f"build/{CONFIG.backend}/sources/{name}.txt"


def source_files(wildcards):
    return experiments.source_files(wildcards.program)


def source_digest(wildcards):
    return experiments.source_digest(wildcards.program)


def command(experiment):
    """The function that gives a rule its whole launch line, quoted for the shell."""

    def line(wildcards):
        return shlex.join(experiments.job_command(CONFIG, job_of(experiment, wildcards)))

    return line


def job_of(experiment, wildcards):
    ranks = wildcards.get("ranks")
    return experiments.Job(
        experiment,
        int(wildcards.repeat),
        wildcards.get("sweep"),
        int(ranks) if ranks else None,
        wildcards.get("gpudirect"),
    )


def resource(experiment, name):
    """The function that gives a rule one of the resources that depend on its job."""

    def value(wildcards):
        return experiments.resources(CONFIG, job_of(experiment, wildcards))[name]

    return value


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


# Status 1 with a record file says: some cases were wrong or failed. The campaign goes on to the report, and
# `weft campaign` ends with status 1 for it. Everything else that is not 0 fails the job.
MEASURE = "{params.command} > {log} 2>&1 || {{ [ $? -eq 1 ] && [ -s {output} ]; }}"
