"""Collectives: bus bandwidth and time against size, against the number of participants, in place against
out of place.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from weft.figures import curves, pooling, style
from weft.figures import quantities as q
from weft.figures.axes import SOFTWARE, WORDS, label, say, shaped_by, telling
from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws
from weft.figures.measures import BUS_BANDWIDTH, TIME, Measure

LEAST_ALIGNED = 16
MOST_LINES = 8
WITNESS = "nccl_tests"

# How NCCL runs where nobody asks for another way. A record without such a member is of before there were any.
USUAL = {
    "algorithm": "auto",
    "protocol": "auto",
    "transport": "auto",
    "graph": 0,
    "processes": "one_per_device",
}


def load(dataset: Dataset) -> pd.DataFrame:
    """What load_all gives, as our programs measured it in the usual way."""
    frame = load_all(dataset)
    return frame if frame.empty else usual(frame)


def usual(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of the usual way, without those of the witness."""
    kept = frame["program"] != WITNESS
    for axis, value in USUAL.items():
        if axis in frame:
            kept &= frame[axis].isna() | (frame[axis] == value)
    return frame[kept]


def load_all(dataset: Dataset) -> pd.DataFrame:
    """Configurations of all collectives with columns collective (in words), alignment (bytes, or NaN),
    octave, and layout and software (in words; the latter empty where there is one).

    octave: log2 of the size rounded, because aligned and unaligned counts give sizes that differ a little.
    """
    frames = []
    for benchmark in dataset.benchmarks():
        if benchmark.startswith("collective."):
            operation = benchmark.split(".", 1)[1]
            frames.append(
                dataset.configurations(benchmark).assign(
                    collective=WORDS.get(operation, operation.replace("_", " "))
                )
            )
    if not frames:
        return pd.DataFrame()
    return prepared(pd.concat(frames, ignore_index=True))


def prepared(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the columns of load() that the frame lacks, and in_place, library and nodes."""
    alignment = (
        frame["block_alignment_bytes"] if "block_alignment_bytes" in frame else pd.Series(np.nan, frame.index)
    )
    bytes_known = frame["size_bytes"].where(frame["size_bytes"] > 0)
    place = frame["in_place"] if "in_place" in frame else pd.Series(0, frame.index)
    nodes = frame["nodes"].fillna(1) if "nodes" in frame else pd.Series(1, frame.index)
    a_node = (frame["ranks"] / nodes).round().astype(int)
    layout = np.where(nodes == 1, "one node", [f"{q.plural(count, 'rank')} a node" for count in a_node])
    return frame.assign(
        nodes=nodes,
        layout=layout,
        software=label(frame, telling(frame, SOFTWARE)).astype(str),
        alignment=alignment,
        octave=np.log2(bytes_known).round(),
        in_place=place,
        library=frame["library"].astype(str),
    )


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Out of place where both were measured; aligned counts where there are both and enough of them for a
    curve, and below the least of them what there is.
    """
    groups = [frame["library"], frame["collective"]]
    out = (frame["in_place"] == 0).groupby(groups).transform("any")
    frame = frame[~out | (frame["in_place"] == 0)]
    groups = [frame[axis] for axis in ("library", "software", "collective", "ranks", "nodes")]
    aligned = frame["alignment"] >= LEAST_ALIGNED
    of_aligned = frame["octave"].where(aligned).groupby(groups)
    few = of_aligned.transform("nunique") < 0.8 * frame["octave"].groupby(groups).transform("nunique")
    return frame[few | aligned | (frame["octave"] < of_aligned.transform("min"))]


@draws("collective")
def against_size(dataset: Dataset) -> Iterator[Figure]:
    """Bus bandwidth and time against size: a panel an operation, a line a number of participants and nodes;
    a figure a library.
    """
    everything = load(dataset)
    if everything.empty:
        return
    for library, of_library in plain(everything).groupby("library", sort=True):
        for number, (software, frame) in enumerate(of_library.groupby("software", sort=True)):
            suffix = f"_{number + 1}" if number else ""
            for measure, what, log_y in ((BUS_BANDWIDTH, "Bus bandwidth", False), (TIME, "Time", True)):
                yield from _curves(
                    dataset, frame, (str(library), str(software), suffix), measure, what, log_y
                )


def _curves(
    dataset: Dataset, frame: pd.DataFrame, of: tuple[str, str, str], measure: Measure, what: str, log_y: bool
) -> Iterator[Figure]:
    library, software, suffix = of
    if measure.column not in frame:
        return
    frame = frame.dropna(subset=[measure.column])
    frame = frame.assign(line=label(frame, telling(frame, ("ranks", "nodes"))), panel=frame["collective"])
    if frame["line"].nunique() == 1:
        frame = frame.assign(line=say("ranks", frame["ranks"].iloc[0]))
    enough = frame.groupby(["panel", "line"])["size_bytes"].transform("nunique") >= 3
    few = int((~enough).sum())
    frame = frame[enough]
    if frame.empty:
        return
    every = list(frame.sort_values(["ranks", "nodes"])["line"].astype(str).unique())
    lines = [
        every[i]
        for i in np.unique(np.linspace(0, len(every) - 1, min(len(every), MOST_LINES)).round().astype(int))
    ]
    frame = frame[frame["line"].isin(lines)]
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
            log_y=log_y,
            columns=3,
            panel_height=1.85,
            limits=not log_y,
        )
    )
    name = f"collective_{library}_{'bus_bandwidth' if measure is BUS_BANDWIDTH else 'time'}{suffix}"
    end, place = ("max", "largest") if measure.more_is_better else ("min", "smallest")
    ends = points.groupby(["panel", "line"], observed=True)["size_bytes"].transform(end)
    at = points["size_bytes"].agg(end)
    here = points[points["size_bytes"] == ends].sort_values("value", ascending=False)
    first, last = here.iloc[0], here.iloc[-1]
    caption = (
        f"{what} of {WORDS.get(library, library)} collectives at the {place} size, about "
        f"{q.size(at)}, lies between "
        f"{measure.text(last['value'], last['low'], last['high'])} ({last['panel']}, {last['line']}) and "
        f"{measure.text(first['value'], first['low'], first['high'])} ({first['panel']}, {first['line']})."
    )
    left = (
        (f"{q.plural(few, 'configuration')} of operations measured at fewer than three sizes",) if few else ()
    )
    if len(every) > len(lines):
        left += (f"{len(every) - len(lines)} numbers of participants between: they are in table.parquet",)
    yield Figure(
        name,
        "collective",
        f"{WORDS.get(library, library)} collectives{f' {software}' if software else ''}: "
        f"{what.lower()} against size",
        caption,
        (
            *shaped_by(frame, dataset.sampling, ("in_place", "datatype", "reduction", "layout")),
            "band: within-run interval",
            "dots: least and greatest run",
        ),
        int(frame["runs"].sum()),
        points,
        style.svg(canvas, name, f"Curves against size. {caption}"),
        left,
        wide=False,
    )
