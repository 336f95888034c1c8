"""What `make test` and `.ci/run` end with: each skip explained, the totals, a status that agrees."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

EVERY_OUTCOME = """
import pytest

@pytest.fixture
def broken():
    raise OSError

def test_passes(): pass
def test_passes_too(): pass
def test_fails(): assert 1 == 2
def test_errs(broken): pass
@pytest.mark.skip(reason="no moon")
def test_of_the_moon(): pass
def test_skips_late(): pytest.skip("no sun")
"""


def test_closing_lines_count_every_outcome(tmp_path: Path) -> None:
    (tmp_path / "test_outcomes.py").write_text(EVERY_OUTCOME)
    closing = tmp_path / "closing.txt"
    options = f"-c {ROOT}/pyproject.toml -p conftest -p no:cacheprovider"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            *options.split(),
            "--rootdir",
            tmp_path,
            "--closing",
            closing,
            tmp_path,
        ],
        env=os.environ | {"PYTHONPATH": str(ROOT / "tests")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    lines = closing.read_text().splitlines()
    assert lines == [
        "skipped test_outcomes.py::test_of_the_moon: no moon",
        "skipped test_outcomes.py::test_skips_late: no sun",
        "2 passed, 2 failed, 2 skipped",
    ]


@pytest.mark.parametrize(
    ("cuda_status", "test_status", "closing", "expected", "expected_status"),
    [
        (0, 0, "7 passed, 0 failed, 2 skipped", "8 passed, 0 failed, 2 skipped", 0),
        (2, 0, "7 passed, 0 failed, 2 skipped", "7 passed, 1 failed, 2 skipped", 1),
        (0, 2, "6 passed, 1 failed, 2 skipped", "7 passed, 1 failed, 2 skipped", 1),
        (2, 2, "6 passed, 1 failed, 2 skipped", "6 passed, 2 failed, 2 skipped", 1),
        (0, 2, "make: *** killed", "1 passed, 1 failed, 0 skipped", 1),
        (0, 2, "7 passed, 0 failed, 2 skipped", "8 passed, 1 failed, 2 skipped", 1),
    ],
)
def test_ci_adds_the_cuda_build(
    cuda_status: int, test_status: int, closing: str, expected: str, expected_status: int, tmp_path: Path
) -> None:
    fake = tmp_path / "make"
    fake.write_text(
        f'#!/bin/bash\nif [ "$1" = cuda ]; then exit {cuda_status}; fi\n'
        f"echo first; echo '{closing}'\n"
        f"if [ {test_status} != 0 ]; then echo 'make: *** Error' >&2; exit {test_status}; fi\n"
    )
    fake.chmod(0o755)
    done = subprocess.run(
        [ROOT / ".ci/run"],
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[0] == "first"
    assert done.stdout.splitlines()[-1] == expected
    assert done.returncode == expected_status
