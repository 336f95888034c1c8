"""Where the numbers come from: machine, software, commands, and how to cite them."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from dataclasses import dataclass
from typing import Any

from weft.figures import Dataset
from weft.figures import quantities as q
from weft.figures.axes import missing
from weft.figures.nodes import natural

MOST_RUNS = 200
MOST_ENVIRONMENTS = 24
MOST_NAMED = 6  # job ids, and lists of nodes, of one experiment
_SAME = (
    "program", "weft", "software", "devices", "device_backend", "container", "container_digest", "source",
    "locator",
)  # fmt: skip
_JOB = ("job_id", "step_id", "node_list", "gres", "restarts")  # of a scheduler: differ from job to job
BACKENDS = {"cuda": "CUDA", "host": "host"}


@dataclass(frozen=True)
class Environment:
    """One set of conditions that record files share: groups of (name, value), values as text."""

    title: str
    groups: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


def environments(dataset: Dataset) -> tuple[list[Environment], int]:
    """What programs ran with: an entry a program, build, image and kind of devices, at most
    MOST_ENVIRONMENTS; and how many there are. Where its files differ in the rest, such as the host, their
    values stand together.
    """
    alike: dict[str, list[dict[str, Any]]] = {}
    for found in dataset.metadata.get("environments", []):
        key = json.dumps([found.get(name) for name in _SAME], sort_keys=True)
        alike.setdefault(key, []).append(found)
    return [_environment(_merged(of)) for of in list(alike.values())[:MOST_ENVIRONMENTS]], len(alike)


def _merged(found: list[dict[str, Any]]) -> dict[str, Any]:
    """One environment of several; values that differ become one text."""
    merged = {**found[0], "files": sum(one.get("files", 1) for one in found)}
    for group in ("host", "scheduler", "variables"):
        parts = [one.get(group) or {} for one in found]
        names = [name for name in dict.fromkeys(n for part in parts for n in part) if name not in _JOB]
        merged[group] = {
            name: _together([_value(name, part[name]) for part in parts if part.get(name) is not None])
            for name in names
        }
    return merged


def _together(values: list[str]) -> str | None:
    """Distinct values in natural order, the first ones and how many more there are; None of none."""
    found = sorted(set(values), key=natural)
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return ", ".join(found[:MOST_NAMED]) + more if found else None


def jobs(dataset: Dataset) -> list[tuple[str, ...]]:
    """What the scheduler ran, a row an experiment, image and partition: experiment, image, digest, partition,
    lists of nodes, job ids. Empty where no record names a job or an image.
    """
    keys = ["experiment", "container", "container_digest", "partition"]
    columns = [*keys, "node_list", "job_id"]
    table = dataset.table(columns)
    if table["job_id"].null_count == table["container"].null_count == len(table):
        return []
    frame = table.group_by(columns).aggregate([]).to_pandas().astype(object)
    frame = frame.where(frame.notna(), None)
    rows = []
    for key, of in frame.groupby(keys, dropna=False, sort=True):
        texts = ["–" if missing(value) else str(value) for value in key]
        rows.append((*texts, *(_together(list(of[n].dropna())) or "–" for n in columns[-2:])))
    return rows


def _environment(environment: dict[str, Any]) -> Environment:
    groups = []
    for name in ("host", "software", "weft", "scheduler", "variables"):
        entries = tuple(
            (key.replace("_", " ") if name != "variables" else key, _value(key, value))
            for key, value in (environment.get(name) or {}).items()
            if value is not None
        )
        if entries:
            groups.append((name, entries))
    devices = tuple(
        (
            f"device {d['device']}",
            ", ".join(
                f"{k.replace('_', ' ')} {v}" if k != "name" else str(v)
                for k, v in d.items()
                if k != "device" and v is not None
            ),
        )
        for d in environment.get("devices", [])
    )
    if devices:
        groups.insert(1, ("devices", devices))
    rest = tuple(
        (key.replace("_", " "), str(environment[key]))
        for key in ("source", "locator", "container", "container_digest", "schema_version")
        if environment.get(key) is not None
    )
    if rest:
        groups.append(("record", rest))
    program = environment.get("program", "")
    return Environment(f"{program}: {q.plural(environment.get('files', 1), 'file')}", tuple(groups))


def _value(key: str, value: Any) -> str:
    if key.endswith("_bytes") and isinstance(value, int | float):
        return q.size(value)
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class Run:
    """One record file: what was started, when, and the geometry that it saw."""

    file: str
    started_at: str
    geometry: str
    command: str


def runs(dataset: Dataset) -> tuple[list[Run], int]:
    """The record files, at most MOST_RUNS; and how many there are."""
    everything = dataset.metadata.get("runs", [])
    return [
        Run(
            r["file"],
            (r.get("started_at") or "–").replace("T", " "),
            _geometry(r.get("geometry")),
            shlex.join(r.get("command_line") or []),
        )
        for r in everything[:MOST_RUNS]
    ], len(everything)


def _geometry(geometry: dict[str, Any] | None) -> str:
    if not geometry:
        return "1 process"
    devices = ", ".join("–" if d is None else str(d) for d in geometry.get("rank_devices", []))
    return f"{q.plural(geometry['ranks'], 'rank')} on {q.plural(geometry['nodes'], 'node')}" + (
        f", devices {devices}" if devices else ""
    )


def machine(dataset: Dataset) -> str:
    """The machine in one sentence."""
    found = dataset.metadata.get("environments", [])
    if not found:
        return "No record says on what machine this was measured."
    environment = next((e for e in found if e.get("devices")), found[0])
    host = environment.get("host", {})
    names = Counter(d["name"] for d in environment.get("devices", []))
    devices = " and ".join(f"{n} × {name}" if n > 1 else name for name, n in names.items()) or "no devices"
    parts = [devices]
    if host.get("cpu_model"):
        cpus = f" ({q.plural(host['logical_cpus'], 'logical CPU')})" if host.get("logical_cpus") else ""
        parts.append(f"on {host['cpu_model']}{cpus}")
    if host.get("memory_bytes"):
        parts.append(f"with {q.size(host['memory_bytes'])} of memory")
    hosts = sorted({e["host"].get("hostname") for e in found if e.get("host", {}).get("hostname")})
    return (
        " ".join(parts)
        + (f", host {hosts[0]}" if len(hosts) == 1 else f", {len(hosts)} hosts" if hosts else "")
        + "."
    )


def backend_note(dataset: Dataset) -> str:
    """What must be known before reading a number; empty where nothing must."""
    found = dataset.metadata.get("environments", [])
    if any(e.get("device_backend") == "host" for e in found):
        return (
            "Host backend: a device is an arena of host memory with a worker thread of its own. These "
            "numbers measure this machine's "
            "memory system and MPI between its processes; they say nothing of GPUs."
        )
    return ""


def sources(dataset: Dataset) -> list[str]:
    """Published works that values were imported from."""
    return sorted({e["source"] for e in dataset.metadata.get("environments", []) if e.get("source")})


def commits(dataset: Dataset) -> list[str]:
    """Commits that the programs were built from, marked where the tree had changes."""
    found = {
        (e.get("weft", {}).get("commit"), e.get("weft", {}).get("dirty"))
        for e in dataset.metadata.get("environments", [])
    }
    return sorted(
        f"{commit}{' with uncommitted changes' if dirty else ''}" for commit, dirty in found if commit
    )


def span(dataset: Dataset) -> str:
    """When it was measured: the first and last start, as the records say."""
    days = sorted(r["started_at"] for r in dataset.metadata.get("runs", []) if r.get("started_at"))
    if not days:
        return ""
    first, last = (day[:16].replace("T", " ") for day in (days[0], days[-1]))
    return f"{first} UTC" if first == last else f"{first} to {last} UTC"
