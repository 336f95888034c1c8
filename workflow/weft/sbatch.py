"""sbatch scripts, one for each experiment of a campaign: to be read, and submitted to Slurm by hand."""

from __future__ import annotations

import math
import re
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from weft import container, experiments, launch
from weft.config import ResolvedConfig
from weft.errors import BadInput
from weft.jobs import Job, is_contained, jobs, results
from weft.resources import Resources, resources

_WIDTH = 110

# What MEASURE is for the rules (workflow/rules/common.smk), with what Snakemake does around it.
_MEASURE = """\
# measure JOB COMMAND...: runs the command, unless its record is there. Status 1 with a record says that
# some cases were wrong or failed: the report tells which. What Snakemake noted of an older record of that
# name goes, or it would take the new one for outdated.
measure() {
  local -r record=$results/records/$1.jsonl log=$results/logs/$1.log benchmark=$results/benchmarks/$1.tsv
  shift
  [ ! -s "$record" ] || return 0
  echo "$(date +%T) $record"
  mkdir -p "${record%/*}" "${log%/*}"
  rm -f "$benchmark" ".snakemake/metadata/$(printf %s "$record" | base64 --wrap=0 | tr +/ -_)"
  "$@" >"$log" 2>&1 || { [ $? -eq 1 ] && [ -s "$record" ]; } || {
    echo "weft: failed, for the reason in $log." >&2
    failed=$((failed + 1))
  }REPORTS
}
failed=0
"""
_END = """\
[ "$failed" -eq 0 ] || {
  echo "weft: $failed failed; submit this script again to repeat just those." >&2
  exit 1
}
"""


def write_scripts(config: ResolvedConfig, folder: Path) -> list[Path]:
    """Write one script an experiment into ``folder``, and make the folder that Slurm writes their output to.

    Raises BadInput when the system has no Slurm, a word cannot stand in a script, or ``folder`` cannot be
    written.
    """
    _check(config)
    of_experiment: dict[str, list[Job]] = {}
    for job in jobs(config):
        of_experiment.setdefault(job.experiment, []).append(job)
    try:
        Path(_output_folder(config)).mkdir(parents=True, exist_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for experiment, measured in of_experiment.items():
            paths.append(folder / f"{experiment}.sbatch")
            paths[-1].write_text(script(config, measured, paths[-1].resolve()), encoding="utf-8")
    except OSError as problem:
        raise BadInput(f"{problem.filename} cannot be written: {problem.strerror}.") from None
    return paths


def script(config: ResolvedConfig, measured: Sequence[Job], path: Path) -> str:
    """Return the script that measures ``measured``, jobs of one experiment, one after the other.

    It holds the path of this checkout and can be submitted from anywhere.
    """
    names = shlex.join([f"SYSTEM={config.system_name}", f"CAMPAIGN={config.campaign_name}"])
    checkout = shlex.quote(str(Path.cwd()))
    count = f"{len(measured)} jobs, one after the other" if len(measured) > 1 else "one job"
    header = f"""\
#!/usr/bin/env bash
# {measured[0].experiment} of campaign '{config.campaign_name}' on system '{config.system_name}': {count}.
# Written by `make sbatch {names}`; write it anew after a change of the configuration.
#
#   make programs {names}    before, where there is a network
#   sbatch {shlex.quote(str(path))}
#   make report {names}      after
#
# A record that is there is not measured again: remove what an older configuration measured.
"""
    parts = [
        header + "".join(f"#SBATCH {line}\n" for line in directives(config, measured)),
        f"set -uo pipefail\ncd {checkout} || exit 2\n"
        f"{_search_paths(config)}\nreadonly results={shlex.quote(results(config))}\n",
        _check_files(_needed(config, measured), f"make programs {names}"),
        _MEASURE.replace("REPORTS", _reports(config, measured)),
        *(_measurement(config, job) for job in measured),
        _END,
    ]
    return "\n".join(parts)


def directives(config: ResolvedConfig, measured: Sequence[Job]) -> list[str]:
    """Return the options of sbatch, a line each: enough for each of the jobs, and time for all."""
    needs = [resources(config, job) for job in measured]
    widest = max(needs, key=lambda need: (_tasks_per_node(need) * need["cpus_per_task"], need["ranks"]))
    most_devices = max(needs, key=lambda need: need["devices"])
    output = f"{Path.cwd()}/{_output_folder(config)}/{measured[0].experiment}".replace("%", "%%")
    scheduler = config.system["scheduler"]
    named = ("account", "partition", "qos", "constraint")
    lines = [
        [f"--job-name=weft-{measured[0].experiment}"],
        *([f"--{key}={scheduler[key]}"] for key in named if scheduler[key]),
        [f"--nodes={max(need['nodes'] for need in needs)}"],
        [f"--cpus-per-task={widest['cpus_per_task']}"],
        *([[f"--gres={most_devices['gres']}"]] if "gres" in most_devices else []),
        [f"--mem={max(need['mem_mb'] for need in needs)}M"],
        [f"--time={sum(need['runtime'] for need in needs)}"],
        *_by_option(shlex.split(widest["slurm_extra"])),
        ["--no-requeue"],
        [f"--output={output}.%j.log"],
    ]
    file = config.sources()[0]
    return [" ".join(_directive_word(word, file) for word in line) for line in lines]


def _tasks_per_node(need: Resources) -> int:
    return math.ceil(need["ranks"] / need["nodes"])


def _directive_word(word: str, file: str) -> str:
    """Return a word as sbatch reads it: no shell, a backslash keeps what follows, in quotes too."""
    if not word.isprintable():
        raise BadInput(
            f"{file}: scheduler.options has {word!r}; a line of an sbatch script cannot hold"
            " a line break or another character that does not print."
        )
    return re.sub(r"[^A-Za-z0-9_./=:,+@%-]", lambda found: "\\" + found[0], word)


def _measurement(config: ResolvedConfig, job: Job) -> str:
    """Return the call of `measure` for a job, its words as in its rule."""
    variables = f"{experiments.image_variables(config)} \\\n  " if is_contained(config, job) else ""
    lines = [line for part in experiments.job_parts(config, job) for line in _filled(_by_option(part))]
    return " \\\n  ".join([f"{variables}measure {job.path}", *lines]) + "\n"


def _by_option(words: Iterable[str]) -> list[list[str]]:
    """Return words in groups: an option with what belongs to it, an assignment, or what leads them."""
    groups: list[list[str]] = []
    for word in words:
        if not groups or word.startswith("-") or re.match(r"[A-Za-z_]\w*=", word):
            groups.append([])
        groups[-1].append(word)
    return groups


def _filled(groups: Iterable[Sequence[str]]) -> list[str]:
    """Return groups of words as lines of a shell, as many on each as it has room for."""
    lines: list[str] = []
    for text in map(shlex.join, groups):
        if lines and len(lines[-1]) + len(text) < _WIDTH:
            lines[-1] += f" {text}"
        else:
            lines.append(text)
    return lines


def _needed(config: ResolvedConfig, measured: Sequence[Job]) -> list[str]:
    """Return the files that must have been built before."""
    program = experiments.EXPERIMENTS[measured[0].experiment].program
    files = set()
    for job in measured:
        contained = is_contained(config, job)
        if program:
            files.add(launch.program_path(config, program, contained=contained))
        if contained:
            files |= {container.image(config), container.digest_file(config)}
    return sorted(files)


def _check_files(files: Iterable[str], command: str) -> str:
    return f"""\
for file in {shlex.join(files)}; do
  [ -e "$file" ] || {{
    echo "weft: there is no $file here; build it first, where there is a network:" {shlex.quote(command)} >&2
    exit 2
  }}
done
"""


def _reports(config: ResolvedConfig, measured: Sequence[Job]) -> str:
    """Return what follows a measurement: what libraries logged becomes part of its record."""
    if not any(experiments.makes_reports(config, job) for job in measured):
        return ""
    digest = f'PYTHONPATH=workflow {shlex.quote(f"{sys.prefix}/bin/python")} -m weft reports "$record"'
    return f'\n  [ ! -s "$record" ] || {digest} >>"$log" 2>&1 || failed=$((failed + 1))'


def _search_paths(config: ResolvedConfig) -> str:
    """Return what `launch.search_paths` is for the rules: .venv first where its MPI is used, else last."""
    home = sys.prefix
    if config.system["toolchain"] != "locked":
        return f'export PATH="$PATH":{shlex.quote(f"{home}/bin")}'
    libraries = shlex.quote(f"{home}/lib:{home}/lib/openmpi")
    return (
        f'export PATH={shlex.quote(f"{home}/bin")}:"$PATH"\n'
        f'export LD_LIBRARY_PATH={libraries}"${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"'
    )


def _output_folder(config: ResolvedConfig) -> str:
    return f"{results(config)}/logs/sbatch"


def _check(config: ResolvedConfig) -> None:
    scheduler, file = config.system["scheduler"], config.sources()[0]
    if scheduler is None:
        raise BadInput(f"{file} has no scheduler, so there is nothing to submit to: use make campaign.")
    if scheduler["kind"] != "slurm":
        raise BadInput(
            f"{file}: scheduler.kind is {scheduler['kind']}, but sbatch scripts are for slurm;"
            f" use make campaign PROFILE={scheduler['kind']}."
        )
    if not str(Path.cwd()).isprintable():
        raise BadInput("The path of this checkout has a character that does not print: move it elsewhere.")
