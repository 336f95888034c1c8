"""Is the launcher here, does it start ranks, and does it speak what MPI in the image speaks?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence

from weft import launch
from weft.config import ResolvedConfig
from weft.preflight import slurm
from weft.preflight.findings import Findings, known_are
from weft.preflight.needs import Need, greatest

_START_TIMEOUT_S = 60


def launch_line(config: ResolvedConfig) -> str:
    """Return where the launch line of the system stands."""
    return f"config/mpi/{config.system['mpi']}.yaml: launch.{config.system['launcher']}"


def check_launcher(config: ResolvedConfig, findings: Findings) -> None:
    """Note a launcher that is not here, or that does not offer the --mpi= of the launch line."""
    words = config.mpi["launch"][config.system["launcher"]]
    paths = launch.search_paths(config)
    if shutil.which(words[0], path=paths["PATH"]) is None:
        findings.problems.append(f"{launch_line(config)}: there is no {words[0]} here.")
        return
    asked = wire_up(config)
    answer = findings.known("srun --mpi=", slurm.mpi_types) if asked else None
    if answer and asked not in {*answer[0], *answer[1]}:
        types, versions = answer
        findings.problems.append(
            f"{launch_line(config)}: srun has no --mpi={asked} on this cluster, and would start worlds of one"
            f" rank each{known_are([*types, *versions])}"
        )


def wire_up(config: ResolvedConfig) -> str | None:
    """Return how srun wires up the ranks: the X of --mpi=X in the system's launch line."""
    words = config.mpi["launch"][config.system["launcher"]]
    found = re.search(r" --mpi=(\S+)", " ".join(words)) if words[0] == "srun" else None
    return found[1] if found else None


def check_start(config: ResolvedConfig, asked: Sequence[Need], findings: Findings) -> None:
    """Note a launcher that does not start as many processes as the job with most ranks has, here and now."""
    most = greatest(asked, lambda need: need.ranks)
    if most.ranks == 1:
        return
    geometry = launch.Geometry.of(config, most.ranks, most.nodes)
    line = launch.command_line(config, "/bin/true", [], geometry, contained=False)
    where = f"{launch_line(config)}: MPI does not start"
    try:
        trial = subprocess.run(
            line,
            env=os.environ | launch.search_paths(config),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_START_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        findings.problems.append(f"{where}: {most.ranks} x /bin/true took longer than {_START_TIMEOUT_S} s.")
        return
    except OSError as problem:
        findings.problems.append(f"{where}: {line[0]}: {problem.strerror}.")
        return
    if trial.returncode:
        said = " ".join(trial.stderr.decode(errors="replace").replace("-" * 10, "").split())
        said = said[:300] or "it says nothing"
        findings.problems.append(f"{where} {most.ranks} ranks (status {trial.returncode}): {said}")
