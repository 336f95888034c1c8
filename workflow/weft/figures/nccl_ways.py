"""The ways to run NCCL: algorithm, protocol, transport, CUDA graph, processes."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from weft.figures import collectives, curves, pooling, style
from weft.figures import quantities as q
from weft.figures.axes import WORDS, say, shaped_by
from weft.figures.collective_ratios import ratios
from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws
from weft.figures.measures import BUS_BANDWIDTH, TIME, Measure

LARGEST_SMALL_BYTES = 64 * 1024
_PLAIN = "NCCL's choice"
_LAUNCH = ("graph", "processes")


def load(dataset: Dataset) -> pd.DataFrame:
    """Configurations of NCCL on one node by our program, out of place, with the column way: in words, what is
    not usual; in their number of ranks that has most ways.
    """
    frame = collectives.load_all(dataset)
    if frame.empty or "algorithm" not in frame:
        return pd.DataFrame()
    frame = frame[
        (frame["program"] != collectives.WITNESS)
        & frame["algorithm"].notna()
        & (frame["nodes"] == 1)
        & (frame["in_place"] == 0)
    ]
    if frame.empty:
        return frame
    frame = frame.assign(way=_ways(frame))
    most = frame.groupby("ranks")["way"].nunique().sort_index().iloc[::-1].idxmax()
    frame = frame[frame["ranks"] == most]
    aligned = frame["alignment"] >= collectives.LEAST_ALIGNED
    least = frame["octave"].where(aligned).groupby(frame["collective"]).transform("min")
    return frame[aligned | ~(frame["octave"] >= least)]


def _ways(frame: pd.DataFrame) -> list[str]:
    found = []
    for row in frame[list(collectives.USUAL)].astype(object).itertuples(index=False):
        values = dict(zip(collectives.USUAL, row, strict=True))
        unusual = [axis for axis, value in values.items() if value != collectives.USUAL[axis]]
        words = [
            "CUDA graph" if axis == "graph" else WORDS.get(str(values[axis]), str(values[axis]))
            for axis in unusual
        ]
        found.append(", ".join(words) or _PLAIN)
    return found


@draws("collective")
def bus_bandwidth(dataset: Dataset) -> Iterator[Figure]:
    """Bus bandwidth over size, a line a way, a panel an operation."""
    frame = load(dataset)
    if frame.empty or BUS_BANDWIDTH.column not in frame:
        return
    yield from _figure(
        dataset,
        frame,
        BUS_BANDWIDTH,
        "collective_nccl_ways",
        "Ways to run NCCL: bus bandwidth against size",
    )


@draws("collective")
def small_sizes(dataset: Dataset) -> Iterator[Figure]:
    """Time of small sizes: operations launched one by one, or as a graph; by a process a device, or one."""
    frame = load(dataset)
    if frame.empty:
        return
    others = [axis for axis in collectives.USUAL if axis not in _LAUNCH]
    kept = frame["size_bytes"] <= LARGEST_SMALL_BYTES
    for axis in others:
        kept &= frame[axis] == collectives.USUAL[axis]
    yield from _figure(
        dataset,
        frame[kept].assign(way=frame["way"].replace(_PLAIN, "launched one by one")),
        TIME,
        "collective_nccl_small",
        "Small sizes by NCCL: launched one by one or as a CUDA graph",
    )


@draws("collective")
def ring_against_tree(dataset: Dataset) -> Iterator[Figure]:
    """Time by ring over that by tree."""
    frame = collectives.load_all(dataset)
    if frame.empty or "algorithm" not in frame:
        return
    chosen = frame["algorithm"].isin(["ring", "tree"])
    frame = frame[chosen & (frame["program"] != collectives.WITNESS)]
    index = [
        *("library", "software", "collective", "ranks", "nodes", "size_bytes", "in_place"),
        *(axis for axis in collectives.USUAL if axis != "algorithm"),
    ]
    both = frame.assign(algorithm=frame["algorithm"].astype(str))
    both = both.pivot_table(index=index, columns="algorithm", values="time_s", observed=True).dropna()
    if both.empty or both.shape[1] < 2:
        return
    yield from ratios(
        dataset,
        frame,
        (both["ring"] / both["tree"]).rename("ring_over_tree").reset_index(),
        "ring_over_tree",
        "collective_nccl_ring_tree",
        "NCCL's ring against its tree",
        "The ring takes a median of {} of the time of the tree ({}: {} to {}).",
        "time of ring / time of tree",
    )


def _figure(
    dataset: Dataset, frame: pd.DataFrame, measure: Measure, key: str, title: str
) -> Iterator[Figure]:
    """Nothing where no operation has two ways at two sizes or more."""
    frame = frame.dropna(subset=[measure.column]).assign(
        panel=lambda f: f["collective"], line=lambda f: f["way"]
    )
    sizes = frame.groupby(["panel", "line"])["size_bytes"].transform("nunique")
    frame = frame[sizes > 1]
    frame = frame[frame.groupby("panel")["line"].transform("nunique") > 1]
    if frame.empty:
        return
    lines = sorted(frame["line"].unique(), key=lambda way: (way != _PLAIN, "," in way, way))
    points = pooling.pool(frame, ["panel", "line", "size_bytes"], measure)
    ends = [measure.companion("run_min"), measure.companion("run_max")]
    marks = frame[["panel", "line", "size_bytes", *ends]].melt(
        ["panel", "line", "size_bytes"], ends, value_name=measure.run_column
    )
    canvas = curves.draw(
        curves.Curves(
            points,
            marks,
            measure,
            dict(zip(lines, style.DATA * 9, strict=False)),
            limits=measure.more_is_better,
        )
    )
    at = points["size_bytes"].max() if measure.more_is_better else points["size_bytes"].min()
    here = points[points["size_bytes"] == at].sort_values("value", ascending=not measure.more_is_better)
    first, last = here.iloc[0], here.iloc[-1]
    ranks = say("ranks", frame["ranks"].iloc[0])
    caption = (
        f"At {q.size(at)} on {ranks}, {measure.name} runs from "
        f"{measure.text(first['value'], first['low'], first['high'])} ({first['panel']}, {first['line']}) to "
        f"{measure.text(last['value'], last['low'], last['high'])} ({last['panel']}, {last['line']})."
    )
    yield Figure(
        key,
        "collective",
        title,
        caption,
        (
            ranks,
            *shaped_by(frame, dataset.sampling, ("datatype", "reduction")),
            "dots: least and greatest run",
        ),
        int(frame["runs"].sum()),
        points,
        style.svg(canvas, key, f"Curves against size. {caption}"),
    )
