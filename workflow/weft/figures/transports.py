"""Transports of messages: where the buffer lives and whether GPUDirect is on; their names, colours and
rows.
"""

from __future__ import annotations

import pandas as pd

from weft.figures import curves, style
from weft.figures.axes import label, telling
from weft.figures.dataset import Dataset
from weft.figures.measures import BANDWIDTH, LATENCY, MESSAGE_RATE, Measure
from weft.figures.sweeps import curve_frame

KINDS = (
    ("pt2pt.latency", LATENCY, "Message latency", True),
    ("pt2pt.bandwidth", BANDWIDTH, "Message bandwidth", False),
    ("pt2pt.bidirectional_bandwidth", BANDWIDTH, "Bidirectional message bandwidth", False),
    ("pt2pt.message_rate", MESSAGE_RATE, "Message rate", True),
)
TRANSPORTS = (
    "device, GPUDirect on",
    "device, GPUDirect off",
    "pinned, GPUDirect on",
    "pinned, GPUDirect off",
    "pageable, GPUDirect on",
    "pageable, GPUDirect off",
)
COLOURS = dict(
    zip(
        TRANSPORTS,
        (style.DATA[0], style.DATA[5], style.DATA[2], style.DATA[2], style.DATA[1], style.DATA[1]),
        strict=True,
    )
)
# What a message's time depends on beside its size and transport: never in one line together.
CONDITIONS = ("reach", "container", "mpi_library", "pairs", "nodes", "ranks", "chunk")
DASHES = {name: curves.DASHES[1] for name in TRANSPORTS if name.endswith("off")}


def load(
    dataset: Dataset, benchmark: str, measure: Measure
) -> tuple[pd.DataFrame, list[str], tuple[str, ...]]:
    """Configurations with columns line (the transport) and panel, the axes of the panels, and what was
    left out.
    """
    frame = dataset.configurations(benchmark)
    if measure.column not in frame:
        return frame.iloc[:0], [], ()
    frame, left_out = curve_frame(frame.dropna(subset=[measure.column]))
    rest = telling(frame, CONDITIONS)
    return (
        frame.assign(line=label(frame, ["placement", "gpudirect"]), panel=panels(frame, rest)),
        rest,
        left_out,
    )


def marks(
    dataset: Dataset, benchmark: str, measure: Measure, frame: pd.DataFrame, rest: list[str]
) -> pd.DataFrame:
    """Single runs of the configurations in the frame (see load), with columns line and panel."""
    runs = dataset.runs(benchmark)
    runs = runs[runs[measure.run_column].notna()]
    keys = [axis for axis in ("placement", "gpudirect", *CONDITIONS) if axis in frame]
    kept = pd.MultiIndex.from_frame(runs[keys].astype(object)).isin(
        pd.MultiIndex.from_frame(frame[keys].astype(object).drop_duplicates())
    )
    runs = runs[kept]
    return runs.assign(line=label(runs, ["placement", "gpudirect"]), panel=panels(runs, rest))


def panels(frame: pd.DataFrame, rest: list[str]) -> pd.Series:
    if "chunk" not in rest:
        return label(frame, rest)
    chunk = frame["chunk"].astype(object).fillna("none").astype(str)
    return label(frame.assign(chunk=chunk), rest)


def short(transport: str) -> str:
    """A transport in few words, for a mark in the figure."""
    return transport.replace(", GPUDirect", " GDR")
