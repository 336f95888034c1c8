"""A box leaves nothing behind, however it ends."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from support.box import COMMAND, Box

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
            name = (process / "comm").read_text().strip()
        except OSError:
            continue  # it has ended
        if belongs:
            found.append(f"{process.name}: {name}")
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
