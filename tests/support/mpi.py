"""The environment in which tests and benchmarks start MPI, as the system `local` does."""

import os
from pathlib import Path

from weft import yaml_file

ROOT = Path(__file__).resolve().parents[2]

# Its own libraries come before those of a module, which have the same names.
MPI_ENVIRONMENT: dict[str, str] = {
    **yaml_file.read(ROOT / "config/mpi/openmpi.yaml")["environment"],
    "LD_LIBRARY_PATH": ":".join(
        [f"{ROOT}/.venv/lib", f"{ROOT}/.venv/lib/openmpi", os.environ.get("LD_LIBRARY_PATH", "")]
    ).rstrip(":"),
}
