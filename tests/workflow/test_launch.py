"""Launch lines: golden texts for the systems in config, and what the parts of a line come from."""

import dataclasses
import os
import shlex
import sys
from pathlib import Path

import pytest

from weft import config, experiments, launch, resources, sources
from weft import jobs as weft_jobs
from weft.errors import BadInput
from weft.jobs import Job

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("system", ["local", "h200x4", "box", "slurm-8gpu", "dgx1-v100", "summit"])
def test_golden_lines(root, system, monkeypatch):
    """Every launch line of `smoke`. After a change that is meant: WEFT_WRITE_GOLDEN=1, and review."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    resolved = config.load(system, "smoke", root)
    monkeypatch.setattr(Path, "cwd", lambda: Path("/CHECKOUT"))
    monkeypatch.setattr(sys, "executable", "PYTHON")
    lines = [shlex.join(experiments.job_command(resolved, job)) + "\n" for job in weft_jobs.jobs(resolved)]
    golden = GOLDEN / f"{system}.txt"
    if os.environ.get("WEFT_WRITE_GOLDEN"):
        golden.write_text("".join(lines))
    assert lines == golden.read_text().splitlines(keepends=True)


def words(checkout, job: Job, **system: object) -> list[str]:
    resolved = config.load("tiny", "tiny", checkout.folder)
    return experiments.job_command(dataclasses.replace(resolved, system=resolved.system | system), job)


CONTAINER = {
    "image": None,
    "runtime": "apptainer",
    "bind": [],
    "home": False,
    "mirror": None,
    "package": None,
}
SLURM = {
    "kind": "slurm", "account": "proj", "partition": "gpu", "qos": None, "reservation": None,
    "constraint": None, "gres": "gpu:{devices}", "exclusive": True, "options": [],
}  # fmt: skip
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
    assert line[program:][-8:] == [
        "--expect-ranks", "2", "--expect-nodes", "1", "--expect-ranks-per-node", "2", "--expect-devices", "2",
    ]  # fmt: skip


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
    switches = {job.gpudirect for job in weft_jobs.jobs(resolved) if job.experiment == "pt2pt_latency"}
    assert switches == {"on"}


@pytest.mark.parametrize(("backend", "gpus"), [("host", []), ("cuda", ["--nv"])])
def test_the_launcher_stands_outside_the_container(checkout, monkeypatch, backend, gpus):
    monkeypatch.chdir(checkout.folder)
    here = str(checkout.folder)
    line = words(checkout, MESSAGE, container=CONTAINER | {"image": "weft image.sif"}, backend=backend)
    inside = ["apptainer", "--quiet", "exec", "--no-home", *gpus, "--bind", here, "--pwd", here]
    inside += ["weft image.sif", f"build/weft image-{backend}/bin/pt2pt"]
    start = line.index("apptainer")
    assert line[start : start + len(inside)] == inside
    assert line.index("mpirun") < start


def test_an_image_of_the_recipe_of_the_mpi_library(checkout):
    line = words(checkout, MESSAGE, container=CONTAINER | {"bind": ["/scratch:/data"], "home": True})
    assert "--no-home" not in line
    assert line[line.index("/scratch:/data") - 1] == "--bind"
    assert line[line.index("build/images/openmpi.sif") + 1] == "build/openmpi-host/bin/pt2pt"


def test_a_sweep_may_leave_the_container(checkout):
    checkout.edit("config/campaigns/tiny.yaml", "[device, pinned]", "[device, pinned], container: [on, off]")
    line = words(checkout, dataclasses.replace(MESSAGE, container="off"), container=CONTAINER)
    assert "apptainer" not in line
    assert "build/host/bin/pt2pt" in line


def test_a_scheduler_finds_a_node_for_a_single_process_too(checkout):
    line = words(checkout, Job("p2p_copy", 1, "sweep"), launcher="srun", scheduler=SLURM)
    program = line.index("build/host/bin/p2p")
    assert line[:program] == [
        "srun", "--mpi=pmix", "--nodes=1", "--ntasks=1", "--ntasks-per-node=1", "--cpus-per-task=2",
        "--gres=gpu:2", "--exact", "--distribution=block", "--kill-on-bad-exit=1",
    ]  # fmt: skip


def test_a_word_that_stands_for_nothing_is_left_out(checkout):
    line = words(checkout, MESSAGE, launcher="srun", scheduler=SLURM | {"gres": None})
    assert not [word for word in line if "gres" in word]


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


NCCL = "    sweep: {ranks: [2], sizes_bytes: [1KiB]}"


def nccl_jobs(checkout, axes, experiment="collective_nccl"):
    """The jobs of a sweep of NCCL on two GPUs, and the configuration."""
    checkout.edit("config/systems/tiny.yaml", "backend: host", "backend: cuda")
    sweep = f"    sweep: {{ranks: [2], sizes_bytes: [1KiB], {axes}}}"
    if experiment != "collective_nccl":
        sweep = f"{NCCL}\n  {experiment}:\n{sweep}"
    checkout.edit("config/campaigns/tiny.yaml", NCCL, sweep)
    resolved = config.load("tiny", "tiny", checkout.folder)
    return resolved, [
        job for job in weft_jobs.jobs(resolved) if job.experiment == experiment and job.repeat == 0
    ]


def test_what_nccl_reads_once_in_a_process_is_a_job_for_each(checkout):
    axes = "algorithms: [auto, ring], transports: [auto, shm], protocols: [ll], graphs: [off, on]"
    resolved, jobs = nccl_jobs(checkout, axes)
    assert [job.name for job in jobs] == [
        "sweep.ranks2.protocol-ll.repeat0",
        "sweep.ranks2.protocol-ll.transport-shm.repeat0",
        "sweep.ranks2.algorithm-ring.protocol-ll.repeat0",
        "sweep.ranks2.algorithm-ring.protocol-ll.transport-shm.repeat0",
    ]
    line = experiments.job_command(resolved, jobs[3])
    for option, value in (
        ("algorithm", "ring"),
        ("protocol", "ll"),
        ("transport", "shm"),
        ("graphs", "off,on"),
    ):
        assert line[line.index(f"--{option}") + 1] == value
    assert "--algorithm" not in experiments.job_command(resolved, jobs[0])
    assert experiments.measurements(resolved, jobs[0]) == 2 * 9


def test_one_process_for_all_devices_is_launched_alone(checkout):
    resolved, jobs = nccl_jobs(checkout, "processes: [one_per_device, one]")
    assert [job.name for job in jobs] == ["sweep.ranks2.repeat0", "sweep.ranks2.processes-one.repeat0"]
    line = experiments.job_command(resolved, jobs[1])
    assert line[line.index("mpirun") + 1 :][:2] == ["-n", "1"]
    for option, value in (
        ("processes", "one"),
        ("participants", "2"),
        ("expect-ranks", "1"),
        ("expect-devices", "2"),
    ):
        assert line[line.index(f"--{option}") + 1] == value
    needs = [resources.resources(resolved, job) for job in jobs]
    assert [need["ranks"] for need in needs] == [2, 1]
    assert needs[0]["mem_mb"] == needs[1]["mem_mb"]


@pytest.mark.parametrize("processes", ["one", "one_per_device"])
def test_nccl_tests_get_their_launcher_and_container_as_texts(checkout, monkeypatch, processes):
    monkeypatch.chdir(checkout.folder)
    resolved, (job,) = nccl_jobs(checkout, f"processes: [{processes}]", "nccl_tests")
    resolved = dataclasses.replace(resolved, system=resolved.system | {"container": CONTAINER})
    line = experiments.job_command(resolved, job)
    assert line[:6] == ["env", "PYTHONPATH=workflow", sys.executable, "-m", "weft", "nccl-tests"]
    given = dict(zip(line[6::2], line[7::2], strict=True))
    assert given["--processes"] == processes and given["--ranks"] == "2" and given["--iterations"] == "20"
    assert ("mpirun -n 2" in given["--launch"]) == (processes == "one_per_device")
    assert shlex.split(given["--inside"])[:3] == ["apptainer", "--quiet", "exec"]
    assert shlex.split(given["--inside"])[-1] == "build/images/openmpi-cuda.sif"
    bare = dataclasses.replace(resolved, system=resolved.system | {"container": None})
    assert experiments.job_command(bare, job)[-1] == ""


def test_resources(checkout):
    resolved = config.load("tiny", "tiny", checkout.folder)
    assert resources.resources(resolved, Job("collective_mpi", 0, "sweep", 3)) == {
        "nodes": 1, "ranks": 3, "devices": 2, "mem_mb": 1001, "runtime": 6,
    }  # fmt: skip
    assert resources.resources(resolved, Job("topology", 0))["ranks"] == 1
    assert experiments.measurements(resolved, Job("p2p_copy", 0, "sweep")) == 2 * 1 * 1 * 1 * 2 * 2


def test_resources_in_the_words_of_slurm(checkout):
    resolved = config.load("tiny", "tiny", checkout.folder)
    options = ["--comment=it's; $(here)"]
    system = resolved.system | {"scheduler": SLURM | {"reservation": "tests", "options": options}, "cores": 8}
    resolved = dataclasses.replace(resolved, system=system)
    assert resources.resources(resolved, Job("collective_mpi", 0, "sweep", 3)) == {
        "nodes": 1, "ranks": 3, "devices": 2, "mem_mb": 1001, "runtime": 6, "mpi": "srun", "tasks": 3,
        "cpus_per_task": 2, "gres": "gpu:2", "tasks_per_gpu": 0,
        "slurm_account": "proj", "slurm_partition": "gpu",
        "slurm_extra": shlex.join(["--ntasks-per-node=3", "--exclusive", "--reservation=tests", *options]),
    }  # fmt: skip
    assert resources.resources(resolved, Job("topology", 0))["mpi"] == ""


def test_a_program_is_known_by_its_sources(checkout):
    programs = checkout.folder / "workflow/programs"

    def digests() -> list[str]:
        return [sources.source_digest(name, programs) for name in ("topology", "p2p", "pt2pt", "collective")]

    before = digests()
    assert len(set(before)) == 4
    (programs / "pt2pt/pt2pt.cpp").write_text("// another\n")
    assert [one == other for one, other in zip(before, digests(), strict=True)] == [True, True, False, True]
    (programs / "mpi/mpi.cpp").write_text("// another\n")
    assert [one == other for one, other in zip(before, digests(), strict=True)] == [True, True, False, False]
    (programs / "core/core.cpp").rename(programs / "core/renamed.cpp")
    assert not any(one == other for one, other in zip(before, digests(), strict=True))


@pytest.fixture
def gpu_job(root):
    """The variables before the launcher of the first job of an experiment on four GPUs."""

    def variables(experiment: str, **environment: str) -> dict[str, str]:
        resolved = config.load("h200x4", "smoke", root)
        settings = resolved.system["environment"] | environment
        resolved = dataclasses.replace(resolved, system=resolved.system | {"environment": settings})
        job = next(job for job in weft_jobs.jobs(resolved) if job.experiment == experiment)
        first, *_ = experiments.job_parts(resolved, job)
        return dict(word.split("=", 1) for word in first[1:])

    return variables


def test_libraries_write_their_reports_beside_the_record(gpu_job):
    assert gpu_job("pt2pt_latency")["UCX_PROTO_INFO"] == "y"
    log = gpu_job("pt2pt_latency")["UCX_LOG_FILE"]
    assert log.startswith("results/h200x4/smoke/logs/pt2pt_latency/") and log.endswith(".ucx.%h.%p")
    assert "NCCL_DEBUG" not in gpu_job("pt2pt_latency")
    nccl = gpu_job("collective_nccl")
    assert (nccl["NCCL_DEBUG"], nccl["NCCL_DEBUG_SUBSYS"]) == ("INFO", "INIT,GRAPH")
    assert nccl["NCCL_DEBUG_FILE"].endswith(".nccl.%h.%p")
    assert not any(name.startswith(("UCX", "NCCL")) for name in gpu_job("p2p_copy"))


def test_a_variable_of_the_system_wins_over_a_report(gpu_job):
    found = gpu_job("collective_nccl", NCCL_DEBUG="WARN", UCX_LOG_FILE="/elsewhere")
    assert (found["NCCL_DEBUG"], found["UCX_LOG_FILE"]) == ("WARN", "/elsewhere")
