"""Is the container's image there, does it run, does it have what programs are built with and launched by?"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from weft import container, jobs, sources
from weft.config import ResolvedConfig
from weft.experiments import EXPERIMENTS
from weft.launch import program_path
from weft.preflight import slurm
from weft.preflight.ask import Unanswered, ask
from weft.preflight.findings import Findings
from weft.preflight.mpi import launch_line, wire_up

# Inside the image: which tools are missing, and what a program of its MPI loads ($1, or one made here).
_PROBE = """
program=$1
shift
for tool; do command -v "$tool" >/dev/null || { echo "missing $tool"; lacks=1; }; done
[ -z "$lacks" ] || exit 0
if [ -n "$program" ]; then
  ldd "$program"
else
  folder=$(mktemp -d) && cd "$folder" || exit
  trap 'rm -rf "$folder"' EXIT
  echo '#include <mpi.h>
int main() { return MPI_Init(0, 0); }' >probe.cpp
  mpicxx probe.cpp -o probe >/dev/null 2>&1 && ldd probe
fi
sed -n 's/.*"version.libpmix2[^"]*": *"\\([^"]*\\)".*/pmix \\1/p' /.singularity.d/labels.json 2>/dev/null
command -v ompi_info >/dev/null && ompi_info --parsable 2>/dev/null | grep '^mca:pmix:'
exit 0
"""
_SIF, _SQUASHFS, _EXT = (32, b"SIF_MAGIC"), (0, b"hsqs"), (0x438, b"\x53\xef")
_TOOLS = ("c++", "cmake", "ninja", "mpicxx")
_MPI_PROGRAMS = ("pt2pt", "collective")


def check_image(config: ResolvedConfig, findings: Findings) -> None:
    """Note an image, or a runtime, with which nothing can be built or run."""
    settings = config.system["container"]
    file = f"config/systems/{config.system_name}.yaml"
    if shutil.which(settings["runtime"]) is None:
        findings.problems.append(
            f"{file}: container.runtime is {settings['runtime']}, but there is none here: install it or load"
            " its module, or set container to null."
        )
        return
    if problem := file_problem(config):
        findings.problems.append(problem)
        return
    given, image = settings["image"] is not None, Path(container.image(config))
    where = _given(config) if given else f"the image {image}"
    if not image.exists():
        return  # it is built first, and its recipe promises the rest
    try:
        said = ask(_words(config, _PROBE))
    except Unanswered as reason:
        reason = str(reason).removeprefix("env: ")
        again = "" if given else "; delete it, and it is built anew"
        findings.problems.append(f"{where}, which does not run here ({reason}){again}.")
        return
    missing = re.findall(r"^missing (\S+)", said, re.M)
    if missing:
        findings.problems.append(
            f"{where}, which lacks {', '.join(missing)}, which builds the programs; take one of envs/image."
        )
        return
    _check_wire_up(config, where, said, findings)
    _check_pmix(config, where, said, findings)


def file_problem(config: ResolvedConfig) -> str | None:
    """Return what is wrong with the file of a given image; None is nothing, or no given image."""
    settings = config.system["container"]
    if not settings or not settings["image"]:
        return None
    problem = _not_an_image(settings["image"])
    if Path(settings["image"]).resolve() == Path(container.built(config)).resolve():
        problem = "which is built from its recipe: leave image out to use it, or keep another file elsewhere"
    return f"{_given(config)}, {problem}." if problem else None


def _given(config: ResolvedConfig) -> str:
    image = config.system["container"]["image"]
    return f"config/systems/{config.system_name}.yaml: container.image is '{image}'"


def _built(config: ResolvedConfig) -> str | None:
    """A program of MPI, where all that the campaign runs in the image was built from these sources."""
    programs = {
        EXPERIMENTS[job.experiment].program for job in jobs.jobs(config) if jobs.is_contained(config, job)
    }
    for program in programs:
        note = Path(sources.note(container.tree(config, contained=True), program))
        if not note.exists() or note.read_text().strip() != sources.source_digest(program):
            return None
    paths = [
        program_path(config, program, contained=True) for program in _MPI_PROGRAMS if program in programs
    ]
    return next((path for path in paths if Path(path).exists()), None)


def _words(config: ResolvedConfig, script: str) -> list[str]:
    built = _built(config)
    tools = [built or "", *(_TOOLS if built is None else ())]
    if built is None and config.backend == "cuda":
        tools.append("nvcc")
    notes = {"APPTAINER_CONFIGDIR": str(Path("build/apptainer").absolute())}
    variables = [f"{name}={value}" for name, value in (container.environment() | notes).items()]
    return ["env", *variables, *container.words(config), "sh", "-c", script, "sh", *tools]


def _not_an_image(image: str) -> str | None:
    path = Path(image)
    if not path.exists():
        return "which does not exist"
    if path.is_dir():
        return "which is a folder: name the file of an image"
    try:
        with path.open("rb") as content:
            start = content.read(2048)
    except OSError as problem:
        return f"which cannot be read: {problem.strerror}"
    if not any(start[at:].startswith(magic) for at, magic in (_SIF, _SQUASHFS, _EXT)):
        return "which is no image of Apptainer or Singularity"
    return None


def _check_wire_up(config: ResolvedConfig, where: str, said: str, findings: Findings) -> None:
    """MPICH and its kin speak PMI, OpenMPI speaks PMIx; with the other each rank is a world of its own."""
    asked = wire_up(config)
    if asked is None or asked == "none":
        return
    name, spoken = _library(said)
    if name is None:
        findings.problems.append(f"{where}, whose MPI compiles no program: its mpicxx does not work.")
    elif asked.partition("_")[0] not in spoken:
        findings.problems.append(
            f"{where}, whose {name} speaks {' and '.join(sorted(spoken)) or 'neither PMIx nor PMI'}, but"
            f" {launch_line(config)} starts it with --mpi={asked}: worlds of one rank each; change mpi or the"
            " image."
        )


def _check_pmix(config: ResolvedConfig, where: str, said: str, findings: Findings) -> None:
    """Every PMIx from 2 on speaks with every other; the first does not."""
    inside = re.search(r"^pmix (\S+)", said, re.M)
    if inside is None or not (wire_up(config) or "").startswith("pmix"):
        return
    try:
        _, outside = slurm.mpi_types()
    except Unanswered:
        return  # told by the check of the launcher
    findings.facts.append(f"PMIx: Slurm's is {', '.join(outside) or 'not told'}, the image's {inside[1]}.")
    if outside == ["pmix_v1"]:
        findings.problems.append(
            f"{where}, whose PMIx {inside[1]} does not speak with this Slurm's pmix_v1: take profile"
            " allocation and launcher mpirun."
        )


def _library(said: str) -> tuple[str | None, set[str]]:
    """The MPI library that a program loads, and how it can be wired up."""
    has_pmix = "libpmix.so" in said or "mca:pmix:" in said
    if re.search(r"libopen-(pal|rte)|libmpi\.so\.(20|40)\b", said):
        return "OpenMPI", {"pmix"} if has_pmix else set()
    if re.search(r"libmpi(ch)?(cxx)?\.so\.12\b", said):
        return "MPICH", {"pmi2", *(["pmix"] if has_pmix else [])}
    return ("MPI", {"pmix", "pmi2"}) if "libmpi" in said else (None, set())
