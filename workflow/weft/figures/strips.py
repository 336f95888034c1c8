"""Dot plots: one line a way of doing it, a dot a run, a tick for the limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

from weft.figures import pooling, style
from weft.figures import quantities as q
from weft.figures.axes import SOFTWARE, class_colours, class_key, label, shaped_by, telling
from weft.figures.dataset import Dataset
from weft.figures.figure import Figure
from weft.figures.marks import dots
from weft.figures.measures import Measure, unit_of

MOST_LINES = 40


def ways(
    dataset: Dataset,
    frame: pd.DataFrame,
    key: str,
    subject: str,
    title: str,
    measure: Measure,
    axes: Sequence[str],
    colour_axis: str = "link_class",
) -> Iterator[Figure]:
    """The way each combination of axes performs at its largest size, sorted, with limits; nothing if there
    is only one.
    """
    if measure.column not in frame or frame.empty:
        return
    if {"source", "destination"} <= set(frame):
        frame = frame[frame["source"].isna() | (frame["source"] != frame["destination"])]
    frame = frame.dropna(subset=[measure.column])
    if frame.empty:
        return
    if "size_bytes" not in axes:
        frame = frame[frame["size_bytes"] == largest_common(frame, [a for a in axes if a in frame])]
    split = telling(frame, (*axes, *SOFTWARE))
    frame = frame.assign(way=label(frame, split))
    points = pooling.pool(frame, ["way"], measure)
    if len(points) < 2:
        return
    points = points.sort_values("value", ascending=not measure.more_is_better, kind="stable").reset_index(
        drop=True
    )
    shown = points.head(MOST_LINES)
    classes = (
        frame.drop_duplicates("way").set_index("way")[colour_axis]
        if colour_axis in frame
        else pd.Series(dtype=object)
    )
    palette = (
        class_colours(sorted(map(str, classes.dropna().unique()), key=class_key)) if len(classes) else {}
    )
    colours = [palette.get(str(classes.get(way)), style.DATA[0]) for way in shown["way"]]
    marks = pooling.thin(
        frame[["way", measure.companion("run_min"), measure.companion("run_max"), measure.column]],
        ["way"],
        measure.column,
    )
    canvas = strip(shown, marks, measure, colours)
    first, last = points.iloc[0], points.iloc[-1]
    best, worst = (measure.text(end["value"], end["low"], end["high"]) for end in (first, last))
    caption = (
        f"All {len(points)} ways come to {best}."
        if best == worst
        else f"{_upper(str(first['way']))} is {'fastest' if measure.more_is_better else 'quickest'} with "
        f"{best}; {last['way']} comes last with {worst}."
    )
    left = (
        ()
        if len(points) <= MOST_LINES
        else (f"{len(points) - MOST_LINES} slower ways, for want of room: see the CSV",)
    )
    yield Figure(
        key,
        subject,
        title,
        caption,
        (
            *shaped_by(frame, dataset.sampling, axes),
            "bar: least to greatest run",
            "line at the dot: within-run interval",
        ),
        int(frame["runs"].sum()),
        points,
        style.svg(canvas, key, f"Dot plot. {caption}"),
        left,
    )


def largest_common(frame: pd.DataFrame, axes: Sequence[str]) -> float:
    """The largest size at which the most combinations of axes were measured."""
    if not axes:
        return float(frame["size_bytes"].max())
    counts = frame.drop_duplicates([*axes, "size_bytes"]).groupby("size_bytes").size()
    return float(counts[counts == counts.max()].index.max())


def strip(points: pd.DataFrame, marks: pd.DataFrame, measure: Measure, colours: Sequence[str]) -> Canvas:
    """The dot plot itself, first row on top, values printed at the right."""
    n = len(points)
    longest = max(len(str(w)) for w in points["way"])
    left = min(3.6, 0.25 + 0.066 * longest)
    width, height = 7.7, 0.24 * n + 0.72
    canvas = Canvas(figsize=(width, height))
    ax = canvas.add_axes((left / width, 0.46 / height, (width - left - 1.5) / width, 1 - 0.62 / height))
    scale, unit = unit_of(measure, points["value"])
    top = float(points["max"].max()) / scale
    has_limit = measure.more_is_better and "limit" in points and points["limit"].notna().any()
    if has_limit:
        top = max(
            top, float(points["limit"].where(points["limit"] <= 3 * points["value"].max()).max() or 0) / scale
        )
    spread = points["value"].max() / max(points["value"].min(), 1e-30)
    logarithmic = spread > 30
    if logarithmic:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
        ax.set_xlim(float(points["min"].min()) / scale / 1.4, top * 1.3)
    else:
        ax.set_xlim(0, top * 1.05)
    places = {way: n - 1 - i for i, way in enumerate(points["way"])}
    for i, row in points.iterrows():
        y, colour = n - 1 - int(i), colours[int(i)]
        ax.plot(
            [row["min"] / scale, row["max"] / scale],
            [y, y],
            color=colour,
            lw=4,
            alpha=0.3,
            solid_capstyle="round",
        )
        if q.is_number(row["low"]):
            ax.plot([row["low"] / scale, row["high"] / scale], [y, y], color=colour, lw=1.4)
        ax.plot([row["value"] / scale], [y], "o", color=colour, ms=4.6, mew=0)
        if has_limit and q.is_number(row["limit"]) and row["limit"] / scale <= ax.get_xlim()[1]:
            ax.plot([row["limit"] / scale] * 2, [y - 0.36, y + 0.36], color=style.LIMIT, lw=1.3)
        text = measure.text(row["value"], row["low"], row["high"])
        share = (
            f"  {q.percent(row['efficiency'])}"
            if has_limit and "efficiency" in row and q.is_number(row["efficiency"])
            else ""
        )
        ax.annotate(
            text + share,
            (1, y),
            xycoords=("axes fraction", "data"),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.8,
            annotation_clip=False,
        )
    for way, here in marks.groupby("way", observed=True):
        if way in places:
            dots(
                ax,
                here[measure.column].to_numpy(float) / scale,
                np.full(len(here), float(places[way])) + 1e-9,
                colours[n - 1 - places[way]],
            )
    ax.set_ylim(-0.6, n - 0.4)
    ax.set_yticks(range(n), [str(w) for w in points["way"]][::-1], color=style.INK)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", visible=False)
    ax.grid(axis="x", visible=True)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(f"{measure.name}, {unit}" + (" (vertical tick: limit)" if has_limit else ""))
    return canvas


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
