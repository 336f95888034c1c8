"""What a job on a cluster pays before its line runs: it starts Snakemake twice."""

import subprocess
import sys
from pathlib import Path

SNAKEFILE = """
import sys
print("at the start", "pandas.core" in sys.modules)
import pandas
print("in use", pandas.DataFrame({"a": [1]})["a"].sum(), "pandas.core" in sys.modules)
rule nothing:
"""


def test_snakemake_loads_pandas_when_it_is_used(root: Path, tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--dry-run", "--quiet"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(root / "workflow"), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "at the start False\nin use 1 True\n" in done.stdout
