"""The logs that libraries write during a run, digested into its record file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from weft.errors import BadInput
from weft.evidence import nccl, ucx

Digest = Callable[[Iterable[str]], dict[str, Any]]
DIGESTS: dict[str, Digest] = {"ucx": ucx.digest, "nccl": nccl.digest}


def log_of(record: str, library: str) -> str:
    """Return where a library is to write its log beside those of a record, with %h host and %p process.

    UCX (UCX_LOG_FILE) and NCCL (NCCL_DEBUG_FILE) both replace the two.
    """
    folder, _, name = record.removesuffix(".jsonl").rpartition("/records/")
    return f"{folder}/logs/{name}.{library}.%h.%p"


def add_reports(record: Path) -> int:
    """Digest the logs that the libraries wrote during the run of a record file into it; return how many.

    The reports stand before the end record. Logs that are older than the run are of another one, and logs
    that say nothing make no report. A record that has reports already is left as it is. Raises BadInput if a
    file cannot be read or written.
    """
    try:
        lines = record.read_bytes().splitlines(keepends=True)
        if len(lines) < 2 or any(line.startswith(b'{"record":"library_report"') for line in lines):
            return 0
        started = _started(orjson.loads(lines[0]))
        reports = [report for library in DIGESTS if (report := _report(record, library, started))]
        if not reports:
            return 0
        added = [orjson.dumps(report, option=orjson.OPT_APPEND_NEWLINE) for report in reports]
        partial = record.with_name(f"{record.name}.partial")
        partial.write_bytes(b"".join([*lines[:-1], *added, lines[-1]]))
        partial.replace(record)
    except OSError as error:
        raise BadInput(f"{error.filename or record} cannot be read or written: {error.strerror}.") from error
    except (orjson.JSONDecodeError, KeyError, ValueError) as error:
        raise BadInput(f"{record} is not a record file of Weft: {error}.") from error
    return len(reports)


def _started(environment: dict[str, Any]) -> float:
    return datetime.fromisoformat(environment["started_at"]).timestamp()


def _report(record: Path, library: str, started: float) -> dict[str, Any] | None:
    pattern = Path(log_of(record.resolve().as_posix(), library))
    name = pattern.name.replace("%h.%p", "")
    found = [
        path
        for path in sorted(pattern.parent.glob("*"))
        # The library opens its log before the program notes when it started.
        if path.name.startswith(name) and path.stat().st_size and path.stat().st_mtime >= started
    ]
    if not found:
        return None
    lines = [line for path in found for line in path.read_text("utf-8", errors="replace").splitlines()]
    report = DIGESTS[library](lines)
    if not any(report[key] for key in report if key != "version"):
        return None
    return {"record": "library_report", "library": library, "logs": len(found), **report}
