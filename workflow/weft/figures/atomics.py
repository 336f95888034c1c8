"""Remote atomics: rate by what the threads add to and whether they want the result, and every pair."""

from __future__ import annotations

from collections.abc import Iterator

from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws
from weft.figures.measures import ATOMICS
from weft.figures.strips import ways


@draws("atomics")
def atomics(dataset: Dataset) -> Iterator[Figure]:
    """The rate of every way of adding, over all pairs."""
    if "p2p.atomics" in dataset.benchmarks():
        yield from ways(
            dataset,
            dataset.configurations("p2p.atomics"),
            "p2p_atomics_ways",
            "atomics",
            "Rate of remote atomics",
            ATOMICS,
            ("address", "result", "link_class"),
        )
