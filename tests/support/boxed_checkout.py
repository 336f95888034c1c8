"""A checkout inside the cluster in a box: put there, set up, and measured with by its ordinary user."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from support.box import Box
from weft import table

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / "tests/cluster/config"


class BoxedCheckout:
    """The folder `name` in the home of the box's user; what was built in it stays for the next session."""

    def __init__(self, box: Box, name: str) -> None:
        self.box, self.name = box, name

    @property
    def folder(self) -> Path:
        """The checkout as this machine sees it."""
        return self.box.home / self.name

    def put(self) -> None:
        """Bring the checkout up to date with this one, without results, and its environment."""
        shutil.rmtree(self.folder / "results", ignore_errors=True)
        shutil.rmtree(self.folder / ".snakemake", ignore_errors=True)
        self.box("put", ROOT, self.name)
        for path in CONFIG.rglob("*.yaml"):
            self.write(f"config/{path.relative_to(CONFIG)}", path.read_text())
        self.build("make", "setup")

    def build(self, *command: object) -> subprocess.CompletedProcess[str]:
        """Run a command with this machine's network, which the nodes lack."""
        return self.box("build", "--dir", self.name, "--", *command, timeout_s=1800)

    def run(self, *command: object, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command on the login node."""
        return self.box.run(*command, folder=self.name, check=check, timeout_s=1800)

    def snakemake(
        self,
        *targets: object,
        system: str = "box",
        campaign: str = "smoke",
        options: Sequence[str] = (),
        check: bool = True,
    ) -> subprocess.CompletedProcess[str]:
        """Run `snakemake --profile slurm` as the README says it."""
        settings = ["--config", f"system={system}", f"campaign={campaign}"]
        command = [".venv/bin/snakemake", "--profile", "slurm", *options, *settings, "--", *targets]
        return self.run(*command, check=check)

    def write(self, file: str, text: str) -> None:
        """Write a file of the checkout, owned by its user."""
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        owner = self.folder.stat()
        for made in (path, path.parent):
            shutil.chown(made, owner.st_uid, owner.st_gid)

    def results(self, campaign: str, system: str = "box") -> Path:
        """The folder of a campaign's results."""
        return self.folder / "results" / system / campaign

    def rows(self, campaign: str, system: str = "box") -> pd.DataFrame:
        """The table of a campaign."""
        return table.read_table(self.results(campaign, system) / "table.parquet")[0]

    def jobs(self) -> set[str]:
        """The Slurm jobs so far, finished ones too."""
        return set(self.run("sacct", "-X", "-n", "-P", "-o", "jobid").stdout.split())
