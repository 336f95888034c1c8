"""The build: bad choices are refused, programs know their commit, and CUDA code needs no GPU to be built."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CMAKE = ROOT / ".venv/bin/cmake"
SOURCE = ROOT / "workflow/programs"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository of one commit with the script that writes weft_build.hpp."""
    folder = tmp_path / "checkout"
    shutil.copytree(SOURCE / "cmake", folder / "workflow/programs/cmake")
    (folder / "results").mkdir()
    (folder / "results/kept.txt").write_text("1\n")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "--quiet", "-m", "first")
    return folder


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()


def identity(checkout: Path, header: Path) -> dict[str, str]:
    """Runs the script as a build does and returns the macros that it wrote."""
    definitions = {
        "header": header,
        "source": checkout / "workflow/programs",
        "version": "0.1.0",
        "compiler": "GNU 12",
        "build_type": "Release",
    }
    script = checkout / "workflow/programs/cmake/build_identity.cmake"
    subprocess.run([CMAKE, *[f"-D{k}={v}" for k, v in definitions.items()], "-P", script], check=True)
    return dict(re.findall(r"^#define (\w+) (.*)$", header.read_text(), re.M))


def test_commit_and_changes_are_known(checkout: Path, tmp_path: Path) -> None:
    header = tmp_path / "weft_build.hpp"
    clean = identity(checkout, header)
    assert clean["WEFT_GIT_COMMIT"] == f'"{git(checkout, "rev-parse", "HEAD")}"'
    assert clean["WEFT_GIT_DIRTY"] == "0"

    written = header.stat().st_mtime_ns
    (checkout / "results/kept.txt").write_text("2\n")
    assert identity(checkout, header) == clean, "results do not make the code another"
    assert header.stat().st_mtime_ns == written, "the same content must not cause a rebuild"

    (checkout / "workflow/programs/cmake/commit.txt").write_text("changed\n")
    assert identity(checkout, header)["WEFT_GIT_DIRTY"] == "1"


def test_archive_knows_its_commit(checkout: Path, tmp_path: Path) -> None:
    commit = git(checkout, "rev-parse", "HEAD")
    shutil.rmtree(checkout / ".git")
    header = tmp_path / "weft_build.hpp"
    unknown = identity(checkout, header)
    assert (unknown["WEFT_GIT_COMMIT"], unknown["WEFT_GIT_DIRTY"]) == ('""', "-1")

    (checkout / "workflow/programs/cmake/commit.txt").write_text(commit + "\n")
    assert identity(checkout, header)["WEFT_GIT_COMMIT"] == f'"{commit}"'


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ("WEFT_BACKEND=gpu", "WEFT_BACKEND is gpu, but must be host or cuda."),
        ("WEFT_TOOLCHAIN=mine", "WEFT_TOOLCHAIN is mine, but must be locked or system."),
    ],
)
def test_unknown_choice_is_refused(choice: str, sentence: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [CMAKE, "-S", SOURCE, "-B", tmp_path, f"-D{choice}"], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert sentence in " ".join(done.stderr.split())


@pytest.mark.parametrize("program", ["topology", "p2p", "pt2pt", "collective"])
def test_cuda_programs_start_without_a_driver(program: str, launch) -> None:
    path = ROOT / "build/cuda/bin" / program
    if not path.exists():
        pytest.skip("the CUDA backend is not built here: make cuda")
    done = launch([path, "--help"])
    assert done.returncode == 0, done.stderr
    assert "--output" in done.stdout
