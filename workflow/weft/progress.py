"""Snakemake's events as the lines a person wants: what runs, which of how many, how long since the start."""

from __future__ import annotations

import contextlib
import logging
import re
import sys
import time
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

_LAST_LINES = 12
_NO_DETAIL = " Detailed failure reason unavailable (status command is not 'sacct')."
_ANY = re.compile("")
_BY_SCHEDULER = re.compile(r"(slurmstepd|srun|slurm_load\w+): ")
_TOLD_BY_JOB_ERROR = (
    "Look above for error messages",
    "At least one job did not complete successfully.",
    "of failed jobs are not removed.",
)


class LogHandler(LogHandlerBase):
    """Snakemake's logger plugin `weft` (snakemake --logger weft)."""

    def __post_init__(self) -> None:
        self._started = time.monotonic()
        self._total = 0
        self._jobs: dict[int, str] = {}
        self._begun = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Print the line for an event, or nothing."""
        for line in self._lines(record):
            with contextlib.suppress(OSError):  # the terminal may be gone
                print(line, file=sys.stderr, flush=True)

    def _lines(self, record: logging.LogRecord) -> list[str]:
        event, data = getattr(record, "event", None), record.__dict__
        if event == LogEvent.RUN_INFO:
            # The last job collects what the others made and does nothing.
            self._total = max(data.get("stats", {}).get("total", 1) - 1, 0)
        elif event == LogEvent.JOB_INFO and data["rule_name"] != "all":
            self._begun += 1
            count = f"{self._begun:3d} of {max(self._total, self._begun)}"
            return [f"{self._clock()} {count}  {data['rule_msg'] or data['rule_name']}"]
        elif event in (LogEvent.JOB_ERROR, LogEvent.GROUP_ERROR):
            return self._failure(data)
        elif event == LogEvent.ERROR or (event is None and record.levelno >= logging.WARNING):
            told = data.get("exception") == "RuleException" or record.getMessage().endswith(
                _TOLD_BY_JOB_ERROR
            )
            return [] if told else [f"{self._clock()} {record.getMessage()}"]
        return []

    def _failure(self, data: dict[str, Any]) -> list[str]:
        lines = [
            f"{self._clock()} Failed: rule {data.get('rule_name')}, for {', '.join(data.get('output') or [])}"
        ]
        lines += [f"        {line}" for line in _told_by_executor(data.get("rule_msg") or "")]
        told = False
        for log in data.get("log") or []:
            name, of_rule, _ = str(log).partition(" (check log file")
            # What the scheduler kept of the job is mostly Snakemake's: where the program said why, not that.
            last = _last_lines(Path(name), _ANY if of_rule or not told else _BY_SCHEDULER)
            if last:
                lines += [f"        the last lines of {name}:", *(f"        | {line}" for line in last)]
                told = True
        return lines

    def _clock(self) -> str:
        minutes, seconds = divmod(int(time.monotonic() - self._started), 60)
        return f"[{minutes:3d}:{seconds:02d}]"

    @property
    def writes_to_stream(self) -> bool:
        """It replaces Snakemake's own lines."""
        return True

    @property
    def writes_to_file(self) -> bool:
        """It writes no file; Snakemake's own log does."""
        return False

    @property
    def has_filter(self) -> bool:
        """It chooses by itself what to print."""
        return True

    @property
    def has_formatter(self) -> bool:
        """It formats by itself."""
        return True

    @property
    def needs_rulegraph(self) -> bool:
        """It draws no graph."""
        return False


def _told_by_executor(message: str) -> list[str]:
    """What the executor says of a failed job, without what it was submitted by."""
    words = message.partition("sbatch call:")[0].replace(_NO_DETAIL, "")
    return [line.strip() for line in words.splitlines() if line.strip()]


def _last_lines(path: Path, wanted: re.Pattern[str]) -> list[str]:
    """The last lines of a file, each once: ranks that fail together say the same."""
    try:
        with path.open(encoding="utf-8", errors="replace") as text:
            lines = dict.fromkeys(line.rstrip() for line in text if line.strip() and wanted.match(line))
    except OSError:
        return []
    return list(lines)[-_LAST_LINES:]
