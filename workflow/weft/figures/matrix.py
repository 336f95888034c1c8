"""Annotated heat maps of source by destination: one colour scale, devices grouped by how near they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from weft.figures import style
from weft.figures.axes import class_key

SHORT = 3  # letters of a label that needs no room of its own
MAX_ANNOTATED = 20  # endpoints up to which a cell has room for its value


@dataclass
class Panel:
    """One matrix: values (n, n), NaN where nothing was measured; texts and below are printed in the cells."""

    title: str
    values: np.ndarray
    texts: np.ndarray
    below: np.ndarray


def near_first(count: int, classes: dict[tuple[int, int], str]) -> tuple[list[int], list[int]]:
    """Order of endpoints such that near ones stand together, and the positions at which a group begins.

    classes: link class of pairs, by the path that avoids NVLink where known. Groups are what SYS separates.
    """

    def components(furthest: str) -> list[int]:
        label = list(range(count))
        for (a, b), name in classes.items():
            if a < count and b < count and class_key(name) <= class_key(furthest) and label[a] != label[b]:
                low, high = sorted((label[a], label[b]))
                label = [low if x == high else x for x in label]
        return label

    levels = [components(name) for name in ("NODE", "PHB", "PXB", "PIX")]
    order = sorted(range(count), key=lambda i: (*(level[i] for level in levels), i))
    outer = [levels[0][i] for i in order]
    starts = [i for i in range(1, count) if outer[i] != outer[i - 1]]
    return order, starts if len(starts) < count - 1 else []


def panel(
    title: str,
    frame: pd.DataFrame,
    row: str,
    column: str,
    value: str,
    scale: float,
    labels: Sequence[object],
    below: str | None,
    as_percent: bool = False,
) -> Panel:
    """A panel of the frame's rows; labels: endpoints in the order of rows and columns; below: column of
    small print.
    """
    index = {endpoint: i for i, endpoint in enumerate(labels)}
    n = len(labels)
    values, texts, small = np.full((n, n), np.nan), np.full((n, n), "", object), np.full((n, n), "", object)
    for a, b, v, c in zip(
        frame[row],
        frame[column],
        frame[value],
        frame[below].astype(object) if below and below in frame else [None] * len(frame),
        strict=True,
    ):
        if a not in index or b not in index:
            continue
        i, j = index[a], index[b]
        values[i, j] = v / scale
        texts[i, j] = f"{100 * v:.0f}" if as_percent else three_digits(v / scale)
        small[i, j] = c if isinstance(c, str) else ""
    return Panel(title, values, texts, small)


def three_digits(value: float) -> str:
    """Three significant digits at most, and no more than two decimals."""
    if value == 0:
        return "0"
    if not np.isfinite(value):
        return ""
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def draw(
    panels: Sequence[Panel],
    labels: Sequence[object],
    starts: Sequence[int],
    scale_label: str,
    ends: tuple[str, str],
    low_at: float | None = None,
) -> Canvas:
    """All panels with one colour scale; ends: names of the vertical and the horizontal axis."""
    n = len(labels)
    cell = 0.64 if n <= 4 else 0.5 if n <= 9 else 0.44 if n <= MAX_ANNOTATED else max(0.08, 8.0 / n)
    side = cell * n
    longest = max(len(str(name)) for name in labels)
    names = 0.07 * longest if longest > SHORT else 0.0  # room for names of hosts
    left, gap_x, top, gap_y, bottom = 0.5 + names, 0.62 + names, 0.3, 0.86 + names, 1.0 + names
    columns = min(len(panels), max(1, int(9.6 // (side + gap_x + 0.13))))
    rows = -(-len(panels) // columns)
    width = max(left + columns * side + (columns - 1) * gap_x + 0.15, 3.4)
    height = top + rows * side + (rows - 1) * gap_y + bottom
    canvas = Canvas(figsize=(width, height))
    everything = np.concatenate([p.values.ravel() for p in panels])
    known = everything[np.isfinite(everything)]
    high = float(known.max()) if known.size else 1.0
    # Never so narrow a scale that noise looks like structure.
    low = low_at if low_at is not None else min(float(known.min()), 0.7 * high) if known.size else 0.0
    if high <= low:
        low = 0.0 if high > 0 else high - 1
    for position, item in enumerate(panels):
        r, c = divmod(position, columns)
        x, y = left + c * (side + gap_x), bottom + (rows - 1 - r) * (side + gap_y)
        ax = canvas.add_axes((x / width, y / height, side / width, side / height))
        _heat_map(ax, item, labels, starts, (low, high))
        ax.set_title(item.title)
        ax.set_xlabel(ends[1])
        if c == 0:
            ax.set_ylabel(ends[0])
    _colour_bar(
        canvas,
        (low, high),
        scale_label,
        left / width,
        0.34 / height,
        min(2.6, width - 1) / width,
        0.1 / height,
    )
    return canvas


def _heat_map(
    ax: Any, item: Panel, labels: Sequence[object], starts: Sequence[int], scale: tuple[float, float]
) -> None:
    n = len(labels)
    ax.set_facecolor(style.NO_DATA)
    _cells(ax, item.values, scale)
    every = 1 if n <= MAX_ANNOTATED else -(-n // 32)
    turned = 90 if max(len(str(name)) for name in labels) > SHORT else 0
    places = np.arange(0, n, every) + 0.5
    ax.set_xticks(places, list(labels)[::every], rotation=turned)
    ax.set_yticks(places, list(labels)[::every])
    ax.set_xlim(0, n)
    ax.set_ylim(n, 0)
    ax.tick_params(length=0, pad=2)
    ax.grid(False)
    for spine in ax.spines.values():
        spine.set_visible(False)
    for start in starts:
        ax.axhline(start, color=style.INK, lw=1.1)
        ax.axvline(start, color=style.INK, lw=1.1)
    if n > MAX_ANNOTATED:
        return
    sizes = (9.5, 7) if n <= 4 else (7.6, 5.8) if n <= 9 else (6.6, 5)
    for i, j in np.argwhere(np.isfinite(item.values)):
        ink, small = style.RAMP_INK[_step(item.values[i, j], scale)], item.below[i, j]
        ax.text(
            j + 0.5,
            i + (0.5 if not small else 0.38),
            item.texts[i, j],
            ha="center",
            va="center_baseline",
            fontsize=sizes[0],
            color=ink,
        )
        if small:
            ax.text(j + 0.5, i + 0.74, small, ha="center", va="center_baseline", fontsize=sizes[1], color=ink)


def _step(value: float, scale: tuple[float, float]) -> int:
    """Which colour of the ramp a value has."""
    share = (value - scale[0]) / (scale[1] - scale[0])
    return int(np.clip(share * style.RAMP_STEPS, 0, style.RAMP_STEPS - 1))


def _cells(ax: Any, values: np.ndarray, scale: tuple[float, float]) -> None:
    """All cells of one colour as one path: a few bytes a cell, of 64 nodes as of four."""
    gap = 0.02 if len(values) <= MAX_ANNOTATED else 0.0
    of_step: dict[int, list[tuple[int, int]]] = {}
    for i, j in np.argwhere(np.isfinite(values)):
        of_step.setdefault(_step(values[i, j], scale), []).append((int(i), int(j)))
    corners = np.array([(gap, gap), (1 - gap, gap), (1 - gap, 1 - gap), (gap, 1 - gap), (gap, gap)])
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    for step, cells in sorted(of_step.items()):
        vertices = np.concatenate([corners + np.array([j, i]) for i, j in cells])
        outline = Path(vertices, codes * len(cells))
        ax.add_patch(PathPatch(outline, facecolor=style.RAMP[step], edgecolor="none", lw=0))


def _colour_bar(
    canvas: Canvas, scale: tuple[float, float], text: str, x: float, y: float, w: float, h: float
) -> None:
    ax = canvas.add_axes((x, y, w, h))
    ax.pcolormesh(
        np.linspace(*scale, style.RAMP_STEPS + 1),
        [0, 1],
        [np.arange(style.RAMP_STEPS)],
        cmap=ListedColormap(list(style.RAMP)),
    )
    ax.set_yticks([])
    ax.set_xticks(list(scale), [three_digits(v) if v < 1000 else f"{v:.0f}" for v in scale])
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.tick_params(length=0, pad=2, labelsize=7.5)
    ax.grid(False)
    ax.set_title(text, fontsize=7.5, pad=3, color=style.MUTED)
