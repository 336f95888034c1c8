"""UCX's own account of how it sends (UCX_PROTO_INFO=y): tables of sizes, protocol and transport.

The form is that of UCX 1.22, as seen on H200: a row that names the configuration, one that names the
operation, the titles of the columns, then a row a range of sizes, each behind the prefix of a log line or
bare. A protocol that is marked (?) is what the sender expects: the receiver's memory decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_PREFIX = re.compile(r"^\[\d+\.\d+\] \[[^\]]*\]\s*(?:[\w.]+:\d+\s+UCX\s+(?P<level>[A-Z]+)\s+)?")
_TITLES = ["Range", "Description", "Config"]
_RANGE = re.compile(r"^(?P<low>\d+[KMGT]?)(?:\.\.(?P<high>\d+[KMGT]?|inf))?$")
_CONFIGURATION = re.compile(r"(?:(?P<reach>self|intra-node|inter-node)\s+)?cfg#\d+$")
_OPERATION = re.compile(
    r"^(?P<operation>[a-z ]+ by ucp_\w+\*?|rendezvous data (?:fetch|send))(?:\([^)]*\))*"
    r"(?:\s+from (?P<source>.+?))?(?:\s+(?:to|into) (?P<destination>.+?))?(?:\s+from (?P<other>.+))?$"
)
_VERSION = re.compile(r"\bVersion (?P<version>\d+(?:\.\d+)+)")
_UNUSED = re.compile(r"unused env(?:ironment)? variables?: (?P<names>UCX_\w+(?:[,; ]+UCX_\w+)*)")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def digest(lines: Iterable[str]) -> dict[str, Any]:
    """Return what lines of UCX's log say: version, protocols, unused variables, and rows it cannot read.

    Lines of other kinds are passed over. A row of a table that is none of those known is kept in unread: a
    report that was only half understood must say so.
    """
    version: str | None = None
    protocols: list[dict[str, Any]] = []
    unused: set[str] = set()
    unread: list[str] = []
    reach: str | None = None
    heading: dict[str, Any] = {}
    for raw in lines:
        line = _PREFIX.sub("", raw.rstrip("\r\n")).strip()
        if found := _VERSION.search(line):
            version = found["version"]
        if found := _UNUSED.search(line):
            unused |= set(re.findall(r"UCX_\w+", found["names"]))
        if not line.startswith("|"):
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 1 and (place := _CONFIGURATION.search(cells[0])):
            reach = place["reach"]
        elif len(cells) == 1 and (what := _OPERATION.match(cells[0])):
            heading = _heading(reach, what)
        elif len(cells) == 3 and heading and (size := _RANGE.match(cells[0])):
            low = _bytes(size["low"])
            high = low if size["high"] is None else None if size["high"] == "inf" else _bytes(size["high"])
            protocol, transport = cells[1].removeprefix("(?) "), cells[2] or None
            row = {"low_bytes": low, "high_bytes": high, "protocol": protocol, "transport": transport}
            protocols.append(heading | row)
        elif cells != _TITLES:
            unread.append(line)
    return {
        "version": version,
        "protocols": _each_once(protocols),
        "unused_variables": sorted(unused),
        "unread": _each_once(unread),
    }


def _heading(reach: str | None, what: re.Match[str]) -> dict[str, Any]:
    return {
        "reach": reach,
        "operation": what["operation"].rstrip("*"),
        "source_memory": what["source"] or what["other"],
        "destination_memory": what["destination"],
    }


def _bytes(text: str) -> int:
    return int(text[:-1]) * _UNITS[text[-1]] if text[-1] in _UNITS else int(text)


def _each_once(items: list[Any]) -> list[Any]:
    """Drop repetitions: every process says the same."""
    kept: list[Any] = []
    for item in items:
        if item not in kept:
            kept.append(item)
    return kept


def path_of(protocols: Iterable[dict[str, Any]], memory: str, reach: str, size_bytes: int) -> str | None:
    """Return how UCX says it sends a message of that size from `cuda` or `host` memory; None if it does not.

    reach is `intra-node` or `inter-node`; an endpoint whose reach is not told counts for both.
    """
    found = []
    for row in protocols:
        inside = row["low_bytes"] <= size_bytes and (
            row["high_bytes"] is None or size_bytes <= row["high_bytes"]
        )
        of_memory = (row["source_memory"] or "").startswith(memory)
        tagged = row["operation"].startswith("tagged message by ucp_tag_send")
        if tagged and inside and of_memory and row["reach"] in (None, reach):
            found.append(f"{row['protocol']}, {row['transport']}")
    return " or ".join(sorted(set(found))) or None
