"""The cluster in a box is the Slurm cluster that its README promises."""

import re
import stat
import subprocess
from collections.abc import Callable
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
        box("rate", "n2", "1gbit")


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


def test_run_passes_words_folder_and_status_on(box: Box) -> None:
    box.run("mkdir", "-p", "a folder")
    said = box.run(
        "sh",
        "-c",
        'pwd; printf "[%s]" "$@"; exit 7',
        "sh",
        "two words",
        "$HOME;",
        "",
        folder="a folder",
        check=False,
    )
    assert (said.returncode, said.stdout) == (7, "/home/hpc/a folder\n[two words][$HOME;][]")
    assert box.run("id", "-un", root=True).stdout == "root\n"
    assert box.run("true", folder="/nowhere", check=False).returncode == 2


def test_what_is_killed_with_run_is_the_command_too(box: Box) -> None:
    command = [str(COMMAND), "run", "--", "sh", "-c", "echo begun; exec sleep 86399"]
    with subprocess.Popen(command, env=box.environment, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        assert running.stdout.readline() == "begun\n"
        assert box.run("pgrep", "-f", "^sleep 86399").stdout
        running.kill()
    while box.run("pgrep", "-f", "^sleep 86399", check=False).stdout:
        pass


def test_put_brings_what_git_lists_and_keeps_what_was_built(box: Box, tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@t"]
    subprocess.run([*git, "init", "-q"], check=True)
    for name, text in {".gitignore": "built\n", "kept": "1", "removed": "1", "built": "here"}.items():
        (tmp_path / name).write_text(text)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)
    box.run("rm", "-rf", "put test")
    box("put", tmp_path, "put test")
    box.run("sh", "-c", "echo there >built", folder="put test")
    (tmp_path / "kept").write_text("2")
    (tmp_path / "removed").unlink()
    (tmp_path / "a new one").write_text("1")
    box("put", tmp_path, "/home/hpc/put test")
    said = box.run(
        "sh", "-c", "ls -A; cat kept built; git status --short; git rev-list --count HEAD", folder="put test"
    )
    assert said.stdout.split("\n") == [".git", ".gitignore", "a new one", "built", "kept", "2there", "1", ""]
    assert box.run("find", "put test", "!", "-user", "hpc").stdout == ""


def test_commands_of_build_reach_no_cluster_and_leave_nothing_outside_home(box: Box) -> None:
    said = box(
        "build", "--", "sh", "-c", "id -un; hostname; touch /tmp/mine /home/hpc/ours; ! srun -A proj true"
    )
    assert said.stdout == "hpc\nbuild\n"
    assert box.run("ls", "ours").stdout == "ours\n"
    assert box.run("ls", "/tmp/mine", check=False).returncode != 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["fly"], "no command is called fly"),
        (["up", "--nodes", "0"], "--nodes is 0, but must be between 1 and 64"),
        (["up", "--nodes", "3"], "the box is up with 4 nodes; take it down first"),
        (["up", "--rate", "fast"], "fast is not"),
        (["rate", "n9", "1gbit"], "there is no node n9; the box has n1 n2 n3 n4"),
        (["rate", "n1", "1"], "a rate is a whole number with its unit"),
        (["power", "ctl", "off"], "there is no node ctl"),
        (["power", "n1", "maybe"], "power takes off or on; maybe is neither"),
        (["run", "--node", "n9", "--", "true"], "there is no node n9"),
        (["run", "true"], "run takes --node NODE"),
        (["run", "--node"], "--node stands without its value"),
        (["run", "--"], "run needs a command"),
        (["build", "true"], "build takes --dir DIR and then -- COMMAND"),
        (["put", "/", "checkout"], "/ is no git checkout"),
        (["put", COMMAND.parent, "/etc"], "put copies to a folder below /home/hpc; /etc is not"),
        (["put", COMMAND.parent, "../other"], "put copies to a folder below /home/hpc; ../other is not"),
        (["controller", "pause"], "controller takes stop or start"),
        (["status", "now"], "status takes --versions or nothing"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
def test_a_wrong_call_is_told_in_one_sentence(box: Box, words: list[str], sentence: str) -> None:
    said = box(*words, check=False)
    assert said.returncode == 2
    assert said.stderr.startswith("weft: ")
    assert sentence in said.stderr
    assert said.stderr.count("\n") == 1


def test_a_folder_of_other_things_is_not_taken(box_state: Path, tmp_path: Path) -> None:
    (tmp_path / "diary").write_text("mine")
    said = Box(tmp_path)("clean", check=False)
    assert said.returncode == 2
    assert "holds other things" in said.stderr
    assert (tmp_path / "diary").exists()


def test_no_other_user_reaches_its_files(box: Box) -> None:
    assert stat.S_IMODE(box.state.stat().st_mode) == 0o700


def test_versions_are_recorded(box: Box) -> None:
    versions = dict(line.split() for line in box("status", "--versions").stdout.splitlines())
    assert {"slurmctld", "apptainer", "libopenmpi-dev", "libmpich-dev"} <= set(versions)
    assert re.fullmatch(r"\d[\w.+~:-]*", versions["slurmctld"])


Leftovers = Callable[[], list[str]]


@pytest.fixture
def leftovers(spare: Box) -> Leftovers:
    """What of the spare box is on this machine and was not there before."""

    def machine() -> set[str]:
        listed = [
            subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
            for command in (
                ["ip", "-brief", "link"],
                ["ip", "netns"],
                ["findmnt", "--list", "--noheadings", "-o", "TARGET"],
            )
        ]
        groups = [str(path) for path in Path("/sys/fs/cgroup").rglob("*") if path.is_dir()]
        return {line for lines in listed for line in lines} | set(groups)

    before = machine()
    fuse_mode = Path("/dev/fuse").stat().st_mode

    def find() -> list[str]:
        assert Path("/dev/fuse").stat().st_mode == fuse_mode
        return processes_of(spare) + sorted(machine() - before)

    return find


def processes_of(box: Box) -> list[str]:
    """Processes that were started for a box, or that have its root file system mounted in their namespace."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            belongs = (
                f"WEFT_BOX_HOST={box.state}:".encode() in (process / "environ").read_bytes()
                or str(box.state) in (process / "mountinfo").read_text()
            )
        except OSError:
            continue  # it has ended
        if belongs:
            found.append(f"{process.name}: {(process / 'comm').read_text().strip()}")
    return found


def test_down_leaves_nothing_behind(spare: Box, leftovers: Leftovers) -> None:
    spare("up", "--nodes", 1, "--rate", "100mbit")
    spare.run("sbatch", "-A", "proj", "--wrap", "setsid sleep 600 & wait")
    assert len(processes_of(spare)) > 5
    spare("down")
    assert leftovers() == []
    assert {path.name.partition("-")[0] for path in spare.state.iterdir()} == {
        "box.log",
        "home",
        "lock",
        "rootfs",
    }
    assert not spare.is_up()
    said = spare.run("true", check=False)
    assert "the box is not up; tests/cluster/box up brings it up" in said.stderr
    spare("clean")
    assert not spare.state.exists()


@pytest.mark.parametrize("mend", ["down", "up"])
def test_a_killed_up_is_mended_by_the_next_call(spare: Box, leftovers: Leftovers, mend: str) -> None:
    with subprocess.Popen(
        [str(COMMAND), "up", "--nodes", "1"], env=spare.environment, stdout=subprocess.DEVNULL
    ) as up:
        while not any("mariadbd" in process for process in processes_of(spare)):
            assert up.poll() is None
        up.kill()
    if mend == "up":
        spare("up", "--nodes", 1)
        assert spare.run("srun", "-A", "proj", "hostname").stdout == "n1\n"
        assert sum("slurmctld" in process for process in processes_of(spare)) == 1
    spare("down")
    assert leftovers() == []
