"""The columns of a table as arrays that index the arrays of a topology."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

NONE = -1  # stands for null in an array of indices or codes


class Rows:
    """The columns of a table as arrays that index a Topologies."""

    def __init__(self, table: pa.Table, topology: np.ndarray, size: int) -> None:
        self._table = table
        self.topology = topology
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
        index = np.asarray(pc.fill_null(self.column(name), NONE))
        return np.where(index < size, index, NONE)


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
