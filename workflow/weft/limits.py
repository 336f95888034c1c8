"""Sets every measurement beside its limit: link class and theoretical rate from the topology records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weft.rows import NONE, Rows


class _Names:
    """Gives texts small codes, so that arrays of them are arrays of integers; -1 is none."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._codes: dict[str, int] = {}

    def code(self, name: str | None) -> int:
        if name is None:
            return NONE
        if name not in self._codes:
            self._codes[name] = len(self.names)
            self.names.append(name)
        return self._codes[name]

    def array(self, codes: np.ndarray) -> pa.Array:
        indices = pa.array(codes.astype(np.int32), mask=codes == NONE)
        return pa.DictionaryArray.from_arrays(indices, pa.array(self.names, pa.string()))

    def codes(self, column: pa.DictionaryArray) -> np.ndarray:
        known = np.array([*(self.code(name) for name in column.dictionary.to_pylist()), NONE], np.int64)
        return known[np.asarray(pc.fill_null(column.indices, len(known) - 1))]


@dataclass
class _Limit:
    """Rates in bytes/s (NaN: not known) and the codes of where they come from, same shape."""

    rate: np.ndarray
    origin: np.ndarray

    def __getitem__(self, index: Any) -> _Limit:
        return _Limit(self.rate[index], self.origin[index])

    def smaller(self, other: _Limit) -> _Limit:
        """Return the smaller of both; not known if one of them is not."""
        first = ~(other.rate < self.rate)
        rate = np.where(np.isnan(other.rate), np.nan, np.where(first, self.rate, other.rate))
        return _Limit(rate, np.where(first, self.origin, other.origin))


class Topologies:
    """Devices, links and network adapters of several systems, as arrays indexed by topology and device."""

    def __init__(self, topologies: Sequence[Iterable[dict[str, Any]]]) -> None:
        """topologies: the device, link, nic and nic_link records of each."""
        records = [list(topology) for topology in topologies]
        count = len(records) + 1  # the last is the unknown topology
        size = 1 + max(
            (
                r[key]
                for group in records
                for r in group
                for key in ("device", "source", "destination")
                if key in r
            ),
            default=0,
        )
        self._classes, self._origins = _Names(), _Names()
        self._size = size
        self._class = np.full((count, size, size), NONE)
        self._staged_class = np.full((count, size, size), NONE)
        self._link = self._unknown(count, size, size)
        self._host, self._egress, self._local = (self._unknown(count, size) for _ in range(3))
        self._present = np.zeros((count, size), bool)
        self._nic = self._unknown(count)
        self._of_class: dict[tuple[int, int], tuple[float, int]] = {}
        for index, group in enumerate(records):
            for record in group:
                self._add(index, record)

    @staticmethod
    def _unknown(*shape: int) -> _Limit:
        return _Limit(np.full(shape, np.nan), np.full(shape, NONE))

    def _add(self, index: int, record: dict[str, Any]) -> None:
        def put(limit: _Limit, place: Any, rate: float | None, origin: str | None) -> None:
            limit.rate[place] = np.nan if rate is None else rate
            limit.origin[place] = NONE if rate is None else self._origins.code(origin)

        match record["record"]:
            case "device":
                place = index, record["device"]
                self._present[place] = True
                put(
                    self._host,
                    place,
                    record.get("host_link_limit_bytes_per_s"),
                    record.get("host_link_limit_origin"),
                )
                put(
                    self._egress,
                    place,
                    record.get("egress_limit_bytes_per_s"),
                    record.get("egress_limit_origin"),
                )
                put(
                    self._local,
                    place,
                    record.get("memory_copy_bytes_per_s"),
                    record["memory_bandwidth_origin"],
                )
            case "link":
                link = index, record["source"], record["destination"]
                self._class[link] = self._classes.code(record["link_class"])
                self._staged_class[link] = self._classes.code(
                    record.get("pcie_class") or _without_nvlink(record["link_class"])
                )
                put(self._link, link, record["limit_bytes_per_s"], record["limit_origin"])
                if record["limit_bytes_per_s"] is not None:
                    known = float(self._link.rate[link]), int(self._link.origin[link])
                    self._of_class.setdefault((index, int(self._class[link])), known)
            case "nic" if record["rate_bytes_per_s"] is not None:
                if not self._nic.rate[index] >= record["rate_bytes_per_s"]:
                    put(self._nic, index, record["rate_bytes_per_s"], "nic")

    def join(self, table: pa.Table, topology: np.ndarray) -> dict[str, pa.Array]:
        """Return link_class, limit_bytes_per_s, limit_origin and efficiency of each row.

        table: columns of convert(); topology: index of each row's topology, -1 where there is none. A limit
        is of the bandwidth that the row reports: doubled where that is the sum of two directions, and for
        collectives that of the bus bandwidth.
        """
        rows = Rows(table, topology, self._size)
        stated = self._classes.codes(rows.column("link_class"))
        link_class, limit = self._pair(rows)
        for which, other in (
            (rows.benchmark("p2p.host"), self._host_link(rows)),
            (rows.benchmark("p2p.fanout"), self._fanout(rows)),
            (rows.benchmark("collective."), self._collective(rows)),
            (rows.benchmark("pt2pt.") & rows.between_nodes, self._nic[rows.topology]),
            (stated != NONE, self._stated(rows, stated)),
        ):
            limit = _Limit(
                np.where(which, other.rate, limit.rate), np.where(which, other.origin, limit.origin)
            )
        local = (rows.source == rows.destination) & (rows.source != NONE) & ~rows.between_nodes
        rate = limit.rate * np.where(rows.both_ways & ~local, 2.0, 1.0)
        counted = rows.benchmark("pt2pt.message_rate") | rows.benchmark("p2p.atomics")
        rate = np.where(counted, np.nan, rate)
        achieved = np.where(rows.benchmark("collective."), rows.floats("bus_bandwidth_bytes_per_s"),
                            rows.floats("bandwidth_bytes_per_s"))  # fmt: skip
        return {
            "link_class": self._classes.array(np.where(stated != NONE, stated, link_class)),
            "limit_bytes_per_s": pa.array(rate, from_pandas=True),
            "limit_origin": self._origins.array(np.where(np.isnan(rate), NONE, limit.origin)),
            "efficiency": pa.array(achieved / rate, from_pandas=True),
        }

    def nvlinked(self, topology: np.ndarray) -> np.ndarray:
        """Say of each topology, by index, whether NVLink joins all its devices: 1, 0, or NaN if not known."""
        over_nvlink = np.array([*(name.startswith("NV") for name in self._classes.names), False])
        apart = ~np.eye(self._size, dtype=bool) & (self._class != NONE)
        known = apart.any(axis=(1, 2))
        every = (over_nvlink[self._class] | ~apart).all(axis=(1, 2))
        return np.where(known, every, np.nan)[topology]

    def _pair(self, rows: Rows) -> tuple[np.ndarray, _Limit]:
        """Between two devices: over the link; through host memory where peer access is off or the message is
        staged.
        """
        t, s, d, via = rows.topology, rows.source, rows.destination, rows.via
        known = (s != NONE) & (d != NONE) & ~rows.between_nodes
        staged = rows.staged & (s != d)
        link_class = np.where(staged, self._staged_class[t, s, d], self._class[t, s, d])
        limit, host = self._link[t, s, d], self._host[t, s].smaller(self._host[t, d])
        hops = self._link[t, s, via].smaller(self._link[t, via, d])
        local = self._local[t, s]
        link_class = np.where(s == d, self._classes.code("X"), link_class)
        for which, other in ((via != NONE, hops), (staged, host), (s == d, local)):
            limit = _Limit(
                np.where(which, other.rate, limit.rate), np.where(which, other.origin, limit.origin)
            )
        return np.where(known, link_class, NONE), _Limit(np.where(known, limit.rate, np.nan), limit.origin)

    def _host_link(self, rows: Rows) -> _Limit:
        """Of the row's device, or the sum of all at once; the slowest where the row (imported) names none."""
        one = self._host[rows.topology, rows.device]
        slowest = _slowest(self._host, self._present)[rows.topology]
        named = rows.device != NONE
        rate = np.where(named, one.rate, slowest.rate)
        together = rows.equals("pattern", "all_devices")
        return _Limit(
            np.where(together, _total(self._host, rows), rate), np.where(named, one.origin, slowest.origin)
        )

    def _fanout(self, rows: Rows) -> _Limit:
        """All that one device can send; with all pairs at once, the sum over the participants."""
        root = self._egress[rows.topology, rows.device]
        total = _total(self._egress, rows)
        all_pairs = rows.equals("pattern", "all_pairs")
        return _Limit(np.where(all_pairs, total, root.rate), root.origin)

    def _collective(self, rows: Rows) -> _Limit:
        """The slowest participant's links; between nodes the network adapter."""
        slowest = _slowest(self._egress, self._present)[rows.topology]
        row, device = rows.devices()
        if len(row):
            rate = np.full(len(rows.topology), np.inf)
            with np.errstate(invalid="ignore"):  # NaN, not known, is meant to win
                np.minimum.at(rate, row, self._egress.rate[rows.topology[row], device])
            slowest.rate = np.where(np.isinf(rate), slowest.rate, rate)
        nic = self._nic[rows.topology]
        return _Limit(
            np.where(rows.between_nodes, nic.rate, slowest.rate),
            np.where(rows.between_nodes, nic.origin, slowest.origin),
        )

    def _stated(self, rows: Rows, stated: np.ndarray) -> _Limit:
        """Of the class a source names: any link of that class; for a host link of no such class, the
        device's.
        """
        limit = self._host_link(rows)
        limit.rate = np.where(rows.benchmark("p2p.host"), limit.rate, np.nan)
        staged = rows.staged & ~rows.benchmark("p2p.host")
        slowest = _slowest(self._host, self._present)
        for index in np.flatnonzero(stated != NONE):
            topology = int(rows.topology[index])
            if staged[index]:
                limit.rate[index], limit.origin[index] = slowest.rate[topology], slowest.origin[topology]
            elif (known := self._of_class.get((topology, int(stated[index])))) is not None:
                limit.rate[index], limit.origin[index] = known
        return limit


def _without_nvlink(link_class: str | None) -> str | None:
    """Return the class of the path that avoids NVLink, where the class with it tells that too."""
    return None if link_class is None or link_class.startswith("NV") else link_class


def _total(limit: _Limit, rows: Rows) -> np.ndarray:
    """Return the sum over each row's participants."""
    row, device = rows.devices()
    return np.bincount(row, limit.rate[rows.topology[row], device], minlength=len(rows.topology))


def _slowest(limit: _Limit, present: np.ndarray) -> _Limit:
    """Return the smallest of each topology's devices; not known if one device's is not."""
    rate = np.where(present, limit.rate, np.inf).min(axis=1)
    return _Limit(np.where(np.isinf(rate), np.nan, rate), limit.origin.max(axis=1))
