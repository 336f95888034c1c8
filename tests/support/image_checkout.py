"""A checkout with stand-ins for Apptainer and the machine, to call envs/image and envs/build in."""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MIRROR = "http://mirror.example/debian"
# What the scripts call; nothing else is on PATH, so that a machine's own Apptainer is out of sight.
TOOLS = (
    "awk basename bash cat cp cut date df dirname env flock git grep head id ls mkdir mv nproc printf rm sed "
    "sh sha256sum sort tail tr touch unshare"
)

# Behaves as its file `does` says, and writes down how it was called.
APPTAINER = """#!/bin/bash
if [ "$1" = --version ]; then echo "apptainer version 1.4.5"; exit; fi
if [ "$2" = --help ]; then echo "$(cat {folder}/help)"; exit; fi
printf '%s\\n' "$*" >>{folder}/calls
case "$1 $2" in build*) sif=${{@: -2:1}}; . {folder}/does ;; *) . {folder}/inside ;; esac
"""


class Checkout:
    """A checkout with what images need, and stand-ins for the programs of the machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "checkout"
        self.images = self.folder / "build/images"
        self.bin = folder / "bin"
        self.stand_in = folder / "stand-in"
        for name in ("containers", "envs", "workflow/programs/cmake"):
            shutil.copytree(ROOT / name, self.folder / name)
        self.bin.mkdir()
        self.stand_in.mkdir()
        for tool in TOOLS.split():
            if found := shutil.which(tool):
                (self.bin / tool).symlink_to(found)
        self.program("apptainer", APPTAINER.format(folder=self.stand_in))
        (self.stand_in / "help").write_text("--build-arg strings\n")
        (self.stand_in / "inside").write_text("")
        self.builder_does('echo image >"$sif"')

    def program(self, name: str, text: str) -> None:
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def builder_does(self, script: str) -> None:
        (self.stand_in / "does").write_text(script + "\n")

    def command(self, script: str, *arguments: object) -> list[str]:
        return [str(self.folder / "envs" / script), *map(str, arguments)]

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": str(self.bin), "HOME": str(self.folder)}

    def call(self, script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(script, *arguments),
            env=self.environment,
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )

    def image(self, recipe: str = "openmpi", *options: object) -> subprocess.CompletedProcess[str]:
        return self.call("image", recipe, "--mirror", MIRROR, *options)

    @property
    def calls(self) -> list[str]:
        path = self.stand_in / "calls"
        return path.read_text().splitlines() if path.exists() else []


def refused(done: subprocess.CompletedProcess[str], sentence: str) -> None:
    """The call ended with status 2 and one sentence that says so much."""
    assert done.returncode == 2, done.stdout + done.stderr
    assert sentence in done.stderr
    assert done.stderr.startswith("weft: ")
    assert len(done.stderr.splitlines()) == 1, done.stderr
