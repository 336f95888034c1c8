"""Efficiency of everything that has a limit, and spread between runs against the interval within a run."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

from weft.figures import quantities as q
from weft.figures import style
from weft.figures.axes import WORDS
from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws
from weft.figures.marks import dots

MOST_DOTS = 160


def name_of(benchmark: str) -> str:
    """p2p.fanout -> p2p fanout; collective.all_reduce -> collective all-reduce."""
    program, _, case = benchmark.partition(".")
    return f"{program} {WORDS.get(case, case.replace('_', ' '))}"


@draws("efficiency")
def efficiency(dataset: Dataset) -> Iterator[Figure]:
    """Bandwidth over limit at sizes of 1 MiB and more (the largest where none is), by benchmark and link
    class.
    """
    parts = []
    for benchmark in dataset.benchmarks():
        frame = dataset.outline(benchmark)
        if benchmark.endswith(("latency", "message_rate")):
            continue
        frame = frame[frame["efficiency"].notna()]
        large = frame[frame["size_bytes"] >= 1 << 20]
        frame = large if len(large) else frame[frame["size_bytes"] == frame["size_bytes"].max()]
        for link, here in frame.groupby(frame["link_class"].astype(object).fillna(""), sort=True):
            group = f"{name_of(benchmark)}  {link}".strip()
            parts.append(
                pd.DataFrame(
                    {"group": group, "efficiency": here["efficiency"].astype(float), "runs": here["runs"]}
                )
            )
    if not parts or not sum(map(len, parts)):
        return
    frame = pd.concat(parts, ignore_index=True)
    frame["group"] = frame["group"].astype("category")
    groups = frame.groupby("group", sort=True, observed=True)["efficiency"]
    summary = groups.describe(percentiles=[0.05, 0.25, 0.5, 0.75, 0.95]).reset_index()
    low = summary.loc[summary["50%"].idxmin()]
    high = summary.loc[summary["50%"].idxmax()]
    caption = (
        f"At 1 MiB and more, {high['group'].replace('  ', ' ')} reaches the highest share of its limit, "
        f"{q.percent(high['50%'])} in the median; "
        f"{low['group'].replace('  ', ' ')} the lowest, {q.percent(low['50%'])}."
    )
    over = int((frame["efficiency"] > 1.0).sum())
    notes = ("dots: configurations", "bar: middle half", "line: median") + (
        (f"{q.plural(over, 'configuration')} above 100 %: data in caches, or a limit that is not one",)
        if over
        else ()
    )
    yield Figure(
        "efficiency",
        "efficiency",
        "Measured bandwidth over its limit",
        caption,
        notes,
        int(frame["runs"].sum()),
        summary,
        style.svg(_strips(frame, summary), "efficiency", f"Dot plot. {caption}"),
    )


def _strips(frame: pd.DataFrame, summary: pd.DataFrame) -> Canvas:
    n = len(summary)
    left = 0.3 + 0.066 * max(len(g) for g in summary["group"])
    width, height = 7.7, 0.27 * n + 0.62
    canvas = Canvas(figsize=(width, height))
    ax = canvas.add_axes((left / width, 0.46 / height, (width - left - 0.75) / width, 1 - 0.54 / height))
    top = max(1.05, min(2.0, float(frame["efficiency"].max()) * 1.03)) * 100
    for i, row in enumerate(summary.itertuples(index=False)):
        y = n - 1 - i
        values = np.sort(100 * frame.loc[frame["group"] == row.group, "efficiency"].to_numpy(float))
        values = values[
            np.unique(np.linspace(0, len(values) - 1, min(len(values), MOST_DOTS)).round().astype(int))
        ]
        wobble = 0.26 * (np.arange(len(values)) * 0.618 % 1 - 0.5)
        dots(ax, np.minimum(values, top), y + wobble + 1e-6, style.DATA[0])
        quarter, middle, three = (100 * float(v) for v in summary.loc[i, ["25%", "50%", "75%"]])
        ax.plot([quarter, three], [y, y], color=style.DATA[0], lw=5, alpha=0.35, solid_capstyle="butt")
        ax.plot([middle] * 2, [y - 0.3, y + 0.3], color=style.INK, lw=1.5)
        ax.annotate(
            f"{middle:.0f} %",
            (1, y),
            xycoords=("axes fraction", "data"),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.8,
        )
    ax.axvline(100, color=style.LIMIT, lw=0.9, ls=(0, (4, 2)))
    ax.set_xlim(0, top)
    ax.set_ylim(-0.6, n - 0.4)
    ax.set_yticks(range(n), list(summary["group"])[::-1], color=style.INK)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", visible=False)
    ax.grid(axis="x", visible=True)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel("bandwidth / limit, %")
    return canvas


def repeat_spread(dataset: Dataset) -> pd.DataFrame:
    """One row a configuration of two or more runs: benchmark, size_bytes, runs, between and within.

    between: (greatest - least run median) / median; within: width of the interval of a run / median.
    """
    parts = []
    for benchmark in dataset.benchmarks():
        frame = dataset.outline(benchmark)
        frame = frame[frame["runs"] > 1]
        parts.append(
            pd.DataFrame(
                {
                    "benchmark": pd.Categorical([name_of(benchmark)] * len(frame)),
                    "size_bytes": frame["size_bytes"],
                    "runs": frame["runs"],
                    "between": (frame["time_run_max_s"] - frame["time_run_min_s"]) / frame["time_s"],
                    "within": (frame["time_high_s"] - frame["time_low_s"]) / frame["time_s"],
                }
            )
        )
    return (
        pd.concat(parts, ignore_index=True).astype({"benchmark": str}).astype({"benchmark": "category"})
        if parts
        else pd.DataFrame()
    )


def spread_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Quantiles of between and within by benchmark."""
    grouped = frame.groupby("benchmark", sort=True, observed=True)
    return pd.DataFrame(
        {
            "configurations": grouped.size(),
            "runs": grouped["runs"].sum(),
            "between_median": grouped["between"].median(),
            "between_p95": grouped["between"].quantile(0.95),
            "within_median": grouped["within"].median(),
            "within_p95": grouped["within"].quantile(0.95),
            "share_within_10_percent": grouped["between"].agg(lambda s: float((s <= 0.1).mean())),
        }
    ).reset_index()


@draws("repeats")
def spread(dataset: Dataset) -> Iterator[Figure]:
    """Spread between runs against the interval within a run; both are shares of the median."""
    frame = repeat_spread(dataset)
    if frame.empty or frame["between"].notna().sum() == 0:
        return
    table = spread_table(frame)
    both = frame[frame["within"].notna() & (frame["within"] > 0) & (frame["between"] > 0)]
    names = sorted(frame["benchmark"].unique())
    between, within = frame["between"].median(), frame["within"].median()
    caption = f"Run medians of one configuration differ by a median of {q.percent(between)} between runs"
    caption += (
        f", against {q.percent(within)} for the width of the interval within a run."
        if q.is_number(within)
        else "; the source gives no interval within a run."
    )
    canvas = _between(frame, names) if both.empty else _scatter(both, names)
    without = int((frame["within"].isna()).sum())
    left = (
        (f"{q.plural(len(frame) - len(both), 'configuration')} whose spread or interval is zero or unknown",)
        if len(both) and len(frame) > len(both)
        else ()
    )
    yield Figure(
        "repeats",
        "repeats",
        "Spread between runs against the interval within a run",
        caption,
        (
            "share of the median",
            "dots: configurations, at most 160 a benchmark drawn",
            *(("no intervals known",) if without == len(frame) else ()),
        ),
        int(frame["runs"].sum()),
        table,
        style.svg(canvas, "repeats", f"Scatter plot. {caption}"),
        left,
    )


def _scatter(frame: pd.DataFrame, names: list[str]) -> Canvas:
    programs = sorted({n.split()[0] for n in names})
    canvas = Canvas(figsize=(7.7, 3.3))
    axes = canvas.subplots(1, len(programs), squeeze=False, sharex=True, sharey=True)[0]
    low = 100 * max(1e-4, min(frame["within"].quantile(0.005), frame["between"].quantile(0.005)))
    high = 100 * max(frame["within"].max(), frame["between"].max()) * 1.3
    for ax, program in zip(axes, programs, strict=True):
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlim(low, high)
        ax.set_ylim(low, high)
        ax.plot([low, high], [low, high], color=style.MUTED, lw=0.9)
        ax.axhline(10, color=style.LIMIT, lw=0.9, ls=(0, (4, 2)))
        here = frame[frame["benchmark"].str.startswith(program)]
        step = max(1, len(here) // (4 * MOST_DOTS))
        here = here.sort_values("between").iloc[::step]
        large = here["size_bytes"] >= 1 << 20
        dots(
            ax,
            100 * here["within"][~large].to_numpy(),
            100 * here["between"][~large].to_numpy(),
            style.DATA[4],
        )
        dots(
            ax, 100 * here["within"][large].to_numpy(), 100 * here["between"][large].to_numpy(), style.DATA[0]
        )
        ax.set_title(program)
        ticks = [t for t in (0.01, 0.1, 1, 10, 100, 1000, 10000) if low <= t <= high]
        ticks = ticks if len(ticks) < 5 else ticks[::2]
        ax.set_xticks(ticks, [f"{t:g} %" for t in ticks])
        ax.set_yticks(ticks, [f"{t:g} %" for t in ticks])
        ax.minorticks_off()
        ax.set_xlabel("interval within a run")
    axes[0].set_ylabel("spread between runs")
    canvas.subplots_adjust(left=0.1, right=0.985, top=0.83, bottom=0.15, wspace=0.08)
    handles = [axes[0].plot([], [], "o", color=style.DATA[i], ms=4, mew=0)[0] for i in (4, 0)]
    handles += [
        axes[0].plot([], [], color=style.MUTED, lw=0.9)[0],
        axes[0].plot([], [], color=style.LIMIT, lw=0.9, ls=(0, (4, 2)))[0],
    ]
    canvas.legend(
        handles,
        ["below 1 MiB", "1 MiB and more", "equal", "10 % between runs"],
        loc="upper left",
        ncols=4,
        bbox_to_anchor=(0.09, 1),
    )
    return canvas


def _between(frame: pd.DataFrame, names: list[str]) -> Canvas:
    height = 0.27 * len(names) + 0.62
    left = 0.3 + 0.066 * max(map(len, names))
    canvas = Canvas(figsize=(7.7, height))
    ax = canvas.add_axes((left / 7.7, 0.46 / height, (7.7 - left - 0.3) / 7.7, 1 - 0.54 / height))
    for i, name in enumerate(names[::-1]):
        values = np.sort(100 * frame.loc[frame["benchmark"] == name, "between"].dropna().to_numpy(float))
        if not len(values):
            continue
        middle = float(np.median(values))
        values = values[
            np.unique(np.linspace(0, len(values) - 1, min(len(values), MOST_DOTS)).round().astype(int))
        ]
        dots(ax, values, i + 0.26 * (np.arange(len(values)) * 0.618 % 1 - 0.5) + 1e-6, style.DATA[0])
        ax.plot([middle] * 2, [i - 0.3, i + 0.3], color=style.INK, lw=1.5)
    ax.set_yticks(range(len(names)), names[::-1], color=style.INK)
    ax.set_ylim(-0.6, len(names) - 0.4)
    ax.set_xlim(0, None)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", visible=False)
    ax.grid(axis="x", visible=True)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel("spread between runs, % of the median (line: median)")
    return canvas
