"""Writes the record file of nccl-tests: environment, measurements, end."""

from __future__ import annotations

import argparse
import os
import platform
import socket
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from weft.errors import BadInput
from weft.nccl_tests.output import Output

IMPORTER = "weft.nccl_tests 1"  # counted up when the same output gives other records
_VARIABLES = ("NCCL_", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")
_OUTCOMES = ("measured", "unsupported", "wrong", "failed")


def write(options: argparse.Namespace, records: list[dict[str, Any]], outputs: list[Output]) -> int:
    """Write the file, whole or not at all; return 1 where something was wrong or failed.

    ``options``: output, system, campaign, experiment and repeat. Raises BadInput where it cannot be written.
    """
    outcomes = Counter(record["outcome"] for record in records)
    end = {
        "record": "end", "measurements": len(records), "wall_time_s": None,
        "outcomes": {outcome: outcomes[outcome] for outcome in _OUTCOMES},
    }  # fmt: skip
    lines = [orjson.dumps(line) for line in (_environment(options, outputs), *records, end)]
    path: Path = options.output
    partial = path.with_name(f"{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(b"\n".join(lines) + b"\n")
        partial.replace(path)
    except OSError as problem:
        raise BadInput(f"{path} cannot be written: {problem.strerror}.") from None
    print(f"nccl-tests: {', '.join(f'{n} {outcome}' for outcome, n in outcomes.items())} -> {path}")
    return 1 if outcomes["wrong"] + outcomes["failed"] else 0


def _environment(options: argparse.Namespace, outputs: list[Output]) -> dict[str, Any]:
    widest = max(outputs, key=lambda output: len(output.devices), default=None)
    devices = widest.devices if widest else []
    image = os.environ.get("WEFT_CONTAINER")
    return {
        "record": "environment", "schema_version": 1, "program": "nccl_tests",
        "weft": {"version": IMPORTER, "commit": None, "dirty": None, "compiler": None, "build_type": None},
        "system": options.system, "campaign": options.campaign, "experiment": options.experiment,
        "repeat": options.repeat, "started_at": _started() if "launch" in options else None,
        "command_line": ["weft", *sys.argv[1:]], "device_backend": "cuda",
        "host": {
            "hostname": devices[0].host if devices else socket.gethostname(), "operating_system": None,
            "kernel": platform.release() if "launch" in options else None, "cpu_model": None,
            "logical_cpus": None, "numa_nodes": None, "memory_bytes": None,
        },
        "devices": [
            {"device": device.device, "name": device.name}
            for device in devices
            if device.host == devices[0].host
        ],
        "software": {
            "nccl": widest.nccl if widest else None, "nccl_tests": widest.version if widest else None,
            "importer": IMPORTER,
        },
        "geometry": {
            "ranks": len(devices), "nodes": len({device.host for device in devices}),
            "rank_hosts": [device.host for device in devices],
            "rank_devices": [device.device for device in devices],
        } if devices else None,
        "container": Path(image).name if image else None,
        "container_digest": os.environ.get("WEFT_CONTAINER_DIGEST"), "scheduler": None,
        "variables": {name: value for name, value in os.environ.items() if name.startswith(_VARIABLES)},
    }  # fmt: skip


def _started() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
