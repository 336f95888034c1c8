"""NCCL's own account of what it set up (NCCL_DEBUG=INFO): transports and channels, and choices if told.

The form is that of NCCL 2.18 to 2.28, subsystems INIT, GRAPH and TUNING.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

_INFO = re.compile(r"^\S+?:\d+:\d+ \[\d+\] NCCL (?:INFO|WARN) (?P<text>.*)$")
_VERSION = re.compile(r"NCCL version (?P<version>\S+)")
_BEGIN = re.compile(r"\bcomm 0x[0-9a-f]+ rank \d+ n[Rr]anks (?P<ranks>\d+)\b.* - Init START")
_CHANNEL = re.compile(
    r"^Channel \d+(?:/\d+)? : \d+\[[0-9a-f]+\] -> \d+\[[0-9a-f]+\]"
    r"(?: \[(?:send|receive)\])? via (?P<transport>.+)$"
)
_RING = re.compile(r"^Channel \d+/\d+ :(?: +\d+)+$")  # the order of the ranks, not how they are joined
_COUNTS = re.compile(r"^(?P<collective>\d+) coll channels\b.*?(?P<p2p>\d+) p2p channels\b")
_CHOICE = re.compile(
    r"^(?P<operation>\w+): (?P<size>\d+) Bytes -> Algo (?P<algorithm>\w+) proto (?P<protocol>\w+)"
    r"(?: channel\{Lo\.\.Hi\}=\{(?P<low>\d+)\.\.(?P<high>\d+)\}| time \S+)?"
)


def digest(lines: Iterable[str]) -> dict[str, Any]:
    """Return what lines of NCCL's log say, for each number of ranks that joined; and lines it cannot read.

    connections: how many channels between two ranks go by which transport, as the ranks of these files set
    them up; channels that are connected late count for the communicator that was joined last.
    A line that begins as a known one and goes on otherwise is kept in unread.
    """
    version: str | None = None
    worlds: dict[int, dict[str, Any]] = {}
    unread: list[str] = []
    world: dict[str, Any] | None = None
    for line in lines:
        found = _VERSION.search(line)
        version = found["version"] if found else version
        info = _INFO.match(line.rstrip("\r\n"))
        if info is None:
            continue
        text = info["text"].strip()
        if begin := _BEGIN.search(text):
            ranks = int(begin["ranks"])
            world = worlds.setdefault(ranks, {"ranks": ranks, "connections": Counter(), "choices": []})
        elif re.match(r"Channel \d+(?:/\d+)? :", text) and not _RING.match(text):
            channel = _CHANNEL.match(text)
            if channel is None or world is None:
                unread.append(text)
            else:
                world["connections"][_transport(channel["transport"])] += 1
        elif (counts := _COUNTS.match(text)) and world is not None:
            world["collective_channels"], world["p2p_channels"] = int(counts[1]), int(counts[2])
        elif (choice := _CHOICE.match(text)) and world is not None:
            _note(world["choices"], choice)
    return {
        "version": version,
        "communicators": [
            {**worlds[ranks], "connections": dict(sorted(worlds[ranks]["connections"].items()))}
            for ranks in sorted(worlds)
        ],
        "unread": list(dict.fromkeys(unread)),
    }


def _transport(words: str) -> str:
    """Return `P2P/CUMEM`, `SHM/direct`, `NET/Socket`, `NET/IB/GDRDMA`: without the number of the adapter."""
    first, *rest = words.split(maxsplit=1)[0].split("/")
    return "/".join([first, *rest[:1], *(["GDRDMA"] if "GDRDMA" in rest[1:] else [])])


def _note(choices: list[dict[str, Any]], found: re.Match[str]) -> None:
    choice: dict[str, Any] = {
        "operation": found["operation"],
        "size_bytes": int(found["size"]),
        "algorithm": found["algorithm"].lower(),
        "protocol": found["protocol"].lower(),
    }
    if found["low"] is not None:
        choice["channels"] = int(found["high"]) - int(found["low"]) + 1
    if choice not in choices:
        choices.append(choice)


def path_of(communicators: Iterable[dict[str, Any]], ranks: int) -> str | None:
    """Return by which transports NCCL says so many ranks are joined; None if it does not."""
    for one in communicators:
        if one["ranks"] == ranks and one["connections"]:
            return ", ".join(sorted(one["connections"]))
    return None
