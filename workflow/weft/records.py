"""Reads record files line by line; what is wrong in them becomes problems, what is good in them is used."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from weft import schema
from weft.errors import BadInput

_CHUNK_BYTES = 1 << 20
_COMPRESSED_CHUNK_BYTES = 1 << 16
_LINES_NAMED = 20  # bad lines of one file that get a sentence of their own
_SUFFIXES = (".jsonl", ".jsonl.gz")


@dataclass(frozen=True)
class Problem:
    """What is wrong with a record file: one sentence that names file, line (from 1; None: the file as a
    whole), key, value and what would be right.
    """

    file: str
    line: int | None
    sentence: str


def find_record_files(paths: Sequence[Path]) -> list[Path]:
    """Return the record files among paths and below the folders among them, sorted, each once.

    Where a result lies in a folder twice, packed (a committed reference) and plain, the plain one counts:
    it was measured here.

    Raises BadInput if a path does not exist or if there is no record file at all.
    """
    files: set[Path] = set()
    for path in paths:
        if path.is_dir():
            found = {entry for entry in path.rglob("*") if entry.name.endswith(_SUFFIXES)}
            files |= {entry for entry in found if entry.suffix != ".gz" or entry.with_suffix("") not in found}
        elif path.exists():
            files.add(path)
        else:
            raise BadInput(
                f"{path} does not exist; give record files ({' or '.join(_SUFFIXES)}) or folders of them"
            )
    if not files:
        raise BadInput(f"no record file ({' or '.join(_SUFFIXES)}) below {', '.join(map(str, paths))}")
    return sorted(files)


class RecordFile:
    """One record file. Iterate over ``measurements`` first; then the other attributes are complete.

    Attributes: environment (None if it lacks one), topology (device, link, nic and nic_link records),
    reports (library_report records), wall_time_s and phases_s (of the end record; None and empty without),
    problems.
    """

    def __init__(self, path: Path, name: str) -> None:
        """path is read, name is how problems call it."""
        self.path, self.name = path, name
        self.environment: dict[str, Any] | None = None
        self.topology: list[dict[str, Any]] = []
        self.reports: list[dict[str, Any]] = []
        self.wall_time_s: float | None = None
        self.phases_s: dict[str, float] = {}
        self.problems: list[Problem] = []
        self._end: tuple[int, dict[str, Any]] | None = None
        self._bad_lines = 0

    def measurements(self) -> Iterator[tuple[int, bytes, dict[str, Any]]]:
        """Yield line number, raw line and parsed record of every valid measurement."""
        outcomes: Counter[str] = Counter()
        number = 0
        try:
            for number, line in enumerate(_lines(self.path), 1):
                record = self._checked(number, line)
                if record is None:
                    continue
                if record["record"] == "measurement":
                    outcomes[record["outcome"]] += 1
                    yield number, line, record
                else:
                    self._keep(number, record)
        except FileNotFoundError:
            self._add(None, "there is no such file: what it would hold was not measured")
        except (OSError, EOFError, zlib.error) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            self._add(
                None, f"the file cannot be read to its end: {reason}; the {number} lines before are used"
            )
        if number == 0:
            if not self.problems:
                self._add(
                    None,
                    "the file is empty; it must begin with an environment and close with an end record",
                )
            return
        if self._bad_lines > _LINES_NAMED:
            self._add(None, f"{self._bad_lines - _LINES_NAMED} more lines are wrong and left out")
        self._check_end(number, outcomes)

    def _checked(self, number: int, line: bytes) -> dict[str, Any] | None:
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            self._bad(number, f"the line is not JSON ({error}); it must be one JSON object")
            return None
        if not schema.is_valid(record):
            self._bad(number, schema.explain(record))
            return None
        if number == 1 and record["record"] != "environment":
            what = f"the first record is a {record['record']}; it must be an environment"
            self._add(1, f"{what}, so system, campaign and repeat of this file are not known")
        return record

    def _keep(self, number: int, record: dict[str, Any]) -> None:
        match record["record"]:
            case "environment" if number == 1:
                self.environment = record
            case "environment":
                self._bad(number, "a second environment record; a file has one, in its first line")
            case "end":
                self._end = number, record
                self.wall_time_s = record["wall_time_s"]
                self.phases_s = record.get("phases_s", {})
            case "library_report":
                self.reports.append(record)
            case _:
                self.topology.append(record)

    def _check_end(self, lines: int, outcomes: Counter[str]) -> None:
        found = outcomes.total()
        if self._end is None:
            self._add(
                None,
                f"the end record is missing: the file was cut short; its {found} whole measurements are used",
            )
            return
        number, end = self._end
        if number != lines:
            self._add(number, f"the end record must be the last line; {lines - number} lines follow it")
        if not found <= end["measurements"] <= found + self._bad_lines:
            self._add(number, f"end: measurements is {end['measurements']}; the file holds {found}")
        elif not self._bad_lines:
            for outcome, count in end["outcomes"].items():
                if count != outcomes[outcome]:
                    self._add(
                        number, f"end: outcomes.{outcome} is {count}; the file holds {outcomes[outcome]}"
                    )

    def _bad(self, number: int, what: str) -> None:
        self._bad_lines += 1
        if self._bad_lines <= _LINES_NAMED:
            self._add(number, f"{what}; the line is left out")

    def _add(self, line: int | None, what: str) -> None:
        place = self.name if line is None else f"{self.name} line {line}"
        self.problems.append(Problem(self.name, line, f"{place}: {what}."))


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the lines without their newline; an unfinished last line too, also before an error of reading."""
    rest = b""
    try:
        for chunk in _chunks(path):
            head, *tail = chunk.split(b"\n")
            rest += head
            if tail:
                yield rest
                yield from tail[:-1]
                rest = tail[-1]
    except (OSError, EOFError, zlib.error):
        if rest:
            yield rest
        raise
    if rest:
        yield rest


def _chunks(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a plain or gzip file piece by piece, as much as there is before an error."""
    with path.open("rb") as file:
        if path.suffix != ".gz":
            while chunk := file.read(_CHUNK_BYTES):
                yield chunk
            return
        member, begun = zlib.decompressobj(wbits=31), False
        while raw := file.read(_COMPRESSED_CHUNK_BYTES):
            while raw:
                begun = True
                yield member.decompress(raw)
                raw = member.unused_data
                if member.eof:
                    member, begun = zlib.decompressobj(wbits=31), False
        if begun:
            yield member.flush()
            raise EOFError("the compressed data end in the middle")
