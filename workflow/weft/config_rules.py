"""What a schema cannot say of a campaign: indices exist, sizes fit, pairs are pairs, nothing is twice."""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Sequence
from typing import Any

from weft.errors import BadInput, did_you_mean

Settings = dict[str, Any]
ELEMENT_BYTES = {"float32": 4, "float64": 8, "int32": 4}
_NO_AXES = ("sampling", "window_messages", "schedule", "ranks_per_node", "iterations")
_PLACEHOLDERS = ("ranks", "nodes", "ranks_per_node", "cores_per_rank", "devices", "gres")


def check_launch(place: Settings, library: Settings, system_file: str, mpi_file: str) -> None:
    """Raise BadInput when the MPI file lacks the system's launcher, or has an unknown placeholder."""
    launchers = list(library["launch"])
    if place["launcher"] not in launchers:
        hint = did_you_mean(place["launcher"], launchers) or f"; {mpi_file} has {', '.join(launchers)}."
        raise BadInput(
            f"{system_file}: launcher is '{place['launcher']}', which {mpi_file} does not know{hint}"
        )
    for launcher, words in library["launch"].items():
        for word in words:
            _check_word(f"{mpi_file}: launch.{launcher}", word, _PLACEHOLDERS)


def check_cluster(place: Settings, library: Settings, system_file: str, mpi_file: str) -> None:
    """Raise BadInput when scheduler, container and cores of a system do not fit together."""
    scheduler, container = place["scheduler"], place["container"]
    if scheduler:
        if place["cores"] is None:
            raise BadInput(
                f"{system_file} has a scheduler but no cores: how many a node has this machine cannot know."
            )
        if place["ranks_per_node"] > place["cores"]:
            raise BadInput(
                f"{system_file}: ranks_per_node is {place['ranks_per_node']}, but a node has {place['cores']}"
                " cores (cores), and the scheduler gives each rank one."
            )
        if scheduler["gres"]:
            _check_word(f"{system_file}: scheduler.gres", scheduler["gres"], ("devices",))
    if container and container["image"] is None and library["recipe"] is None:
        raise BadInput(
            f"{system_file}: container.image is null, but {mpi_file} names no recipe to build one from;"
            " name an image."
        )


def check_nodes(where: str, sweep: Settings, place: Settings) -> None:
    """Raise BadInput when a sweep counts both ranks and nodes, or too many ranks of a node."""
    if sweep["ranks"] != [2]:
        raise BadInput(f"{where} has both ranks and nodes; keep one: nodes has ranks_per_node on each.")
    if sweep["ranks_per_node"] > place["ranks_per_node"]:
        raise BadInput(
            f"{where}.ranks_per_node is {sweep['ranks_per_node']}, but a node has places for"
            f" {place['ranks_per_node']} (ranks_per_node of the system)."
        )


def check_sweep(where: str, experiment: str, sweep: Settings, place: Settings) -> None:
    """Raise BadInput when a sweep asks for what the system does not have, or contradicts itself."""
    program, _, case = experiment.partition("_")
    for chunk in _listed(sweep, "chunks_bytes"):
        if chunk >= max(sweep["sizes_bytes"]):
            raise BadInput(
                f"{where}.chunks_bytes has {chunk}, which is no piece of the largest of sizes_bytes."
            )
    if program == "p2p":
        _check_devices(where, sweep, place["devices_per_node"])
        return
    _check_one_process(where, sweep, place["devices_per_node"])
    if program in ("collective", "nccl"):
        _check_collective(where, sweep)
        return
    fewest = min(sweep["ranks"])
    _check_pairs(where, sweep, fewest, "rank", f"it runs with {fewest} ranks, 0 to {fewest - 1}")
    if sweep["placements"] == ["device"] and sweep["gpudirect"] == ["off"]:
        raise BadInput(
            f"{where}.gpudirect is off for the placement device alone, but MPI reaches a device's memory with"
            " GPUDirect on only; add another placement, or on."
        )
    for ranks in sweep["ranks"]:
        if case == "message_rate" and ranks % 2:
            raise BadInput(
                f"{where}.ranks has {ranks}, but message rate pairs one half with the other: an even number."
            )


def check_overlap(where: str, sweeps: dict[str, Settings], place: Settings) -> None:
    """Raise BadInput when two sweeps of an experiment make the same measurement."""
    for (one, axes), (other, others) in itertools.combinations(sweeps.items(), 2):
        common = overlap(axes, others, place)
        if common:
            example = ", ".join(f"{axis} {min(values, key=str)}" for axis, values in common.items())
            raise BadInput(
                f"{where}: the sweeps '{one}' and '{other}' both measure {example}; take it out of one."
            )


def overlap(one: Settings, other: Settings, place: Settings) -> dict[str, set[Any]]:
    """Return by axis the values that two sweeps share; nothing when they share no measurement."""
    common = {
        axis: _values(axis, one, place) & _values(axis, other, place) for axis in one if axis not in _NO_AXES
    }
    return common if all(common.values()) else {}


def _check_word(where: str, word: str, known: Sequence[str]) -> None:
    try:
        fields = {field for _, field, _, _ in string.Formatter().parse(word) if field is not None}
    except ValueError:
        raise BadInput(
            f"{where}: '{word}' has an unpaired brace; write {{{{ or }}}} for a brace itself."
        ) from None
    for field in fields - set(known):
        raise BadInput(f"{where}: '{word}' has the placeholder '{field}', but known are {', '.join(known)}.")


def _check_devices(where: str, sweep: Settings, devices: int) -> None:
    there_are = f"the system has {devices} devices, 0 to {devices - 1}"
    _check_pairs(where, sweep, devices, "device", there_are)
    for key in ("devices", "via"):
        for device in _listed(sweep, key):
            if device >= devices:
                raise BadInput(f"{where}.{key} names device {device}, but {there_are}.")
    for pair in _listed(sweep, "pairs"):
        for end, device in zip(("source", "destination"), _ends(pair), strict=True):
            if device in _listed(sweep, "via"):
                raise BadInput(
                    f"{where}.via names device {device}, which is the {end} of the pair {pair};"
                    " a route leads through a third device."
                )


def _check_pairs(where: str, sweep: Settings, count: int, noun: str, there_are: str) -> None:
    for pair in _listed(sweep, "pairs"):
        source, destination = _ends(pair)
        if source == destination:
            raise BadInput(
                f"{where}.pairs has {pair}, but source and destination must be two different {noun}s."
            )
        if max(source, destination) >= count:
            raise BadInput(
                f"{where}.pairs has {pair}, but there is no {noun} {max(source, destination)}: {there_are}."
            )


def _check_one_process(where: str, sweep: Settings, devices: int) -> None:
    if "one" not in sweep.get("processes", []):
        return
    if sweep.get("nodes") or max(sweep["ranks"]) > devices:
        raise BadInput(
            f"{where}.processes has one, which drives the devices of one node, of which there are {devices};"
            " take out one, or leave the ranks on a node."
        )


def _check_collective(where: str, sweep: Settings) -> None:
    fewest = min(sweep["ranks"])
    if {"aligned", "nccl_tests"} <= set(sweep.get("counts", [])):
        raise BadInput(
            f"{where}.counts has aligned and nccl_tests, which are alike for most sizes; keep one."
        )
    for participants in _listed(sweep, "participants"):
        if participants > fewest:
            raise BadInput(f"{where}.participants has {participants}, but it runs with {fewest} ranks.")
        if len(sweep["ranks"]) > 1:
            raise BadInput(f"{where}.participants is a list, so ranks must be one number.")
    element_bytes = ELEMENT_BYTES[sweep["datatype"]]
    for size in sweep["sizes_bytes"]:
        if size % element_bytes:
            raise BadInput(
                f"{where}.sizes_bytes has {size}, but a {sweep['datatype']} has {element_bytes} bytes:"
                f" a multiple of {element_bytes}."
            )


def _listed(sweep: Settings, key: str) -> list[Any]:
    """The items of an axis that may also be `all`, or absent."""
    return sweep[key] if isinstance(sweep.get(key), list) else []


def _ends(pair: str) -> tuple[int, int]:
    source, destination = pair.split(":")
    return int(source), int(destination)


def _values(axis: str, sweep: Settings, place: Settings) -> set[Any]:
    """Every value that an axis takes."""
    value = sweep[axis]
    if axis == "counts":  # both are the same elements for most sizes
        return {"aligned" if counts == "nccl_tests" else counts for counts in value}
    if axis == "nodes":
        return set(value or (math.ceil(ranks / place["ranks_per_node"]) for ranks in sweep["ranks"]))
    # Every route is measured beside the direct way, which has neither a third device nor pieces.
    beside = {"direct"} if "via" in sweep and axis in ("via", "chunks_bytes") else set()
    if axis == "chunks_bytes":
        return beside | ({"none", value} if isinstance(value, str) else set(value))
    if value not in ("all", "inter_node"):
        return beside | (set(value) if isinstance(value, list) else {value})
    members = range(max(sweep["ranks"]) if "ranks" in sweep else place["devices_per_node"])
    if axis == "pairs":  # inter_node: those whose ends are on two nodes, of which none is known here
        return {f"{source}:{destination}" for source, destination in itertools.permutations(members, 2)}
    return {"all"} if axis == "participants" else beside | set(members)
