"""Each check of style is a test of its own."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "check", ["python-rules", "python-format", "cpp-format", "rules-format", "shell-rules"]
)
def test_lint(check: str) -> None:
    done = subprocess.run([ROOT / "tests/lint", check], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
