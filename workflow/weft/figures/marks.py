"""Marks and axes that several kinds of figure share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline

from weft.figures import quantities as q


def dots(ax: Any, x: np.ndarray, y: np.ndarray, colour: str) -> None:
    """Faint round marks as one path of zero-length strokes: a few bytes each in the SVG."""
    kept = np.isfinite(x) & np.isfinite(y) & (y > 0)
    vertices = np.repeat(np.column_stack([x[kept], y[kept]]), 2, axis=0)
    codes = np.tile([Outline.MOVETO, Outline.LINETO], kept.sum())
    if len(vertices):
        ax.add_patch(
            PathPatch(
                Outline(vertices, codes), fill=False, edgecolor=colour, lw=3, alpha=0.35, capstyle="round"
            )
        )


def time_tick(seconds: float) -> str:
    """A round time for an axis: 100 µs, 1 ms."""
    scale, unit = next(((s, u) for s, u in q.TIME_UNITS if seconds >= 0.9995 * s), q.TIME_UNITS[-1])
    return f"{seconds / scale:.3g} {unit}"


def size_axis(ax: Any, sizes: pd.Series, most: int = 7) -> None:
    """Logarithmic axis of sizes, ticks at powers of two named in KiB and MiB, at most so many."""
    low, high = float(sizes.min()), float(sizes.max())
    ax.set_xscale("log", base=2)
    ax.set_xlim(low / 1.4, high * 1.4)
    first, last = math.ceil(math.log2(low) - 0.01), math.floor(math.log2(high) + 0.01)
    step = next(s for s in (1, 2, 4, 5, 6, 8, 10, 15, 20, 40) if (last - first) / s <= most - 1 or s == 40)
    ticks = [2.0**e for e in range(first, last + 1, step)] or [low]
    ax.set_xticks(ticks, [q.size(t).replace(q.NO_BREAK, " ") for t in ticks])
    ax.minorticks_off()
