"""What is compared with what: measurements of a table as groups of members that should be equally fast."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from weft.columns import AXES

LARGE_BYTES, SMALL_BYTES = 128 * 1024, 1024  # from and up to which a time is of bandwidth, or of latency
THROUGHPUT, LATENCY = "throughput", "latency"
# Ratio of times from which a deviation matters. A path of more switches has more latency, no less bandwidth.
MATTERS = {THROUGHPUT: 1.15, LATENCY: 1.5}
FEWEST = 3  # of nodes, or of whatever is compared: of two, none can be called the sick one
NODE, DEVICE, LINK, PART = "node", "device", "link", "part"

COLUMNS = (
    *AXES, "file", "hostname", "device_backend", "system", "source_host", "destination_host", "outcome",
    "time_median_s", "time_ci_low_s", "time_ci_high_s", "bandwidth_bytes_per_s",
)  # fmt: skip
_MESSAGES = ("pt2pt.bandwidth", "pt2pt.bidirectional_bandwidth", "pt2pt.latency")
_WITH = ("system", "container", "mpi_library", "library")  # what a program ran with
_ENDS = ("source", "destination", "device", "source_rank", "destination_rank")
_TIMES = {"time_s": "time_median_s", "low_s": "time_ci_low_s", "high_s": "time_ci_high_s"}

_Levels = list[tuple[str, dict[str, np.ndarray]]]


@dataclass(frozen=True)
class Group:
    """Measurements whose members are peers of each other.

    what and conditions: what was measured, and with what; quantity: THROUGHPUT or LATENCY. rows: member,
    run, family (codes), forward (from the first end of a link to its second), time_s with low_s and high_s,
    payload_bytes (NaN where there is no bandwidth), benchmark and size_bytes. A family is a configuration
    that differs in nothing but the member. members: their names. alike: codes that are equal for members
    that are each other's peers. ends: of links, which of the nodes (or devices) they join, shape
    (members, 2). levels: kinds of causes, from the one that explains most: kind, name -> members.
    """

    what: str
    conditions: dict[str, object]
    quantity: str
    rows: pd.DataFrame
    members: list[str]
    alike: np.ndarray
    ends: np.ndarray | None
    levels: _Levels

    @property
    def matters(self) -> float:
        """The ratio of times from which a deviation matters."""
        return MATTERS[self.quantity]

    @property
    def member_kind(self) -> str:
        return PART if self.ends is None else LINK


def groups(table: pd.DataFrame) -> Iterator[Group]:
    """Yield the groups of a table with the columns COLUMNS; a row belongs to one at most."""
    measured = table[(table["outcome"] == "measured") & (table["time_median_s"] > 0)]
    messages = measured[measured["benchmark"].isin(_MESSAGES) & measured["source_host"].notna()]
    across = messages["source_host"].astype(str) != messages["destination_host"].astype(str)
    transport = ("placement", "gpudirect")
    yield from _split(messages[across], transport, "messages between nodes", _links)
    yield from _split(messages[~across], transport, "messages within a node", _parts)
    for benchmark, conditions, what in (
        ("p2p.copy", ("peer_access",), "copies between devices"),
        ("p2p.host", ("memory",), "host links"),
        ("p2p.latency", ("method", "peer_access"), "latency between devices"),
    ):
        placed = measured["hostname"].notna() & (measured["source"].notna() | measured["device"].notna())
        here = measured[(measured["benchmark"] == benchmark) & placed]
        yield from _split(here, conditions, what, _parts)


_Made = tuple[pd.DataFrame, list[str], np.ndarray, np.ndarray | None, _Levels]  # a Group from rows on


def _split(
    rows: pd.DataFrame, conditions: Sequence[str], what: str, make: Callable[[pd.DataFrame], _Made]
) -> Iterator[Group]:
    if rows.empty:
        return
    keys = [*conditions, *_WITH]
    for quantity, here in ((THROUGHPUT, _large(rows)), (LATENCY, _small(rows))):
        for values, part in here.groupby(keys, observed=True, dropna=False, sort=True):
            made = make(_coded(part, keys))
            yield Group(what, dict(zip(keys, values, strict=True)), quantity, *made)


def _large(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["size_bytes"] >= LARGE_BYTES]


def _small(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows whose time is that of one small message or copy: a window of messages tells a rate, no latency."""
    return rows[rows["benchmark"].astype(str).str.endswith("latency") & (rows["size_bytes"] <= SMALL_BYTES)]


def _coded(rows: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return what groups need of the rows; family: a configuration without its ends."""
    family = [axis for axis in AXES if axis not in (*_ENDS, *keys) and rows[axis].notna().any()]
    codes = rows.groupby(family, observed=True, dropna=False, sort=True).ngroup()
    times = {name: rows[column].to_numpy(float, na_value=np.nan) for name, column in _TIMES.items()}
    rate = rows["bandwidth_bytes_per_s"].to_numpy(float, na_value=np.nan)
    kept = rows[["benchmark", "size_bytes", "hostname", "device_backend", *_ENDS]]
    hosts = {name: rows[name].astype(object) for name in ("source_host", "destination_host")}
    run = pd.factorize(rows["file"].astype(str), sort=True)[0]
    return kept.assign(family=codes, run=run, payload_bytes=rate * times["time_s"], **times, **hosts)


def _links(rows: pd.DataFrame) -> _Made:
    """Members are pairs of nodes, causes the nodes."""
    source, destination = rows["source_host"].astype(str), rows["destination_host"].astype(str)
    nodes = sorted({*source, *destination}, key=lambda name: (len(name), name))  # node2 before node10
    codes = {node: code for code, node in enumerate(nodes)}
    a, b = source.map(codes).to_numpy(int), destination.map(codes).to_numpy(int)
    low, high = np.minimum(a, b), np.maximum(a, b)
    pairs, member = np.unique(low * len(nodes) + high, return_inverse=True)
    ends = np.column_stack([pairs // len(nodes), pairs % len(nodes)])
    members = [f"{nodes[i]} – {nodes[j]}" for i, j in ends]
    causes = {node: np.flatnonzero((ends == code).any(axis=1)) for node, code in codes.items()}
    rows = _one_each(rows.assign(member=member, forward=a == low))
    return rows, members, np.zeros(len(members), int), ends, [(NODE, causes)]


def _one_each(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the median over the ranks that share a member, one row a run, family and direction."""
    keys = ["member", "run", "family", "forward"]
    wanted = {name: (name, "median") for name in (*_TIMES, "payload_bytes")}
    wanted |= {name: (name, "first") for name in ("benchmark", "size_bytes")}
    return rows.groupby(keys, observed=True, sort=True).agg(**wanted).reset_index()


def _parts(rows: pd.DataFrame) -> _Made:
    """Members are the parts of each node: its device pairs or host links; causes the nodes and devices.

    The peers of a part are the same part of other nodes; of too few nodes, all parts of a family (which has
    one link class). A device of the host backend is no hardware that could be sick.
    """
    host = rows["source_host"].where(rows["source_host"].notna(), rows["hostname"].astype(object)).astype(str)
    ends = [rows[name].astype("Int64") for name in ("source", "destination", "device")]
    single = ends[0].isna() | ends[1].isna()
    one, other = ends[2].where(single, ends[0]), ends[2].where(single, ends[1])
    rows = rows.assign(host=host, one=one, other=other)
    few = rows["host"].nunique() < FEWEST
    arenas = (rows["device_backend"] == "host").all()
    keyed = rows.groupby(["host", "one", "other"], observed=True, sort=True)
    names = [tuple(map(str, key)) for key in keyed.groups]
    rows = _one_each(rows.assign(member=keyed.ngroup(), forward=True))
    places = {place: code for code, place in enumerate(dict.fromkeys(name[1:] for name in names))}
    members = [f"{h} device {a}" + (f" → {b}" if b != a else "") for h, a, b in names]
    nodes: dict[str, list[int]] = {}
    devices: dict[str, list[int]] = {}
    for member, (node, a, b) in enumerate(names):
        nodes.setdefault(node, []).append(member)
        for device in {a, b}:
            devices.setdefault(f"{node} device {device}", []).append(member)
    alike = np.zeros(len(names), int) if few and not arenas else np.array([places[n[1:]] for n in names], int)
    levels = [
        (kind, {name: np.array(of) for name, of in causes.items()})
        for kind, causes in ((NODE, nodes), (DEVICE, devices))
    ]
    return rows, members, alike, None, levels
