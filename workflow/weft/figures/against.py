"""Against another run of the same, of another day, machine, driver or commit: ratios of medians."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

from weft.columns import AXES
from weft.figures import quantities as q
from weft.figures import ratios, style
from weft.figures.dataset import HOSTS, Dataset
from weft.figures.figure import Figure, draws
from weft.figures.marks import size_axis

ALIKE = 0.03  # what machines of one kind, and days, were seen to differ by
LARGE_BYTES = 16 << 20  # from here on bandwidth is what is measured
FURTHEST = 20
_PANELS = {"p2p": "copies, latency, atomics", "pt2pt": "messages", "collective": "collectives"}
_LOWEST, _HIGHEST = 0.5, 2.0
_FAR, _NEAR = (0.5, 0.6, 0.7, 0.85, 1, 1.2, 1.5, 2), (0.8, 0.85, 0.9, 0.95, 1, 1.05, 1.1, 1.15, 1.2)


def compared(dataset: Dataset) -> pd.DataFrame:
    """One row a configuration that the dataset and its baseline have: benchmark, its axes, time_s with low_s
    and high_s, runs, the same of the baseline (_there), ratio, low, high, verdict (see ratios.paired) and
    way. Empty without a baseline.
    """
    there = dataset.baseline
    shared = [b for b in dataset.benchmarks() if b in there.benchmarks()] if there else []
    parts = []
    for benchmark in shared:
        runs, base = dataset.runs(benchmark), there.runs(benchmark)
        part = ratios.paired(runs, base, _keys(runs, base), "_there", ALIKE)
        if len(part):
            parts.append(part.assign(benchmark=benchmark))
    if not parts:
        return pd.DataFrame()
    frame = pd.concat(parts, ignore_index=True)
    return frame.assign(way=ratios.ways(frame))


def _keys(runs: pd.DataFrame, base: pd.DataFrame) -> list[str]:
    """What must be alike. Not an axis that one of them has no word of and the other one value, since records
    of another version may lack it; nor the only MPI library of either; nor hosts of which they share none.
    """
    keys = []
    for axis in AXES:
        here, there = (set(of[axis].dropna()) if axis in of else set() for of in (runs, base))
        untold = not (here and there) and len(here | there) == 1
        single = axis == "mpi_library" and max(len(here), len(there)) == 1
        if axis != "benchmark" and (here or there) and not untold and not single:
            keys.append(axis)
    return keys + [host for host in HOSTS if not set(runs[host].dropna()).isdisjoint(base[host].dropna())]


def furthest(frame: pd.DataFrame) -> pd.DataFrame:
    """Those of compared() that are not alike and furthest from 1, at most FURTHEST."""
    others = frame[frame["verdict"] != ratios.SAME]
    distance = np.log(others["ratio"]).abs()
    return others.loc[distance.sort_values(ascending=False, kind="stable").index[:FURTHEST]]


def words(dataset: Dataset) -> str:
    """Which run it is: system, campaign, hosts, day and commits."""
    metadata = dataset.metadata
    environments, runs = metadata.get("environments", []), metadata.get("runs", [])
    days = sorted({run["started_at"][:10] for run in runs if run.get("started_at")})
    hosts = sorted({e["host"]["hostname"] for e in environments if e.get("host", {}).get("hostname")})
    commits = sorted({e["weft"]["commit"][:12] for e in environments if e.get("weft", {}).get("commit")})
    names = sorted({f"{e['system']}/{e['campaign']}" for e in environments if e.get("system")})
    parts = [", ".join(found) for found in (names, hosts, days[:1] + days[-1:][len(days) < 2 :]) if found]
    return ", ".join([*parts, *([f"commit {', '.join(commits)}"] if commits else [])])


@draws("against")
def against_another_run(dataset: Dataset) -> Iterator[Figure]:
    """Time here over time there, a dot a configuration, over the size."""
    frame = compared(dataset)
    if frame.empty:
        return
    large = frame[frame["size_bytes"] >= LARGE_BYTES]
    same = frame["verdict"] == ratios.SAME
    worst = frame.loc[np.log(frame["ratio"]).abs().idxmax()]
    caption = (
        f"Of {q.plural(len(frame), 'configuration')} that both have, {q.count(same.sum())} take the same "
        f"time within {100 * ALIKE:g}{q.NO_BREAK}%"
    )
    if len(large):
        alike = (large["verdict"] == ratios.SAME).sum()
        caption += f"; of the {q.count(len(large))} from {q.size(LARGE_BYTES)} on, {q.count(alike)}"
    caption += (
        f". The median ratio is {frame['ratio'].median():.3f}, the furthest from 1 is {worst['ratio']:.2f} "
        f"({worst['way']})."
    )
    low, high = _limits(frame["ratio"])
    beyond = int((~frame["ratio"].between(low, high)).sum())
    yield Figure(
        "against_ratios",
        "against",
        "Time here over time there",
        caption,
        (
            f"there: {words(dataset.baseline)}",
            f"band: ±{100 * ALIKE:g}{q.NO_BREAK}%",
            *([f"{q.plural(beyond, 'ratio')} beyond the axis, drawn at its end"] if beyond else []),
        ),
        int(frame["runs"].sum() + frame["runs_there"].sum()),
        frame,
        style.svg(_scatter(frame), "against_ratios", f"Scatter plot. {caption}"),
        wide=True,
    )


def _limits(ratio: pd.Series) -> tuple[float, float]:
    """Of the axis: what holds nearly all, so that a few far ones do not hide the rest."""
    low, high = ratio.quantile(0.01), ratio.quantile(0.99)
    return max(_LOWEST, min(0.88, low)), min(_HIGHEST, max(1.14, high))


def _scatter(frame: pd.DataFrame) -> Canvas:
    family = frame["benchmark"].astype(str).str.partition(".")[0]
    panels = [name for name in _PANELS if (family == name).any()]
    width, height = 1.2 + 3.1 * max(len(panels), 1), 3.3
    low, high = _limits(frame["ratio"])
    ticks = [tick for tick in (_FAR if high / low > 1.6 else _NEAR) if low <= tick <= high]
    canvas = Canvas(figsize=(width, height))
    grid = canvas.subplots(1, max(len(panels), 1), sharey=True, squeeze=False)[0]
    for ax, name in zip(grid, panels, strict=False):
        here = frame[family == name]
        size_axis(ax, here["size_bytes"].dropna().astype(float), 5)
        ax.set_yscale("log")
        ax.set_ylim(low / 1.02, high * 1.02)
        ax.axhspan(1 - ALIKE, 1 + ALIKE, color=style.GRID, lw=0)
        ax.axhline(1, color=style.MUTED, lw=0.9)
        for verdict, colour in ratios.COLOURS.items():
            of = here[here["verdict"] == verdict]
            drawn = of["ratio"].clip(low, high)
            ax.plot(of["size_bytes"], drawn, "o", color=colour, ms=2.6, mew=0, alpha=0.7)
        ax.set_title(_PANELS[name])
        ax.minorticks_off()
        ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.set_xlabel("size")
    grid[0].set_ylabel("time here / time there")
    handles = [grid[0].plot([], [], "o", color=colour, ms=4, mew=0)[0] for colour in ratios.COLOURS.values()]
    canvas.legend(handles, list(ratios.COLOURS), loc="upper left", ncols=3, bbox_to_anchor=(0.06, 1))
    canvas.subplots_adjust(left=0.72 / width, right=1 - 0.15 / width, top=0.8, bottom=0.16, wspace=0.08)
    return canvas
