"""Copies between devices: pair matrices, curves against size, and every way of copying at the largest size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from weft.figures import curves, matrix, style
from weft.figures import quantities as q
from weft.figures.axes import class_colours, class_key, label, say, shaped_by, varying
from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws
from weft.figures.measures import BANDWIDTH, TIME, Measure, unit_of

METHOD = ("engine", "operation", "method", "peer_access")
PANEL = ("direction", "peer_access", "engine", "operation", "method")
MOST_PANELS = 8


def pair_order(dataset: Dataset, endpoints: list[int]) -> tuple[list[int], list[int]]:
    """Devices in the order of the matrices, near ones together, and where the groups begin."""
    classes = {(link["source"], link["destination"]): link.get("pcie_class") or link.get("link_class")
               for link in dataset.metadata.get("links", [])}  # fmt: skip
    count = max(endpoints) + 1
    order, starts = matrix.near_first(count, {pair: name for pair, name in classes.items() if name})
    position = {start: order[start] for start in starts}
    kept = [endpoint for endpoint in order if endpoint in set(endpoints)]
    return kept, [kept.index(d) for d in position.values() if d in kept and kept.index(d) > 0]


def matrix_sizes(frame: pd.DataFrame, pair: tuple[str, str]) -> list[int]:
    """Sizes at which most pairs were measured: the largest, and one from the middle of the sweep."""
    pairs = frame.drop_duplicates([*pair, "size_bytes"]).groupby("size_bytes").size()
    if pairs.empty or pairs.max() < 3:
        return []
    sizes = sorted(pairs[pairs >= 0.8 * pairs.max()].index)
    powers = [s for s in sizes if (int(s) & (int(s) - 1)) == 0] or sizes
    middle = min(powers, key=lambda s: abs(np.log2(s) - 17))
    return list(dict.fromkeys([powers[-1], middle]))


def pair_matrices(dataset: Dataset, frame: pd.DataFrame, key: str, subject: str, pair: tuple[str, str],
                  measure: Measure, what: str, order: tuple[list[int], list[int]]) -> Iterator[Figure]:
    """One figure a chosen size: a matrix for every direction, engine, operation and peer access measured."""
    frame = frame.dropna(subset=list(pair))
    for size in matrix_sizes(frame, pair):
        here = frame[frame["size_bytes"] == size]
        kinds = label(here, [a for a in PANEL if a in here])
        here = here[here.groupby(kinds, observed=True)[measure.column].transform("size") > 2]
        name = f"{key}_matrix_{q.size(size).replace(q.NO_BREAK, '')}".lower()
        title = f"{what}, {q.size(size)}: every pair"
        axes = varying(here, PANEL)
        if label(here, axes).nunique() <= MOST_PANELS:
            parts = [("", here)]
        else:  # a figure for each value of the first axis
            parts = [(str(value), part) for value, part in here.groupby(axes[0], observed=True, sort=True)]
        for value, part in parts:
            if len(part):
                yield _matrix_figure(dataset, part, f"{name}_{value}" if value else name, subject, pair, measure, what,
                                     f"{title}, {say(axes[0], value)}" if value else title, order)
        if len(parts) > 1:
            break


def _matrix_figure(dataset: Dataset, here: pd.DataFrame, name: str, subject: str, pair: tuple[str, str], measure: Measure,
                   what: str, title: str, order: tuple[list[int], list[int]]) -> Figure:
    split = varying(here, PANEL)
    panel_of = label(here, split)
    named = list(panel_of.cat.categories)[:MOST_PANELS]
    scale, unit = unit_of(measure, here[measure.column])
    panels = [matrix.panel(one, here[panel_of == one], *pair, measure.column, scale, order[0], "link_class") for one in named]
    shown = here[panel_of.isin(named)]
    off = shown[shown[pair[0]] != shown[pair[1]]]
    best, worst = (off.loc[off[measure.column].agg(how)] for how in ("idxmax", "idxmin"))
    caption = (f"{what} of {q.size(here['size_bytes'].iloc[0])} over {q.plural(off.drop_duplicates(list(pair)).shape[0], 'pair')} "
               f"reaches from {_cell(worst, measure)} ({_where(worst, pair, split)}) to {_cell(best, measure)} "
               f"({_where(best, pair, split)}).")  # fmt: skip
    canvas = matrix.draw(panels, order[0], order[1], f"{measure.name}, {unit}",
                         (pair[0].replace("_", " "), pair[1].replace("_", " ")))
    further = len(panel_of.cat.categories) - len(named)
    left_out = (f"{further} further combinations have no room here; they are in the table",) if further else ()
    return Figure(name, subject, title, caption, shaped_by(shown, dataset.sampling, [*PANEL, "placement", "ranks"]),
                  int(shown["runs"].sum()), _numbers(shown, pair, split, measure),
                  style.svg(canvas, name, f"Heat map. {caption} {matrix_text(panels, order[0], unit)}"), left_out, wide=True)


def matrix_text(panels: list[matrix.Panel], labels: list[int], unit: str) -> str:
    """The first matrix read aloud, where it is small enough to listen to."""
    if len(labels) > 4:
        return "The numbers of every pair are in the CSV."
    first = panels[0]
    cells = [f"{labels[i]} to {labels[j]} {first.texts[i, j]}" for i, j in np.argwhere(np.isfinite(first.values)) if i != j]
    return f"{first.title or 'Pairs'}, {unit}: {', '.join(cells)}."


def _cell(row: pd.Series, measure: Measure) -> str:
    return measure.text(row[measure.column], row[measure.companion("low")], row[measure.companion("high")])


def _where(row: pd.Series, pair: tuple[str, str], split: list[str]) -> str:
    link = row.get("link_class")
    words = [f"{int(row[pair[0]])}→{int(row[pair[1]])}", *([link] if isinstance(link, str) else []),
             *(t for a in split if (t := say(a, row[a])))]  # fmt: skip
    return ", ".join(words)


def _numbers(frame: pd.DataFrame, pair: tuple[str, str], split: list[str], measure: Measure) -> pd.DataFrame:
    wanted = [*pair, "link_class", *split, "size_bytes", measure.column, measure.companion("low"),
              measure.companion("high"), measure.companion("run_min"), measure.companion("run_max"), "runs",
              "limit_bytes_per_s", "efficiency"]  # fmt: skip
    return frame[[c for c in wanted if c in frame]].sort_values([*split, *pair], kind="stable")


def curve_frame(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Configurations fit for curves against size, and what was left out with why.

    Local copies, pairs measured at far fewer sizes than the others of their kind, and lines of fewer than three sizes.
    """
    left = []
    if {"source", "destination"} <= set(frame):
        local = frame["source"].notna() & (frame["source"] == frame["destination"])
        if local.any():
            left.append(f"{q.plural(int(local.sum()), 'copy', 'copies')} within one device (link class X)")
            frame = frame[~local]
    kind = [c for c in (*PANEL, "link_class", "placement", "gpudirect", "chunk", "ranks", "memory") if c in frame]
    each = [*kind, *(c for c in ("source", "destination", "device", "source_rank", "destination_rank", "via") if c in frame)]
    sizes = frame.groupby(each, observed=True, dropna=False)["size_bytes"].transform("nunique")
    most = sizes.groupby([frame[c] for c in kind], observed=True, dropna=False).transform("max") if kind else sizes.max()
    short = (sizes < 3) | (sizes < 0.8 * most)
    if short.any():
        left.append(f"{q.plural(int(short.sum()), 'configuration')} measured at few sizes only: see the matrices and the table")
    return frame[~short], tuple(left)


def by_size(dataset: Dataset, benchmark: str, key: str, subject: str, measure: Measure, what: str, *,
            line_axes: tuple[str, ...] = METHOD, first: tuple[str, ...] = ("link_class",), log_y: bool = False,
            limits: bool = True, best: bool = True) -> Iterator[Figure]:
    """Curves against size. The first axis that varies gives the lines their colour, the others give panels."""
    frame = dataset.configurations(benchmark)
    if measure.column not in frame or frame.empty:
        return
    frame, left_out = curve_frame(frame.dropna(subset=[measure.column]))
    if frame.empty:
        return
    axes = varying(frame, (*first, *dict.fromkeys((*line_axes, "direction", "peer_access"))))
    colour = axes[:1] if axes and (axes[0] in first or len(axes) == 1) else [a for a in axes if a in ("engine", "operation", "method")]
    colour = colour or axes[:1]
    rest = [a for a in axes if a not in colour]
    rest = [a for a in ("direction", "peer_access") if a in rest] + [a for a in rest if a not in ("direction", "peer_access")]
    frame = frame.assign(line=label(frame, colour), panel=label(frame, rest))
    points = curves.pool(frame, ["panel", "line", "size_bytes"], measure)
    lines = sorted(points["line"].astype(str).unique(), key=class_key) if colour == ["link_class"] else list(frame["line"].cat.categories)
    colours = class_colours(lines) if colour == ["link_class"] else dict(zip(lines, style.DATA * 4, strict=False))
    marks = _marks(dataset, benchmark, frame, colour, rest, measure)
    canvas = curves.draw(curves.Curves(points, marks, measure, colours, log_y=log_y, limits=limits))
    caption = _curve_caption(points, measure, what, best)
    pairs = frame.dropna(subset=["source"]).drop_duplicates(["source", "destination"]).shape[0]
    shaped = shaped_by(frame, dataset.sampling, [*PANEL, "link_class", "memory"])
    shaped += (f"line: median over {q.plural(pairs, 'pair')}" if pairs > 1 else "line: median",
               "band: within-run interval", "dots: single runs")  # fmt: skip
    yield Figure(key, subject, f"{what} against size", caption, shaped, int(frame["runs"].sum()), points,
                 style.svg(canvas, key, f"Curves against size. {caption}"), left_out)


def _marks(dataset: Dataset, benchmark: str, frame: pd.DataFrame, colour: list[str], rest: list[str],
           measure: Measure) -> pd.DataFrame:
    runs = dataset.runs(benchmark)
    keep = runs[measure.run_column].notna() & (runs["source"].isna() | (runs["source"] != runs["destination"]))
    runs = runs.loc[keep, list(dict.fromkeys([*colour, *rest, "size_bytes", measure.run_column]))]
    return curves.marks_of(runs.assign(line=label(runs, colour), panel=label(runs, rest)), frame, measure)


def _curve_caption(points: pd.DataFrame, measure: Measure, what: str, best: bool) -> str:
    at = points["size_bytes"].max() if best else points["size_bytes"].min()
    ends = points.groupby(["panel", "line"], observed=True)["size_bytes"].transform("max" if best else "min")
    here = points[points["size_bytes"] == ends].sort_values("value", ascending=not measure.more_is_better)
    good, bad = here.iloc[0], here.iloc[-1]

    def words(row: pd.Series) -> str:
        name = ", ".join(t for t in (str(row["line"]), str(row["panel"])) if t)
        known = measure.more_is_better and "efficiency" in row and q.is_number(row["efficiency"])
        limit = f", {q.percent(row['efficiency'])} of the limit" if known else ""
        return f"{measure.text(row['value'], row['low'], row['high'])}{limit}" + (f" ({name})" if name else "")

    if len(here) == 1:
        return f"{what} is {words(good)} at {q.size(good['size_bytes'])}."
    return f"{what} at {q.size(at)} lies between {words(bad)} and {words(good)}."


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
    yield from pair_matrices(dataset, here[~local], "p2p_copy", "copy", ("source", "destination"), BANDWIDTH,
                             "Copy bandwidth", order)  # fmt: skip
    yield from _efficiency_matrix(dataset, here[~local], order)


def _efficiency_matrix(dataset: Dataset, frame: pd.DataFrame, order: tuple[list[int], list[int]]) -> Iterator[Figure]:
    if "efficiency" not in frame or frame["efficiency"].isna().all():
        return
    sizes = matrix_sizes(frame, ("source", "destination"))
    here = frame[(frame["size_bytes"] == (sizes or [-1])[0]) & frame["efficiency"].notna()]
    if here.empty:
        return
    split = varying(here, PANEL)
    panel_of = label(here, split)
    every = list(panel_of.cat.categories)
    named = every[:MOST_PANELS]
    panels = [matrix.panel(n, here[panel_of == n], "source", "destination", "efficiency", 1, order[0], "link_class", True)
              for n in named]  # fmt: skip
    shown = here[panel_of.isin(named)]
    low = shown.loc[shown["efficiency"].idxmin()]
    caption = (f"At {q.size(sizes[0])} the pairs reach a median of {q.percent(shown['efficiency'].median())} of their limits; "
               f"the furthest from it is {_where(low, ('source', 'destination'), split)} with {q.percent(low['efficiency'])}.")
    canvas = matrix.draw([matrix.Panel(p.title, p.values * 100, p.texts, p.below) for p in panels], *order,
                         "measured bandwidth, % of the limit", ("source", "destination"), 0)
    yield Figure("p2p_copy_efficiency", "copy", f"Copy bandwidth against the limit, {q.size(sizes[0])}", caption,
                 (*shaped_by(shown, dataset.sampling, PANEL), "limit of: " + ", ".join(sorted(map(str, shown["limit_origin"].dropna().unique())))),
                 int(shown["runs"].sum()), _numbers(shown, ("source", "destination"), split, BANDWIDTH),
                 style.svg(canvas, "p2p_copy_efficiency", f"Heat map. {caption}"),
                 (f"{len(every) - len(named)} further combinations, for want of room: see the table",) if len(every) > len(named) else (),
                 wide=True)


@draws("copy")
def copy_bandwidth(dataset: Dataset) -> Iterator[Figure]:
    """Bandwidth against size by link class."""
    if "p2p.copy" in dataset.benchmarks():
        yield from by_size(dataset, "p2p.copy", "p2p_copy_bandwidth", "copy", BANDWIDTH, "Copy bandwidth")


@draws("copy")
def copy_time(dataset: Dataset) -> Iterator[Figure]:
    """Time against size by link class: the small sizes, which bandwidth hides."""
    if "p2p.copy" in dataset.benchmarks():
        yield from by_size(dataset, "p2p.copy", "p2p_copy_time", "copy", TIME, "Copy time", log_y=True, limits=False, best=False)


@draws("copy")
def copy_ways(dataset: Dataset) -> Iterator[Figure]:
    """Every way of copying at the largest size, beside its limit."""
    from weft.figures.strips import ways

    if "p2p.copy" in dataset.benchmarks():
        frame = dataset.configurations("p2p.copy")
        yield from ways(dataset, frame, "p2p_copy_ways", "copy", "Ways of copying", BANDWIDTH,
                        ("link_class", "direction", "peer_access", "engine", "operation"))


@draws("latency")
def latency(dataset: Dataset) -> Iterator[Figure]:
    """Latency of every pair, and by link class and method."""
    if "p2p.latency" not in dataset.benchmarks():
        return
    from weft.figures.strips import ways

    frame = dataset.configurations("p2p.latency")
    frame = frame[frame["source"] != frame["destination"]]
    if frame.empty:
        return
    order = pair_order(dataset, sorted({*frame["source"].astype(int), *frame["destination"].astype(int)}))
    yield from pair_matrices(dataset, frame, "p2p_latency", "latency", ("source", "destination"), TIME, "Latency", order)
    yield from ways(dataset, frame, "p2p_latency_ways", "latency", "Ways of taking latency", TIME,
                    ("link_class", "method", "peer_access", "operation", "size_bytes"))
