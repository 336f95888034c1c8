"""Figures against size: which axis gives the lines their colour, which the panels, and what has too few
sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pandas as pd

from weft.figures import curves, pooling, style
from weft.figures import quantities as q
from weft.figures.axes import METHOD, PANEL, SOFTWARE, class_colours, class_key, label, shaped_by, telling
from weft.figures.dataset import BETWEEN, HOSTS, Dataset
from weft.figures.figure import Figure
from weft.figures.measures import Measure

# Beside PANEL: configurations that differ in one of these are not of one kind.
KIND = (
    "link_class", "placement", "gpudirect", "chunk", "ranks", "nodes", "pairs", "reach", "memory",
    "streams", "pattern",
)  # fmt: skip


def curve_frame(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Configurations fit for curves against size, and what was left out with why.

    Local copies, pairs measured at far fewer sizes than the others of their kind, and lines of fewer than
    three sizes.
    """
    left = []
    if {"source", "destination"} <= set(frame):
        local = frame["source"].notna() & (frame["source"] == frame["destination"])
        if "reach" in frame:  # device 0 of one node and device 0 of another are two
            local &= frame["reach"] != BETWEEN
        if local.any():
            left.append(f"{q.plural(int(local.sum()), 'copy', 'copies')} within one device (link class X)")
            frame = frame[~local]
    kind = [c for c in (*PANEL, *KIND) if c in frame]
    each = [
        *kind,
        *(
            c
            for c in ("source", "destination", "device", "source_rank", "destination_rank", "via", *HOSTS)
            if c in frame
        ),
    ]
    sizes = frame.groupby(each, observed=True, dropna=False)["size_bytes"].transform("nunique")
    most = (
        sizes.groupby([frame[c] for c in kind], observed=True, dropna=False).transform("max")
        if kind
        else sizes.max()
    )
    short = (sizes < 3) | (sizes < 0.8 * most)
    if short.any():
        left.append(
            f"{q.plural(int(short.sum()), 'configuration')} measured at few sizes only: see the "
            f"matrices and the table"
        )
    return frame[~short], tuple(left)


def by_size(
    dataset: Dataset,
    benchmark: str,
    key: str,
    subject: str,
    measure: Measure,
    what: str,
    *,
    line_axes: tuple[str, ...] = METHOD,
    first: tuple[str, ...] = ("link_class",),
    log_y: bool = False,
    limits: bool = True,
    best: bool = True,
    keep: Callable[[pd.DataFrame], pd.DataFrame] = lambda frame: frame,
) -> Iterator[Figure]:
    """Curves against size, of the rows that `keep` leaves of a frame. The first axis that varies gives the
    lines their colour, the others give panels.
    """
    frame = keep(dataset.configurations(benchmark))
    if measure.column not in frame or frame.empty:
        return
    frame, left_out = curve_frame(frame.dropna(subset=[measure.column]))
    if frame.empty:
        return
    axes = telling(frame, (*first, *dict.fromkeys((*line_axes, "direction", "peer_access", *SOFTWARE))))
    colour = (
        axes[:1]
        if axes and (axes[0] in first or len(axes) == 1)
        else [a for a in axes if a in ("engine", "operation", "method")]
    )
    colour = colour or axes[:1]
    rest = [a for a in axes if a not in colour]
    rest = [a for a in ("direction", "peer_access") if a in rest] + [
        a for a in rest if a not in ("direction", "peer_access")
    ]
    frame = frame.assign(line=label(frame, colour), panel=label(frame, rest))
    points = pooling.pool(frame, ["panel", "line", "size_bytes"], measure)
    lines = (
        sorted(points["line"].astype(str).unique(), key=class_key)
        if colour == ["link_class"]
        else list(frame["line"].cat.categories)
    )
    colours = (
        class_colours(lines) if colour == ["link_class"] else dict(zip(lines, style.DATA * 4, strict=False))
    )
    marks = _marks(keep(dataset.runs(benchmark)), frame, colour, rest, measure)
    canvas = curves.draw(curves.Curves(points, marks, measure, colours, log_y=log_y, limits=limits))
    caption = _curve_caption(points, measure, what, best)
    pairs = frame.dropna(subset=["source"]).drop_duplicates(["source", "destination"]).shape[0]
    shaped = shaped_by(frame, dataset.sampling, [*PANEL, "link_class", "memory"])
    shaped += (
        f"line: median over {q.plural(pairs, 'pair')}" if pairs > 1 else "line: median",
        "band: within-run interval",
        "dots: single runs",
    )
    yield Figure(
        key,
        subject,
        f"{what} against size",
        caption,
        shaped,
        int(frame["runs"].sum()),
        points,
        style.svg(canvas, key, f"Curves against size. {caption}"),
        left_out,
    )


def _marks(
    runs: pd.DataFrame,
    frame: pd.DataFrame,
    colour: list[str],
    rest: list[str],
    measure: Measure,
) -> pd.DataFrame:
    here = runs[measure.run_column].notna() & (
        runs["source"].isna() | (runs["source"] != runs["destination"])
    )
    runs = runs.loc[here, list(dict.fromkeys([*colour, *rest, "size_bytes", measure.run_column]))]
    return pooling.marks_of(runs.assign(line=label(runs, colour), panel=label(runs, rest)), frame, measure)


def _curve_caption(points: pd.DataFrame, measure: Measure, what: str, best: bool) -> str:
    at = points["size_bytes"].max() if best else points["size_bytes"].min()
    ends = points.groupby(["panel", "line"], observed=True)["size_bytes"].transform("max" if best else "min")
    here = points[points["size_bytes"] == ends].sort_values("value", ascending=not measure.more_is_better)
    good, bad = here.iloc[0], here.iloc[-1]

    def words(row: pd.Series) -> str:
        name = ", ".join(t for t in (str(row["line"]), str(row["panel"])) if t)
        known = measure.more_is_better and "efficiency" in row and q.is_number(row["efficiency"])
        limit = f", {q.percent(row['efficiency'])} of the limit" if known else ""
        return f"{measure.text(row['value'], row['low'], row['high'])}{limit}" + (
            f" ({name})" if name else ""
        )

    if len(here) == 1:
        return f"{what} is {words(good)} at {q.size(good['size_bytes'])}."
    low, high = (bad, good) if measure.more_is_better else (good, bad)
    one = here["size_bytes"].nunique() == 1
    place = q.size(at) if one else f"each line's {'largest' if best else 'smallest'} size"
    return f"{what} at {place} lies between {words(low)} and {words(high)}."
