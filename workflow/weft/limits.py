"""Sets every measurement beside its limit: joins link class and theoretical rate from the topology records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_NONE = -1


class _Names:
    """Gives texts small codes, so that arrays of them are arrays of integers; -1 is none."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._codes: dict[str, int] = {}

    def code(self, name: str | None) -> int:
        if name is None:
            return _NONE
        if name not in self._codes:
            self._codes[name] = len(self.names)
            self.names.append(name)
        return self._codes[name]

    def array(self, codes: np.ndarray) -> pa.Array:
        indices = pa.array(codes.astype(np.int32), mask=codes == _NONE)
        return pa.DictionaryArray.from_arrays(indices, pa.array(self.names, pa.string()))

    def codes(self, column: pa.DictionaryArray) -> np.ndarray:
        known = np.array([*(self.code(name) for name in column.dictionary.to_pylist()), _NONE], np.int64)
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
    """The devices, links and network adapters of several systems, as arrays indexed by topology and device."""

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
        self._class = np.full((count, size, size), _NONE)
        self._staged_class = np.full((count, size, size), _NONE)
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
        return _Limit(np.full(shape, np.nan), np.full(shape, _NONE))

    def _add(self, index: int, record: dict[str, Any]) -> None:
        def put(limit: _Limit, place: Any, rate: float | None, origin: str | None) -> None:
            limit.rate[place] = np.nan if rate is None else rate
            limit.origin[place] = _NONE if rate is None else self._origins.code(origin)

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
        rows = _Rows(table, topology, self._size)
        stated = self._classes.codes(rows.column("link_class"))
        link_class, limit = self._pair(rows)
        for which, other in (
            (rows.benchmark("p2p.host"), self._host_link(rows)),
            (rows.benchmark("p2p.fanout"), self._fanout(rows)),
            (rows.benchmark("collective."), self._collective(rows)),
            (rows.benchmark("pt2pt.") & rows.between_nodes, self._nic[rows.topology]),
            (stated != _NONE, self._stated(rows, stated)),
        ):
            limit = _Limit(
                np.where(which, other.rate, limit.rate), np.where(which, other.origin, limit.origin)
            )
        local = (rows.source == rows.destination) & (rows.source != _NONE)
        rate = limit.rate * np.where(rows.both_ways & ~local, 2.0, 1.0)
        rate = np.where(rows.benchmark("pt2pt.message_rate"), np.nan, rate)
        achieved = np.where(rows.benchmark("collective."), rows.floats("bus_bandwidth_bytes_per_s"),
                            rows.floats("bandwidth_bytes_per_s"))  # fmt: skip
        return {
            "link_class": self._classes.array(np.where(stated != _NONE, stated, link_class)),
            "limit_bytes_per_s": pa.array(rate, from_pandas=True),
            "limit_origin": self._origins.array(np.where(np.isnan(rate), _NONE, limit.origin)),
            "efficiency": pa.array(achieved / rate, from_pandas=True),
        }

    def _pair(self, rows: _Rows) -> tuple[np.ndarray, _Limit]:
        """Between two devices: over the link; through host memory where peer access is off or the message is
        staged.
        """
        t, s, d, via = rows.topology, rows.source, rows.destination, rows.via
        known = rows.known & (s != _NONE) & (d != _NONE) & ~rows.between_nodes
        staged = rows.staged & (s != d)
        link_class = np.where(staged, self._staged_class[t, s, d], self._class[t, s, d])
        limit, host = self._link[t, s, d], self._host[t, s].smaller(self._host[t, d])
        hops = self._link[t, s, via].smaller(self._link[t, via, d])
        local = self._local[t, s]
        link_class = np.where(s == d, self._classes.code("X"), link_class)
        for which, other in ((via != _NONE, hops), (staged, host), (s == d, local)):
            limit = _Limit(
                np.where(which, other.rate, limit.rate), np.where(which, other.origin, limit.origin)
            )
        return np.where(known, link_class, _NONE), _Limit(np.where(known, limit.rate, np.nan), limit.origin)

    def _host_link(self, rows: _Rows) -> _Limit:
        """Of the row's device; the slowest of all where the row (imported) names none."""
        one = self._host[rows.topology, rows.device]
        slowest = _slowest(self._host, self._present)[rows.topology]
        named = rows.device != _NONE
        return _Limit(np.where(named, one.rate, slowest.rate), np.where(named, one.origin, slowest.origin))

    def _fanout(self, rows: _Rows) -> _Limit:
        """All that one device can send; with all pairs at once, the sum over the participants."""
        root = self._egress[rows.topology, rows.device]
        row, device = rows.devices()
        total = np.bincount(row, self._egress.rate[rows.topology[row], device], minlength=len(rows.topology))
        all_pairs = rows.equals("pattern", "all_pairs")
        return _Limit(np.where(all_pairs, total, root.rate), root.origin)

    def _collective(self, rows: _Rows) -> _Limit:
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

    def _stated(self, rows: _Rows, stated: np.ndarray) -> _Limit:
        """Of the class a source names: any link of that class; for a host link of no such class, the
        device's.
        """
        limit = self._host_link(rows)
        limit.rate = np.where(rows.benchmark("p2p.host"), limit.rate, np.nan)
        staged = rows.staged & ~rows.benchmark("p2p.host")
        slowest = _slowest(self._host, self._present)
        for index in np.flatnonzero(stated != _NONE):
            topology = int(rows.topology[index])
            if staged[index]:
                limit.rate[index], limit.origin[index] = slowest.rate[topology], slowest.origin[topology]
            elif (known := self._of_class.get((topology, int(stated[index])))) is not None:
                limit.rate[index], limit.origin[index] = known
        return limit


def _without_nvlink(link_class: str | None) -> str | None:
    """Return the class of the path that avoids NVLink, where the class with it tells that too."""
    return None if link_class is None or link_class.startswith("NV") else link_class


def _slowest(limit: _Limit, present: np.ndarray) -> _Limit:
    """Return the smallest of each topology's devices; not known if one device's is not."""
    rate = np.where(present, limit.rate, np.inf).min(axis=1)
    return _Limit(np.where(np.isinf(rate), np.nan, rate), limit.origin.max(axis=1))


class _Rows:
    """The columns of a table as arrays that index a Topologies."""

    def __init__(self, table: pa.Table, topology: np.ndarray, size: int) -> None:
        self._table = table
        self.topology = topology
        self.known = topology != _NONE
        self.source, self.destination, self.via, self.device = (
            self._index(name, size) for name in ("source", "destination", "via", "device")
        )
        self._size = size
        self._names = self.column("benchmark")
        on_host = self.equals("placement", "pinned") | self.equals("placement", "pageable")
        self.staged = self.equals("peer_access", False) | on_host
        self.both_ways = self.equals("direction", "bidirectional") | self.benchmark(
            "pt2pt.bidirectional_bandwidth"
        )
        nodes = np.asarray(pc.fill_null(table["nodes"].combine_chunks(), 1)) > 1
        hosts = pc.equal(
            self.column("source_host").cast(pa.string()), self.column("destination_host").cast(pa.string())
        )
        self.between_nodes = np.where(
            np.asarray(pc.is_valid(hosts)), ~np.asarray(pc.fill_null(hosts, False)), nodes
        )

    def column(self, name: str) -> pa.Array:
        return _one(self._table[name])

    def benchmark(self, prefix: str) -> np.ndarray:
        """Say which rows are of a benchmark, or of a program where prefix ends with a dot."""
        names = self._names.dictionary.to_pylist()
        hits = np.array(
            [name == prefix or (prefix.endswith(".") and name.startswith(prefix)) for name in names], bool
        )
        return hits[np.asarray(self._names.indices)] if len(hits) else np.zeros(len(self.topology), bool)

    def equals(self, name: str, value: Any) -> np.ndarray:
        return np.asarray(pc.fill_null(pc.equal(self.column(name), value), False))

    def floats(self, name: str) -> np.ndarray:
        return self.column(name).to_numpy(zero_copy_only=False)

    def devices(self) -> tuple[np.ndarray, np.ndarray]:
        """Return row and device of each participant that the topology may know."""
        lists = self.column("devices")
        row, device = np.asarray(pc.list_parent_indices(lists)), np.asarray(pc.list_flatten(lists))
        known = device < self._size
        return row[known], device[known]

    def _index(self, name: str, size: int) -> np.ndarray:
        index = np.asarray(pc.fill_null(self.column(name), _NONE))
        return np.where(index < size, index, _NONE)


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
