"""Record files to one tidy, typed table: one row a measurement, in Parquet, beside the list of what was
wrong.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from weft.columns import IDENTITY_ORIGIN, ORIGIN, TABLE_SCHEMA, TEXT
from weft.convert import convert, device_text, mix, text_code
from weft.errors import BadInput
from weft.limits import Topologies
from weft.records import Problem, RecordFile

METADATA_KEY = b"weft"
_BLOCK_BYTES = 8 << 20  # JSON text converted at once; bounds the memory of a worker
_GROUP_BYTES = 32 << 20  # files given to a worker at once
_ROW_GROUP = 1 << 17
_PARALLEL_BYTES = 16 << 20  # below this, starting processes costs more than it saves
# What differs from file to file of one campaign and does not describe what was measured on.
_PER_FILE = ("record", "experiment", "repeat", "started_at", "command_line", "geometry")


@dataclass(frozen=True)
class TableSummary:
    """What build_table made: rows, how many of them are holes (not measured), files read, problems found."""

    rows: int
    holes: int
    files: int
    problems: int


@dataclass
class _File:
    """What is kept of a record file beside its measurements."""

    name: str
    environment: dict[str, Any] | None
    topology: list[dict[str, Any]]
    problems: list[Problem]


@dataclass
class _Group:
    """Several record files that one worker reads; their measurements lie in parts, Arrow files in this order."""

    files: list[_File] = field(default_factory=list)
    parts: list[Path] = field(default_factory=list)


def build_table(
    record_paths: Sequence[Path], output: Path, problems: Path, processes: int | None = None
) -> TableSummary:
    """Read record files, write the table (see columns.py) to output and what was wrong to problems (JSON
    list).

    What cannot be read is left out and named in problems; everything else is in the table. A measurement
    whose identity (configuration and repeat) was already read is left out too, with a problem. Both files
    appear whole or not at all; the same records give the same bytes. processes: how many read at the same
    time, by default one per core. Raises BadInput if the output cannot be written.
    """
    paths = sorted(record_paths)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".table-", dir=output.parent) as scratch:
            groups = _read(paths, output.parent, Path(scratch), processes)
            files = [file for group in groups for file in group.files]
            parts = [part for group in groups for part in group.parts]
            kept, repeated = _first_of_each(parts, files)
            found = [problem for file in files for problem in file.problems] + repeated
            with _whole(output) as partial:
                rows = sum(int(np.count_nonzero(keep)) for keep in kept)
                holes = sum(_holes(part, keep) for part, keep in zip(parts, kept, strict=True))
                _write(parts, kept, files, _metadata(files, rows, holes), partial)
        with _whole(problems) as partial:
            partial.write_bytes(
                orjson.dumps([asdict(problem) for problem in found], option=orjson.OPT_INDENT_2)
            )
    except OSError as error:
        raise BadInput(f"{error.filename or output} cannot be written: {error.strerror}") from error
    return TableSummary(rows, holes, len(files), len(found))


def read_table(path: Path, columns: Sequence[str] | None = None) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return a table (or some of its columns) and its metadata: environments, devices, links, nics,
    nic_links, files, holes.

    Texts are categoricals; integers and booleans with holes are pandas' nullable types. Raises BadInput if
    the file is not a table of this version.
    """
    try:
        table = pq.read_table(path, columns=None if columns is None else list(columns))
    except (OSError, pa.ArrowInvalid) as error:
        raise BadInput(f"{path} cannot be read as a table: {error}; make it with `weft table`") from error
    metadata = (table.schema.metadata or {}).get(METADATA_KEY)
    expected = TABLE_SCHEMA if columns is None else pa.schema([TABLE_SCHEMA.field(name) for name in columns])
    if metadata is None or not table.schema.equals(expected):
        raise BadInput(f"{path} is not a table of this version of Weft; make it anew with `weft table`")
    nullable = {pa.int32(): pd.Int32Dtype(), pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    return table.to_pandas(types_mapper=nullable.get), json.loads(metadata)


def _read(paths: Sequence[Path], base: Path, scratch: Path, processes: int | None) -> list[_Group]:
    """Read all files, in the order of paths."""
    jobs: list[list[tuple[Path, str]]] = []
    filled = _GROUP_BYTES
    total = 0
    for path in paths:
        size = path.stat().st_size if path.exists() else 0
        if filled + size > _GROUP_BYTES:
            jobs.append([])
            filled = 0
        jobs[-1].append((path, _name(path, base)))
        filled += size
        total += size
    firsts = np.cumsum([0, *map(len, jobs)]).tolist()
    targets = [scratch / f"{index:06d}" for index in range(len(jobs))]
    workers = min(processes or len(os.sched_getaffinity(0)), len(jobs))
    if workers <= 1 or total < _PARALLEL_BYTES:
        return list(map(_read_group, jobs, firsts, targets))
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        return list(pool.map(_read_group, jobs, firsts, targets))


def _name(path: Path, base: Path) -> str:
    """Return how rows and problems call a file: below the table's folder if it is there."""
    absolute, root = path.resolve(), base.resolve()
    return absolute.relative_to(root).as_posix() if absolute.is_relative_to(root) else path.as_posix()


def _read_group(job: Sequence[tuple[Path, str]], first: int, target: Path) -> _Group:
    """Read the files of one job; first is the index of the first of them among all."""
    group = _Group()
    lines: list[bytes] = []
    places: list[tuple[int, int]] = []  # file within the group, line
    size = 0

    def flush() -> None:
        table, bad = convert(lines)
        for position in bad:
            file, line = places[position]
            name = group.files[file].name
            what = f"{name} line {line}: a number is too large for the table (64 bit); the line is left out."
            group.files[file].problems.append(Problem(name, line, what))
        good = np.delete(np.array(places, np.int32).reshape(-1, 2), bad, axis=0)
        table = table.append_column("file_index", pa.array(good[:, 0] + np.int32(first))).append_column(
            "line", pa.array(good[:, 1])
        )
        part = target.with_name(f"{target.name}-{len(group.parts):06d}.arrow")
        with pa.OSFile(str(part), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table.combine_chunks())
        group.parts.append(part)
        lines.clear()
        places.clear()

    for index, (path, name) in enumerate(job):
        records = RecordFile(path, name)
        group.files.append(_File(name, None, records.topology, records.problems))
        for number, line, _ in records.measurements():
            lines.append(line)
            places.append((index, number))
            size += len(line)
            if size > _BLOCK_BYTES:
                flush()
                size = 0
        group.files[-1].environment = records.environment
    if lines:
        flush()
    return group


def _first_of_each(parts: Sequence[Path], files: Sequence[_File]) -> tuple[list[np.ndarray], list[Problem]]:
    """Say for each row of each part whether its identity comes for the first time; one problem a file with
    others.
    """
    if not parts:
        return [], []
    origin = np.array([_origin_code(file.environment) for file in files], np.uint64)
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
        name, count = files[file].name, len(rows)
        problems.append(Problem(name, int(line[row]), (
            f"{name} line {line[row]}: the same configuration and repeat as {files[index[earlier]].name} line "
            f"{line[earlier]}; each must be measured once, so the later is left out"
            + (f" (and {count - 1} more of this file)." if count > 1 else ".")
        )))  # fmt: skip
    kept = np.ones(len(identity), bool)
    kept[repeated] = False
    return np.split(kept, np.cumsum([len(piece[0]) for piece in columns])[:-1]), problems


def _origin_code(environment: dict[str, Any] | None) -> np.uint64:
    code = np.full(1, text_code(None))
    for name in IDENTITY_ORIGIN:
        value = None if environment is None else _origin(environment)[name]
        code = mix(code, np.full(1, text_code(None if value is None else str(value))))
    return code[0]


def _holes(part: Path, keep: np.ndarray) -> int:
    """Return how many of the kept rows were not measured."""
    outcome = _open(part)["outcome"].to_numpy()
    return int(np.count_nonzero((outcome != "measured") & keep))


def _write(
    parts: Sequence[Path],
    kept: Sequence[np.ndarray],
    files: Sequence[_File],
    metadata: dict[str, Any],
    output: Path,
) -> None:
    """Write the kept rows, joined with where they come from and with their limits."""
    topologies, topology_of = _topologies(files)
    origins = _origin_columns(files)
    schema = TABLE_SCHEMA.with_metadata({METADATA_KEY: orjson.dumps(metadata)})
    with pq.ParquetWriter(output, schema, compression="zstd", compression_level=1) as writer:
        for table in _row_groups(parts, kept):
            index = table["file_index"].to_numpy()
            columns = {name: table[name] for name in table.column_names} | topologies.join(
                table, topology_of[index]
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


def _origin(environment: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of where a row comes from, as its file's environment record says."""
    return {
        "program": environment["program"], "system": environment["system"], "campaign": environment["campaign"],
        "experiment": environment["experiment"], "repeat": environment["repeat"],
        "device_backend": environment["device_backend"], "hostname": environment["host"]["hostname"],
        "started_at": environment["started_at"], "weft_commit": environment["weft"]["commit"],
        "weft_dirty": environment["weft"]["dirty"], "published_source": environment.get("source"),
        "locator": environment.get("locator"),
    }  # fmt: skip


def _origin_columns(files: Sequence[_File]) -> dict[str, pa.Array]:
    """Return the columns of origin with one value a file, to be taken by the file's index."""
    result = {}
    for name in ORIGIN.keys() - {"line"}:
        if name == "file":
            values = [file.name for file in files]
        else:
            values = [None if file.environment is None else _origin(file.environment)[name] for file in files]
        text = ORIGIN[name] == TEXT
        result[name] = (
            pa.array(values, pa.string()).dictionary_encode() if text else pa.array(values, ORIGIN[name])
        )
    return result


def _topologies(files: Sequence[_File]) -> tuple[Topologies, np.ndarray]:
    """Return the topologies and the index of each file's: of its system and campaign, of its own host if that
    has one.
    """
    found: dict[tuple[str | None, ...], int] = {}
    groups = []
    for file in files:
        if file.topology and (key := _place(file)) is not None:
            found.setdefault(key, len(groups))
            found.setdefault(key[:2], len(groups))
            groups.append(file.topology)
    index = [
        -1 if (key := _place(file)) is None else found.get(key, found.get(key[:2], -1)) for file in files
    ]
    return Topologies(groups), np.array(index, np.int64)


def _place(file: _File) -> tuple[str | None, str | None, str | None] | None:
    """Return system, campaign and host of a file, or None if it does not say."""
    if file.environment is None:
        return None
    return file.environment["system"], file.environment["campaign"], file.environment["host"]["hostname"]


def _metadata(files: Sequence[_File], rows: int, holes: int) -> dict[str, Any]:
    """Return what the table says beside its rows: what was measured on, each once."""
    environments: dict[bytes, dict[str, Any]] = {}
    topology: dict[str, dict[bytes, dict[str, Any]]] = {"device": {}, "link": {}, "nic": {}, "nic_link": {}}
    runs: list[dict[str, Any]] = []  # what differs from file to file: command line, geometry, start
    for file in files:
        if file.environment is None:
            continue
        environment = {key: value for key, value in file.environment.items() if key not in _PER_FILE}
        environments.setdefault(orjson.dumps(environment), {**environment, "files": 0})["files"] += 1
        runs.append({"file": file.name, **{key: file.environment[key] for key in _PER_FILE if key != "record"}})
        system, campaign, hostname = _place(file) or (None, None, None)
        for record in file.topology:
            entry = {"system": system, "campaign": campaign, "hostname": hostname, **record}
            kind = entry.pop("record")
            topology[kind].setdefault(orjson.dumps(entry), entry)
    return {
        "environments": list(environments.values()),
        "runs": runs,
        **{f"{kind}s": list(entries.values()) for kind, entries in topology.items()},
        "files": len(files),
        "measurements": rows,
        "holes": holes,
    }


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """Give a name to write to, which becomes path when all went well and vanishes otherwise."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
