"""Host links: pinned and pageable memory, each direction, against size and by device."""

from __future__ import annotations

from collections.abc import Iterator

from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws
from weft.figures.measures import BANDWIDTH, TIME
from weft.figures.strips import ways
from weft.figures.sweeps import by_size


@draws("host")
def host_bandwidth(dataset: Dataset) -> Iterator[Figure]:
    """Bandwidth and time against size, one line a kind of memory, one panel a direction."""
    if "p2p.host" not in dataset.benchmarks():
        return
    yield from by_size(
        dataset,
        "p2p.host",
        "p2p_host_bandwidth",
        "host",
        BANDWIDTH,
        "Host link bandwidth",
        line_axes=("memory", "engine", "pattern"),
        first=("memory", "link_class", "pattern"),
    )
    yield from by_size(
        dataset,
        "p2p.host",
        "p2p_host_time",
        "host",
        TIME,
        "Host link time",
        log_y=True,
        limits=False,
        best=False,
        line_axes=("memory", "engine", "pattern"),
        first=("memory", "link_class", "pattern"),
    )


@draws("host")
def host_ways(dataset: Dataset) -> Iterator[Figure]:
    """Every device at the largest size at which all were measured."""
    if "p2p.host" in dataset.benchmarks():
        yield from ways(
            dataset,
            dataset.configurations("p2p.host"),
            "p2p_host_ways",
            "host",
            "Host links by device",
            BANDWIDTH,
            ("pattern", "device", "direction", "memory", "engine", "link_class"),
        )
