"""What the campaign cost: device-seconds of every experiment, and the precision they bought."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow.compute as pc
from matplotlib.figure import Figure as Canvas

from weft.figures import quantities as q
from weft.figures import style
from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws

# What the wall time of a run goes into, by the phases of its end record; what is named nowhere is the rest.
PURPOSES = {
    "sampling": ("calibration", "warm-up", "sampling"),
    "proof of the path": ("proof of the path",),
    "filling and verification": ("filling", "verification"),
}
REST = "memory, device states, other"
# Before the first case: not in the wall time.
_STARTING = ("MPI_Init", "setting up")
_COLOURS = (style.DATA[0], style.DATA[2], style.DATA[4], style.DATA[6])


def costs(dataset: Dataset) -> pd.DataFrame:
    """One row an experiment that says how long it took: runs, wall_time_s, device_s (wall time times the
    devices its runs held), what of that went into each of PURPOSES and REST (0 where no run tells),
    measurements, converged (share) and half_width (median, relative to the median).
    """
    runs = pd.DataFrame(dataset.metadata.get("runs", []))
    if runs.empty or "wall_time_s" not in runs or runs["wall_time_s"].notna().sum() == 0:
        return pd.DataFrame()
    runs = runs.dropna(subset=["wall_time_s"])
    runs = runs.assign(
        device_s=runs["wall_time_s"] * runs["devices"], experiment=runs["experiment"].fillna("–")
    )
    spent = runs.groupby("experiment").agg(
        runs=("file", "size"), wall_time_s=("wall_time_s", "sum"), device_s=("device_s", "sum")
    )
    purposes = _purposes(runs).groupby(runs["experiment"]).sum()
    columns = ["experiment", "converged", "time_median_s", "time_ci_low_s", "time_ci_high_s"]
    rows = dataset.read(columns, pc.field("outcome") == "measured")
    if rows.empty:
        return pd.DataFrame()
    rows = rows.assign(
        experiment=rows["experiment"].astype(object).fillna("–"),
        half_width=(rows["time_ci_high_s"] - rows["time_ci_low_s"]) / (2 * rows["time_median_s"]),
        converged=rows["converged"].astype(float),
    )
    bought = rows.groupby("experiment").agg(
        measurements=("time_median_s", "size"),
        converged=("converged", "mean"),
        half_width=("half_width", "median"),
    )
    frame = spent.join(purposes).join(bought)
    frame["measurements"] = frame["measurements"].fillna(0).astype(int)
    return frame.sort_values("device_s", ascending=False).reset_index()


def _purposes(runs: pd.DataFrame) -> pd.DataFrame:
    """Device-seconds of each run by what they went into, in columns."""
    found = []
    all_phases = runs["phases_s"] if "phases_s" in runs else [{}] * len(runs)  # an older table
    for phases_s, devices in zip(all_phases, runs["devices"], strict=True):
        row = dict.fromkeys([*PURPOSES, REST], 0.0)
        for phase, time_s in phases_s.items():
            if phase not in _STARTING:
                purpose = next((name for name, phases in PURPOSES.items() if phase in phases), REST)
                row[purpose] += time_s * devices
        found.append(row)
    return pd.DataFrame(found, index=runs.index)


@draws("cost")
def device_seconds(dataset: Dataset) -> Iterator[Figure]:
    """Device-seconds of each experiment, a bar each, with what they bought beside it."""
    frame = costs(dataset)
    if frame.empty:
        return
    unit = "GPU" if (dataset.counts["device_backend"].astype(str) == "cuda").all() else "device"
    total, measurements = frame["device_s"].sum(), int(frame["measurements"].sum())
    share = np.average(frame["converged"].fillna(0), weights=np.fmax(frame["measurements"], 1e-9))
    caption = (
        f"{q.plural(measurements, 'measurement')} took {q.count(round(total))} {unit}-seconds, "
        f"{q.count(round(frame['wall_time_s'].sum()))}{q.NO_BREAK}s on the clock; {q.percent(share)} of them "
        f"converged. {frame['experiment'].iloc[0]} cost most, {q.percent(frame['device_s'].iloc[0] / total)}."
    )
    told = frame[[*PURPOSES, REST]].to_numpy().sum()
    if told:
        caption += f" Sampling took {q.percent(frame['sampling'].sum() / told)}."
    yield Figure(
        "cost_device_seconds",
        "cost",
        f"{unit}-seconds of every experiment",
        caption,
        (
            f"{unit}-seconds: time from the first case to the last, times the {unit}s that the run held",
            "starting programs is not in it",
            "±: median over measurements of the half width of the interval, relative to the median",
        ),
        measurements,
        frame,
        style.svg(_bars(frame, unit, bool(told)), "cost_device_seconds", f"Bar chart. {caption}"),
    )


def _bars(frame: pd.DataFrame, unit: str, told: bool) -> Canvas:
    """A bar for each experiment, parted by purpose where that is told."""
    count = len(frame)
    names = [str(name).replace("_", " ") for name in frame["experiment"]]
    left = min(3.2, 0.25 + 0.075 * max(map(len, names)))
    top = 0.34 if told else 0.08
    width, height = 8.6, 0.26 * count + 0.52 + top
    canvas = Canvas(figsize=(width, height))
    ax = canvas.add_axes(
        (left / width, 0.46 / height, (width - left - 3.1) / width, 1 - (0.46 + top) / height)
    )
    y = np.arange(count)[::-1]
    begin = np.zeros(count)
    for purpose, colour in zip([*PURPOSES, REST] if told else [], _COLOURS, strict=False):
        ax.barh(y, frame[purpose], left=begin, height=0.62, color=colour, label=purpose)
        begin += frame[purpose].to_numpy()
    untold = np.fmax(frame["device_s"] - begin, 0)
    ax.barh(y, untold, left=begin, height=0.62, color=style.NO_DATA if told else style.DATA[0])
    if told:
        canvas.legend(loc="upper left", ncols=4, bbox_to_anchor=(0.01, 1), borderaxespad=0.1)
    for place, row in zip(y, frame.itertuples(), strict=True):
        words = q.plural(row.measurements, "measurement") if row.measurements else "no measurements"
        if np.isfinite(row.converged):
            words += f", {q.percent(row.converged)} converged"
        if np.isfinite(row.half_width):
            words += f", ±{q.percent(row.half_width)}"
        ax.annotate(
            words, (1, place), xycoords=("axes fraction", "data"), xytext=(6, 0), textcoords="offset points",
            va="center", fontsize=7.4, annotation_clip=False,
        )  # fmt: skip
    ax.set_ylim(-0.6, count - 0.4)
    ax.set_yticks(y, names, color=style.INK)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False, axis="y")
    ax.spines["left"].set_visible(False)
    ax.set_xlim(0, float(frame["device_s"].max()) * 1.03)
    ax.set_xlabel(f"{unit}-seconds")
    return canvas
