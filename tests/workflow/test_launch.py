"""Launch lines: golden texts for the systems in config, and what the parts of a line come from."""

import dataclasses
import os
import shlex
import sys
from pathlib import Path

import pytest

from weft import config, experiments, launch
from weft.errors import BadInput
from weft.experiments import Job

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("system", ["local", "h200x4"])
def test_golden_lines(root, system, monkeypatch):
    """Every launch line of `smoke`. After a change that is meant: WEFT_WRITE_GOLDEN=1, and review."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    resolved = config.load(system, "smoke", root)
    lines = [shlex.join(experiments.job_command(resolved, job)) + "\n" for job in experiments.jobs(resolved)]
    golden = GOLDEN / f"{system}.txt"
    if os.environ.get("WEFT_WRITE_GOLDEN"):
        golden.write_text("".join(lines))
    assert lines == golden.read_text().splitlines(keepends=True)


def words(checkout, job: Job, **system: object) -> list[str]:
    resolved = config.load("tiny", "tiny", checkout.folder)
    return experiments.job_command(dataclasses.replace(resolved, system=resolved.system | system), job)


MESSAGE = Job("pt2pt_latency", 0, "sweep", 2, "off")


def test_one_process_needs_no_launcher(checkout):
    line = words(checkout, Job("p2p_copy", 1, "sweep"))
    assert line[0] == "build/host/bin/p2p"
    assert "mpirun" not in line
    assert line[line.index("--repeat") + 1] == "1"


def test_ranks_are_launched_and_expected(checkout):
    line = words(checkout, MESSAGE, cores=2)
    assert line[0] == "env"
    program = line.index("build/host/bin/pt2pt")
    assert line[line.index("mpirun") + 1 : program][:2] == ["-n", "2"]
    assert "OMPI_MCA_smsc=^cma" in line[:program]
    assert "OMPI_MCA_mpi_yield_when_idle=1" not in line
    assert line[program:][-4:] == ["--expect-ranks", "2", "--expect-nodes", "1"]


def test_more_ranks_than_cores_yield(checkout):
    assert "OMPI_MCA_mpi_yield_when_idle=1" in words(checkout, MESSAGE, cores=1)


def test_gpudirect_off_leaves_out_device_memory(checkout):
    on = words(checkout, dataclasses.replace(MESSAGE, gpudirect="on"))
    off = words(checkout, MESSAGE)
    assert on[on.index("--placements") + 1] == "device,pinned"
    assert off[off.index("--placements") + 1] == "pinned"
    assert (on[on.index("--gpudirect") + 1], off[off.index("--gpudirect") + 1]) == ("on", "off")


def test_gpudirect_off_for_device_memory_alone_is_no_job(checkout):
    checkout.edit("config/campaigns/tiny.yaml", "placements: [device, pinned]", "placements: [device]")
    resolved = config.load("tiny", "tiny", checkout.folder)
    switches = {job.gpudirect for job in experiments.jobs(resolved) if job.experiment == "pt2pt_latency"}
    assert switches == {"on"}


@pytest.mark.parametrize(("backend", "gpus"), [("host", []), ("cuda", ["--nv"])])
def test_the_launcher_stands_outside_the_container(checkout, backend, gpus):
    line = words(checkout, MESSAGE, container="weft image.sif", backend=backend)
    inside = ["apptainer", "--quiet", "exec", *gpus, "weft image.sif", f"build/{backend}/bin/pt2pt"]
    start = line.index("apptainer")
    assert line[start : start + len(inside)] == inside
    assert line.index("mpirun") < start


def test_ranks_fill_as_few_nodes_as_have_places(checkout):
    resolved = config.load("tiny", "tiny", checkout.folder)
    two_nodes = dataclasses.replace(resolved, system=resolved.system | {"nodes": 2})
    assert [dataclasses.astuple(launch.Geometry.of(two_nodes, ranks)) for ranks in (2, 4, 5, 8)] == [
        (2, 1, 2),
        (4, 1, 4),
        (5, 2, 3),
        (8, 2, 4),
    ]


def test_what_config_says_reaches_the_shell_quoted(checkout):
    line = words(checkout, MESSAGE, environment={"A": "$(touch pwned) 'x'; y"})
    assert shlex.split(shlex.join(line)) == line
    assert "A=$(touch pwned) 'x'; y" in line


@pytest.mark.parametrize(("toolchain", "place"), [("locked", 0), ("system", -1)])
def test_whose_mpi_is_found_first(checkout, monkeypatch, toolchain, place):
    own = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", f"/usr/bin:{own}:/bin")
    folders = launch.search_paths(tiny_with(checkout, toolchain))["PATH"].split(":")
    assert folders[place] == own
    assert folders.count(own) == 1


def test_libraries_of_a_module_come_after_the_locked_ones(checkout, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/opt/module/lib:{sys.prefix}/lib")
    libraries = launch.search_paths(tiny_with(checkout, "locked"))["LD_LIBRARY_PATH"]
    assert libraries == f"{sys.prefix}/lib:{sys.prefix}/lib/openmpi:/opt/module/lib"
    assert "LD_LIBRARY_PATH" not in launch.search_paths(tiny_with(checkout, "system"))


def tiny_with(checkout, toolchain):
    resolved = config.load("tiny", "tiny", checkout.folder)
    return dataclasses.replace(resolved, system=resolved.system | {"toolchain": toolchain})


@pytest.mark.parametrize(
    "job", [Job("p2p_copy", 0, "matrix"), Job("p2p_copy", 2, "sweep"), Job("collective_mpi", 0, "sweep", 4)]
)
def test_a_job_that_the_campaign_lacks(checkout, job):
    with pytest.raises(BadInput, match=r"Campaign 'tiny' has no job .* on system 'tiny'\."):
        words(checkout, job)


def test_resources(checkout):
    resolved = config.load("tiny", "tiny", checkout.folder)
    assert experiments.resources(resolved, Job("collective_mpi", 0, "sweep", 3)) == {
        "nodes": 1, "ranks": 3, "devices": 2, "mem_mb": 1001, "runtime": 6,
    }  # fmt: skip
    assert experiments.resources(resolved, Job("topology", 0))["ranks"] == 1
    assert experiments.measurements(resolved, Job("p2p_copy", 0, "sweep")) == 2 * 1 * 1 * 1 * 2 * 2


def test_a_program_is_known_by_its_sources(checkout):
    sources = checkout.folder / "workflow/programs"

    def digests() -> list[str]:
        return [
            experiments.source_digest(name, sources) for name in ("topology", "p2p", "pt2pt", "collective")
        ]

    before = digests()
    assert len(set(before)) == 4
    (sources / "pt2pt/pt2pt.cpp").write_text("// another\n")
    assert [one == other for one, other in zip(before, digests(), strict=True)] == [True, True, False, True]
    (sources / "mpi/mpi.cpp").write_text("// another\n")
    assert [one == other for one, other in zip(before, digests(), strict=True)] == [True, True, False, False]
    (sources / "core/core.cpp").rename(sources / "core/renamed.cpp")
    assert not any(one == other for one, other in zip(before, digests(), strict=True))
