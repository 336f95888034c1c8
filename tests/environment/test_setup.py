"""Set-up scripts: what is too old or missing is said in one sentence, and nothing is done twice."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SET_BY_MAKE = ["CXX", "PYTHON", "TOOLCHAIN", "CUDA_ARCHITECTURES", "MAKEFLAGS", "MFLAGS", "MAKELEVEL"]
TOOLS = ["bash", "cat", "cut", "dirname", "flock", "make", "mkdir", "mv", "rm", "sed", "sha256sum"]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of what set-up needs, that locks one small package besides the installer."""
    clone = tmp_path / "clone"
    shutil.copytree(ROOT / "envs", clone / "envs")
    shutil.copy(ROOT / "Makefile", clone)
    lock_only(clone, "websocket-client")
    return clone


def lock_only(clone: Path, package: str) -> None:
    """Leaves one package, with its hashes, in the list of the clone."""
    lock = (ROOT / "envs/requirements.txt").read_text()
    pin = re.search(rf"^{package}==.*?\n(?=\S)", lock, re.MULTILINE | re.DOTALL)
    (clone / "envs/requirements.txt").write_text(pin[0])


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder for PATH with a Python and the tools of every machine, but no compiler."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for tool in TOOLS:
        (folder / tool).symlink_to(shutil.which(tool))
    (folder / "python3").symlink_to(sys.executable)
    return folder


def script(path: Path, *lines: str) -> None:
    path.unlink(missing_ok=True)
    path.write_text("\n".join(["#!/bin/bash", *lines]) + "\n")
    path.chmod(0o755)


def make(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs make as a user would, without what a surrounding make left in the environment."""
    kept = {name: value for name, value in os.environ.items() if name not in SET_BY_MAKE}
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=folder,
        env=kept | variables,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def sentences(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What it said, without make's own closing line."""
    said = (done.stdout + done.stderr).splitlines()
    return [line for line in said if not line.startswith("make: ***")]


def check_refused(done: subprocess.CompletedProcess[str], clone: Path, sentence: str) -> None:
    assert done.returncode == 2
    assert len(sentences(done)) == 1
    assert re.fullmatch(f"weft: {sentence}", sentences(done)[0])
    assert not (clone / ".venv").exists()


def test_python_too_old(clone: Path, tools: Path) -> None:
    script(tools / "c++", "exit 0")
    script(
        tools / "python3",
        f'exec {sys.executable} -c "import sys; sys.version_info = (3, 10, 4); exec(sys.argv[1])" "$2"',
    )
    done = make(clone, "setup", PATH=str(tools))
    check_refused(done, clone, r"\S*/python3 is older than Python 3\.11, which Weft needs; .* PYTHON=PATH\.")


def test_python_too_old_names_a_newer_one(clone: Path, tools: Path) -> None:
    script(tools / "c++", "exit 0")
    script(tools / "python3", "exit 1")
    (tools / "python3.12").symlink_to(sys.executable)
    done = make(clone, "setup", PATH=str(tools))
    check_refused(done, clone, r"\S*/python3 is older .* make PYTHON=python3\.12\.")


def test_python_of_that_name_is_absent(clone: Path) -> None:
    check_refused(
        make(clone, "setup", PYTHON="python9"), clone, "no Python is called python9 here; .* PYTHON=."
    )


def test_no_compiler(clone: Path, tools: Path) -> None:
    check_refused(make(clone, "setup", PATH=str(tools)), clone, r"no C\+\+ compiler; install .* CXX=.")


def test_compiler_of_that_name_is_absent(clone: Path) -> None:
    check_refused(
        make(clone, "setup", CXX="g++-99"), clone, r"no C\+\+ compiler is called g\+\+-99 here; .* CXX=."
    )


def test_compiler_too_old(clone: Path, tools: Path) -> None:
    script(tools / "c++", "exit 1")
    check_refused(make(clone, "setup", PATH=str(tools)), clone, r"\S*/c\+\+ cannot compile C\+\+17; .* CXX=.")


def test_packages_out_of_reach(clone: Path) -> None:
    done = make(clone, "setup", PIP_INDEX_URL="http://127.0.0.1:9/", PIP_RETRIES="0", PIP_NO_CACHE_DIR="1")
    assert done.returncode == 2
    assert sentences(done)[-1].startswith("weft: the locked packages could not be installed")
    assert not (clone / ".venv/weft-setup").exists()


def test_wrong_hash_is_refused(clone: Path) -> None:
    lock = clone / "envs/requirements.txt"
    lock.write_text(re.sub(r"(sha256:)\w{8}", r"\g<1>00000000", lock.read_text()))
    done = make(clone, "setup", UV_NO_CACHE="1")
    assert done.returncode == 2
    assert sentences(done)[-1].startswith("weft: the locked packages could not be installed")
    assert not list(clone.glob(".venv/lib/python3*/site-packages/websocket"))


def test_killed_in_the_middle_then_called_again(clone: Path) -> None:
    quiet = subprocess.DEVNULL
    with subprocess.Popen(["envs/setup"], cwd=clone, stdout=quiet, start_new_session=True) as setup:
        while not (clone / ".venv/bin/python").exists():
            time.sleep(0.01)
        os.killpg(setup.pid, signal.SIGKILL)
    assert not (clone / ".venv/weft-setup").exists()
    done = make(clone, "setup")
    assert done.returncode == 0, done.stderr
    subprocess.run([clone / ".venv/bin/python", "-c", "import websocket"], check=True)
    assert sentences(make(clone, "setup")) == []


def test_a_changed_list_is_brought_in(clone: Path) -> None:
    assert make(clone, "setup").returncode == 0
    lock_only(clone, "iniconfig")
    assert make(clone, "setup").returncode == 0
    python = clone / ".venv/bin/python"
    search = "import importlib.util as u; print([bool(u.find_spec(n)) for n in ('iniconfig', 'websocket')])"
    found = subprocess.run([python, "-c", search], capture_output=True, text=True, check=True)
    assert found.stdout == "[True, False]\n"


def test_second_call_does_nothing() -> None:
    assert make(ROOT, "build").returncode == 0
    before = state_of(ROOT)
    done = make(ROOT, "build")
    assert done.returncode == 0
    assert sentences(done) == []
    assert state_of(ROOT) == before


def state_of(folder: Path) -> dict[Path, int]:
    """When each file that set-up and build end with was last written."""
    files = [folder / ".venv/weft-setup", folder / "build/host/build.ninja", *folder.glob("build/host/bin/*")]
    return {file: file.stat().st_mtime_ns for file in files}


def test_words_of_a_user_stay_words(tmp_path: Path) -> None:
    done = make(ROOT, "--dry-run", "campaign", f"SYSTEM=it's; touch {tmp_path}/x", "CAMPAIGN=$$(id) `id`")
    line = next(line for line in done.stdout.splitlines() if "-m weft campaign" in line)
    words = subprocess.run(
        ["bash", "-c", line.replace(".venv/bin/python", "printf '%s\\n'")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert words[:6] == ["-m", "weft", "campaign", "--system", f"it's; touch {tmp_path}/x", "--campaign"]
    assert words[6:] == ["$(id) `id`", "--profile", "local"]
    assert not list(tmp_path.iterdir())


def test_help_names_every_target() -> None:
    text = (ROOT / "Makefile").read_text()
    targets = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)[1].split()
    helped = re.findall(r"^  (\w+)  +\S", make(ROOT, "help").stdout, re.MULTILINE)
    assert sorted(helped) == sorted(targets)
    assert make(ROOT).stdout == make(ROOT, "help").stdout
