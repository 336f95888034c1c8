"""Run a command and say what it needed: time, processor time and memory, those of its children included."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import psutil

_LOOK_S = 0.05


class CommandError(Exception):
    """A command of a benchmark failed; str says which, and the last it said."""


@dataclass(frozen=True)
class Usage:
    """What a command needed.

    peak_memory_bytes: the greatest sum of the resident memory of its processes, looked at every 50 ms, where
    pages that they share count in each; at least what the system saw of the greatest of them alone.
    """

    wall_s: float
    processor_s: float
    peak_memory_bytes: int


def output_of(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return what the command writes to standard output; raises CommandError."""
    done = subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment, check=False
    )
    if done.returncode:
        raise CommandError(_sentence(command, done.returncode, done.stderr))
    return done.stdout


def usage_of(command: Sequence[str], environment: Mapping[str, str]) -> Usage:
    """Run the command on two cores at most and return what it needed; raises CommandError."""
    allowed = os.sched_getaffinity(0)
    with tempfile.TemporaryFile("w+") as said:
        os.sched_setaffinity(0, sorted(allowed)[:2])
        try:
            start_s = time.perf_counter()
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, env=environment
            )
        finally:
            os.sched_setaffinity(0, allowed)
        peak = 0
        try:
            while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
                peak = max(peak, _resident_bytes(process.pid))
                time.sleep(_LOOK_S)
        except BaseException:
            process.kill()
            raise
        wall_s = time.perf_counter() - start_s
        _, status, resources = ended
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        if process.returncode:
            raise CommandError(_sentence(command, process.returncode, said.read()))
    processor_s = resources.ru_utime + resources.ru_stime
    return Usage(wall_s, processor_s, max(peak, resources.ru_maxrss * 1024))


def _resident_bytes(pid: int) -> int:
    """Return the resident memory of a process and its descendants; one that ends meanwhile counts nothing."""
    total = 0
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0
    for member in family:
        try:
            total += member.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total


def _sentence(command: Sequence[str], status: int, said: str) -> str:
    last = said.strip().splitlines()[-1:] or ["it said nothing"]
    return f"{' '.join(command)} ended with status {status}: {last[0]}"
