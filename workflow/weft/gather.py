"""Reads record files with several processes; the measurements wait on disk as Arrow files."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from weft.convert import convert
from weft.records import Problem, RecordFile

_BLOCK_BYTES = 8 << 20  # JSON text converted at once; bounds the memory of a worker
_GROUP_BYTES = 32 << 20  # files given to a worker at once
_PARALLEL_BYTES = 16 << 20  # below this, starting processes costs more than it saves


@dataclass
class ReadFile:
    """What is kept of a record file beside its measurements."""

    name: str
    environment: dict[str, Any] | None
    topology: list[dict[str, Any]]
    problems: list[Problem]
    reports: list[dict[str, Any]] = field(default_factory=list)
    wall_time_s: float | None = None
    phases_s: dict[str, float] = field(default_factory=dict)


@dataclass
class Group:
    """Several record files that one worker reads; their measurements lie in parts, in this order."""

    files: list[ReadFile] = field(default_factory=list)
    parts: list[Path] = field(default_factory=list)


def read_files(paths: Sequence[Path], base: Path, scratch: Path, processes: int | None) -> list[Group]:
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


def _read_group(job: Sequence[tuple[Path, str]], first: int, target: Path) -> Group:
    """Read the files of one job; first is the index of the first of them among all."""
    group = Group()
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
        for name, values in (("file_index", good[:, 0] + np.int32(first)), ("line", good[:, 1])):
            table = table.append_column(name, pa.array(values))
        part = target.with_name(f"{target.name}-{len(group.parts):06d}.arrow")
        with pa.OSFile(str(part), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table.combine_chunks())
        group.parts.append(part)
        lines.clear()
        places.clear()

    for index, (path, name) in enumerate(job):
        records = RecordFile(path, name)
        group.files.append(ReadFile(name, None, records.topology, records.problems, records.reports))
        for number, line, _ in records.measurements():
            lines.append(line)
            places.append((index, number))
            size += len(line)
            if size > _BLOCK_BYTES:
                flush()
                size = 0
        group.files[-1].environment = records.environment
        group.files[-1].wall_time_s = records.wall_time_s
        group.files[-1].phases_s = records.phases_s
    if lines:
        flush()
    return group
