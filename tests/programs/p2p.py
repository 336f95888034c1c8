"""Short runs of the program p2p on the host backend."""

import pytest

from programs.records import Record, Result, run_program

QUICK = "--min-samples 3 --budget-s 0.005"


def p2p(benchmark: str, arguments: str, *, status: int = 0) -> Result:
    """Run one benchmark with few samples and return what it left, after a look at the exit status."""
    words = f"--quiet --benchmarks {benchmark} {QUICK} {arguments}".split()
    result = run_program("p2p", *words)
    assert result.status == status, result.stderr
    return result


def points(records: list[Record], axes: str) -> list[tuple[object, ...]]:
    """The values of the axes, in the order of the records."""
    return [tuple(record[axis] for axis in axes.split()) for record in records]


def assert_bandwidth(record: Record, transfers: int = 1) -> None:
    """The bandwidth is the payload of all transfers over the median time."""
    expected = transfers * record["size_bytes"] / record["time_s"]["median"]
    assert record["bandwidth_bytes_per_s"] == pytest.approx(expected)


ONE_OF_EACH = {
    "copy": "--pairs 0:1 --peer-access on --engines kernel --sizes 5",
    "latency": "--pairs 0:1 --peer-access on",
    "host": "--devices 1 --sizes 4KiB",
    "route": "--pairs 0:1 --via 2 --sizes 128KiB",
    "fanout": "--devices 0,1 --sizes 64",
    "atomics": "--pairs 0:1",
}
