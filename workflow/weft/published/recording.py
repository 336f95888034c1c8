"""Writes imported measurements as record files, and counts what is left out, with the reason."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from weft.published.reference import SOURCES

IMPORTER = "weft.published 1"  # counted up when the same CSVs give other records
CAMPAIGN = "published"


@dataclass(frozen=True)
class Protocol:
    """How a source took one value: operations timed together, how often, after how many untimed ones."""

    operations_per_sample: int
    samples: int = 1
    warmup_samples: int | None = 0


@dataclass(frozen=True, order=True)
class FileKey:
    """What one record file holds: one experiment of one source's table or log, in one repeat."""

    system: str
    experiment: str
    repeat: int
    source: str
    locator: str


@dataclass
class Recording:
    """All records of an import, by file, and the rows left out, by (CSV, source, system, reason)."""

    files: dict[FileKey, list[dict[str, Any]]] = field(default_factory=dict)
    left_out: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)

    def add(self, key: FileKey, record: dict[str, Any]) -> None:
        """Add a device, link, nic, nic_link or measurement record to a file."""
        self.files.setdefault(key, []).append(record)

    def leave_out(self, table: str, row: dict[str, str], reason: str) -> None:
        """Count a row that becomes no record."""
        self.left_out[table, row["source"], row["system"], reason] += 1


def measured(
    benchmark: str, size_bytes: int, time_s: float, protocol: Protocol, **axes: Any
) -> dict[str, Any]:
    """Return a measurement record; axes that are None where the schema wants a value are not given.

    time_s: seconds of one operation, what the source calls its result (a mean or a best, see note and
    protocol).
    """
    time = {
        "median": time_s, "ci_low": None, "ci_high": None, "confidence": None, "samples": protocol.samples,
        "operations_per_sample": protocol.operations_per_sample, "warmup_samples": protocol.warmup_samples,
        "converged": None, "stopped_by": "source", "quantiles": None,
    }  # fmt: skip
    return {"record": "measurement", "outcome": "measured", "benchmark": benchmark,
            "size_bytes": size_bytes, **axes,
            "time_s": time, "timer": "source"}  # fmt: skip


def write(
    recording: Recording, environments: dict[tuple[str, str], dict[str, Any]], output: Path
) -> list[Path]:
    """Write the files below output/<system>/records and return their paths; the same input gives the same
    bytes.

    environments: host, devices and software of an environment record by (source, system). Record files of an
    earlier import that are no longer made are removed.
    """
    written = []
    for key in sorted(recording.files):
        records = recording.files[key]
        stem = key.experiment
        if key.experiment != "topology":
            stem += f".{key.source}.{_slug(key.locator)}.repeat{key.repeat}"
        path = output / key.system / "records" / f"{stem}.jsonl.gz"
        _write_file(path, [_environment(key, environments[key.source, key.system]), *records, _end(records)])
        if path in written:
            raise ValueError(f"two files of one import have the name {path.name}")
        written.append(path)
    for stale in set(output.glob("*/records/*.jsonl.gz")) - set(written):
        stale.unlink()
    return written


def _slug(locator: str) -> str:
    """Return the end of a locator as part of a file name: folder and file of a repository path, else the
    text.
    """
    path = PurePosixPath(locator.rpartition(":")[2])
    return re.sub(r"[^0-9A-Za-z-]+", "_", f"{path.parent.name} {path.stem}" if ":" in locator else locator)


def _write_file(path: Path, records: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = b"".join(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records)
    partial = path.with_name(f"{path.name}.partial")
    try:
        partial.write_bytes(gzip.compress(raw, compresslevel=9, mtime=0))
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _environment(key: FileKey, described: dict[str, Any]) -> dict[str, Any]:
    return {
        "record": "environment", "schema_version": 1, "program": "importer",
        "weft": {"version": IMPORTER, "commit": None, "dirty": None, "compiler": None, "build_type": None},
        "system": key.system, "campaign": CAMPAIGN, "experiment": key.experiment, "repeat": key.repeat,
        "started_at": None, "command_line": [], "device_backend": "cuda", **described, "geometry": None,
        "container_digest": None, "scheduler": None, "variables": {}, "source": SOURCES[key.source],
        "locator": key.locator,
    }  # fmt: skip


def _end(records: list[dict[str, Any]]) -> dict[str, Any]:
    outcomes = Counter(record["outcome"] for record in records if record["record"] == "measurement")
    return {
        "record": "end",
        "measurements": outcomes.total(),
        "outcomes": {
            outcome: outcomes[outcome] for outcome in ("measured", "unsupported", "wrong", "failed")
        },
        "wall_time_s": None,
    }
