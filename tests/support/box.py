"""Calls of the cluster in a box, tests/cluster/box."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

COMMAND = Path(__file__).resolve().parent.parent / "cluster/box"


@dataclass(frozen=True)
class Box:
    """A box in folder `state`; `box("rate", "n1", "1gbit")` is a call of its command."""

    state: Path

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"WEFT_BOX": str(self.state)}

    @property
    def home(self) -> Path:
        """The user's home folder, /home/hpc on all pseudo hosts, as this machine sees it."""
        return self.state / "home/hpc"

    def __call__(
        self, *words: object, check: bool = True, timeout_s: float = 900
    ) -> subprocess.CompletedProcess[str]:
        """Calls the command; where it fails, raises with what it said, unless `check` is off."""
        done = subprocess.run(
            [str(COMMAND), *map(str, words)],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            check=False,
        )
        if check and done.returncode != 0:
            raise AssertionError(
                f"box {' '.join(map(str, words))}: {done.returncode}\n{done.stdout}{done.stderr}"
            )
        return done

    def run(
        self,
        *command: object,
        node: str = "ctl",
        folder: str | None = None,
        root: bool = False,
        check: bool = True,
        timeout_s: float = 900,
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command on a pseudo host, in a folder relative to the user's home."""
        options = ["--node", node, *(["--dir", folder] if folder else []), *(["--root"] if root else [])]
        return self("run", *options, "--", *command, check=check, timeout_s=timeout_s)

    def is_up(self) -> bool:
        return self("status").stdout.strip() != "down"
