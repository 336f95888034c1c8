"""Curves against size: median, band of the within-run interval, faint marks of the single runs, the limit
as a line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

from weft.figures import quantities as q
from weft.figures import style
from weft.figures.marks import dots, size_axis, time_tick
from weft.figures.measures import Measure, unit_of

MOST_TICKS = 12
DASHES = ("-", (0, (5, 1.6)), (0, (1.2, 1.4)), (0, (6, 1.5, 1.2, 1.5)))


@dataclass
class Curves:
    """What draw needs: columns panel, line and the x axis in both frames.

    points: one row a panel, line and x, from pool; marks: one row a run; colours: line -> colour; dashes:
    line -> dash.
    """

    points: pd.DataFrame
    marks: pd.DataFrame
    measure: Measure
    colours: dict[str, str]
    dashes: dict[str, Any] = field(default_factory=dict)
    x: str = "size_bytes"
    x_label: str = "size"
    log_y: bool = False
    limits: bool = True
    columns: int = 2
    panel_height: float = 2.45
    verticals: dict[str, list[tuple[float, str]]] = field(default_factory=dict)


def draw(curves: Curves) -> Canvas:
    """One panel for each value of `panel`, one line for each of `line`; a legend above all."""
    points = curves.points
    panels = list(points["panel"].astype(object).drop_duplicates())
    lines = [line for line in curves.colours if (points["line"] == line).any()]
    columns = min(curves.columns, len(panels))
    rows = -(-len(panels) // columns)
    width = 7.7 if columns > 1 or len(panels) == 1 else 5.0
    legend_rows = -(-len(lines) // _legend_columns(lines, width)) if len(lines) > 1 else 0
    titled = len(panels) > 1 or bool(str(panels[0]))
    top = 0.2 * legend_rows + (0.3 if titled else 0.12)
    height = top + rows * curves.panel_height + (rows - 1) * 0.3
    canvas = Canvas(figsize=(width, height))
    axes = canvas.subplots(rows, columns, squeeze=False, sharex=True)
    shared = curves.log_y or _same_scale(points)
    in_words = curves.measure.units is q.TIME_UNITS
    left = 0.7 if in_words else 0.84 if curves.log_y else 0.62
    limits = _drawn_limits(points) if curves.limits else {}
    for position, ax in enumerate(axes.ravel()):
        if position >= len(panels):
            ax.set_visible(False)
            continue
        name = panels[position]
        here = points[points["panel"] == name]
        group = points if shared else here
        scale, unit = unit_of(curves.measure, group["value"])
        _panel(ax, here, curves.marks[curves.marks["panel"] == name], curves, scale, lines)
        if titled:
            ax.set_title(str(name))
        _axes(
            ax,
            group,
            curves,
            scale,
            [v for p in (panels if shared else [name]) for v, _ in limits.get(p, [])],
        )
        _outside(
            ax, curves.marks[curves.marks["panel"] == name][curves.measure.run_column].to_numpy(float) / scale
        )
        _limit_lines(ax, limits.get(name, []), scale, unit)
        _verticals(ax, curves.verticals.get(str(name), []))
        if position % columns == 0 or not shared:
            ax.set_ylabel(curves.measure.name if in_words or not unit else f"{curves.measure.name}, {unit}")
        ax.tick_params(labelleft=not shared or position % columns == 0)
        last = position + columns >= len(panels)
        ax.tick_params(labelbottom=last)
        if last:
            ax.set_xlabel(curves.x_label)
    canvas.subplots_adjust(
        left=left / width,
        right=1 - 0.18 / width,
        top=1 - top / height,
        bottom=0.46 / height,
        wspace=0.1 if shared else 0.28,
        hspace=0.22 if titled else 0.12,
    )
    if legend_rows:
        handles = [
            axes[0, 0].plot([], [], color=curves.colours[n], ls=curves.dashes.get(n, "-"))[0] for n in lines
        ]
        canvas.legend(
            handles,
            lines,
            loc="upper left",
            ncols=_legend_columns(lines, width),
            borderaxespad=0,
            bbox_to_anchor=(left / width, 1 - 0.02 / height),
            borderpad=0,
        )
    return canvas


def _legend_columns(lines: Sequence[str], width: float) -> int:
    most = max(1, min(len(lines), int((width - 0.8) / (0.072 * max(len(n) for n in lines) + 0.46))))
    return -(-len(lines) // -(-len(lines) // most))


def _same_scale(points: pd.DataFrame) -> bool:
    tops = points.groupby("panel", observed=True)["value"].max()
    return bool(len(tops) < 2 or tops.max() < 4 * tops.min())


def _drawn_limits(points: pd.DataFrame) -> dict[object, list[tuple[float, str]]]:
    """Panel -> limits worth a line: (bytes/s, the lines it holds for); those beyond three times the data
    are left out.
    """
    found: dict[object, list[tuple[float, str]]] = {}
    if "limit" not in points:
        return found
    for name, here in points.dropna(subset="limit").groupby("panel", observed=True):
        ceiling = 3 * here["value"].max()
        grouped = here.groupby("limit")["line"].agg(lambda s: list(dict.fromkeys(map(str, s))))
        every = here["line"].nunique()
        found[name] = [
            (limit, "" if len(of) == every else ", ".join(of))
            for limit, of in grouped.items()
            if limit <= ceiling
        ]
    return found


def _panel(
    ax: Any, points: pd.DataFrame, marks: pd.DataFrame, curves: Curves, scale: float, lines: Sequence[str]
) -> None:
    for line in lines:
        colour, of = curves.colours[line], points[points["line"] == line].sort_values(curves.x)
        runs = marks[marks["line"] == line]
        if len(runs):
            dots(
                ax,
                runs[curves.x].to_numpy(float),
                runs[curves.measure.run_column].to_numpy(float) / scale,
                colour,
            )
        if of.empty:
            continue
        x = of[curves.x].to_numpy(float)
        if of["low"].notna().any():
            ax.fill_between(x, of["low"] / scale, of["high"] / scale, color=colour, alpha=0.22, lw=0)
        ax.plot(
            x,
            of["value"] / scale,
            color=colour,
            ls=curves.dashes.get(line, "-"),
            marker="o",
            markersize=2.6 if len(of) < 20 else 0,
            mew=0,
        )


def _axes(ax: Any, points: pd.DataFrame, curves: Curves, scale: float, limits: Sequence[float]) -> None:
    low, high = float(points["min"].min()) / scale, float(points["max"].max()) / scale
    high = min(
        high, max(1.4 * float(points["value"].max()), float(points["high"].fillna(0).median())) / scale
    )
    low = max(low, float(points["value"].min()) / 2 / scale)
    if curves.log_y:
        ax.set_yscale("log")
        ax.set_ylim(low / 1.4, high * 1.5)
        ax.yaxis.set_major_formatter(lambda v, _: f"{v:g}")
        ax.minorticks_off()
    else:
        ax.set_ylim(0, max([high * 1.06, *(1.09 * v / scale for v in limits)]))
    if curves.measure.units is q.TIME_UNITS:
        ax.yaxis.set_major_formatter(lambda v, _: time_tick(v * scale))
    if curves.x == "size_bytes":
        # The panels share their axis, and have not all the same sizes.
        size_axis(ax, curves.points["size_bytes"], 4 if curves.columns > 2 else 7)
    else:
        values = sorted(points[curves.x].unique())
        ax.set_xlim(values[0] - 0.3, values[-1] + 0.3)
        shown = values[:: -(-len(values) // MOST_TICKS)]
        ax.set_xticks(shown, [f"{v:g}" for v in shown])


def _outside(ax: Any, values: np.ndarray) -> None:
    """Say how many runs lie beyond the axis, which follows the medians."""
    low, high = ax.get_ylim()
    for beyond, where, y in (
        (int((values > high).sum()), "above", 1.0),
        (int((values < low).sum()), "below", 0.0),
    ):
        if beyond:
            ax.annotate(
                f"{q.plural(beyond, 'run')} {where}",
                (1, y),
                xycoords="axes fraction",
                xytext=(-2, 3 if y == 0 else -3),
                textcoords="offset points",
                ha="right",
                va="bottom" if y == 0 else "top",
                fontsize=7.2,
                color=style.MUTED,
            )


def _limit_lines(ax: Any, limits: Sequence[tuple[float, str]], scale: float, unit: str) -> None:
    previous = -math.inf
    top = ax.get_ylim()[1]
    for limit, of in sorted(limits):
        value = limit / scale
        ax.axhline(value, color=style.LIMIT, lw=0.9, ls=(0, (4, 2)))
        if value - previous > 0.075 * top:
            text = f"limit {q.number(value)} {unit}" + (f" ({of})" if of and len(of) < 26 else "")
            ax.annotate(
                text,
                (0, value),
                xycoords=("axes fraction", "data"),
                xytext=(3, 2.5),
                textcoords="offset points",
                fontsize=7.5,
                color=style.LIMIT,
                bbox={"facecolor": style.SURFACE, "edgecolor": "none", "alpha": 0.75, "pad": 0.8},
            )
            previous = value


def _verticals(ax: Any, verticals: Sequence[tuple[float, str]]) -> None:
    for row, (x, text) in enumerate(sorted(verticals)):
        ax.axvline(x, color=style.MUTED, lw=0.8, ls=(0, (1, 1.5)))
        low, high = ax.get_xlim()
        right = math.log(x / low) > 0.6 * math.log(high / low)
        ax.annotate(
            text,
            (x, 1),
            xycoords=("data", "axes fraction"),
            xytext=(-3 if right else 3, -3 - 9 * (row % 3)),
            va="top",
            ha="right" if right else "left",
            textcoords="offset points",
            fontsize=7.2,
            color=style.INK,
        )
