"""Nothing of the configuration is read by a shell: hostile text in every string value, on every way.

What stands in for schedulers and containers notes its words. A shell that read the text would make a file
named canary.
"""

import contextlib
import copy
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.noting import APPTAINER, IMAGE, LSF
from support.slurm import Slurm
from weft import closed_world, config, yaml_file
from weft.errors import BadInput

HOSTILE = (
    "a  b $(touch canary) `touch canary`; touch canary & touch canary | x > canary\ntouch canary\n'\"\\ #*"
)
FILES = {
    "system": "config/systems/tiny.yaml",
    "mpi": "config/mpi/openmpi.yaml",
    "campaign": "config/campaigns/tiny.yaml",
}
RESULTS = "results/tiny/tiny"

# A configuration that says all there is to say; every x is replaced by the hostile text.
WHOLE = {
    "system": {
        "description": "x", "backend": "host", "devices_per_node": 2, "nodes": 2, "cores": 8,
        "mpi": "openmpi", "launcher": "srun", "environment": {"A": "x"},
        "container": {"bind": ["x"], "mirror": "x", "package": {"file": "x", "sha256": "0" * 64}},
        "scheduler": {"kind": "slurm", "account": "proj", "partition": "gpu", "options": ["--wait=x"]},
    },
    "mpi": {
        "description": "x", "recipe": "openmpi", "environment": {"A": "x"},
        "environment_when_oversubscribed": {"A": "x"}, "report": {"A": "x"},
        "launch": {"srun": ["srun", "--ntasks={ranks}", "--x=x"]},
        "gpudirect": {
            backend: {switch: {"A": "x"} for switch in ("on", "off")} for backend in ("host", "cuda")
        },
    },
    "campaign": {
        "description": "x", "repeats": 1,
        "sampling": {"min_samples": 6, "max_samples": 20, "time_budget_s": 0.01},
        "experiments": {
            "p2p_copy": {"sweep": {"sizes_bytes": [4], "pairs": ["0:1"]}},
            "pt2pt_latency": {"sweep": {"sizes_bytes": [8], "placements": ["pinned"], "gpudirect": ["on"]}},
        },
    },
}  # fmt: skip
# Where any text may stand.
FREE = {
    "system": {
        "description", "environment.A", "container.bind.0", "container.mirror", "container.package.file",
        "scheduler.options.0",
    },
    "mpi": {
        "description", "environment.A", "environment_when_oversubscribed.A", "report.A",
        "launch.srun.0",
        *(f"gpudirect.{backend}.{switch}.A" for backend in ("host", "cuda") for switch in ("on", "off")),
    },
    "campaign": {"description"},
}  # fmt: skip


def strings(part: dict, root: dict, path: tuple = ()) -> Iterator[tuple]:
    """Every place of a schema where a string may stand, with A, sweep and 0 where any name will do."""
    part = closed_world.resolve(part, root)
    kinds = part.get("type", [])
    if "string" in ([kinds] if isinstance(kinds, str) else kinds) or "enum" in part or "pattern" in part:
        yield path
    for key, inner in part.get("properties", {}).items():
        yield from strings(inner, root, (*path, key))
    others = part.get("additionalProperties")
    if isinstance(others, dict):
        name = "sweep" if "experiments" in path else "srun" if path[-1:] == ("launch",) else "A"
        yield from strings(others, root, (*path, name))
    if "items" in part:
        yield from strings(part["items"], root, (*path, 0))


def put(settings: dict, path: tuple, value: str) -> None:
    """Put ``value`` at ``path``, with what leads there."""
    for step, following in itertools.pairwise(path):
        if isinstance(step, str):
            settings[step] = settings.get(step) or ([] if following == 0 else {})
        settings = settings[step]
    if path[-1] == 0:
        settings[:] = [value, *settings[1:]]
    else:
        settings[path[-1]] = value


def hostile(value: object) -> object:
    """``value`` with the hostile text for every x, alone or at the end of an option."""
    if isinstance(value, dict):
        return {key: hostile(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [hostile(inner) for inner in value]
    return re.sub(r"(^|=)x$", lambda found: found[1] + HOSTILE, value) if isinstance(value, str) else value


def write(folder: Path, settings: dict) -> None:
    for kind, file in FILES.items():
        (folder / file).write_text(yaml_file.write(settings[kind]))


@pytest.mark.parametrize("kind", FILES)
def test_where_any_text_may_stand(checkout, kind):
    """Everywhere else hostile text is refused, and each of these places is hostile in the runs below."""
    root = closed_world.schema(kind)
    free = set()
    for path in strings(root, root):
        settings = copy.deepcopy(WHOLE)
        put(settings[kind], path, HOSTILE)
        write(checkout.folder, settings)
        with contextlib.suppress(BadInput):
            config.load("tiny", "tiny", checkout.folder)
            free.add(".".join(map(str, path)))
    assert free == FREE[kind]


@pytest.mark.parametrize("name", ["x $(touch canary)", "x;touch canary", "it's", "a b", "-x", "{x}", "x\ny"])
def test_a_file_gives_its_name_to_nothing_hostile(checkout, name):
    shutil.copy(checkout.folder / FILES["system"], checkout.folder / f"config/systems/{name}.yaml")
    with pytest.raises(BadInput):
        config.load(name, "tiny", checkout.folder)


def executable(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


class Way:
    """A checkout with a hostile configuration and stand-ins for all that programs are reached by."""

    def __init__(self, checkout, scheduler: dict | None = None) -> None:
        """``scheduler``: what of its settings is another; a system of one machine has none."""
        self.checkout, self.folder = checkout, checkout.folder
        self.slurm = Slurm(self.folder / "slurm.stand_ins")
        settings = hostile(WHOLE)
        if scheduler is None:
            settings["system"]["scheduler"] = None
        else:
            settings["system"]["scheduler"] |= scheduler
        write(self.folder, settings)
        shutil.copytree(checkout.programs, self.folder / "build/openmpi-host/bin")
        for name in ("containers/openmpi.def", "containers/toolchain.versions"):
            executable(self.folder / name, "# stands in\n")
        executable(self.folder / "envs/image", IMAGE)
        executable(self.folder / "bin/apptainer", APPTAINER)
        for name in ("bsub", "bjobs", "bkill"):
            executable(self.folder / "bin" / name, LSF)
        (self.folder / ".venv").symlink_to(Path(sys.prefix))
        self.environment = {
            **os.environ, **self.slurm.environment, "PYTHONPATH": str(self.folder / "workflow"),
            "PATH": f"{self.folder}/bin:{self.slurm.environment['PATH']}",
        }  # fmt: skip

    def run(self, *words: object, **variables: str) -> None:
        done = subprocess.run(
            [str(word) for word in words], cwd=self.folder, env=self.environment | variables, check=False,
            capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr

    def snakemake(self, profile: str, target: str) -> None:
        settings = ["--config", "system=tiny", "campaign=tiny"]
        self.run(sys.executable, "-m", "snakemake", "--profile", f"profiles/{profile}", target, *settings)

    def noted(self, name: str) -> list:
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]

    def check(self) -> None:
        """All was measured, what was hostile reached its place as it was written, and no shell read it."""
        assert list(self.folder.rglob("canary")) == []
        assert len(self.checkout.records()) == 3
        assert HOSTILE in json.loads((self.folder / "image.json").read_text())
        calls = [call for call in self.noted("contained.jsonl") if "sh" not in call[0]]
        assert len(calls) == 4, "one process twice, and two ranks"
        for words, variable in calls:
            assert words[words.index("--bind", words.index("--bind") + 1) + 1] == HOSTILE
            assert variable == HOSTILE
        launched = self.slurm.calls("srun")
        assert [words for words in launched if f"--x={HOSTILE}" in words]


def test_one_machine(checkout):
    way = Way(checkout)
    way.snakemake("local", "records")
    way.check()


def test_slurm(checkout):
    way = Way(checkout, {})
    way.snakemake("slurm", "records")
    way.check()
    assert all(f"--wait={HOSTILE}" in words for words in way.slurm.calls("sbatch"))


def test_allocation(checkout):
    way = Way(checkout, {})
    way.run(
        "bash", "profiles/slurm/campaign.sbatch", "tiny", "tiny",
        SLURM_JOB_NUM_NODES="2", SLURM_JOB_ID="1", SLURM_SUBMIT_DIR=str(way.folder),
    )  # fmt: skip
    way.check()
    assert (way.folder / RESULTS / "report.html").exists()


def test_sbatch_scripts(checkout):
    way = Way(checkout, {"options": ["--wait=" + HOSTILE.replace("\n", " ")]})
    way.snakemake("local", "programs")
    way.run(sys.executable, "-m", "weft", "sbatch", "--system", "tiny", "--campaign", "tiny")
    for script in (way.folder / RESULTS / "sbatch").iterdir():
        way.run("bash", script)
    way.check()


def test_lsf(checkout):
    way = Way(checkout, {"kind": "lsf"})
    way.snakemake("lsf", "records")
    way.check()
    assert all(f"--wait={HOSTILE}" in words for words in way.noted("bsub.jsonl"))
