"""Checkouts for the tests of the workflow: the real rules and package, stand-ins for the programs."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.tiny import ALL

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
PROGRAMS = ("topology", "p2p", "pt2pt", "collective")

# Stands in for the report, which takes its time.
PAGE = """
def build_report(table, problems, output, figures, config, title, against=None):
    figures.mkdir(parents=True, exist_ok=True)
    output.write_text(f"<html>{title}, against {against}</html>")
"""


class Checkout:
    """A checkout of its own, in which campaigns can run, be killed and be changed."""

    def __init__(self, folder: Path, real: Path | None = None) -> None:
        """``real``: the folder of built programs to run instead of stand-ins, with the real report."""
        self.folder = folder
        for name in ("Snakefile", "profiles"):
            (folder / name).symlink_to(ROOT / name)
        (folder / "envs").mkdir()
        (folder / "envs/build").write_text("#!/bin/sh\n")
        (folder / "envs/build").chmod(0o755)
        workflow = folder / "workflow"
        workflow.mkdir()
        for name in ("rules", "schemas", "report", "snakemake_logger_plugin_weft"):
            (workflow / name).symlink_to(ROOT / "workflow" / name)
        package = workflow / "weft"
        package.mkdir()
        for path in (ROOT / "workflow/weft").iterdir():
            (package / path.name).symlink_to(path)
        if real is None:
            (package / "report").unlink()
            (package / "report.py").write_text(PAGE)
        for name in ("core", "mpi", *PROGRAMS):
            (workflow / "programs" / name).mkdir(parents=True)
            (workflow / "programs" / name / f"{name}.cpp").write_text(f"// {name}\n")
        shutil.copytree(ROOT / "config/mpi", folder / "config/mpi")
        for name in ("campaigns", "systems"):
            shutil.copytree(HERE / "config" / name, folder / "config" / name)
        self.programs = folder / "build/host/bin"
        self.programs.mkdir(parents=True)
        for name in PROGRAMS:
            program = self.programs / name
            if real is None:
                program.write_text(f"#!{sys.executable}\n" + (HERE / "stand_in.py").read_text())
                program.chmod(0o755)
            else:
                shutil.copy2(real / name, program)
        self.behave()

    def behave(self, **behaviour: dict) -> None:
        """Set what the stand-ins do, by experiment."""
        (self.folder / "behaviour.json").write_text(json.dumps(behaviour))

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace ``old``, which must stand in the file, by ``new``."""
        path = self.folder / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def start(self, *words: object, **options: object) -> subprocess.Popen[str]:
        """Start `python WORDS` here, in a process group of its own."""
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "workflow"), **options.pop("env", {})}
        return subprocess.Popen(
            [sys.executable, *map(str, words)], cwd=self.folder, env=environment, text=True, errors="replace",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True, **options,
        )  # fmt: skip

    def run(self, *words: object, **options: object) -> subprocess.CompletedProcess[str]:
        """Run `python WORDS` here; what it says to both channels is its stdout."""
        process = self.start(*words, **options)
        said, _ = process.communicate(timeout=180)
        return subprocess.CompletedProcess(words, process.returncode, said)

    def campaign(self, *arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        """Run the tiny campaign with `weft campaign`."""
        return self.run(*self.campaign_words(), *arguments, **options)

    @staticmethod
    def campaign_words() -> tuple[str, ...]:
        return ("-m", "weft", "campaign", "--system", "tiny", "--campaign", "tiny")

    def snakemake(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """Run Snakemake itself with the profile `local`."""
        settings = ["--config", "system=tiny", "campaign=tiny"]
        return self.run("-m", "snakemake", "--profile", "profiles/local", *arguments, *settings)

    def starts(self) -> list[str]:
        """Return the jobs that stand-ins were started for since the last call, as Job.name has them."""
        file = self.folder / "starts.txt"
        lines = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return sorted(re.sub(r".*/records/|\.jsonl$", "", line) for line in lines)

    def records(self) -> list[Path]:
        """Return the record files that are there."""
        return sorted((self.folder / "results/tiny/tiny/records").rglob("*.jsonl"))


@pytest.fixture(scope="session")
def new_checkout() -> type[Checkout]:
    """`new_checkout(folder)` makes a checkout in an empty folder."""
    return Checkout


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A fresh checkout with the campaign and system `tiny`."""
    return Checkout(tmp_path.resolve())


@pytest.fixture(scope="module")
def finished(new_checkout, tmp_path_factory):
    """A checkout whose campaign is finished, and what was said; tests that use it leave it finished."""
    checkout = new_checkout(tmp_path_factory.mktemp("finished").resolve())
    done = checkout.campaign()
    assert done.returncode == 0, done.stdout
    assert checkout.starts() == ALL
    return checkout, done.stdout
