"""The one place where a launch line is built: environment, launcher, container, program, arguments."""

from __future__ import annotations

import math
import os
import string
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from weft import container
from weft.config import ResolvedConfig


@dataclass(frozen=True)
class Geometry:
    """How the ranks of a job lie: `ranks` in all, on `nodes` nodes, at most `ranks_per_node` on each."""

    ranks: int
    nodes: int
    ranks_per_node: int
    cores_per_rank: int

    @staticmethod
    def of(config: ResolvedConfig, ranks: int, nodes: int | None = None) -> Geometry:
        """Return the geometry of ``ranks`` on ``nodes``; None is as few as have places for them."""
        nodes = nodes or math.ceil(ranks / config.system["ranks_per_node"])
        each = math.ceil(ranks / nodes)
        return Geometry(ranks, nodes, each, max(1, config.system["cores"] // each))


def command_line(
    config: ResolvedConfig,
    program: str,
    arguments: Sequence[str] = (),
    geometry: Geometry | None = None,
    gpudirect: str | None = None,
    *,
    contained: bool = True,
) -> list[str]:
    """Return the words of a launch line, as `command_parts` does."""
    parts = command_parts(config, program, arguments, geometry, gpudirect, contained=contained)
    return [word for part in parts for word in part]


def command_parts(
    config: ResolvedConfig,
    program: str,
    arguments: Sequence[str] = (),
    geometry: Geometry | None = None,
    gpudirect: str | None = None,
    *,
    contained: bool = True,
    reports: Mapping[str, str] | None = None,
) -> list[list[str]]:
    """Return the words of ``env NAME=VALUE…``, ``launcher…``, ``container exec…`` and ``program arguments``.

    ``program`` is the name of a measured program, or a path. ``geometry`` None starts one process, without
    a launcher where no scheduler has to find it a node. ``gpudirect`` is `on`, `off`, or None where no
    message passes. ``contained`` False runs on the bare machine what the system would run in its container.
    ``reports`` are variables with which libraries write down what they do; the system's own win.
    The launcher stands outside the container, so that it reaches other nodes. For a shell line, join the
    words with shlex.join.
    """
    contained = contained and config.system["container"] is not None
    variables = {**(reports or {}), **config.system["environment"]}
    if contained:
        variables |= container.environment()
    launcher: list[str] = []
    if geometry:
        variables |= config.mpi["environment"]
        if geometry.ranks_per_node > config.system["cores"]:
            variables |= config.mpi["environment_when_oversubscribed"]
        if gpudirect:
            variables |= config.mpi["gpudirect"][config.backend][gpudirect]
    if geometry or config.system["scheduler"]:
        launcher = launcher_words(config, geometry or Geometry.of(config, 1))
    settings = ["env", *(f"{name}={value}" for name, value in variables.items())] if variables else []
    path = program if "/" in program else program_path(config, program, contained=contained)
    inside = container.words(config) if contained else []
    return [part for part in (settings, launcher, inside, [path, *arguments]) if part]


def launcher_words(config: ResolvedConfig, geometry: Geometry) -> list[str]:
    """Return the words of the system's launcher, without those whose placeholder stands for nothing."""
    values = {
        "ranks": geometry.ranks,
        "nodes": geometry.nodes,
        "ranks_per_node": geometry.ranks_per_node,
        "cores_per_rank": geometry.cores_per_rank,
        "devices": devices_of(config, geometry),
        "gres": gres(config, geometry),
    }
    words = []
    for word in config.mpi["launch"][config.system["launcher"]]:
        used = [field for _, field, _, _ in string.Formatter().parse(word) if field]
        if all(values[field] is not None for field in used):
            words.append(word.format(**values))
    return words


def devices_of(config: ResolvedConfig, geometry: Geometry) -> int:
    """Return how many devices of each node a job is given: all, or one a rank where it shares its nodes."""
    devices, scheduler = config.system["devices_per_node"], config.system["scheduler"]
    if geometry.ranks == 1 or scheduler is None or scheduler["exclusive"]:
        return devices
    return min(devices, geometry.ranks_per_node)


def gres(config: ResolvedConfig, geometry: Geometry) -> str | None:
    """Return the generic resources of one node that a job asks the scheduler for; None is none."""
    scheduler = config.system["scheduler"]
    if scheduler is None or scheduler["gres"] is None:
        return None
    return scheduler["gres"].format(devices=devices_of(config, geometry))


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


def program_path(config: ResolvedConfig, program: str, *, contained: bool) -> str:
    """Return where a measured program lies, relative to the checkout."""
    return f"build/{container.tree(config, contained=contained)}/bin/{program}"
