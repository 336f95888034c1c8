"""Runs a program and reads its records back, each checked against the record schema."""

from __future__ import annotations

import functools
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema_rs

from conftest import ROOT, run_command

SCHEMA = ROOT / "workflow/schemas/record.schema.json"

OUTCOMES = ("measured", "unsupported", "wrong", "failed")

Record = dict[str, Any]


@dataclass(frozen=True)
class Result:
    """What a run of a program left.

    status  exit status
    records the records of its output file, in order; empty when no file was left
    left    names of all files in the output folder afterwards
    """

    status: int
    stdout: str
    stderr: str
    records: list[Record]
    left: list[str]

    @property
    def environment(self) -> Record:
        """The environment record, the first of a file."""
        assert self.records, self.stderr
        return self.records[0]

    @property
    def end(self) -> Record:
        """The end record, the last of a file."""
        assert self.records, self.stderr
        return self.records[-1]

    @property
    def measurements(self) -> list[Record]:
        """The measurement records, in order."""
        return [record for record in self.records if record["record"] == "measurement"]

    @property
    def measured(self) -> list[Record]:
        """The measurement records whose outcome is ``measured``."""
        return [record for record in self.measurements if record["outcome"] == "measured"]


def binaries() -> Path:
    """The folder of the built programs: WEFT_BIN, or that of the build folder WEFT_BUILD or build/host."""
    build = Path(os.environ.get("WEFT_BUILD", ROOT / "build/host"))
    return Path(os.environ.get("WEFT_BIN", build / "bin")).resolve()


@functools.cache
def validator() -> jsonschema_rs.Validator:
    """The validator of one record."""
    return jsonschema_rs.validator_for(json.loads(SCHEMA.read_text()))


def read_records(path: Path) -> list[Record]:
    """Read a complete record file; fails the test where it breaks the schema or is cut short."""
    records = [json.loads(line, parse_constant=_no_constant) for line in path.read_text().splitlines()]
    for number, record in enumerate(records, 1):
        problem = next(validator().iter_errors(record), None)
        assert problem is None, f"{path.name}:{number}: {problem}"
    assert records[0]["record"] == "environment"
    assert [r["record"] for r in records].count("end") == 1
    assert records[-1]["record"] == "end"
    outcomes = [r["outcome"] for r in records if r["record"] == "measurement"]
    assert records[-1]["outcomes"] == {outcome: outcomes.count(outcome) for outcome in OUTCOMES}
    assert records[-1]["measurements"] == len(outcomes)
    return records


def _no_constant(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


def command(name: str, *args: object, ranks: int | None = None) -> list[object]:
    """The command line of a program, through mpirun where `ranks` is given."""
    mpirun = [ROOT / ".venv/bin/mpirun", "--map-by", ":OVERSUBSCRIBE", "--bind-to", "none", "-n", ranks]
    return [*(mpirun if ranks else []), binaries() / name, *args]


def run_program(
    name: str,
    *args: object,
    ranks: int | None = None,
    env: Mapping[str, str] | None = None,
    output: Path | None = None,
    timeout_s: float = 300.0,
) -> Result:
    """Run program `name` with `args` and return what it left.

    `--output` is added, to a new temporary folder unless `output` names a file. `ranks` starts that many
    processes under the MPI launcher of the locked environment. A record against the schema fails the test.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = output or Path(folder) / "records.jsonl"
        line = command(name, "--output", path, *args, ranks=ranks)
        done = run_command(line, env=dict(env or {}), timeout_s=timeout_s)
        records = read_records(path) if path.is_file() else []
        left = sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
        return Result(done.returncode, done.stdout, done.stderr, records, left)


def bad_input(name: str, *args: object, ranks: int | None = None) -> str:
    """Run a program with input it must refuse; return its one sentence. Fails the test where it does not."""
    result = run_program(name, *args, ranks=ranks)
    assert result.status == 2, result
    assert result.left == [], "something was left behind"
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    if ranks is not None:  # the launcher adds its own words about the exit status
        lines = [line for line in lines if line.startswith(f"{name}:")]
    assert len(lines) == 1, result.stderr
    return lines[0]
