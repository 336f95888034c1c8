"""The locked lists are complete, and the repository names no registry and carries no large file."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LISTS = sorted(path.stem for path in (ROOT / "envs").glob("*.in"))
# With blanks for dots, so that this file does not name them either.
HOSTS = ["pypi org", "pythonhosted org", "anaconda org", "pypi nvidia com", "deb debian org"]


def pins(name: str) -> dict[str, str]:
    """Package and the lines that pin it."""
    text = (ROOT / f"envs/{name}.txt").read_text()
    blocks = re.split(r"^(?=[a-z0-9])", text, flags=re.M)
    return {re.match(r"[\w-]+", block)[0]: block for block in blocks if block}


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


@pytest.mark.parametrize("name", LISTS)
def test_every_pin_has_hashes(name: str) -> None:
    assert pins(name)
    for package, block in pins(name).items():
        assert re.match(rf"{package}==[\w.+]+( ;[^\\]+)? \\\n", block), block
        assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", block)) >= 1, block


@pytest.mark.parametrize("name", LISTS)
def test_every_direct_dependency_is_pinned_and_explained(name: str) -> None:
    lines = (ROOT / f"envs/{name}.in").read_text().splitlines()
    wanted = [line for line in lines if line and not line.startswith("#")]
    assert wanted
    locked = pins(name).keys()
    for line in wanted:
        assert re.match(r"[\w-]+", line)[0] in locked
        assert "  # " in line or len(wanted) == 1, f"no reason is given: {line}"


def test_lists_name_no_place() -> None:
    for name in LISTS:
        assert "://" not in (ROOT / f"envs/{name}.txt").read_text()


def test_no_registry_is_named() -> None:
    pattern = re.compile("|".join(HOSTS).replace(" ", r"\.").encode())
    naming = [path for path in tracked() if pattern.search(path.read_bytes())]
    assert naming == []


def test_tracked_files_are_small() -> None:
    assert [path for path in tracked() if path.stat().st_size > 5 * 1024 * 1024] == []
