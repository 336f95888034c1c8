"""The cluster in a box is the Slurm cluster that its README promises."""

import subprocess
from pathlib import Path

import pytest

from support.box import COMMAND, Box

STREAM = (Path(__file__).parent / "stream.py").read_text()

RATE_BYTES_PER_S = 200e6 / 8

HELLO = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, size, length;
  char host[MPI_MAX_PROCESSOR_NAME];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_processor_name(host, &length);
  printf("%d of %d on %s\\n", rank, size, host);
  MPI_Finalize();
}
"""

HOG = "memory = bytearray(400 << 20); import time; time.sleep(60)"


def test_all_nodes_take_jobs(box: Box) -> None:
    nodes = dict(
        line.split() for line in box.run("sinfo", "-h", "-N", "-p", "gpu", "-o", "%N %T").stdout.splitlines()
    )
    assert set(nodes) == {"n1", "n2", "n3", "n4"}
    assert set(nodes.values()) <= {"idle", "mixed", "allocated"}


def test_a_job_of_two_nodes_sees_its_devices_on_each(box: Box) -> None:
    said = box.run(
        "srun",
        "-A",
        "proj",
        "-N2",
        "-n2",
        "--gres=gpu:2",
        "sh",
        "-c",
        "echo $(hostname) $CUDA_VISIBLE_DEVICES",
    )
    lines = [line.split() for line in said.stdout.splitlines()]
    assert len({host for host, _ in lines}) == 2
    for _, devices in lines:
        assert len(set(devices.split(",")) & set("0123")) == 2


def test_more_devices_than_a_node_has_are_refused(box: Box) -> None:
    said = box.run("srun", "-A", "proj", "-N1", "--gres=gpu:5", "true", check=False)
    assert said.returncode != 0
    assert "Requested node configuration is not available" in said.stderr


def test_jobs_run_as_the_ordinary_user_and_are_accounted_for(box: Box) -> None:
    job = box.run(
        "sbatch", "-A", "proj", "--parsable", "--wait", "--output=/dev/null", "--wrap", "id -un | grep -x hpc"
    )
    said = box.run("sacct", "-n", "-X", "-P", "-j", job.stdout.strip(), "-o", "user,account,state")
    assert said.stdout.strip() == "hpc|proj|COMPLETED"


def test_an_unknown_account_is_refused(box: Box) -> None:
    said = box.run("srun", "-A", "nobody", "true", check=False)
    assert said.returncode != 0
    assert "Invalid account" in said.stderr


def test_a_job_beyond_its_memory_is_killed(box: Box) -> None:
    said = box.run("srun", "-A", "proj", "--mem=100", "python3", "-c", HOG, check=False)
    assert said.returncode != 0
    assert "Exceeded job memory limit" in said.stderr


@pytest.mark.parametrize(("library", "plugin"), [("openmpi", "pmix"), ("mpich", "pmi2")])
def test_both_mpi_libraries_start_across_nodes(box: Box, library: str, plugin: str) -> None:
    program = f"/home/hpc/hello-{library}"
    box.run("sh", "-c", f"mpicc.{library} -x c -o {program} - <<'END'\n{HELLO}\nEND")
    said = box.run("srun", "-A", "proj", f"--mpi={plugin}", "-N3", "-n3", program)
    ranks = sorted(line.split(" on ") for line in said.stdout.splitlines())
    assert [rank for rank, _ in ranks] == ["0 of 3", "1 of 3", "2 of 3"]
    assert len({host for _, host in ranks}) == 3


def test_a_container_runs_on_two_nodes_as_the_ordinary_user(box: Box) -> None:
    build = """
        rm -rf small small.sif; mkdir -p small/bin; cp /bin/sh small/bin
        for library in $(ldd /bin/sh | grep -o '/lib[^ ]*'); do cp --parents "$library" small; done
        apptainer -q build small.sif small"""
    box("build", "--", "bash", "-ec", build)
    said = box.run(
        *("srun", "-A", "proj", "-N2", "-n2", "--gres=gpu:1"),
        *("apptainer", "-q", "exec", "small.sif", "sh", "-c", "echo $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES"),
    )
    lines = [line.split() for line in said.stdout.splitlines()]
    assert len({host for host, _ in lines}) == 2
    assert {devices for _, devices in lines} <= set("0123")


def bandwidth_bytes_per_s(box: Box, sender: str, receiver: str, size_bytes: int) -> float:
    """Of one stream from node to node, as its receiver sees it."""
    command = [str(COMMAND), "run", "--node", receiver, "--", "python3", "-c", STREAM, "receive"]
    with subprocess.Popen(command, env=box.environment, stdout=subprocess.PIPE, text=True) as receiving:
        assert receiving.stdout
        port = receiving.stdout.readline().strip()
        box.run("python3", "-c", STREAM, "send", receiver, port, size_bytes, node=sender)
        return float(receiving.stdout.read())


def test_a_shaped_node_sends_and_receives_at_its_rate_and_no_other_does(box: Box) -> None:
    box("rate", "n2", "200mbit")
    try:
        for sender, receiver in [("n1", "n2"), ("n2", "n1")]:
            ratio = bandwidth_bytes_per_s(box, sender, receiver, 30_000_000) / RATE_BYTES_PER_S
            assert 0.8 <= ratio <= 1.02, f"{sender} to {receiver}: {ratio:.2f} of the rate"
        assert bandwidth_bytes_per_s(box, "n1", "n3", 30_000_000) > 1.5 * RATE_BYTES_PER_S
    finally:
        box("rate", "n2", "500mbit")


def row(box: Box, name: str) -> list[str]:
    """What status says about a pseudo host: name, address, process, rate, state."""
    (line,) = [line for line in box("status").stdout.splitlines() if line.startswith(f"{name} ")]
    return line.split(maxsplit=4)


def test_a_node_that_lost_its_power_comes_back_as_it_was(box: Box) -> None:
    _, _, pid, rate, _ = row(box, "n4")
    box("power", "n4", "off")
    assert not Path("/proc", pid).exists()
    assert row(box, "n4")[2:] == ["-", rate, "off"]
    said = box.run("true", node="n4", check=False)
    assert (said.returncode, said.stderr) == (2, "weft: pseudo host n4 is off.\n")
    box("power", "n4", "on")
    assert row(box, "n4")[3:] == [rate, "idle"]
    assert box.run("srun", "-A", "proj", "-w", "n4", "hostname").stdout == "n4\n"


def test_the_queue_outlives_the_controller(box: Box) -> None:
    job = box.run(
        "sbatch", "-A", "proj", "--parsable", "--output=/dev/null", "--wrap", "sleep 600"
    ).stdout.strip()
    try:
        box("controller", "stop")
        assert row(box, "ctl")[4] == "slurmctld is stopped"
        box("controller", "start")
        assert box.run("squeue", "-h", "-j", job, "-o", "%A").stdout.strip() == job
    finally:
        box("controller", "start")
        box.run("scancel", job)
