"""The command line: it wires options to the functions of the other modules and does nothing else."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from weft.errors import BadInput


def main(arguments: Sequence[str]) -> int:
    """Run the command that ``arguments`` name and return the exit status; bad input: one sentence, and 2."""
    try:
        options, others = _parser().parse_known_args(arguments)
        if others and options.command != "campaign":
            raise BadInput(
                f"weft {options.command} knows no argument {others[0]}; see weft {options.command} --help."
            )
        return options.run(options, others) or 0
    except BadInput as problem:
        for sentence in str(problem).split("\n"):
            print(f"weft: {sentence}", file=sys.stderr)
        return 2


# Each command imports what it needs when it runs: reading a config shall not wait for the figures' libraries.
# ruff: noqa: PLC0415


def _campaign(options: argparse.Namespace, others: list[str]) -> int:
    from weft import campaign

    return campaign.run(options.system, options.campaign, options.profile, others)


def _config(options: argparse.Namespace, _others: list[str]) -> None:
    from weft import config, reference

    text = reference.page() if options.reference else config.load(options.system, options.campaign).as_yaml()
    if options.output is None:
        sys.stdout.write(text)
    else:
        _write(options.output, text)


def _check(options: argparse.Namespace, _others: list[str]) -> None:
    from weft import config, preflight
    from weft.campaign import say

    found = preflight.check(config.load(options.system, options.campaign), say)
    for sentence in [*found.facts, *found.unknown]:
        say(sentence)
    say(f"System '{options.system}' can run campaign '{options.campaign}', as far as it can be known here.")


def _sbatch(options: argparse.Namespace, _others: list[str]) -> None:
    from weft import config, jobs, sbatch

    resolved = config.load(options.system, options.campaign)
    for path in sbatch.write_scripts(resolved, options.output or Path(jobs.results(resolved), "sbatch")):
        print(path)


def _nccl_tests(options: argparse.Namespace, _others: list[str]) -> int:
    from weft.nccl_tests import run

    return run.run(options)


def _import_nccl_tests(options: argparse.Namespace, _others: list[str]) -> int:
    from weft.nccl_tests import run

    return run.import_logs(options)


def _reports(options: argparse.Namespace, _others: list[str]) -> None:
    from weft.evidence import logs

    logs.add_reports(options.record)


def _table(options: argparse.Namespace, _others: list[str]) -> None:
    from weft import records, table

    table.build_table(records.find_record_files(options.records), options.output, options.problems)


def _report(options: argparse.Namespace, _others: list[str]) -> None:
    from weft import report

    report.build_report(
        options.table,
        options.problems,
        options.output,
        options.figures,
        options.config,
        options.title,
        options.against,
    )


def _health(options: argparse.Namespace, _others: list[str]) -> int:
    from weft.health import command

    return command.run(options.table)


def _published(options: argparse.Namespace, _others: list[str]) -> None:
    from weft import published

    for path in published.import_published(options.source, options.output):
        print(path)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{path.name}.partial")
        partial.write_text(text, encoding="utf-8")
        partial.rename(path)
    except OSError as problem:
        raise BadInput(f"{path} cannot be written: {problem.strerror}.") from None


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise BadInput(f"{message}; see {self.prog} --help.")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="weft", description="Measures GPU interconnects.", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, run: object, text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        added.set_defaults(run=run)
        return added

    for name, run, text in (
        (
            "campaign",
            _campaign,
            "Measure a campaign and write its report; further arguments go to Snakemake.",
        ),
        ("check", _check, "Check system and campaign against the machine or cluster that this is."),
        ("config", _config, "Check a configuration and print it with every default."),
        ("sbatch", _sbatch, "Write a script for Slurm's sbatch for each experiment of a campaign."),
    ):
        added = command(name, run, text)
        added.add_argument("--system", default="local", help="a file of config/systems (default: local)")
        added.add_argument("--campaign", default="smoke", help="a file of config/campaigns (default: smoke)")
        if name == "campaign":
            added.add_argument("--profile", default="local", help="a folder of profiles (default: local)")
        elif name == "sbatch":
            added.add_argument(
                "--output", type=Path, help="the folder for scripts (default: results/SYSTEM/CAMPAIGN/sbatch)"
            )
        elif name == "config":
            added.add_argument("--reference", action="store_true", help="print docs/configuration.md instead")
            added.add_argument(
                "--output", type=Path, help="the file to write; without it, to standard output"
            )

    witness = command("nccl-tests", _nccl_tests, "Run the binaries of nccl-tests and record what they say.")
    imported = command(
        "import-nccl-tests", _import_nccl_tests, "Convert what nccl-tests printed into records."
    )
    for added in (witness, imported):
        added.add_argument("--output", type=Path, required=True, help="the record file to write")
        added.add_argument("--system", required=True, help="copied to the environment record")
        added.add_argument("--campaign", required=True, help="copied to the environment record")
        added.add_argument("--experiment", default="nccl_tests", help="copied to the environment record")
        added.add_argument("--repeat", type=int, default=0, help="which repeat of the whole job this is")
    for option, text in (
        ("--operations", "as a campaign names them, separated by commas"),
        ("--sizes", "in bytes, as the programs take them"),
        ("--datatype", "float32, float64 or int32"),
        ("--reduction", "sum, max or min"),
        ("--graphs", "off, on or both"),
        ("--processes", "one_per_device or one"),
    ):
        witness.add_argument(option, required=True, help=text)
    witness.add_argument("--ranks", type=int, required=True, help="devices that take part")
    witness.add_argument("--iterations", type=int, default=20, help="operations timed together")
    witness.add_argument("--launch", default="", help="words before the container's, as one text")
    witness.add_argument(
        "--inside", default="", help="words that run a program in the container, as one text"
    )
    imported.add_argument("--operation", help="of which the logs are, where they do not say so (before 2.18)")
    imported.add_argument("logs", type=Path, nargs="+", help="the output of one call of a binary each")

    reports = command(
        "reports", _reports, "Digest what UCX and NCCL logged during a run into its record file."
    )
    reports.add_argument("record", type=Path, help="the record file of the run")

    table = command("table", _table, "Gather record files into one table.")
    table.add_argument(
        "--records", type=Path, nargs="+", required=True, help="record files, or folders of them"
    )
    table.add_argument("--output", type=Path, required=True, help="the table, Parquet")
    table.add_argument(
        "--problems", type=Path, required=True, help="where to list what could not be read, JSON"
    )

    report = command("report", _report, "Draw the figures and write the report of a table.")
    report.add_argument("--table", type=Path, required=True, help="what `weft table` wrote")
    report.add_argument("--problems", type=Path, required=True, help="what `weft table` wrote")
    report.add_argument("--config", type=Path, nargs="?", help="config.resolved.yaml, where there is one")
    report.add_argument("--title", default="Weft", help="what the page is called")
    report.add_argument("--against", type=Path, help="the table of another run, to compare with")
    report.add_argument("--output", type=Path, required=True, help="the page, HTML")
    report.add_argument("--figures", type=Path, required=True, help="the folder for figures and their values")

    health = command(
        "health", _health, "Name nodes, devices and links slower than their peers; any: status 1."
    )
    health.add_argument("--table", type=Path, required=True, help="what `weft table` wrote")

    published = command("published", _published, "Convert published reference data into records.")
    published.add_argument("--source", type=Path, required=True, help="the folder of the reference CSV files")
    published.add_argument(
        "--output", type=Path, required=True, help="the folder for results, one folder a system"
    )
    return parser
