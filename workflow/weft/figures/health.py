"""Health: every unit beside its peers, and from where on it would have been called sick."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

from weft.figures import quantities as q
from weft.figures import style
from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws
from weft.figures.marks import dots
from weft.health import words  # the module: words itself needs this package

MOST_ROWS = 40
TICKS = (0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.5, 2, 3, 4, 6, 10, 20, 50)


@draws("health")
def deviations(dataset: Dataset) -> Iterator[Figure]:
    """Time of each node, link and device over that of its peers, a row a test."""
    tested = dataset.health.tested
    if not tested:
        return
    rows = [f"{what}: {units}" for units, what, *_ in words.tested_rows(dataset.health)]
    data = pd.concat(
        [
            pd.DataFrame(
                {
                    "test": row, "unit": test.names, "ratio": test.ratios, "sick": test.sick,
                    "found_from": test.detectable,
                }
            )
            for row, test in zip(rows, tested, strict=True)
        ],
        ignore_index=True,
    )  # fmt: skip
    sick = data[data["sick"]]
    worst = data.loc[data["ratio"].idxmax()]
    caption = (
        f"Of {q.plural(len(data), 'comparison')} with peers, {len(sick)} say sick; the furthest from its "
        f"peers, with {worst['ratio']:.2f} times their time, is {worst['unit']}"
        + ("." if worst["sick"] else ", which is not enough to tell it from noise or from what is usual.")
    )
    shown = rows[:MOST_ROWS]
    left = len(rows) - len(shown)
    canvas = _strips(data, shown)
    yield Figure(
        "health_deviations",
        "health",
        "Every unit beside its peers",
        caption,
        ("median over runs", "red tick: from where on a unit would have been called sick"),
        0,
        data,
        style.svg(canvas, "health_deviations", f"Dot plot. {caption}"),
        (f"{q.plural(left, 'test')} for want of room: see the CSV",) if left else (),
        wide=True,
    )


def _strips(data: pd.DataFrame, rows: list[str]) -> Canvas:
    left = min(6.2, 0.25 + 0.064 * max(map(len, rows)))
    width, height = 10.2, 0.24 * len(rows) + 0.62
    canvas = Canvas(figsize=(width, height))
    ax = canvas.add_axes((left / width, 0.46 / height, (width - left - 0.2) / width, 1 - 0.54 / height))
    low = min(0.9, 0.97 * float(data["ratio"].min()))
    usual = max(float(data["ratio"].max()), 1.6, float(data["found_from"].clip(upper=4).max()))
    high = 1.25 * usual  # room for the names of the sick
    ax.set_xscale("log")
    ax.set_xlim(low, high)
    ticks = [tick for tick in TICKS if low <= tick <= high]
    ax.set_xticks(ticks if len(ticks) < 9 else ticks[1::2], None)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.minorticks_off()
    ax.axvline(1, color=style.MUTED, lw=0.9)
    for place, row in enumerate(rows):
        y, here = len(rows) - 1 - place, data[data["test"] == row]
        healthy, sick = here[~here["sick"]], here[here["sick"]]
        dots(ax, healthy["ratio"].to_numpy(float), np.full(len(healthy), y + 1e-6), style.DATA[0])
        ax.plot(sick["ratio"], np.full(len(sick), y), "D", color=style.LIMIT, ms=4.6, mew=0)
        for name, ratio in _few(sick):
            ax.annotate(
                name, (ratio, y), xytext=(6, 0), textcoords="offset points", va="center", fontsize=7.6,
                color=style.LIMIT,
            )  # fmt: skip
        found_from = here["found_from"].iloc[0]
        if found_from <= high:
            ax.plot([found_from] * 2, [y - 0.36, y + 0.36], color=style.LIMIT, lw=1.2)
    ax.set_ylim(-0.6, len(rows) - 0.4)
    ax.set_yticks(range(len(rows)), [text.replace(q.NO_BREAK, " ") for text in rows[::-1]], color=style.INK)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", visible=False)
    ax.grid(axis="x", visible=True)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel("time / time of the peers (right: slower)")
    return canvas


def _few(sick: pd.DataFrame) -> list[tuple[str, float]]:
    """The name of the worst; of several in one row, how many more there are."""
    if sick.empty:
        return []
    worst = sick.loc[sick["ratio"].idxmax()]
    more = f" and {len(sick) - 1} more" if len(sick) > 1 else ""
    return [(f"{worst['unit']}{more}", float(worst["ratio"]))]
