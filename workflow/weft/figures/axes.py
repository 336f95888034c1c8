"""Names of axes and their values in words, the order and colour of link classes, and what shaped a figure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

import pandas as pd

from weft.figures import quantities as q
from weft.figures.style import DATA

METHOD = ("engine", "operation", "method", "peer_access")
SOFTWARE = ("container", "mpi_library")  # with what a program ran: never pooled
PANEL = ("direction", "peer_access", "engine", "operation", "method", "batching", *SOFTWARE)
WORDS = {
    "copy_engine": "copy engine",
    "host_to_device": "host to device",
    "device_to_host": "device to host",
    "one_to_all": "one to all",
    "all_to_one": "all to one",
    "all_pairs": "all pairs at once",
    "smallest_copy": "smallest copy",
    "start_up": "start-up",
    "load_store": "load/store flag",
    "one_device": "one device",
    "all_devices": "all devices at once",
    "stream": "one by one",
    "graph": "as a graph",
    "all_gather": "all-gather",
    "all_reduce": "all-reduce",
    "reduce_scatter": "reduce-scatter",
    "all_to_all": "all-to-all",
    "send_recv": "send/receive",
    "nccl": "NCCL",
    "mpi": "MPI",
    "nccl_tests": "nccl-tests",
    "one_per_device": "a process a device",
    "one": "one process",
    "ll": "LL",
    "ll128": "LL128",
    "p2p": "P2P",
    "shm": "shared memory",
    "socket": "sockets",
    "nccl1": "NCCL 1",
    "nccl2": "NCCL 2",
    "nvgroup": "NV-Group",
    "time_budget": "time budget",
    "sample_limit": "sample limit",
    "bidirectional_bandwidth": "bidirectional bandwidth",
    "message_rate": "message rate",
}
NAMES = {
    "link_class": "link class",
    "peer_access": "peer access",
    "size_bytes": "size",
    "in_place": "in place",
    "mpi_library": "MPI library",
    "gpudirect": "GPUDirect",
    "source_rank": "source rank",
    "destination_rank": "destination rank",
    "element_bytes": "element size",
}
ADDED = {
    "one": "one word",
    "neighbouring": "neighbouring words",
    "spread": "words 128 B apart",
    "unused": "result unused",
    "used": "result used",
}
INDICES = ("source_rank", "destination_rank", "via", "device", "root", "window", "source", "destination")
SWITCHES = {"peer_access": "peer access", "gpudirect": "GPUDirect", "graph": "CUDA graph"}
PLACES = {"in_place": ("out of place", "in place")}
_VALUE_ORDER = (
    "unidirectional",
    "host_to_device",
    "device_to_host",
    "bidirectional",
    "device",
    "pinned",
    "pageable",
    "none",
    "auto",
    "smallest_copy",
    "start_up",
    "load_store",
    "stream",
    "graph",
    "copy_engine",
    "kernel",
    "write",
    "read",
    "one_device",
    "all_devices",
    "one_to_all",
    "all_to_one",
    "all_pairs",
    "one",
    "neighbouring",
    "spread",
    "unused",
    "used",
    "mpi",
    "nccl",
    "within a node",
    "between nodes",
)
_CLASS_ORDER = ("X", "NV", "PIX", "PXB", "PHB", "NODE", "SYS")


def missing(value: object) -> bool:
    """Whether a cell of a frame is null."""
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def say(axis: str, value: object) -> str:
    """A value of an axis in words: ('peer_access', 1) -> 'peer access on'."""
    if missing(value):
        return {"via": "direct", "container": "bare"}.get(axis, "")
    if axis in SWITCHES:
        words = f"{SWITCHES[axis]} {'on' if value else 'off'}"
    elif axis in PLACES:
        words = PLACES[axis][bool(value)]
    elif axis == "chunk":
        named = {"none": "whole", "auto": "best chunk"}.get(str(value))
        words = named or f"chunks of {q.size(float(str(value)))}"
    elif axis.endswith("_bytes"):
        words = q.size(float(value))  # type: ignore[arg-type]
    elif axis in ("ranks", "nodes", "pairs", "streams"):
        words = q.plural(int(value), axis[:-1])  # type: ignore[call-overload]
        words += " at once" if axis == "pairs" else ""
    elif axis in ("address", "result"):
        words = ADDED[str(value)]
    elif axis == "container":
        words = f"in {value}"
    elif axis in INDICES:
        words = f"{NAMES.get(axis, axis)} {int(value)}"  # type: ignore[call-overload]
    else:
        words = WORDS.get(str(value), str(value).replace("_", " "))
    return words


def varying(frame: pd.DataFrame, axes: Iterable[str]) -> list[str]:
    """Those axes that take more than one value in the frame. No container is the bare machine, a value of its
    own; no MPI library is none: what has no ranks, or says not which.
    """

    def values(axis: str) -> int:
        return frame[axis].nunique(dropna=axis == "mpi_library")

    return [axis for axis in axes if axis in frame and values(axis) > 1]


def telling(frame: pd.DataFrame, axes: Iterable[str]) -> list[str]:
    """Those axes, in their order, that tell rows apart which the ones before them do not."""
    kept: list[str] = []
    groups = 1
    for axis in varying(frame, axes):
        split = frame.groupby([*kept, axis], observed=True, dropna=False).ngroups
        if split > groups:
            kept.append(axis)
            groups = split
    return kept


def describe(frame: pd.DataFrame, axes: Iterable[str]) -> list[str]:
    """Axes that take one value throughout, in words."""
    constant = [axis for axis in axes if axis in frame and frame[axis].nunique(dropna=False) == 1]
    return [text for axis in constant if (text := say(axis, frame[axis].iloc[0]))]


def label(frame: pd.DataFrame, axes: Sequence[str]) -> pd.Series:
    """One text a row: the values of several axes in words, joined by commas. Categorical, in the order of
    rank.
    """
    if not axes or frame.empty:
        return pd.Series(pd.Categorical([""] * len(frame)), index=frame.index)
    codes = frame.groupby(list(axes), observed=True, dropna=False, sort=False).ngroup().to_numpy()
    first = frame[list(axes)].drop_duplicates().reset_index(drop=True)
    texts = [", ".join(t for a in axes if (t := say(a, first[a].iloc[i]))) for i in range(len(first))]
    order = sorted(range(len(first)), key=lambda i: [rank(a, first[a].iloc[i]) for a in axes])
    unique = list(dict.fromkeys(texts[i] for i in order))
    lookup = pd.Index(unique).get_indexer(texts)
    return pd.Series(pd.Categorical.from_codes(lookup[codes], categories=unique), index=frame.index)


def rank(axis: str, value: object) -> tuple[int, float, str]:
    """Sorts the values of an axis as people list them: on before off, one way before both, small before
    large.
    """
    if missing(value):
        return 0, 0, ""
    if axis == "link_class":
        return 1, class_key(str(value))[0], f"{99 + class_key(str(value))[1]:03d}"
    if axis in SWITCHES:
        return 1, -float(value), ""  # type: ignore[arg-type]
    if isinstance(value, str):
        return 1, float(_VALUE_ORDER.index(value)) if value in _VALUE_ORDER else 99.0, value
    return 1, float(value), ""  # type: ignore[arg-type]


def class_key(link_class: str) -> tuple[int, int]:
    """Sorts link classes from near to far: X, NV4, NV1, PIX, PXB, PHB, NODE, SYS."""
    match = re.fullmatch(r"NV(\d+)", link_class)
    if match:
        return 1, -int(match.group(1))
    return (_CLASS_ORDER.index(link_class), 0) if link_class in _CLASS_ORDER else (len(_CLASS_ORDER), 0)


def class_colours(classes: Iterable[str]) -> dict[str, str]:
    """One colour a link class, the same in every figure; further NVLink widths take the spare colours."""
    fixed = {"PIX": DATA[2], "PXB": DATA[5], "PHB": DATA[4], "NODE": DATA[3], "SYS": DATA[1], "X": DATA[6]}
    spare = iter((DATA[0], DATA[7], DATA[5], DATA[3]) * 8)
    ordered = sorted(set(classes), key=class_key)
    return {name: fixed.get(name) or (next(spare) if name.startswith("NV") else DATA[6]) for name in ordered}


def shaped_by(frame: pd.DataFrame, sampling: dict[str, object], axes: Sequence[str] = ()) -> tuple[str, ...]:
    """What shaped a figure: sizes, axes held constant, repeats, samples, confidence and the precision
    asked for.
    """
    parts = []
    if "size_bytes" in frame and len(frame):
        low, high = frame["size_bytes"].min(), frame["size_bytes"].max()
        parts.append(
            q.size(low)
            if low == high
            else f"{frame['size_bytes'].nunique()} sizes, {q.size(low)} to {q.size(high)}"
        )
    parts += describe(frame, axes)
    if "runs" in frame and len(frame):
        low, high = int(frame["runs"].min()), int(frame["runs"].max())
        parts.append(q.plural(high, "run") if low == high else f"{low} to {high} runs")
    elif "repeat" in frame and len(frame):
        parts.append(q.plural(frame["repeat"].nunique(), "run"))
    if "samples" in frame and frame["samples"].notna().any():
        low, high = int(frame["samples"].min()), int(frame["samples"].max())
        if high > 1:
            parts.append(
                f"{q.count(low)} samples a run"
                if low == high
                else f"{q.count(low)} to {q.count(high)} samples a run"
            )
    if "confidence" in frame and frame["confidence"].notna().any():
        least, most = frame["confidence"].min(), frame["confidence"].max()
        asked = q.percent(most) if least == most else f"{q.percent(least)} (few samples) to {q.percent(most)}"
        parts.append(f"{asked} confidence interval of the median")
        if "precision" in sampling:
            parts.append(f"sampled until ±{q.percent(float(sampling['precision']))} or the time budget")  # type: ignore[arg-type]
    elif len(frame):
        parts.append("the source gives no interval")
    return tuple(parts)
