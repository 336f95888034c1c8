"""What a binary of nccl-tests prints, as values: strict, so that a format not known here is no result.

Formats: a line `#` with the names of the columns, before 2.11 with `error` (the largest deviation) in place
of `#wrong` (wrong elements), and `redop` and `root` only where the operation has them; columns after each
half with -I, and a time of day at the end of a line with -T, from 2.18 on. Lines that are neither comments
nor rows are NCCL's, MPI's or the program's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from weft.errors import BadInput

_FIRST = ("size", "count", "type")
_OPTIONAL = ("redop", "root")
_HALF = ("time", "algbw", "busbw")
_CHECKS = ("#wrong", "error")
_PER_ITERATION = ("i_min", "i_max", "i_p99", "i_cv%")

_SETTINGS = re.compile(
    r"^# nThread:? (\d+) nGpus:? (\d+) minBytes:? (\d+) maxBytes:? (\d+) step: (\d+)\((factor|bytes)\)"
    r".*?\bwarmup ?[iI]ters: \d+ iters: (\d+)"
)
_AGGREGATED = re.compile(r"\bagg iters: (\d+)")
_BINARY = re.compile(r"^# Collective test starting: (\S+)")
_GRAPH = re.compile(r"\bgraph: (\d+)")
_RANK = re.compile(r"^#\s+Rank\s+(\d+)(?: Group\s+\d+)? Pid\s+(\d+) on\s+(\S+) device\s+(\d+) \[\S+\] (.+)")
_VERSION = re.compile(r"^# nccl-tests version (\S+) nccl-headers=\d+ nccl-library=(\d+)")
_LIBRARY = re.compile(r"NCCL version (\d+\.\d+\.\d+)")
_OUT_OF_BOUNDS = re.compile(r"^# Out of bounds values\s*: (\d+) (?:OK|FAILED)")
_FAILURE = re.compile(r"Test (?:NCCL|CUDA) failure|Test failure|Invalid number of GPUs|Unexpected error")


@dataclass(frozen=True)
class Device:
    """A participant: the process that drives it, host and index of its device."""

    pid: int
    host: str
    device: int
    name: str


@dataclass(frozen=True)
class Value:
    """Out of place or in place of one row: seconds an operation takes in the mean, and their resolution.

    wrong: elements (`#wrong`), None where nothing was checked; deviation: the largest (`error`), likewise.
    """

    time_s: float
    resolution_s: float
    bus_bytes_per_s: float
    bus_resolution_bytes_per_s: float
    wrong: int | None = None
    deviation: float | None = None


@dataclass(frozen=True)
class Row:
    """One size. count: elements, as nccl-tests counts them; reduction and root None where there is none."""

    line: int
    size_bytes: int
    count: int
    datatype: str
    reduction: str | None
    root: int | None
    out_of_place: Value
    in_place: Value


@dataclass
class Output:
    """All that one call of a binary printed.

    sizes_bytes: those asked for, a row each; graph: whether operations ran as CUDA graphs; out_of_bounds:
    wrong values in all, None where it did not come to say so; failure: the first line that says that it
    failed.
    """

    threads: int
    devices_per_thread: int
    sizes_bytes: list[int]
    iterations: int
    aggregated: int
    graph: bool
    binary: str | None = None
    version: str | None = None
    nccl: str | None = None
    devices: list[Device] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    out_of_bounds: int | None = None
    failure: str | None = None


def parse(text: str, name: str) -> Output:
    """Return what the output ``text``, called ``name`` in sentences, says.

    Raises BadInput, one sentence, where it has no settings or columns that are known here, a row that does
    not fit them, or a bus bandwidth or time that is no number.
    """
    reader = _Reader(name)
    for number, line in enumerate(text.splitlines(), 1):
        reader.read(line, number)
    return reader.whole()


class _Reader:
    """Takes the lines of an output, each by the pattern that it meets first."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.output: Output | None = None
        self.columns: list[str] | None = None
        self.version: str | None = None
        self.nccl: str | None = None
        self.binary: str | None = None
        self.failure: str | None = None

    def read(self, line: str, number: int) -> None:
        where = f"{self.name} line {number}"
        for pattern, take in _LINES:
            if found := pattern.search(line):
                take(self, found, where)
                return
        if self.output is not None and re.match(r"\s*\d+\s", line) and "NCCL" not in line:
            if self.columns is None:
                raise BadInput(f"{where}: a row comes before the line with the names of the columns.")
            self.output.rows.append(_row(line.split(), self.columns, number, where))

    def whole(self) -> Output:
        output, said = self.output, f", but says: {self.failure}" if self.failure else ""
        if output is None:
            raise BadInput(
                f"{self.name}: this is no output of nccl-tests: no line begins with '# nThread'{said}."
            )
        if self.columns is None and self.failure is None:
            raise BadInput(
                f"{self.name}: no line has the names of the columns ('#       size         count …')."
            )
        output.binary, output.version, output.nccl = self.binary, self.version, self.nccl
        output.failure = self.failure
        return output

    def take_version(self, found: re.Match[str], _: str) -> None:
        self.version, self.nccl = found[1], _version(int(found[2]))

    def take_library(self, found: re.Match[str], _: str) -> None:
        self.nccl = self.nccl or found[1]

    def take_binary(self, found: re.Match[str], _: str) -> None:
        self.binary = found[1]

    def take_failure(self, found: re.Match[str], _: str) -> None:
        self.failure = self.failure or found.string.strip()

    def take_settings(self, found: re.Match[str], where: str) -> None:
        if self.output is not None:
            raise BadInput(f"{where}: a second run of nccl-tests begins; give the output of one at a time.")
        self.output = _settings(found.string, found)

    def take_columns(self, found: re.Match[str], where: str) -> None:
        self.columns = _columns(found.string.lstrip("# ").split(), where)

    def take_device(self, found: re.Match[str], _: str) -> None:
        if self.output is not None:
            device = Device(int(found[2]), found[3], int(found[4]), found[5].strip())
            self.output.devices.append(device)

    def take_out_of_bounds(self, found: re.Match[str], _: str) -> None:
        if self.output is not None:
            self.output.out_of_bounds = int(found[1])


_LINES: tuple[tuple[re.Pattern[str], Callable[[_Reader, re.Match[str], str], None]], ...] = (
    (_VERSION, _Reader.take_version),
    (_BINARY, _Reader.take_binary),
    (_SETTINGS, _Reader.take_settings),
    (_RANK, _Reader.take_device),
    (re.compile(r"^#\s+size\s"), _Reader.take_columns),
    (_OUT_OF_BOUNDS, _Reader.take_out_of_bounds),
    (_LIBRARY, _Reader.take_library),
    (_FAILURE, _Reader.take_failure),
)


def _settings(line: str, found: re.Match[str]) -> Output:
    threads, devices, first, last, step, iterations = (int(found[n]) for n in (1, 2, 3, 4, 5, 7))
    sizes = [first]
    while step and (following := sizes[-1] * step if found[6] == "factor" else sizes[-1] + step) <= last:
        if following == sizes[-1]:
            break
        sizes.append(following)
    aggregated, graph = _AGGREGATED.search(line), _GRAPH.search(line)
    return Output(
        threads,
        devices,
        sizes,
        iterations,
        int(aggregated[1]) if aggregated else 1,
        graph is not None and int(graph[1]) > 0,
    )


def _version(code: int) -> str:
    """22809 -> 2.28.9, 2708 -> 2.7.8: NCCL_VERSION_CODE had a digit less before 2.9."""
    major, rest = divmod(code, 10000 if code >= 10000 else 1000)
    return f"{major}.{rest // 100}.{rest % 100}"


def _columns(names: Sequence[str], where: str) -> list[str]:
    """Return the columns of a row; those of the first half are those of the second."""
    known = [*_FIRST, *(name for name in _OPTIONAL if name in names)]
    rest = list(names[len(known) :])
    if rest[-1:] == ["timestamp"]:
        rest.pop()
        tail = ["timestamp", "timestamp"]  # a date and a time
    else:
        tail = []
    halves = [[*_HALF, check, *more] for check in _CHECKS for more in ((), _PER_ITERATION)]
    if list(names[: len(known)]) != known or rest not in [half * 2 for half in halves]:
        raise BadInput(
            f"{where}: columns of nccl-tests that are not known here: {' '.join(names)}; known are"
            f" {' '.join(_FIRST)} [redop] [root] and twice {' '.join(_HALF)} with #wrong or error."
        )
    return [*known, *rest, *tail]


def _row(words: Sequence[str], columns: Sequence[str], number: int, where: str) -> Row:
    if len(words) != len(columns):
        raise BadInput(f"{where}: the row has {len(words)} values for {len(columns)} columns.")
    head = dict(zip(columns, words, strict=True))
    start = columns.index("time")
    width = (len([name for name in columns if name != "timestamp"]) - start) // 2
    halves = [
        dict(zip(columns[start : start + width], words[at : at + width], strict=True))
        for at in (start, start + width)
    ]
    try:
        root = int(head.get("root", -1))
        reduction = head.get("redop", "none")
        return Row(
            number,
            int(head["size"]),
            int(head["count"]),
            head["type"],
            None if reduction == "none" else reduction,
            None if root < 0 else root,
            *(_value(half) for half in halves),
        )
    except ValueError as problem:
        raise BadInput(f"{where}: {problem}; it must be a number.") from None


def _value(half: dict[str, str]) -> Value:
    check = half.get("#wrong", "N/A")
    deviation = half.get("error", "N/A")
    return Value(
        float(half["time"]) * 1e-6,
        _resolution(half["time"]) * 1e-6,
        float(half["busbw"]) * 1e9,
        _resolution(half["busbw"]) * 1e9,
        None if check == "N/A" else int(float(check)),
        None if deviation == "N/A" else float(deviation),
    )


def _resolution(text: str) -> float:
    """Return the value of a printed number's last digit: 12.30 -> 0.01, 1.2e+06 -> 1e5."""
    mantissa, _, exponent = text.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 10.0 ** (int(exponent or 0) - decimals)
