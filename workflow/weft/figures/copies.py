"""Copies between devices: pair matrices, curves against size, and every way of copying at the largest
size.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from weft.figures.axes import SOFTWARE
from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws
from weft.figures.measures import BANDWIDTH, TIME
from weft.figures.pairs import efficiency_matrix, pair_matrices, pair_order
from weft.figures.strips import ways
from weft.figures.sweeps import by_size

# What a way of copying is, beside streams and batching.
WAY = ("source", "destination", "direction", "peer_access", "engine", "operation", *SOFTWARE)


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Copies by one stream, enqueued one by one, as far as a source says how."""
    for axis, usual in (("streams", 1), ("batching", "stream")):
        if axis in frame:
            frame = frame[frame[axis].isna() | (frame[axis] == usual)]
    return frame


def beside(frame: pd.DataFrame, axis: str, value: object, other: str, usual: object) -> pd.DataFrame:
    """Rows of those ways and sizes of copying that were measured with this value of the axis too, the other
    axis as usual.
    """
    if axis not in frame:
        return frame.iloc[:0]
    if other in frame:
        frame = frame[frame[other].isna() | (frame[other] == usual)]
    same = [name for name in (*WAY, "size_bytes") if name in frame]
    keys = pd.MultiIndex.from_frame(frame[same].astype(object).fillna(""))
    return frame[keys.isin(keys[(frame[axis] == value).to_numpy(bool)])]


@draws("copy")
def copy_matrices(dataset: Dataset) -> Iterator[Figure]:
    """Bandwidth of every pair, source by destination."""
    frame = (
        plain(dataset.configurations("p2p.copy")) if "p2p.copy" in dataset.benchmarks() else pd.DataFrame()
    )
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
        yield from by_size(
            dataset, "p2p.copy", "p2p_copy_bandwidth", "copy", BANDWIDTH, "Copy bandwidth", keep=plain
        )


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
            keep=plain,
        )


@draws("copy")
def copy_batching(dataset: Dataset) -> Iterator[Figure]:
    """Time against size, one by one beside batches that are graphs."""
    if "p2p.copy" in dataset.benchmarks() and "batching" in dataset.configurations("p2p.copy"):
        yield from by_size(
            dataset,
            "p2p.copy",
            "p2p_copy_batching",
            "copy",
            TIME,
            "Copy time, one by one and as a graph",
            first=("batching",),
            log_y=True,
            limits=False,
            best=False,
            keep=lambda frame: beside(frame, "batching", "graph", "streams", 1),
        )


@draws("copy")
def copy_streams(dataset: Dataset) -> Iterator[Figure]:
    """Bandwidth against size by the number of streams that share the payload."""
    if "p2p.copy" in dataset.benchmarks() and "streams" in dataset.configurations("p2p.copy"):
        most = dataset.configurations("p2p.copy")["streams"].max()
        if most > 1:
            yield from by_size(
                dataset,
                "p2p.copy",
                "p2p_copy_streams",
                "copy",
                BANDWIDTH,
                "Copy bandwidth by streams",
                first=("streams",),
                keep=lambda frame: beside(frame, "streams", most, "batching", "stream"),
            )


@draws("copy")
def copy_ways(dataset: Dataset) -> Iterator[Figure]:
    """Every way of copying at the largest size, beside its limit."""
    if "p2p.copy" in dataset.benchmarks():
        frame = plain(dataset.configurations("p2p.copy"))
        yield from ways(
            dataset,
            frame,
            "p2p_copy_ways",
            "copy",
            "Ways of copying",
            BANDWIDTH,
            ("link_class", "direction", "peer_access", "engine", "operation"),
        )
