"""What the libraries reported of their runs, for each row: the way that they say its bytes took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from weft.evidence import nccl, ucx
from weft.gather import ReadFile


def reported_paths(table: pa.Table, files: Sequence[ReadFile]) -> pa.Array:
    """Return for each row the way that its library says it took: null where it said nothing.

    table: columns of convert(), with file_index.
    """
    names = ("file_index", "benchmark", "library", "placement", "ranks", "size_bytes", "source_host",
             "destination_host")  # fmt: skip
    columns = [table[name].combine_chunks() for name in names]
    columns = [c.cast(pa.string()) if pa.types.is_dictionary(c.type) else c for c in columns]
    spoken = pa.array([index for index, file in enumerate(files) if file.reports], pa.int32())
    if not len(spoken):
        return pa.nulls(len(table), pa.string()).dictionary_encode()
    rows = pa.table(columns, names=names).append_column("row", pa.array(range(len(table))))
    answers: list[str | None] = [None] * len(table)
    known: dict[tuple[Any, ...], str | None] = {}
    for row in rows.filter(pc.is_in(rows["file_index"], spoken)).to_pylist():
        key = tuple(value for name, value in row.items() if name != "row")
        if key not in known:
            known[key] = _path(row, files[row["file_index"]].reports)
        answers[row["row"]] = known[key]
    return pa.array(answers, pa.string()).dictionary_encode()


def _path(row: dict[str, Any], reports: Iterable[dict[str, Any]]) -> str | None:
    for report in reports:
        if report["library"] == "nccl" and row["library"] == "nccl":
            return nccl.path_of(report["communicators"], row["ranks"])
        if report["library"] == "ucx" and row["placement"] is not None and row["size_bytes"] is not None:
            memory = "cuda" if row["placement"] == "device" else "host"
            reach = "intra-node" if row["source_host"] == row["destination_host"] else "inter-node"
            return ucx.path_of(report["protocols"], memory, reach, row["size_bytes"])
    return None
