"""Fan-out: one to all, all to one, all pairs at once; the bandwidth is the sum over all transfers."""

from __future__ import annotations

from collections.abc import Iterator

from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws
from weft.figures.measures import BANDWIDTH
from weft.figures.strips import ways
from weft.figures.sweeps import by_size


@draws("fanout")
def fanout_bandwidth(dataset: Dataset) -> Iterator[Figure]:
    """Sum bandwidth against size, a line a pattern."""
    if "p2p.fanout" in dataset.benchmarks():
        yield from by_size(
            dataset,
            "p2p.fanout",
            "p2p_fanout_bandwidth",
            "fanout",
            BANDWIDTH,
            "Sum bandwidth of a fan-out",
            line_axes=("pattern", "engine", "operation"),
            first=("pattern",),
        )


@draws("fanout")
def fanout_ways(dataset: Dataset) -> Iterator[Figure]:
    """Every pattern and root at the largest size."""
    if "p2p.fanout" in dataset.benchmarks():
        frame = dataset.configurations("p2p.fanout")
        # all_pairs has no root: every device it names as one stands for the same transfers
        yield from ways(
            dataset,
            frame,
            "p2p_fanout_ways",
            "fanout",
            "Patterns of a fan-out by root",
            BANDWIDTH,
            ("pattern", "device", "peer_access", "engine", "operation"),
        )
