"""Record files to one tidy, typed table in Parquet: one row a measurement; what was wrong, beside it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from weft.columns import TABLE_SCHEMA
from weft.convert import device_text, mix
from weft.errors import BadInput
from weft.evidence.library import reported_paths
from weft.evidence.verdict import path_columns
from weft.gather import ReadFile, read_files
from weft.origin import metadata as metadata_of
from weft.origin import origin_code, origin_columns, topologies
from weft.records import Problem

METADATA_KEY = b"weft"
_ROW_GROUP = 1 << 17


@dataclass(frozen=True)
class TableSummary:
    """What build_table made: rows, how many of them are holes (not measured), files read, problems found."""

    rows: int
    holes: int
    files: int
    problems: int


def build_table(
    record_paths: Sequence[Path], output: Path, problems: Path, processes: int | None = None
) -> TableSummary:
    """Read record files, write the table (columns.py) to output and what was wrong to problems (a JSON list).

    What cannot be read is left out and named in problems; everything else is in the table. A measurement
    whose identity (configuration and repeat) was already read is left out too, with a problem. Both files
    appear whole or not at all; the same records give the same bytes. processes: how many read at the same
    time, by default one per core. Raises BadInput if the output cannot be written.
    """
    paths = sorted(record_paths)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with _scratch(output) as scratch:
            groups = read_files(paths, output.parent, scratch, processes)
            files = [file for group in groups for file in group.files]
            parts = [part for group in groups for part in group.parts]
            kept, repeated = _first_of_each(parts, files)
            found = [problem for file in files for problem in file.problems] + repeated
            with _whole(output) as partial:
                rows = sum(int(np.count_nonzero(keep)) for keep in kept)
                holes = sum(_holes(part, keep) for part, keep in zip(parts, kept, strict=True))
                _write(parts, kept, files, metadata_of(files, rows, holes), partial)
        with _whole(problems) as partial:
            partial.write_bytes(
                orjson.dumps([asdict(problem) for problem in found], option=orjson.OPT_INDENT_2)
            )
    except OSError as error:
        raise BadInput(f"{error.filename or output} cannot be written: {error.strerror}") from error
    return TableSummary(rows, holes, len(files), len(found))


def read_table(path: Path, columns: Sequence[str] | None = None) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return a table (or some of its columns) and its metadata (origin.metadata).

    Texts are categoricals; integers and booleans with holes are pandas' nullable types. Raises BadInput if
    the file is not a table of this version.
    """
    try:
        schema = pq.read_schema(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise BadInput(f"{path} cannot be read as a table: {error}; make it with `weft table`") from error
    metadata = (schema.metadata or {}).get(METADATA_KEY)
    if metadata is None or not schema.equals(TABLE_SCHEMA):
        raise BadInput(f"{path} is not a table of this version of Weft; make it anew with `weft table`")
    table = pq.read_table(path, columns=None if columns is None else list(columns))
    nullable = {pa.int32(): pd.Int32Dtype(), pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    return table.to_pandas(types_mapper=nullable.get), json.loads(metadata)


def _first_of_each(
    parts: Sequence[Path], files: Sequence[ReadFile]
) -> tuple[list[np.ndarray], list[Problem]]:
    """Say for each row of each part whether its identity comes for the first time; name files where not."""
    if not parts:
        return [], []
    origin = np.array([origin_code(file.environment) for file in files], np.uint64)
    columns = []
    for part in parts:
        table = _open(part).select(["identity", "file_index", "line"])
        columns.append([column.to_numpy() for column in table.columns])
    identity, index, line = (np.concatenate(pieces) for pieces in zip(*columns, strict=True))
    identity = mix(identity, origin[index])
    _, first, group = np.unique(identity, return_index=True, return_inverse=True)
    first_of = first[group]
    repeated = np.flatnonzero(first_of != np.arange(len(identity)))
    problems = []
    for file in np.unique(index[repeated]).tolist():
        rows = repeated[index[repeated] == file]
        row, earlier = rows[0], first_of[rows[0]]
        name, more = files[file].name, f" (and {len(rows) - 1} more of this file)" if len(rows) > 1 else ""
        what = (
            f"{name} line {line[row]}: the same configuration and repeat as {files[index[earlier]].name} "
            f"line {line[earlier]}; each must be measured once, so the later is left out{more}."
        )
        problems.append(Problem(name, int(line[row]), what))
    kept = np.ones(len(identity), bool)
    kept[repeated] = False
    return np.split(kept, np.cumsum([len(piece[0]) for piece in columns])[:-1]), problems


def _holes(part: Path, keep: np.ndarray) -> int:
    """Return how many of the kept rows were not measured."""
    outcome = _open(part)["outcome"].to_numpy()
    return int(np.count_nonzero((outcome != "measured") & keep))


def _write(
    parts: Sequence[Path],
    kept: Sequence[np.ndarray],
    files: Sequence[ReadFile],
    metadata: dict[str, Any],
    output: Path,
) -> None:
    """Write the kept rows, joined with where they come from and with their limits."""
    known, topology_of = topologies(files)
    origins = origin_columns(files)
    schema = TABLE_SCHEMA.with_metadata({METADATA_KEY: orjson.dumps(metadata)})
    with pq.ParquetWriter(output, schema, compression="zstd", compression_level=1) as writer:
        for table in _row_groups(parts, kept):
            index = table["file_index"].to_numpy()
            columns = {name: table[name] for name in table.column_names}
            columns |= known.join(table, topology_of[index])
            columns |= path_columns(
                table, columns, known.nvlinked(topology_of[index]), reported_paths(table, files)
            )
            columns |= {name: values.take(table["file_index"]) for name, values in origins.items()}
            columns["devices"] = device_text(table["devices"].combine_chunks())
            complete = pa.table([columns[name] for name in TABLE_SCHEMA.names], names=TABLE_SCHEMA.names)
            writer.write_table(complete.cast(schema), row_group_size=_ROW_GROUP)


def _row_groups(parts: Sequence[Path], kept: Sequence[np.ndarray]) -> Iterator[pa.Table]:
    """Yield the kept rows of the parts in order, so many at a time that a row group is worth its header."""
    waiting: list[pa.Table] = []
    for part, keep in zip(parts, kept, strict=True):
        table = _open(part)
        waiting.append(table if keep.all() else table.filter(pa.array(keep)))
        if sum(table.num_rows for table in waiting) >= _ROW_GROUP:
            yield pa.concat_tables(waiting).unify_dictionaries().combine_chunks()
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting).unify_dictionaries().combine_chunks()


def _open(part: Path) -> pa.Table:
    return pa.ipc.open_file(pa.memory_map(str(part))).read_all()


@contextmanager
def _scratch(output: Path) -> Iterator[Path]:
    """Give a folder beside output that vanishes afterwards; one that a killed run left, before."""
    folder = output.with_name(f".{output.name}.parts")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """Give a name to write to, which becomes path when all went well and vanishes otherwise."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
