"""envs/build builds in an image: with its tools, in a tree of its own, with the commit told from outside."""

import os
import subprocess
from pathlib import Path

import pytest

from support.image_checkout import ROOT, Checkout, refused


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_programs_are_built_in_the_image(checkout: Checkout) -> None:
    checkout.image()
    done = checkout.call("build", "host", "p2p", "--image", "build/images/openmpi.sif")
    assert done.returncode == 0, done.stdout + done.stderr
    place = f"--no-home --bind {checkout.folder} --pwd {checkout.folder} --env WEFT_COMMIT=- -1"
    looked, configured, built = checkout.calls[1:]
    for call in (looked, configured, built):
        assert call.startswith(f"--quiet exec {place} build/images/openmpi.sif ")
    assert "-B build/openmpi-host -G Ninja" in configured
    assert "-DWEFT_TOOLCHAIN=system" in configured
    assert built.endswith("ninja -C build/openmpi-host --quiet p2p")

    checkout.call("build", "host", "p2p", "--image", "build/images/openmpi.sif")
    assert len(checkout.calls) == 6, "configured once"
    (checkout.images / "openmpi.sif").write_text("another image\n")
    (checkout.images / "openmpi.recipe").unlink()
    checkout.builder_does('echo another >"$sif"')
    checkout.image()
    checkout.call("build", "host", "p2p", "--image", "build/images/openmpi.sif")
    assert len([call for call in checkout.calls if "--fresh" in call]) == 2, (
        "another image is configured anew"
    )


@pytest.mark.parametrize(
    ("backend", "image", "tree"),
    [
        ("cuda", "build/images/openmpi-cuda.sif", "build/openmpi-cuda"),
        ("host", "build/images/openmpi-cuda.sif", "build/openmpi-cuda-host"),
        ("cuda", "my images/site.sif", "build/site-cuda"),
    ],
)
def test_tree_is_named_for_image_and_backend(backend: str, image: str, tree: str, checkout: Checkout) -> None:
    (checkout.folder / image).parent.mkdir(parents=True)
    (checkout.folder / image).write_text("image\n")
    done = checkout.call("build", backend, "--image", image)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"-B {tree} " in checkout.calls[1]
    assert ("--nv" in checkout.calls[1]) == (backend == "cuda")


def test_image_without_toolchain_is_refused(checkout: Checkout) -> None:
    refused(checkout.call("build", "host", "--image", "none.sif"), "there is no image none.sif")
    checkout.image()
    (checkout.stand_in / "inside").write_text("echo ninja; echo mpicxx\n")
    done = checkout.call("build", "host", "--image", "build/images/openmpi.sif")
    refused(done, "the image build/images/openmpi.sif lacks ninja, mpicxx, which builds the programs")


@pytest.mark.parametrize(
    ("told", "commit", "dirty"),
    [("0123abcd 1", "0123abcd", "1"), ("4567 0", "4567", "0"), ("- -1", "", "-1")],
)
def test_commit_is_told_to_an_image_without_git(told: str, commit: str, dirty: str, tmp_path: Path) -> None:
    header = tmp_path / "weft_build.hpp"
    definitions = {"header": header, "version": "1", "compiler": "GNU", "build_type": "Release"}
    script = ROOT / "workflow/programs/cmake/build_identity.cmake"
    subprocess.run(
        [ROOT / ".venv/bin/cmake", *[f"-D{key}={value}" for key, value in definitions.items()], "-P", script],
        env=os.environ | {"WEFT_COMMIT": told},
        check=True,
    )
    assert f'#define WEFT_GIT_COMMIT "{commit}"\n#define WEFT_GIT_DIRTY {dirty}\n' in header.read_text()
