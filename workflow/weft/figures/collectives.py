"""Collectives: bus bandwidth and time against size, against the number of participants, in place against
out of place.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

from weft.figures import curves, pooling, style
from weft.figures import quantities as q
from weft.figures.axes import SOFTWARE, WORDS, describe, label, say, shaped_by, telling
from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws
from weft.figures.measures import BUS_BANDWIDTH, TIME, Measure, unit_of

LEAST_ALIGNED = 16
MOST_LINES = 8


def load(dataset: Dataset) -> pd.DataFrame:
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
    curve.
    """
    groups = [frame["library"], frame["collective"]]
    out = (frame["in_place"] == 0).groupby(groups).transform("any")
    frame = frame[~out | (frame["in_place"] == 0)]
    groups = [frame[axis] for axis in ("library", "software", "collective", "ranks", "nodes")]
    aligned = frame["alignment"] >= LEAST_ALIGNED
    sizes = frame["octave"].where(aligned).groupby(groups).transform("nunique")
    return frame[(sizes < 0.8 * frame["octave"].groupby(groups).transform("nunique")) | aligned]


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


@draws("collective")
def against_participants(dataset: Dataset) -> Iterator[Figure]:
    """Bus bandwidth against the participants of one node, aligned and unaligned blocks told apart."""
    frame = load(dataset)
    if frame.empty or BUS_BANDWIDTH.column not in frame:
        return
    frame = frame[frame["nodes"] == 1].dropna(subset=[BUS_BANDWIDTH.column])
    frame = frame[frame["in_place"] == frame.groupby(["library", "collective"])["in_place"].transform("min")]
    spans = frame.groupby("octave")[["ranks"]].nunique()["ranks"]
    if spans.empty or spans.max() < 2:
        return
    octave = spans[spans == spans.max()].index.max()
    frame = frame[frame["octave"] == octave]
    frame = frame.assign(
        blocks=np.where(
            frame["alignment"] >= LEAST_ALIGNED,
            "aligned",
            np.where(frame["alignment"].notna(), "unaligned", "unknown"),
        )
    )
    points = pooling.pool(
        frame.assign(panel=frame["collective"], line=label(frame, ["library", *telling(frame, SOFTWARE)])),
        ["panel", "line", "ranks", "blocks"],
        BUS_BANDWIDTH,
    )
    size = q.size(2.0**octave)
    caption = _participants_caption(points, size)
    yield Figure(
        "collective_participants",
        "collective",
        "Bus bandwidth against the number of participants",
        caption,
        (
            f"{size} (sizes rounded to a power of two)",
            *describe(frame, ("in_place", "datatype", "reduction")),
            "filled: blocks of a multiple of 16 bytes",
            "open: smaller alignment",
        ),
        int(frame["runs"].sum()),
        points,
        style.svg(_participants(points), "collective_participants", f"Dot and line chart. {caption}"),
    )


def _participants_caption(points: pd.DataFrame, size: str) -> str:
    both = points.pivot_table(
        index=["panel", "line", "ranks"], columns="blocks", values="value", observed=True
    )
    if {"aligned", "unaligned"} <= set(both):
        ratio = (both["unaligned"] / both["aligned"]).dropna()
        if len(ratio):
            return (
                f"At {size}, unaligned blocks reach a median of {q.percent(ratio.median())} of the bus "
                f"bandwidth of aligned ones; "
                f"the lowest is {ratio.idxmin()[0]} on {say('ranks', ratio.idxmin()[2])} with "
                f"{q.percent(ratio.min())}."
            )
    best, worst = points.loc[points["value"].idxmax()], points.loc[points["value"].idxmin()]
    return (
        f"At {size}, bus bandwidth runs from "
        f"{BUS_BANDWIDTH.text(worst['value'], worst['low'], worst['high'])} ({worst['panel']}, "
        f"{say('ranks', worst['ranks'])}) to "
        f"{BUS_BANDWIDTH.text(best['value'], best['low'], best['high'])} ({best['panel']}, "
        f"{say('ranks', best['ranks'])})."
    )


def _participants(points: pd.DataFrame) -> Canvas:
    panels, libraries = sorted(points["panel"].unique()), sorted(points["line"].astype(str).unique())
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    width, height = 7.7, 0.5 + rows * 1.85 + (rows - 1) * 0.3
    canvas = Canvas(figsize=(width, height))
    grid = canvas.subplots(rows, columns, squeeze=False, sharex=True)
    scale, unit = unit_of(BUS_BANDWIDTH, points["value"])
    top = float(points["max"].max()) / scale
    for position, ax in enumerate(grid.ravel()):
        if position >= len(panels):
            ax.set_visible(False)
            continue
        here = points[points["panel"] == panels[position]]
        for colour, library in zip(style.DATA, libraries, strict=False):
            of = here[here["line"] == library].sort_values("ranks")
            best = of.groupby("ranks", as_index=False)["value"].max()
            ax.plot(best["ranks"], best["value"] / scale, color=colour, lw=1, alpha=0.6)
            for blocks, face in (("aligned", colour), ("unknown", colour), ("unaligned", style.SURFACE)):
                these = of[of["blocks"] == blocks]
                ax.vlines(
                    these["ranks"],
                    these["min"] / scale,
                    these["max"] / scale,
                    color=colour,
                    lw=1.2,
                    alpha=0.5,
                )
                ax.plot(these["ranks"], these["value"] / scale, "o", color=colour, mfc=face, mew=1.1, ms=4.4)
        ax.set_title(panels[position])
        ax.set_ylim(0, top * 1.1)
        ax.set_xticks(sorted(points["ranks"].unique()))
        ax.tick_params(labelbottom=position + columns >= len(panels), labelleft=position % columns == 0)
        if position + columns >= len(panels):
            ax.set_xlabel("participants")
        if position % columns == 0:
            ax.set_ylabel(f"bus bandwidth, {unit}")
    canvas.subplots_adjust(
        left=0.62 / width,
        right=1 - 0.12 / width,
        top=1 - 0.52 / height,
        bottom=0.46 / height,
        wspace=0.1,
        hspace=0.24,
    )
    handles = [
        grid[0, 0].plot([], [], "o-", color=c, mew=1.1, ms=4.4)[0]
        for c, _ in zip(style.DATA, libraries, strict=False)
    ]
    handles += [
        grid[0, 0].plot([], [], "o", color=style.MUTED, mfc=face, mew=1.1, ms=4.4)[0]
        for face in (style.MUTED, style.SURFACE)
    ]
    names = [*libraries, "aligned blocks", "unaligned blocks"]
    canvas.legend(
        handles,
        names,
        loc="upper left",
        ncols=len(names),
        bbox_to_anchor=(0.62 / width, 1),
        borderaxespad=0.1,
    )
    return canvas
