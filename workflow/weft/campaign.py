"""A campaign from beginning to end: check, lock, measure through Snakemake, report, verdict."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import IO

from weft import config as weft_config
from weft import jobs, left_jobs, preflight, processes, resume, yaml_file
from weft.config import ResolvedConfig
from weft.errors import BadInput, did_you_mean

_LOOK_ONLY = (
    "-n",
    "--dry-run",
    "--dryrun",
    "--list",
    "-l",
    "--summary",
    "-S",
    "--dag",
    "--rulegraph",
    "--lint",
    "--report",
    "--help",
    "-h",
)


def say(text: str) -> None:
    """Tell the person at the terminal; a terminal that is gone is no reason to stop measuring."""
    try:
        print(f"weft: {text}", file=sys.stderr, flush=True)
    except OSError:  # what is left unwritten would fail the interpreter's last flush, and with it the status
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def run(system: str, campaign: str, profile: str, arguments: Sequence[str] = ()) -> int:
    """Run a campaign; return the exit status: 0 when all is measured, 1 when something was wrong or failed.

    ``arguments`` are passed on to Snakemake. What was finished before is not measured again. Raises BadInput,
    before anything is written, when the configuration is wrong or jobs could not run (weft.preflight).
    """
    checkout = Path.cwd()
    config = weft_config.load(system, campaign)
    folder = _profile(profile)
    command = _snakemake(config, folder, arguments)
    if any(argument in _LOOK_ONLY for argument in arguments):
        return subprocess.run(command, check=False).returncode
    preflight.check(config, say, executor(folder))
    end_jobs = partial(left_jobs.cancel, checkout, say) if executor(folder) == "slurm" else None
    started = time.monotonic()
    say(f"Campaign '{campaign}' on system '{system}': {config.campaign['description']}")
    with processes.exclusive(checkout, say, end_jobs):
        finished = resume.finished_unnoted(config, checkout)
        if finished:
            say(f"Finished a moment before the campaign was killed, and kept: {', '.join(finished)}.")
            _measure([*_snakemake(config, folder, ["--touch", *finished])], checkout)
        lost = resume.lost_builds(config)
        if lost:
            say(f"No longer there, and built again before all else: {', '.join(lost)}.")
            _measure(_snakemake(config, folder, lost), checkout)
        status = _measure(command, checkout, end_jobs)
        if status < 0:
            return 128 - status
        results = Path(jobs.results(config))
        if status:
            _report_what_there_is(config, results)
        return _verdict(results, status, time.monotonic() - started)


def _profile(name: str) -> str:
    """A profile is a folder; one without a slash is meant to be in profiles/."""
    if "/" in name:
        if not Path(name).is_dir():
            raise BadInput(f"There is no profile folder {name}.")
        return name
    known = sorted(path.parent.name for path in Path("profiles").glob("*/config*.yaml"))
    if name not in known:
        hint = did_you_mean(name, known) or f"; profiles has {', '.join(known)}."
        raise BadInput(f"There is no profile '{name}'{hint}")
    return f"profiles/{name}"


def executor(profile: str) -> str:
    """Return how a profile, a folder, runs jobs: `local`, or the scheduler that it submits them to."""
    found = [
        path for path in (Path(profile, "config.yaml"), Path(profile, "config.v9+.yaml")) if path.exists()
    ]
    return yaml_file.read(found[0]).get("executor", "local") if found else "local"


def _snakemake(config: ResolvedConfig, profile: str, arguments: Sequence[str]) -> list[str]:
    settings = [f"system={config.system_name}", f"campaign={config.campaign_name}"]
    looks = any(argument in _LOOK_ONLY for argument in arguments)
    progress = [] if looks else ["--logger", "weft"]
    return [
        sys.executable,
        "-m",
        "snakemake",
        *progress,
        "--profile",
        profile,
        *arguments,
        "--config",
        *settings,
    ]


def _measure(command: Sequence[str], checkout: Path, end_jobs: Callable[[], None] | None = None) -> int:
    """Run Snakemake; return its status, negative after a signal. Nothing it started outlives this call.

    ``end_jobs`` ends what it submitted and could not end by itself.
    """
    environment = processes.environment(checkout)
    package = str(Path(__file__).parent.parent)
    environment["PYTHONPATH"] = package  # where Snakemake finds the progress lines, as the plugin `weft`
    snakemake = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    # Through this process, so that Snakemake does not stumble when the terminal goes.
    relay = threading.Thread(target=_relay, args=[snakemake.stdout], daemon=True)
    relay.start()
    try:
        status = snakemake.wait()
    except KeyboardInterrupt:
        with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
            snakemake.wait(timeout=5)  # the terminal told Snakemake too; it ends its jobs by itself
        snakemake.kill()
        snakemake.wait()
        say("Interrupted. Call it again to go on: what is finished stays.")
        status = -2
    else:
        if status < 0:
            say(f"Snakemake was killed by signal {-status}. Call it again to go on: what is finished stays.")
    processes.kill_marked(checkout)
    if status < 0 and end_jobs:
        end_jobs()
    relay.join()
    return status


def _relay(lines: IO[bytes]) -> None:
    for line in lines:
        if not line.startswith(b"Using profile"):
            with contextlib.suppress(OSError):
                sys.stderr.buffer.write(line)
                sys.stderr.buffer.flush()


def _report_what_there_is(config: ResolvedConfig, folder: Path) -> None:
    """Make table and report although experiments failed: the report shows what is missing."""
    from weft import report, table  # noqa: PLC0415 (heavy, and needed here alone)

    paths = [Path(jobs.record_path(config, job)) for job in jobs.jobs(config)]
    there = [path.exists() for path in paths]
    if all(there) or not any(there):
        return
    files = folder / "table.parquet", folder / "problems.json"
    table.build_table(paths, *files)
    resolved = folder / "config.resolved.yaml"
    report.build_report(
        *files,
        folder / "report.html",
        folder / "figures",
        resolved if resolved.exists() else None,
        str(folder)[8:],
    )


def _verdict(folder: Path, status: int, elapsed_s: float) -> int:
    """Say how it went and return the exit status."""
    page = folder / "report.html"
    if not page.exists():
        say("There is no report, for the reason above.")
        return status or 1
    from weft import table  # noqa: PLC0415 (heavy, and needed here alone)

    rows, _ = table.read_table(folder / "table.parquet", ["outcome", "file", "benchmark"])
    counts = rows["outcome"].value_counts()
    problems = json.loads((folder / "problems.json").read_text(encoding="utf-8"))
    minutes, seconds = divmod(round(elapsed_s), 60)
    say(
        f"{len(rows)} measurements in {minutes} min {seconds} s: "
        + ", ".join(
            f"{counts.get(outcome, 0)} {outcome}"
            for outcome in ("measured", "unsupported", "wrong", "failed")
        )
        + "."
    )
    bad = rows[rows["outcome"].isin(["wrong", "failed"])]
    for (outcome, file), group in bad.groupby(["outcome", "file"], observed=True):
        say(f"{len(group)} {outcome}: {', '.join(sorted(set(group['benchmark'])))} in {file}.")
    for problem in problems[:10]:
        say(problem["sentence"])
    if status:
        say("Experiments failed, as told above; call it again to repeat just those.")
    say(f"The report: {page}")
    return 1 if status or len(bad) or problems else 0
