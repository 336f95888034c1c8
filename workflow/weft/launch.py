"""The one place where a launch line is built: environment, launcher, container, program, arguments."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.config import ResolvedConfig


@dataclass(frozen=True)
class Geometry:
    """How the ranks of a job lie: `ranks` in all, on `nodes` nodes, at most `ranks_per_node` on each."""

    ranks: int
    nodes: int
    ranks_per_node: int

    @staticmethod
    def of(config: ResolvedConfig, ranks: int) -> Geometry:
        """Return the geometry with ``ranks`` ranks on as few nodes of the system as have places for them."""
        nodes = math.ceil(ranks / config.system["ranks_per_node"])
        return Geometry(ranks, nodes, math.ceil(ranks / nodes))


def command_line(
    config: ResolvedConfig,
    program: str,
    arguments: Sequence[str] = (),
    geometry: Geometry | None = None,
    gpudirect: str | None = None,
) -> list[str]:
    """Return the words of ``env NAME=VALUE… launcher… container exec… program arguments``.

    ``program`` is the name of a measured program, or a path. ``geometry`` None starts one process, without a
    launcher. ``gpudirect`` is `on`, `off`, or None where no message passes. The launcher stands outside the
    container, so that it reaches other nodes. For a shell line, join the words with shlex.join.
    """
    variables = dict(config.system["environment"])
    launcher: list[str] = []
    if geometry:
        variables |= config.mpi["environment"]
        if geometry.ranks_per_node > config.system["cores"]:
            variables |= config.mpi["environment_when_oversubscribed"]
        if gpudirect:
            variables |= config.mpi["gpudirect"][config.backend][gpudirect]
        numbers = {
            "ranks": geometry.ranks,
            "nodes": geometry.nodes,
            "ranks_per_node": geometry.ranks_per_node,
        }
        launcher = [word.format(**numbers) for word in config.mpi["launch"][config.system["launcher"]]]
    settings = ["env", *(f"{name}={value}" for name, value in variables.items())] if variables else []
    path = program if "/" in program else program_path(config, program)
    return [*settings, *launcher, *container_words(config), path, *arguments]


def search_paths(config: ResolvedConfig) -> dict[str, str]:
    """Return the PATH that has the launcher, and LD_LIBRARY_PATH where its libraries must come first.

    What .venv has comes first, or last where the system has its own MPI. A module's OpenMPI has libraries
    of the same names: under the launcher of .venv they break it, or start worlds of one rank each.
    """
    home, locked = Path(sys.prefix), config.system["toolchain"] == "locked"
    paths = {"PATH": _with_folders([home / "bin"], os.environ.get("PATH", os.defpath), first=locked)}
    if locked:
        found = os.environ.get("LD_LIBRARY_PATH", "")
        paths["LD_LIBRARY_PATH"] = _with_folders([home / "lib", home / "lib/openmpi"], found, first=True)
    return paths


def _with_folders(own: Sequence[Path], path: str, *, first: bool) -> str:
    ours = [str(folder) for folder in own]
    others = [folder for folder in path.split(os.pathsep) if folder and folder not in ours]
    return os.pathsep.join([*ours, *others] if first else [*others, *ours])


def program_path(config: ResolvedConfig, program: str) -> str:
    """Return where a measured program lies, relative to the checkout."""
    return f"build/{config.backend}/bin/{program}"


def container_words(config: ResolvedConfig) -> list[str]:
    """Return the words that run what follows them in the system's container; none where it has none."""
    if config.system["container"] is None:
        return []
    gpus = ["--nv"] if config.backend == "cuda" else []
    return ["apptainer", "--quiet", "exec", *gpus, config.system["container"]]
