"""The cluster that the stand-ins tell of, and how their words are read."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

STATE = Path(os.environ["STAND_IN_SLURM"])
CLUSTER = {
    "controller": True,
    "accounting": True,
    "config": {"ClusterName": "stand_in", "MinJobAge": "300 sec", "MaxArraySize": "1001"},
    "partitions": {"gpu": {"Default": "YES", "MaxTime": "1-00:00:00", "State": "UP", "Nodes": "n[1-4]"}},
    "nodes": {
        f"n{index}": {"state": "idle", "cpus": 8, "memory": 8000, "gres": "gpu:h200:4", "features": "(null)"}
        for index in range(1, 5)
    },
    "associations": [{"account": "proj", "qos": "normal", "cluster": "stand_in"}],
    "qos": ["normal"],
    "reservations": [],
    "mpi": ["none", "pmi2", "pmix"],
    "pmix": ["pmix_v5"],
}
UNREACHABLE = "Unable to contact slurm controller (connect failure)"
# Options whose value is a word of its own, besides a number's; all others are one word, or --name=value.
WITH_VALUE = {
    *("--job-name", "-J", "--output", "-o", "--error", "-e", "--comment", "--clusters", "--mem", "-D"),
    *("--chdir", "-A", "--account", "-p", "--partition", "-t", "--time", "--states", "-C", "--qos"),
    *("--name", "--format", "-j", "--jobs", "-u", "--user"),
}  # fmt: skip


def refuse(said: str, status: int = 1) -> None:
    sys.exit((print(said, file=sys.stderr), status)[1])


def cluster() -> dict:
    path = STATE / "cluster.json"
    return {**CLUSTER, **(json.loads(path.read_text()) if path.exists() else {})}


def nodes_of(known: dict, partition: str) -> list[str]:
    """The nodes of a partition, whose Nodes= are written as n1,n2 or n[1-4]."""
    text = known["partitions"].get(partition, {}).get("Nodes", "")
    found = []
    for prefix, first, last, plain in re.findall(r"(\w*)\[(\d+)-(\d+)\]|([^,\[\]]+)", text):
        found += [plain] if plain else [f"{prefix}{index}" for index in range(int(first), int(last) + 1)]
    return [name for name in found if name in known["nodes"]]


def parse(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """Options by name, and what follows them."""
    options, rest = {}, list(words)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        takes_number = len(word) == 2 and rest and rest[0].isdigit()
        if not equals and (word in WITH_VALUE or takes_number):
            value = rest.pop(0)
        elif not equals and re.fullmatch(r"-[A-Za-z]\d+", word):
            name, value = word[:2], word[2:]
        options[name] = value
    return options, rest


def option(options: dict[str, str], *names: str) -> str | None:
    return next((options[name] for name in names if name in options), None)


def filled(form: str, values: dict[str, object]) -> str:
    """``form`` with every %x or %.20x replaced by its value."""
    return re.sub(r"%\.?\d*([A-Za-z])", lambda field: str(values.get(field[1], "N/A")), form)
