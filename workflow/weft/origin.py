"""Where rows come from: columns of a file's environment, its topology, and what the table says of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from weft.columns import IDENTITY_ORIGIN, ORIGIN, TEXT
from weft.convert import mix, text_code
from weft.gather import ReadFile
from weft.limits import Topologies

# What differs from file to file of one campaign and does not describe what was measured on.
_PER_FILE = ("record", "experiment", "repeat", "started_at", "command_line", "geometry")


def _origin(environment: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of where a row comes from, as its file's environment record says."""
    scheduler = environment["scheduler"] or {}
    return {
        "program": environment["program"], "system": environment["system"],
        "campaign": environment["campaign"],
        "experiment": environment["experiment"], "repeat": environment["repeat"],
        "device_backend": environment["device_backend"], "hostname": environment["host"]["hostname"],
        "started_at": environment["started_at"], "weft_commit": environment["weft"]["commit"],
        "weft_dirty": environment["weft"]["dirty"], "published_source": environment.get("source"),
        "locator": environment.get("locator"),
        "container": environment.get("container"), "container_digest": environment["container_digest"],
        "mpi_library": mpi_library(environment["software"].get("mpi_library")),
        "job_id": scheduler.get("job_id"), "partition": scheduler.get("partition"),
        "node_list": scheduler.get("node_list"),
    }  # fmt: skip


# What MPI_Get_library_version says, for those whose words do not begin with the name.
_MPI_NAMES = {"CRAY MPICH": "Cray MPICH", "Intel(R) MPI Library": "Intel MPI"}
_MPI_NAME = re.compile(
    r"(?i)(open mpi|ibm spectrum mpi|mvapich2-gdr|mvapich2?|cray mpich|mpich|intel\(r\) mpi library)"
)
_MPI_VERSION = re.compile(r"\d+(?:\.\d+)+\w*")


def mpi_library(words: str | None) -> str | None:
    """Return an MPI library's name and version, "Open MPI 5.0.7", from what it says of itself.

    Words without a version, or of a library not known here, stay as they are.
    """
    if words is None:
        return None
    name = _MPI_NAME.search(words)
    version = _MPI_VERSION.search(words, name.end()) if name else None
    if name is None or version is None:
        return words
    return f"{_MPI_NAMES.get(name[1], name[1])} {version[0]}"


def origin_columns(files: Sequence[ReadFile]) -> dict[str, pa.Array]:
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


def topologies(files: Sequence[ReadFile]) -> tuple[Topologies, np.ndarray]:
    """Return the topologies and which is each file's: of its system and campaign, best of its own host."""
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


def _place(file: ReadFile) -> tuple[str | None, str | None, str | None] | None:
    """Return system, campaign and host of a file, or None if it does not say."""
    if file.environment is None:
        return None
    return file.environment["system"], file.environment["campaign"], file.environment["host"]["hostname"]


def metadata(files: Sequence[ReadFile], rows: int, holes: int) -> dict[str, Any]:
    """Return what the table says beside its rows: what was measured on, each once."""
    environments: dict[bytes, dict[str, Any]] = {}
    topology: dict[str, dict[bytes, dict[str, Any]]] = {"device": {}, "link": {}, "nic": {}, "nic_link": {}}
    runs: list[dict[str, Any]] = []  # what differs from file to file: command line, geometry, cost, reports
    for file in files:
        if file.environment is None:
            continue
        environment = {key: value for key, value in file.environment.items() if key not in _PER_FILE}
        environments.setdefault(orjson.dumps(environment), {**environment, "files": 0})["files"] += 1
        runs.append(
            {
                "file": file.name,
                **{key: file.environment[key] for key in _PER_FILE if key != "record"},
                "devices": _devices(file.environment),
                "wall_time_s": file.wall_time_s,
                "phases_s": file.phases_s,
                "reports": file.reports,
            }
        )
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


def _devices(environment: dict[str, Any]) -> int:
    """Return how many devices a run held: those of its ranks, or all that a single process saw."""
    geometry = environment["geometry"]
    if geometry is None:
        return len(environment["devices"])
    return len(set(zip(geometry["rank_hosts"], geometry["rank_devices"], strict=True)))


def origin_code(environment: dict[str, Any] | None) -> np.uint64:
    """Return a 64-bit code of what of a file's origin makes its rows unique."""
    code = np.full(1, text_code(None))
    for name in IDENTITY_ORIGIN:
        value = None if environment is None else _origin(environment)[name]
        code = mix(code, np.full(1, text_code(None if value is None else str(value))))
    return code[0]
