"""What an mpirun that was killed leaves behind does not stop the next of its pid."""

import dataclasses
import os
import subprocess

import pytest

from weft import config, launch, yaml_file

# The words that follow take this shell's place, and its pid.
AFTER_A_KILLED_ONE = """\
folder="$TMPDIR/ompi.$$"
mkdir -p "$folder"
for name in tool "tool.$$" "tool.prterun-$(uname -n)-$$@0"; do
  echo "prterun-$(uname -n)-$$@0;tcp4://127.0.0.1:1" > "$folder/pmix.$(uname -n).$name"
done
exec "$@"
"""


@pytest.mark.parametrize("mpi", ["openmpi", "openmpi-ucx"])
@pytest.mark.parametrize(
    ("tool_support", "status"),
    [
        ("0", 0),
        # Where this fails, OpenMPI no longer needs the variable: take it out of config/mpi.
        ("1", 213),
    ],
)
def test_the_next_launcher_of_the_pid_starts(root, tmp_path, mpi, tool_support, status):
    resolved = config.load("local", "smoke", root)
    resolved = dataclasses.replace(resolved, mpi=yaml_file.read(root / f"config/mpi/{mpi}.yaml"))
    variables = resolved.mpi["environment"]
    assert variables["PRTE_MCA_prte_pmix_tool_support"] == "0"
    variables["PRTE_MCA_prte_pmix_tool_support"] = tool_support
    line = launch.command_line(resolved, "/bin/true", [], launch.Geometry.of(resolved, 2))
    done = subprocess.run(
        ["bash", "-c", AFTER_A_KILLED_ONE, "launcher", *line],
        env=os.environ | launch.search_paths(resolved) | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == status, done.stderr
