"""That every way of the scheduler benchmark starts the same experiments; in the box they take too long."""

import json
import os
import shutil
from pathlib import Path

import pytest

from benchmarks import run, scheduler_ways
from weft import config as weft_config
from weft import experiments


@pytest.fixture
def suite(root: Path, tmp_path: Path, monkeypatch):
    """`suite(contained)` in a checkout of nothing but the configuration."""
    shutil.copytree(root / "config", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    scheduler_ways.write_config()

    def make(contained: bool) -> scheduler_ways.Suite:
        config = weft_config.load(scheduler_ways.NAME, scheduler_ways.NAME)
        return scheduler_ways.Suite(config, contained=contained)

    return make


@pytest.mark.parametrize("contained", [True, False])
def test_scripts_have_the_launch_lines_of_the_rules(suite, contained: bool) -> None:
    made = suite(contained)
    assert len(made.jobs) == 40
    made.write_scripts()
    for job, script, record in zip(made.jobs, made.scripts, made.records, strict=True):
        words = script.read_text().replace("\\\n", " ").split()
        line = experiments.job_command(made.config, job)
        assert line == words[words.index(line[0], words.index(job.path)) :][: len(line)]
        assert ("apptainer" in line) == contained and line[line.index("--output") + 1] == record


def test_reframe_is_given_what_sbatch_is(suite, monkeypatch) -> None:
    made = suite(False)
    monkeypatch.setattr(scheduler_ways, "_run", lambda *_, **__: "")
    scheduler_ways.REFRAME.mkdir(parents=True)
    scheduler_ways.by_reframe(made)
    described = json.loads((scheduler_ways.REFRAME / "experiments.json").read_text())
    assert [Path(one["script"]) for one in described] == [path.resolve() for path in made.scripts]
    for one, script in zip(described, made.scripts, strict=True):
        asked = {
            line.removeprefix("#SBATCH ") for line in script.read_text().splitlines() if "#SBATCH" in line
        }
        left_to_reframe = {line for line in asked if line.startswith(("--job-name", "--output"))}
        assert len(left_to_reframe) == 2 and set(one["options"]) == asked - left_to_reframe


def test_a_way_that_leaves_no_records_failed(suite, monkeypatch) -> None:
    monkeypatch.setitem(scheduler_ways.WAYS, "sbatch", lambda _: None)
    with pytest.raises(scheduler_ways.FailedError, match="sbatch left 40 of 40 records out"):
        scheduler_ways.measure("sbatch", suite(False))


def test_without_root_the_row_says_what_it_needs(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert run.main(["scheduler", "--json", str(tmp_path / "all.json")]) == 0
    assert "scheduler.bare was not measured: the cluster in a box needs root" in capsys.readouterr().out
