"""The reference CSVs: reading them, and the words for where they come from."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator
from pathlib import Path

from weft.errors import BadInput

Row = dict[str, str]

SOURCES = {
    "tartan2018": "Li et al., Tartan: Evaluating Modern GPU Interconnect via a Multi-GPU Benchmark Suite, "
    "IISWC 2018",
    "zarges2019": "Zarges, bachelor thesis, Technische Universität München, 2019",
    "dell2018": "Dell EMC, deep learning architecture guide for the PowerEdge C4140, 2018",
}

GIGABYTE = 1e9


def read(folder: Path, name: str, needed: set[str]) -> list[Row]:
    """Return the rows of ``name``.csv or ``name``.csv.gz in folder, all values as text.

    Raises BadInput if there is no such file, or if it lacks one of the needed columns.
    """
    packed, plain = folder / f"{name}.csv.gz", folder / f"{name}.csv"
    try:
        raw = gzip.decompress(packed.read_bytes()) if packed.exists() else plain.read_bytes()
    except (OSError, EOFError) as error:
        raise BadInput(
            f"{plain} (or {packed.name}) cannot be read: {error}; give the folder of the reference CSVs"
        ) from error
    reader = csv.DictReader(io.StringIO(raw.decode("utf-8"), newline=""))
    missing = needed - set(reader.fieldnames or ())
    if missing:
        raise BadInput(f"{plain}: column {', '.join(sorted(missing))} is missing; its header must have it")
    return list(reader)


def number(row: Row, column: str) -> float | None:
    """Return a number, or None for an empty field."""
    return float(row[column]) if row[column] else None


def integer(row: Row, column: str) -> int | None:
    """Return a whole number, or None for an empty field."""
    value = number(row, column)
    return None if value is None else int(value)


def flag(row: Row, column: str) -> bool:
    """Return a field that says True or False."""
    return {"True": True, "False": False}[row[column]]


def rate(row: Row, column: str) -> float | None:
    """Return a rate in bytes/s from a column in GB/s (1e9 bytes/s), or None for an empty field."""
    value = number(row, column)
    return None if value is None else value * GIGABYTE


def merged(rows: Iterator[Row] | list[Row]) -> Row:
    """Return for each column the first value that is not empty."""
    result: Row = {}
    for row in rows:
        for column, value in row.items():
            result[column] = result.get(column) or value
    return result
