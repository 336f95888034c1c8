"""A Slurm of stand-ins (tests/workflow/slurm_stand_ins): what it is, what it was asked, what it runs."""

import json
import os
from pathlib import Path

STAND_INS = Path(__file__).parents[1] / "workflow/slurm_stand_ins"


class Slurm:
    """A cluster of four nodes with eight CPUs and four GPUs each, whose state is kept in ``folder``."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder

    @property
    def environment(self) -> dict[str, str]:
        """The variables with which the stand-ins are found, before any real Slurm."""
        return {"PATH": f"{STAND_INS}:{os.environ['PATH']}", "STAND_IN_SLURM": str(self.folder)}

    def is_now(self, **facts: object) -> None:
        """Make the cluster another: see CLUSTER in slurm_stand_ins/facts.py."""
        path = self.folder / "cluster.json"
        there = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps({**there, **facts}))

    def calls(self, command: str | None = None) -> list[list[str]]:
        """Return the calls of a command, or of all, each a list of its words."""
        path = self.folder / "calls.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [words for words in map(json.loads, lines) if command in (None, words[0])]

    def jobs(self, state: str | None = None) -> list[dict]:
        """Return the jobs, or those in a state, in the order of submission."""
        paths = sorted((self.folder / "jobs").glob("*.json"), key=lambda path: int(path.stem))
        jobs = [json.loads(path.read_text()) for path in paths]
        return [job for job in jobs if state in (None, job["state"])]
