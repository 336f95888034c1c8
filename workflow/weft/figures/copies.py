"""Copies between devices: pair matrices, curves against size, and every way of copying at the largest
size.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws
from weft.figures.measures import BANDWIDTH, TIME
from weft.figures.pairs import efficiency_matrix, pair_matrices, pair_order
from weft.figures.strips import ways
from weft.figures.sweeps import by_size


@draws("copy")
def copy_matrices(dataset: Dataset) -> Iterator[Figure]:
    """Bandwidth of every pair, source by destination."""
    frame = dataset.configurations("p2p.copy") if "p2p.copy" in dataset.benchmarks() else pd.DataFrame()
    if frame.empty or not {"source", "destination"} <= set(frame):
        return
    here = frame.dropna(subset=["source", "destination"])
    if here.empty:
        return
    order = pair_order(dataset, sorted({*here["source"].astype(int), *here["destination"].astype(int)}))
    local = here["source"] == here["destination"]
    yield from pair_matrices(
        dataset,
        here[~local],
        "p2p_copy",
        "copy",
        ("source", "destination"),
        BANDWIDTH,
        "Copy bandwidth",
        order,
    )
    yield from efficiency_matrix(dataset, here[~local], order)


@draws("copy")
def copy_bandwidth(dataset: Dataset) -> Iterator[Figure]:
    """Bandwidth against size by link class."""
    if "p2p.copy" in dataset.benchmarks():
        yield from by_size(dataset, "p2p.copy", "p2p_copy_bandwidth", "copy", BANDWIDTH, "Copy bandwidth")


@draws("copy")
def copy_time(dataset: Dataset) -> Iterator[Figure]:
    """Time against size by link class: the small sizes, which bandwidth hides."""
    if "p2p.copy" in dataset.benchmarks():
        yield from by_size(
            dataset,
            "p2p.copy",
            "p2p_copy_time",
            "copy",
            TIME,
            "Copy time",
            log_y=True,
            limits=False,
            best=False,
        )


@draws("copy")
def copy_ways(dataset: Dataset) -> Iterator[Figure]:
    """Every way of copying at the largest size, beside its limit."""
    if "p2p.copy" in dataset.benchmarks():
        frame = dataset.configurations("p2p.copy")
        yield from ways(
            dataset,
            frame,
            "p2p_copy_ways",
            "copy",
            "Ways of copying",
            BANDWIDTH,
            ("link_class", "direction", "peer_access", "engine", "operation"),
        )
