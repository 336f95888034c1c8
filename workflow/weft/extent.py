"""How far a sweep reaches on a system: words become numbers, and what it is too small for is left out."""

from __future__ import annotations

import itertools
from typing import Any

from weft import config_rules
from weft.sizes import format_size

Settings = dict[str, Any]
MAIN_PAIR = "0:1"
"""The pair that a campaign measures at every size; `others` are the rest."""


def fit(where: str, experiment: str, sweep: Settings, place: Settings) -> list[str]:
    """Fill in nodes, ranks and pairs, take out what the system does not have; return why it was taken out.

    A sweep that reaches nothing is left with an empty axis (`is_empty`). Raises BadInput when a sweep
    contradicts itself.
    """
    left_out = [*_fit_nodes_and_ranks(where, experiment, sweep, place), *_fit_sizes(sweep, place)]
    if "ranks" not in sweep:
        left_out += _fit_devices(sweep, place["devices_per_node"])
    return left_out


def is_empty(sweep: Settings) -> bool:
    """Return whether nothing of a fitted sweep is left."""
    return [] in (sweep.get("sizes_bytes"), sweep.get("ranks"), sweep.get("pairs"), sweep.get("devices"))


def drop_repeated(sweeps: dict[str, Settings], worded: set[str], place: Settings) -> dict[str, str]:
    """Take out sweeps that a small system makes measure what one before them measures; return why, by sweep.

    ``worded`` are the sweeps whose ranks are words: which numbers these stand for is the system's doing,
    while two sweeps that name the same numbers are a mistake.
    """
    left_out = {}
    for one, other in itertools.combinations(list(sweeps), 2):
        if other not in worded or not {one, other} <= set(sweeps):
            continue
        if config_rules.overlap(sweeps[one], sweeps[other], place):
            del sweeps[other]
            left_out[other] = (
                f"a node of this system has places for {place['ranks_per_node']} ranks, with which"
                f" '{one}' already measures some of the same"
            )
    return left_out


def _fit_nodes_and_ranks(where: str, experiment: str, sweep: Settings, place: Settings) -> list[str]:
    if sweep.get("ranks_per_node") == "all":
        sweep["ranks_per_node"] = place["ranks_per_node"]
    if sweep.get("nodes"):
        config_rules.check_nodes(where, sweep, place)
        return _fit_nodes(sweep, place["nodes"])
    return _fit_ranks(experiment, sweep, place) if "ranks" in sweep else []


def _fit_nodes(sweep: Settings, there_are: int) -> list[str]:
    asked = [there_are if nodes == "all" else nodes for nodes in sweep["nodes"]]
    sweep["nodes"] = sorted({nodes for nodes in asked if 1 < nodes <= there_are})
    sweep["ranks"] = [nodes * sweep["ranks_per_node"] for nodes in sweep["nodes"]]
    if there_are == 1:
        return ["more than one node: this system has one"]
    more = ", ".join(str(nodes) for nodes in asked if nodes > there_are)
    return [f"{more} nodes: this system has {there_are}"] if more else []


def _fit_ranks(experiment: str, sweep: Settings, place: Settings) -> list[str]:
    node, slots = place["ranks_per_node"], place["nodes"] * place["ranks_per_node"]
    words = {"all": range(2, slots + 1), "fewer": range(2, node)}
    asked = sweep["ranks"]
    named = [] if isinstance(asked, str) else [ranks for ranks in asked if ranks != "node"]
    meant = words[asked] if isinstance(asked, str) else [node] * ("node" in asked)
    if experiment == "pt2pt_message_rate":  # pairs one half with the other
        meant = [ranks for ranks in meant if ranks % 2 == 0]
    sweep["ranks"] = sorted({ranks for ranks in [*named, *meant] if 2 <= ranks <= slots})
    more = ", ".join(str(ranks) for ranks in named if ranks > slots)
    if not more and not sweep["ranks"]:
        more = f"'{asked}'" if isinstance(asked, str) else "2 or more"
    return [f"{more} ranks: this system has places for {slots} (nodes x ranks_per_node)"] if more else []


def _fit_sizes(sweep: Settings, place: Settings) -> list[str]:
    limit = place["max_size_bytes"]
    large = [size for size in sweep.get("sizes_bytes", []) if limit is not None and size > limit]
    if not large:
        return []
    sweep["sizes_bytes"] = [size for size in sweep["sizes_bytes"] if size <= limit]
    sizes = ", ".join(format_size(size) for size in large)
    return [f"{sizes}: larger than max_size_bytes of this system, {format_size(limit)}"]


def _fit_devices(sweep: Settings, devices: int) -> list[str]:
    needed = 3 if "via" in sweep else 2 if "pairs" in sweep or "patterns" in sweep else 1
    if devices < needed:
        sweep["pairs" if "pairs" in sweep else "devices"] = []
        return [f"{needed} devices: this system has {devices} (devices_per_node)"]
    if sweep.get("pairs") == "others":
        every = itertools.permutations(range(devices), 2)
        pairs = [f"{source}:{destination}" for source, destination in every]
        sweep["pairs"] = [pair for pair in pairs if pair != MAIN_PAIR]
    return []
