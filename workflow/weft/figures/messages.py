"""Messages between ranks: five transports against size, message rates, and every pair of ranks."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from weft.figures import curves, pooling, style, transports
from weft.figures import quantities as q
from weft.figures.axes import say, shaped_by
from weft.figures.crossovers import crossovers, of_the_best
from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws
from weft.figures.measures import BANDWIDTH, MESSAGE_RATE, Measure
from weft.figures.pairs import pair_matrices
from weft.figures.strips import ways
from weft.figures.transports import KINDS, TRANSPORTS, short


@draws("message")
def message_curves(dataset: Dataset) -> Iterator[Figure]:
    """Latency, bandwidth, bidirectional bandwidth and message rate against size, a line a transport."""
    for benchmark, measure, what, log_y in KINDS:
        if benchmark not in dataset.benchmarks():
            continue
        frame, rest, left_out = transports.load(dataset, benchmark, measure)
        if frame.empty:
            continue
        points = pooling.pool(frame, ["panel", "line", "size_bytes"], measure)
        found = crossovers(points, measure.more_is_better)
        best = of_the_best(points, found, measure.more_is_better)
        verticals: dict[str, list[tuple[float, str]]] = {}
        for row in best.itertuples():
            verticals.setdefault(str(row.panel), []).append(
                (row.size_bytes, f"{short(row.faster_above)} overtakes")
            )
        marks = transports.marks(dataset, benchmark, measure, frame, rest)
        marks = pooling.marks_of(marks, points, measure)
        key = benchmark.replace(".", "_")
        lines = [name for name in TRANSPORTS if name in set(points["line"].astype(str))]
        canvas = curves.draw(
            curves.Curves(
                points,
                marks,
                measure,
                {n: transports.COLOURS[n] for n in lines},
                transports.DASHES,
                log_y=log_y,
                verticals=verticals,
            )
        )
        caption = _caption(points, measure, what, best)
        yield Figure(
            key,
            "message",
            f"{what} against size",
            caption,
            (
                *shaped_by(frame, dataset.sampling, ("ranks", "nodes", "window")),
                "band: within-run interval",
                "dots: single runs",
                "dashed: GPUDirect off",
                "dotted verticals: where the fastest transport changes",
            ),
            int(frame["runs"].sum()),
            points,
            style.svg(canvas, key, f"Curves against size. {caption}"),
            left_out,
        )


def _caption(points: pd.DataFrame, measure: Measure, what: str, best: pd.DataFrame) -> str:
    """The best and the worst transport of the first and the last panel, and where the best one changes."""
    at = points["size_bytes"].max() if measure is BANDWIDTH else points["size_bytes"].min()
    here = points[points["size_bytes"] == at]
    panels = list(dict.fromkeys(here["panel"].astype(str)))
    sentences = [
        _ends(here[here["panel"].astype(str) == panel], measure, panel)
        for panel in dict.fromkeys(panels[:1] + panels[-1:])
    ]
    text = f"{what} at {q.size(at)} is best with " + "; ".join(sentences)
    if len(best):
        row = best.iloc[-1]
        text += (
            f"; {row['faster_above']} overtakes {row['faster_below']} between "
            f"{q.size(row['last_size_below_bytes'])} "
            f"and {q.size(row['first_size_above_bytes'])}"
        )
    return text + "."


def _ends(here: pd.DataFrame, measure: Measure, panel: str) -> str:
    here = here.sort_values("value", ascending=not measure.more_is_better)
    first, last = here.iloc[0], here.iloc[-1]
    text = f"{first['line']}: {measure.text(first['value'], first['low'], first['high'])}"
    if len(here) > 1:
        text += f", and worst with {last['line']}: {measure.text(last['value'], last['low'], last['high'])}"
    return text + (f" ({panel})" if panel else "")


@draws("message")
def message_rates(dataset: Dataset) -> Iterator[Figure]:
    """Message rate by number of pairs, at every size where there are too few for curves."""
    if "pt2pt.message_rate" in dataset.benchmarks():
        frame = dataset.configurations("pt2pt.message_rate")
        if frame["size_bytes"].nunique() < 3:
            yield from ways(
                dataset,
                frame,
                "pt2pt_message_rate_ways",
                "message",
                "Message rate",
                MESSAGE_RATE,
                ("size_bytes", "pairs", "placement", "gpudirect", "chunk"),
            )


@draws("message")
def rank_matrices(dataset: Dataset) -> Iterator[Figure]:
    """Every pair of ranks of one node; pairs of nodes are in nodes.py."""
    for benchmark, measure, what, _ in KINDS[:3]:
        if benchmark not in dataset.benchmarks():
            continue
        frame = dataset.configurations(benchmark)
        if not {"source_rank", "destination_rank"} <= set(frame):
            continue
        frame = frame[frame["source_rank"].notna()]
        if "nodes" in frame:
            frame = frame[frame["nodes"].isna() | (frame["nodes"] == 1)]
        if "chunk" in frame:
            frame = frame[frame["chunk"].isna() | (frame["chunk"] == "none")]
        if frame.empty:
            continue
        frame = frame[frame["ranks"] == frame["ranks"].max()]
        ranks = list(range(int(frame["ranks"].max())))
        of_device = frame["placement"] == "device"
        frame = frame[of_device if of_device.any() else frame["placement"] == frame["placement"].iloc[0]]
        frame = frame[frame["gpudirect"] == frame["gpudirect"].max()]
        yield from pair_matrices(
            dataset,
            frame,
            benchmark.replace(".", "_"),
            "message",
            ("source_rank", "destination_rank"),
            measure,
            f"{what} ({say('placement', frame['placement'].iloc[0])}, "
            f"{say('gpudirect', frame['gpudirect'].iloc[0])})",
            (ranks, []),
        )
