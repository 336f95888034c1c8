"""The campaign `tiny` of the tests of the workflow: its jobs and its processes."""

import json
from pathlib import Path

ALL = [
    "collective_mpi/sweep.ranks2.repeat0", "collective_mpi/sweep.ranks2.repeat1",
    "collective_mpi/sweep.ranks3.repeat0", "collective_mpi/sweep.ranks3.repeat1",
    "p2p_copy/sweep.repeat0", "p2p_copy/sweep.repeat1", "p2p_host/sweep.repeat0", "p2p_host/sweep.repeat1",
    "pt2pt_latency/sweep.ranks2.gpudirect-off.repeat0", "pt2pt_latency/sweep.ranks2.gpudirect-off.repeat1",
    "pt2pt_latency/sweep.ranks2.gpudirect-on.repeat0", "pt2pt_latency/sweep.ranks2.gpudirect-on.repeat1",
    "topology/repeat0",
]  # fmt: skip

RESULTS = "results/tiny/tiny"


def is_whole(record: Path) -> bool:
    return json.loads(record.read_text().splitlines()[-1])["record"] == "end"


def processes_of(checkout) -> list[int]:
    """Every process that runs in the checkout or was started from there."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cwd").readlink() == checkout.folder:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""
