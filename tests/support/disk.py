"""A disk so small that it is soon full, mounted in a checkout on every pseudo host."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.boxed_checkout import BoxedCheckout

HOSTS = ("ctl", "n1", "n2", "n3", "n4")
SIZE = "12M"
OWNER = "root_owner=1000:1000"  # the box's user


@dataclass(frozen=True)
class Disk:
    """What is mounted at `folder` of the checkout."""

    checkout: BoxedCheckout
    folder: str

    def fill(self) -> None:
        """Leave no byte on it."""
        done = self.checkout.run("dd", "if=/dev/zero", f"of={self.folder}/filler", "bs=4096", check=False)
        assert "No space left on device" in done.stderr, done.stderr

    def clear(self) -> None:
        """Free what `fill` took."""
        self.checkout.run("rm", f"{self.folder}/filler")


@contextmanager
def small_disk(checkout: BoxedCheckout, folder: str) -> Iterator[Disk]:
    """Mount an empty disk over a folder of the checkout, one and the same for all pseudo hosts."""
    with ExitStack() as stack:
        image = stack.enter_context(tempfile.NamedTemporaryFile(dir=checkout.box.state)).name
        _call("truncate", "--size", SIZE, image)
        _call("mkfs.ext4", "-q", "-m", "0", "-E", OWNER, image)
        device = _call("losetup", "--find", "--show", image)
        stack.callback(_call, "losetup", "--detach", device)
        number = Path(device).stat().st_rdev
        place = f"/home/hpc/{checkout.name}/{folder}"
        for host in HOSTS:
            node = ["mknod", "/dev/small", "b", number >> 8, number & 255]
            checkout.box.run(*node, node=host, root=True)
            stack.callback(checkout.box.run, "rm", "/dev/small", node=host, root=True)
            checkout.box.run("mount", "/dev/small", place, node=host, root=True)
            stack.callback(checkout.box.run, "umount", "--lazy", place, node=host, root=True)
        seen = str(checkout.folder / folder)  # by this machine
        _call("mount", device, seen)
        stack.callback(_call, "umount", "--lazy", seen)
        yield Disk(checkout, folder)


def _call(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()
