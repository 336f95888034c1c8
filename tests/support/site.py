"""A checkout on a cluster of stand-ins for Slurm, whose files and whose cluster a test changes."""

import json
import shutil

from support.slurm import STAND_INS, Slurm
from weft import config, preflight

FILE = "config/systems/cluster.yaml"
SCHEDULER = 'scheduler: {kind: slurm, account: proj, partition: gpu, gres: "gpu:{devices}"}'
NODE = {"state": "idle", "cpus": 8, "memory": 8000, "gres": "gpu:h200:4", "features": "(null)"}
PARTITION = {"Default": "YES", "MaxTime": "UNLIMITED", "State": "UP", "Nodes": "n[1-4]"}


class Site:
    """The campaign `tiny` on the system `cluster`, seen from the checkout."""

    def __init__(self, checkout, slurm: Slurm, monkeypatch) -> None:
        self.checkout, self.slurm, self.set = checkout, slurm, monkeypatch.setenv
        self.edit = checkout.edit
        shutil.copy(STAND_INS / "cluster.yaml", checkout.folder / FILE)
        monkeypatch.chdir(checkout.folder)
        monkeypatch.delenv("SLURM_JOB_ID", raising=False)
        for name, value in slurm.environment.items():
            monkeypatch.setenv(name, value)

    def scheduled(self, **settings: str | None) -> None:
        """Give the scheduler of the system other settings, or additional ones; None takes one out."""
        entry = {"account": "proj", "partition": "gpu", "gres": "gpu:{devices}", **settings}
        words = [f"{key}: {json.dumps(value)}" for key, value in entry.items() if value]
        self.edit(FILE, SCHEDULER, f"scheduler: {{{', '.join(['kind: slurm', *words])}}}")

    def nodes(self, *changes: dict) -> None:
        """Let the nodes n1 to n4 have what NODE has, with changes for the first of them."""
        padded = [*changes, {}, {}, {}, {}][:4]
        self.slurm.is_now(nodes={f"n{1 + index}": {**NODE, **change} for index, change in enumerate(padded)})

    def partitions(self, **changes: dict) -> None:
        """Let there be these partitions, each what PARTITION is with changes."""
        self.slurm.is_now(partitions={name: {**PARTITION, **change} for name, change in changes.items()})

    def findings(self, executor: str | None = None) -> preflight.Findings:
        """Return what is found before anything runs."""
        return preflight.examine(config.load("cluster", "tiny"), executor)

    def problem(self, executor: str | None = None) -> str:
        """Return the one thing that is wrong."""
        (problem,) = self.findings(executor).problems
        return problem

    def is_fine(self) -> bool:
        """Whether nothing is wrong, waited for or unknown."""
        found = self.findings()
        return not (found.problems or found.waits or found.unknown)
