"""The cluster in a box for all tests of this folder: brought up once, and left as it was found."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.box import Box
from support.boxed_checkout import BoxedCheckout


@pytest.fixture(scope="session")
def box_state() -> Path:
    """The folder that the box keeps its files in; tests that need the box are skipped where none can be."""
    if os.geteuid() != 0:
        pytest.skip("the cluster in a box needs root")
    if not Path("/etc/debian_version").exists():
        pytest.skip("the cluster in a box needs Debian")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("WEFT_BOX") or cache / "weft/box").absolute()


@pytest.fixture(scope="session")
def box(box_state: Path) -> Iterator[Box]:
    """Four nodes, their links shaped to 500 Mbit/s. A box that was up before stays up."""
    box = Box(box_state)
    was_up = box.is_up()
    box("up", "--nodes", 4, "--rate", "500mbit")
    yield box
    if not was_up:
        box("down")


@pytest.fixture
def spare(box: Box) -> Iterator[Box]:
    """A second box, which is down, to bring up and down; its root file system is the first one's."""
    state = Path(tempfile.mkdtemp(prefix="spare-", dir=box.state.parent))
    (state / "lock").touch()
    for rootfs in box.state.glob("rootfs-*"):
        subprocess.run(["cp", "--archive", "--link", rootfs, state], check=True)
    spare = Box(state)
    yield spare
    if state.exists():
        spare("clean")


@pytest.fixture(scope="session")
def checkout(box: Box) -> BoxedCheckout:
    """This checkout in the box, with its environment, its image, and the programs of `smoke` built in it."""
    checkout = BoxedCheckout(box, "weft")
    checkout.put()
    checkout.build("make", "programs", "SYSTEM=box", "CAMPAIGN=smoke")
    return checkout
