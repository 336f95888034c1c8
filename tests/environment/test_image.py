"""envs/image builds an image once, refuses bad choices, and explains what fails.

A stand-in takes Apptainer's place; tests/cluster builds real images."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support.image_checkout import MIRROR, Checkout, refused

PACKAGE = b"not for everyone"


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_image_is_built_once(checkout: Checkout) -> None:
    done = checkout.image()
    assert done.returncode == 0, done.stderr
    image = checkout.images / "openmpi.sif"
    digest = hashlib.sha256(image.read_bytes()).hexdigest()
    assert (checkout.images / "openmpi.sha256").read_text() == f"{digest}\n"
    assert f"mirror={MIRROR}" in checkout.calls[0]
    assert not (checkout.images / "openmpi.work").exists()
    assert {path.name for path in checkout.folder.iterdir()} <= {"containers", "envs", "workflow", "build"}

    again = checkout.image()
    assert (again.returncode, again.stdout, len(checkout.calls)) == (0, "", 1)


@pytest.mark.parametrize(
    "change", ["openmpi.def", "openmpi.versions", "toolchain.versions", "image", "digest", "by hand"]
)
def test_image_is_built_anew_after(change: str, checkout: Checkout) -> None:
    checkout.image()
    if "." in change:
        with (checkout.folder / "containers" / change).open("a") as file:
            file.write("# changed\n")
    elif change == "by hand":
        (checkout.images / "openmpi.sif").write_text("another\n")
        touch_image(checkout)
    else:
        (checkout.images / f"openmpi.{'sif' if change == 'image' else 'sha256'}").unlink()
    assert checkout.image().returncode == 0
    assert len(checkout.calls) == 2
    assert (checkout.images / "openmpi.sif").exists()


def touch_image(checkout: Checkout) -> None:
    newer = (checkout.images / "openmpi.sha256").stat().st_mtime + 10
    os.utime(checkout.images / "openmpi.sif", (newer, newer))


def test_copied_image_is_taken(checkout: Checkout) -> None:
    checkout.image()
    touch_image(checkout)
    assert checkout.image().returncode == 0
    assert len(checkout.calls) == 1


def test_change_of_another_recipe_is_none(checkout: Checkout) -> None:
    checkout.image()
    (checkout.folder / "containers/mpich.def").write_text("changed\n")
    checkout.image()
    assert len(checkout.calls) == 1


def test_two_calls_at_once_build_one_image(checkout: Checkout) -> None:
    held = checkout.stand_in / "held"
    os.mkfifo(held)
    checkout.builder_does(f'cat {held} >/dev/null; echo image >"$sif"')
    command = checkout.command("image", "openmpi", "--mirror", MIRROR)
    both = [subprocess.Popen(command, env=checkout.environment) for _ in range(2)]
    held.write_text("go\n")
    assert [one.wait(timeout=60) for one in both] == [0, 0]
    assert len(checkout.calls) == 1


@pytest.mark.parametrize(
    ("log", "sentence"),
    [
        (
            "tar: write error: No space left on device",
            "the disk became full while build/images/openmpi.sif",
        ),
        (
            "E: Version '4.1-1' for 'cmake' was not found",
            "the mirror has moved on from what containers/",
        ),
        (
            "E: Failed getting release file",
            f"the mirror {MIRROR} could not be reached",
        ),
        ("broken: two ranks talk", "build/images/openmpi.sif would not keep what its recipe promises"),
        ("FATAL: could not use fakeroot: no mapping entry in /etc/subuid", "may not build images here"),
    ],
)
def test_failed_build_is_explained(log: str, sentence: str, checkout: Checkout) -> None:
    checkout.image()
    (checkout.images / "openmpi.recipe").unlink()
    checkout.builder_does(f'echo part >"$sif"; echo "{log}" >&2; exit 255')
    done = checkout.image()
    refused(done, sentence)
    assert "build/images/openmpi.log" in done.stderr
    left = {path.suffix for path in checkout.images.iterdir()}
    assert left == {".lock", ".log"}, "neither a part of an image nor an outdated one may look like the image"


def test_other_failure_shows_the_end_of_the_log(checkout: Checkout) -> None:
    checkout.builder_does("echo the moon is full >&2; exit 255")
    done = checkout.image()
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert lines == [
        "the moon is full",
        "weft: build/images/openmpi.sif could not be built, for the reason above.",
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "envs/image takes a recipe (mpich, mvapich2-gdr, openmpi)"),
        (["intel"], "there is no recipe intel; envs/image takes"),
        (["../openmpi"], "there is no recipe ../openmpi; envs/image takes"),
        (["openmpi", "--fast"], "--fast is not understood"),
        (["openmpi", "--mirror"], "--mirror stands without its value"),
        (
            ["openmpi", "--mirror", "file:/debian"],
            "--mirror is file:/debian, but must be the http",
        ),
        (["openmpi", "--mirror", "http://a/ b"], "--mirror is http://a/ b, but must be"),
        (["mpich", "--cuda"], "the recipe mpich has no CUDA variant"),
        (["openmpi", "--file", "a.rpm"], "the recipe openmpi takes no package"),
        (["mvapich2-gdr"], "mvapich2-gdr may not be handed on, so name the package that you have"),
        (["mvapich2-gdr", "--file", "a.rpm"], "and its SHA-256, with --file and --sha256"),
        (
            ["mvapich2-gdr", "--file", "a.rpm", "--sha256", "0"],
            "--file is a.rpm, but must be an .rpm",
        ),
    ],
)
def test_bad_choice_is_refused(arguments: list[str], sentence: str, checkout: Checkout) -> None:
    refused(checkout.call("image", *arguments), sentence)
    assert checkout.calls == []


@pytest.mark.parametrize("suffix", ["rpm", "deb"])
def test_package_must_be_what_its_user_says(suffix: str, checkout: Checkout) -> None:
    package = checkout.folder / f"mvapich2-gdr.{suffix}"
    package.write_bytes(PACKAGE)
    digest = hashlib.sha256(PACKAGE).hexdigest()
    wrong = checkout.image("mvapich2-gdr", "--file", package, "--sha256", "0" * 64)
    refused(wrong, f"{package} has the SHA-256 {digest}, but --sha256 says {'0' * 64}")

    checkout.program("python", "#!/bin/sh\n")  # downloads nothing
    (checkout.folder / ".venv/bin").mkdir(parents=True)
    shutil.copy(checkout.bin / "python", checkout.folder / ".venv/bin/python")
    (checkout.folder / "envs/setup").write_text("#!/bin/sh\n")
    done = checkout.image("mvapich2-gdr", "--file", package, "--sha256", digest.upper())
    assert done.returncode == 0, done.stderr
    assert "package=build/images/mvapich2-gdr.work/package" in checkout.calls[0]


def test_machine_that_cannot_build_is_told_what_it_lacks(checkout: Checkout) -> None:
    (checkout.stand_in / "help").write_text("apptainer build, of old\n")
    refused(checkout.image(), "is too old to build the recipes; install Apptainer 1.2 or newer")
    (checkout.stand_in / "help").write_text("--build-arg strings\n")
    (checkout.bin / "apptainer").rename(checkout.bin / "singularity")
    assert checkout.image().returncode == 0, "Apptainer under its older name"
    checkout.program("singularity", "#!/bin/sh\necho singularity-ce version 4.1.0\n")
    refused(checkout.image("mpich"), "Apptainer is not on PATH; load its module")
    (checkout.bin / "singularity").unlink()
    refused(checkout.image("mpich"), "Apptainer is not on PATH; load its module")
    refused(checkout.call("build", "host", "--image", "build/images/openmpi.sif"), "neither apptainer nor")


def test_full_disk_is_seen_before(checkout: Checkout) -> None:
    (checkout.bin / "df").unlink()
    checkout.program("df", "#!/bin/sh\necho header\necho x 9000 8000 700 92% /\n")
    refused(checkout.image(), "has 700 MB free, but build/images/openmpi.sif takes 1500 MB to build")
    assert checkout.calls == []


@pytest.mark.skipif(
    "ID=debian" not in Path("/etc/os-release").read_text().split(),
    reason="only a Debian knows a mirror",
)
def test_mirror_is_that_of_the_machine(checkout: Checkout) -> None:
    lines = [
        "x-security main http://security.example/",
        "x main cdrom:/x",
        f"x main {MIRROR}/",
        "x main http://b/",
    ]
    checkout.program("apt-get", "#!/bin/sh\n" + "".join(f"echo '{line}'\n" for line in lines))
    assert checkout.call("image", "openmpi").returncode == 0
    assert f"mirror={MIRROR}/" in checkout.calls[0]

    checkout.program("apt-get", "#!/bin/sh\n")
    refused(checkout.call("image", "mpich"), "no Debian mirror is known here; name one with --mirror URL")


def test_relock_writes_what_the_image_has(checkout: Checkout) -> None:
    (checkout.stand_in / "inside").write_text('echo "9:${@: -1}"\n')
    assert checkout.image("openmpi", "--relock").returncode == 0
    assert "relock=yes" in checkout.calls[0]
    assert "g++=9:g++\n" in (checkout.folder / "containers/toolchain.versions").read_text()
    assert "libucx0=9:libucx0\n" in (checkout.folder / "containers/openmpi.versions").read_text()
    assert "libmpich12=9:" not in (checkout.folder / "containers/mpich.versions").read_text()
    checkout.image()
    assert len([call for call in checkout.calls if call.startswith("build")]) == 1, (
        "the lists are now as the image"
    )
