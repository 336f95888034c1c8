"""Calls the binaries of nccl-tests, or reads what they printed elsewhere, and writes one record file."""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from typing import Any

from weft.errors import BadInput
from weft.nccl_tests.measurements import Asked, asked_by, measurements, unmeasured
from weft.nccl_tests.operations import BINARIES, DATATYPES, ranges
from weft.nccl_tests.output import Output, parse
from weft.nccl_tests.recording import write
from weft.sizes import parse_sizes

_TIMEOUT_S = 300
_WARMUP = 5
_GRAPH_LAUNCHES = 10


def run(options: argparse.Namespace) -> int:
    """Measure what ``options`` of `weft nccl-tests` ask for; return the exit status.

    A binary that is not there leaves holes, which say so, and is no error; one that fails, or prints what is
    not understood, leaves `failed` records and status 1.
    """
    sizes = parse_sizes(options.sizes.split(","))
    records: list[dict[str, Any]] = []
    outputs: list[Output] = []
    for operation in options.operations.split(","):
        for graph in options.graphs.split(","):
            asked = Asked(
                operation,
                options.ranks,
                options.processes,
                graph == "on",
                options.datatype,
                options.reduction,
            )
            records += _measured(asked, sizes, options, outputs)
    return write(options, records, outputs)


def import_logs(options: argparse.Namespace) -> int:
    """Convert the logs of ``options`` into one record file; return the exit status.

    Raises BadInput where one cannot be read or understood: nothing is written then.
    """
    records: list[dict[str, Any]] = []
    outputs = []
    if options.operation is not None and options.operation not in BINARIES:
        raise BadInput(f"--operation is {options.operation}; known are {', '.join(BINARIES)}.")
    for log in options.logs:
        try:
            text = log.read_text(encoding="utf-8", errors="replace")
        except OSError as problem:
            raise BadInput(f"{log} cannot be read: {problem.strerror}.") from None
        outputs.append(parse(text, str(log)))
        asked = asked_by(outputs[-1], options.operation, str(log))
        records += measurements(outputs[-1], asked, str(log))
    return write(options, records, outputs)


def _measured(
    asked: Asked, sizes: list[int], options: argparse.Namespace, outputs: list[Output]
) -> list[dict[str, Any]]:
    binary = BINARIES[asked.operation]
    inside = shlex.split(options.inside)
    looked = subprocess.run(
        [*inside, "sh", "-c", 'command -v "$0"', binary], capture_output=True, check=False
    )
    if looked.returncode:
        where = "in the image" if inside else "on the PATH"
        return unmeasured(asked, sizes, "unsupported", f"{binary} of nccl-tests is not {where}")
    records = []
    for group in ranges(sizes):
        line = [*shlex.split(options.launch), *inside, binary, *_arguments(asked, group, options.iterations)]
        try:
            output = _call(line, binary)
            if output.sizes_bytes != group:
                raise BadInput(f"{binary}: it says that it was asked for {output.sizes_bytes} bytes.")
            records += measurements(output, asked, binary)
            outputs.append(output)
        except BadInput as problem:
            print(f"weft: {problem}", file=sys.stderr)
            records += unmeasured(asked, group, "failed", str(problem))
    return records


def _arguments(asked: Asked, sizes: list[int], iterations: int) -> list[str]:
    datatype = next(name for name, (ours, _) in DATATYPES.items() if ours == asked.datatype)
    devices = asked.ranks if asked.processes == "one" else 1
    words = ["-g", str(devices), "-n", str(iterations), "-w", str(_WARMUP), "-d", datatype]
    words += ["-o", asked.reduction, "-b", str(sizes[0]), "-e", str(sizes[-1])]
    words += ["-f", str(sizes[1] // sizes[0] if len(sizes) > 1 else 2)]
    return words + (["-G", str(_GRAPH_LAUNCHES)] if asked.graph else [])


def _call(line: list[str], binary: str) -> Output:
    """Run a binary; what it prints goes to our own output, too."""
    print(shlex.join(line), flush=True)
    try:
        done = subprocess.run(
            line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise BadInput(f"{binary}: it did not end within {_TIMEOUT_S} s, and was ended.") from None
    except OSError as problem:
        raise BadInput(f"{line[0]} cannot be started: {problem.strerror}.") from None
    text = done.stdout.decode(errors="replace")
    print(text, flush=True)
    output = parse(text, binary)
    if done.returncode and output.failure is None and len(output.rows) < len(output.sizes_bytes):
        output.failure = f"{binary} ended with status {done.returncode}"
    return output
