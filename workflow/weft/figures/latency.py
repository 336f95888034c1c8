"""Latency between devices: every pair, and every way of taking it."""

from __future__ import annotations

from collections.abc import Iterator

from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws
from weft.figures.measures import TIME
from weft.figures.pairs import pair_matrices, pair_order
from weft.figures.strips import ways


@draws("latency")
def latency(dataset: Dataset) -> Iterator[Figure]:
    """Latency of every pair, and by link class and method."""
    if "p2p.latency" not in dataset.benchmarks():
        return
    frame = dataset.configurations("p2p.latency")
    frame = frame[frame["source"] != frame["destination"]]
    if frame.empty:
        return
    order = pair_order(dataset, sorted({*frame["source"].astype(int), *frame["destination"].astype(int)}))
    yield from pair_matrices(
        dataset, frame, "p2p_latency", "latency", ("source", "destination"), TIME, "Latency", order
    )
    yield from ways(
        dataset,
        frame,
        "p2p_latency_ways",
        "latency",
        "Ways of taking latency",
        TIME,
        ("link_class", "method", "batching", "peer_access", "operation", "size_bytes"),
    )
