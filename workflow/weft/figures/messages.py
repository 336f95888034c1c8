"""Messages between ranks: five transports against size, where one overtakes another, and every pair of ranks."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Rectangle

from weft.figures import curves, style
from weft.figures import quantities as q
from weft.figures.axes import label, say, shaped_by, varying
from weft.figures.copies import curve_frame, pair_matrices
from weft.figures.crossovers import crossovers, of_the_best, winners
from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws
from weft.figures.measures import BANDWIDTH, LATENCY, MESSAGE_RATE, Measure
from weft.figures.strips import ways

KINDS = (("pt2pt.latency", LATENCY, "Message latency", True), ("pt2pt.bandwidth", BANDWIDTH, "Message bandwidth", False),
         ("pt2pt.bidirectional_bandwidth", BANDWIDTH, "Bidirectional message bandwidth", False),
         ("pt2pt.message_rate", MESSAGE_RATE, "Message rate", True))  # fmt: skip
TRANSPORTS = ("device, GPUDirect on", "device, GPUDirect off", "pinned, GPUDirect on", "pinned, GPUDirect off",
              "pageable, GPUDirect on", "pageable, GPUDirect off")  # fmt: skip
_COLOURS = dict(zip(TRANSPORTS, (style.DATA[0], style.DATA[5], style.DATA[2], style.DATA[2], style.DATA[1], style.DATA[1]), strict=True))
_DASHES = {name: curves.DASHES[1] for name in TRANSPORTS if name.endswith("off")}


def transports(dataset: Dataset, benchmark: str, measure: Measure) -> tuple[pd.DataFrame, list[str], tuple[str, ...]]:
    """Configurations with columns line (the transport) and panel, the axes of the panels, and what was left out."""
    frame = dataset.configurations(benchmark)
    if measure.column not in frame:
        return frame.iloc[:0], [], ()
    frame, left_out = curve_frame(frame.dropna(subset=[measure.column]))
    rest = varying(frame, ("ranks", "nodes", "chunk"))
    if "ranks" in rest and "pairs" in varying(frame, ("pairs",)):
        rest = ["pairs" if axis == "ranks" else axis for axis in rest]
    return frame.assign(line=label(frame, ["placement", "gpudirect"]), panel=_panels(frame, rest)), rest, left_out


def _panels(frame: pd.DataFrame, rest: list[str]) -> pd.Series:
    if "chunk" not in rest:
        return label(frame, rest)
    chunk = frame["chunk"].astype(object).fillna("none").astype(str)
    return label(frame.assign(chunk=chunk), rest)


@draws("message")
def message_curves(dataset: Dataset) -> Iterator[Figure]:
    """Latency, bandwidth, bidirectional bandwidth and message rate against size, a line a transport."""
    for benchmark, measure, what, log_y in KINDS:
        if benchmark not in dataset.benchmarks():
            continue
        frame, rest, left_out = transports(dataset, benchmark, measure)
        if frame.empty:
            continue
        points = curves.pool(frame, ["panel", "line", "size_bytes"], measure)
        found = crossovers(points, measure.more_is_better)
        best = of_the_best(points, found, measure.more_is_better)
        verticals: dict[str, list[tuple[float, str]]] = {}
        for row in best.itertuples():
            verticals.setdefault(str(row.panel), []).append((row.size_bytes, f"{short(row.faster_above)} overtakes"))
        marks = dataset.runs(benchmark)
        marks = marks[marks[measure.run_column].notna()]
        marks = marks.assign(line=label(marks, ["placement", "gpudirect"]), panel=_panels(marks, rest))
        marks = curves.marks_of(marks, points, measure)
        key = benchmark.replace(".", "_")
        lines = [name for name in TRANSPORTS if name in set(points["line"].astype(str))]
        canvas = curves.draw(curves.Curves(points, marks, measure, {n: _COLOURS[n] for n in lines}, _DASHES, log_y=log_y, verticals=verticals))
        caption = _caption(points, measure, what, best)
        yield Figure(key, "message", f"{what} against size", caption,
                     (*shaped_by(frame, dataset.sampling, ("ranks", "nodes", "window")), "band: within-run interval", "dots: single runs",
                      "dashed: GPUDirect off", "dotted verticals: where the fastest transport changes"),
                     int(frame["runs"].sum()), points, style.svg(canvas, key, f"Curves against size. {caption}"), left_out)  # fmt: skip


def short(transport: str) -> str:
    """A transport in few words, for a mark in the figure."""
    return transport.replace(", GPUDirect", " GDR")


def _caption(points: pd.DataFrame, measure: Measure, what: str, best: pd.DataFrame) -> str:
    at = points["size_bytes"].max() if measure is BANDWIDTH else points["size_bytes"].min()
    here = points[points["size_bytes"] == at].sort_values("value", ascending=not measure.more_is_better)
    first, last = here.iloc[0], here.iloc[-1]
    text = f"{what} at {q.size(at)} is best with {first['line']}: {measure.text(first['value'], first['low'], first['high'])}"
    if len(here) > 1:
        text += f", and worst with {last['line']}: {measure.text(last['value'], last['low'], last['high'])}"
    if len(best):
        row = best.iloc[-1]
        text += (f"; {row['faster_above']} overtakes {row['faster_below']} between {q.size(row['last_size_below_bytes'])} "
                 f"and {q.size(row['first_size_above_bytes'])}")
    return text + "."


@draws("message")
def message_rates(dataset: Dataset) -> Iterator[Figure]:
    """Message rate by number of pairs, at every size where there are too few for curves."""
    if "pt2pt.message_rate" in dataset.benchmarks():
        frame = dataset.configurations("pt2pt.message_rate")
        if frame["size_bytes"].nunique() < 3:
            yield from ways(dataset, frame, "pt2pt_message_rate_ways", "message", "Message rate", MESSAGE_RATE,
                            ("size_bytes", "pairs", "placement", "gpudirect", "chunk"))


@draws("message")
def message_crossovers(dataset: Dataset) -> Iterator[Figure]:
    """Which of two transports is faster at each size."""
    for benchmark, measure, what, _ in KINDS[:3]:
        if benchmark not in dataset.benchmarks():
            continue
        frame, _, left_out = transports(dataset, benchmark, measure)
        if frame.empty:
            continue
        points = curves.pool(frame, ["panel", "line", "size_bytes"], measure)
        first = str(points["panel"].astype(str).iloc[0])
        points = points[points["panel"].astype(str) == first]
        decided = winners(points, measure.more_is_better)
        if decided.empty:
            continue
        found = crossovers(points, measure.more_is_better)
        key = f"{benchmark.replace('.', '_')}_crossovers"
        pairs = decided.groupby(["first", "second"], sort=False).ngroups
        caption = (f"Among {q.plural(pairs, 'pair')} of transports the order changes {q.count(len(found))} times between {q.size(decided['size_bytes'].min())} and "
                   f"{q.size(decided['size_bytes'].max())}; {q.percent((decided['faster'] == 'undecided').mean())} of the comparisons are undecided.")
        note = "points: sizes at which one is faster, its interval apart from the other's" if frame["time_low_s"].notna().any() else (
            "the source gives no intervals: bare values are compared")
        yield Figure(key, "message", f"{what}: which transport is faster", caption, (*shaped_by(frame, dataset.sampling), *([first] if first else []), note),
                     int(frame["runs"].sum()), found, style.svg(_tiles(decided), key, f"Tile chart. {caption}"), left_out)  # fmt: skip


def _tiles(decided: pd.DataFrame) -> Canvas:
    """A row a pair of transports, a tile a size: colour and pattern of the faster one, empty where undecided."""
    pairs = list(decided.groupby(["first", "second"], sort=False).groups)
    sizes = sorted(decided["size_bytes"].unique())
    lines = [n for n in TRANSPORTS if n in {*decided["first"], *decided["second"]}]
    width, left, top = 7.7, 2.75, 0.26 * (1 + (len(lines) > 3)) + 0.04
    height = top + 0.24 * len(pairs) + 0.5
    canvas = Canvas(figsize=(width, height))
    ax = canvas.add_axes((left / width, 0.46 / height, (width - left - 0.25) / width, 0.24 * len(pairs) / height))
    for row, (pair, here) in enumerate(decided.groupby(["first", "second"], sort=False)):
        y = len(pairs) - 1 - row
        for size, faster in zip(here["size_bytes"], here["faster"], strict=True):
            ax.add_patch(_tile(sizes.index(size), y, faster))
        assert pair == pairs[row]
    ax.set_xlim(-0.5, len(sizes) - 0.5)
    ax.set_ylim(-0.5, len(pairs) - 0.5)
    every = -(-len(sizes) // 8)
    ax.set_xticks(range(0, len(sizes), every), [q.size(s).replace(q.NO_BREAK, " ") for s in sizes[::every]])
    ax.set_yticks(range(len(pairs)), [f"{short(a)} – {short(b)}" for a, b in pairs[::-1]], color=style.INK, fontsize=7.4)
    ax.tick_params(length=0)
    ax.grid(False)
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.set_xlabel("size")
    handles = [_tile(0, 0, name) for name in lines] + [_tile(0, 0, "undecided")]
    canvas.legend(handles, [*lines, "undecided"], loc="upper left", ncols=3, bbox_to_anchor=(0.1 / width, 1), borderaxespad=0.2,
                  handlelength=1.1, handleheight=1.0)
    return canvas


def _tile(x: float, y: float, faster: str) -> Rectangle:
    box = (x - 0.44, y - 0.36)
    if faster == "undecided":
        return Rectangle(box, 0.88, 0.72, facecolor=style.NO_DATA, edgecolor=style.NO_DATA, lw=0.8)
    filled = not faster.endswith("off")
    colour = _COLOURS[faster]
    return Rectangle(box, 0.88, 0.72, facecolor=colour if filled else "none", edgecolor=colour, lw=1.2)


@draws("message")
def rank_matrices(dataset: Dataset) -> Iterator[Figure]:
    """Every pair of ranks."""
    for benchmark, measure, what, _ in KINDS[:3]:
        if benchmark not in dataset.benchmarks():
            continue
        frame = dataset.configurations(benchmark)
        if not {"source_rank", "destination_rank"} <= set(frame):
            continue
        most = frame["ranks"].max()
        frame = frame[(frame["ranks"] == most) & frame["source_rank"].notna()]
        if "chunk" in frame:
            frame = frame[frame["chunk"].isna() | (frame["chunk"] == "none")]
        ranks = list(range(int(most)))
        frame = frame[frame["placement"] == ("device" if (frame["placement"] == "device").any() else frame["placement"].iloc[0])] if len(frame) else frame
        frame = frame[frame["gpudirect"] == frame["gpudirect"].max()]
        yield from pair_matrices(dataset, frame, benchmark.replace(".", "_"), "message", ("source_rank", "destination_rank"), measure,
                                 f"{what} ({say('placement', frame['placement'].iloc[0])}, {say('gpudirect', frame['gpudirect'].iloc[0])})"
                                 if len(frame) else what, (ranks, []))  # fmt: skip
