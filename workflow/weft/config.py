"""What to measure and where: campaign, system and MPI files, checked, with every default filled in."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft import closed_world, config_rules, extent, yaml_file
from weft.errors import BadInput, did_you_mean
from weft.sizes import parse_size, parse_sizes

Settings = dict[str, Any]


@dataclass(frozen=True)
class ResolvedConfig:
    """A campaign on a system: every default filled in, every size a number of bytes, every `ranks` a list."""

    system_name: str
    campaign_name: str
    system: Settings
    mpi: Settings
    campaign: Settings
    skipped: list[dict[str, str]]
    """What of the campaign is not run on this system: experiment, sweep, reason."""

    @property
    def backend(self) -> str:
        """`host` or `cuda`."""
        return self.system["backend"]

    @property
    def slots(self) -> int:
        """Ranks that the system has places for."""
        return self.system["nodes"] * self.system["ranks_per_node"]

    def sweeps(self, experiment: str) -> dict[str, Settings]:
        """Return the sweeps of an experiment by name; none when it is not run."""
        return self.campaign["experiments"].get(experiment, {})

    def sources(self) -> list[str]:
        """Return the files that the configuration was read from."""
        return [
            str(_path(Path(), folder, name))
            for folder, name in (
                ("systems", self.system_name),
                ("mpi", self.system["mpi"]),
                ("campaigns", self.campaign_name),
            )
        ]

    def digest(self) -> str:
        """Return a digest of the whole: it changes when any setting does."""
        return hashlib.sha256(json.dumps(self._whole()).encode()).hexdigest()[:16]

    def as_yaml(self) -> str:
        """Return the whole as YAML: what lies beside the results as config.resolved.yaml."""
        return yaml_file.write(self._whole())

    def _whole(self) -> Settings:
        return {
            "system": {"name": self.system_name, **self.system},
            "mpi": {"name": self.system["mpi"], **self.mpi},
            "campaign": {"name": self.campaign_name, **self.campaign},
            "skipped": self.skipped,
        }


def load(system: str, campaign: str, root: Path = Path()) -> ResolvedConfig:
    """Read and check a campaign, a system and its MPI file below ``root``/config.

    Raises BadInput with one sentence that names file, key, value and what would be right.
    """
    place = _read(root, "systems", "system", system)
    _where(f"{_path(root, 'systems', system)}: max_size_bytes", _resolve_limits, place)
    library = _read(root, "mpi", "mpi", place["mpi"])
    files = str(_path(root, "systems", system)), str(_path(root, "mpi", place["mpi"]))
    config_rules.check_launch(place, library, *files)
    config_rules.check_cluster(place, library, *files)

    file = str(_path(root, "campaigns", campaign))
    plan = _read(root, "campaigns", "campaign", campaign)
    skipped: list[dict[str, str]] = []
    experiments = {}
    for experiment, sweeps in plan["experiments"].items():
        where = f"{file}: experiments.{experiment}"
        kept, left_out = _resolve_sweeps(where, experiment, sweeps, plan["sampling"], place)
        skipped += [
            {"experiment": experiment, "sweep": name, "reason": reason}
            for name, reasons in left_out.items()
            for reason in reasons
        ]
        if kept:
            experiments[experiment] = kept
    plan["experiments"] = experiments
    if place["max_repeats"] is not None:
        plan["repeats"] = min(plan["repeats"], place["max_repeats"])
    return ResolvedConfig(system, campaign, place, library, plan, skipped)


def experiment_runs(experiment: str, place: Settings) -> bool:
    """Return whether a system can run an experiment at all: NCCL needs GPUs."""
    return experiment not in ("collective_nccl", "nccl_tests") or place["backend"] == "cuda"


def _path(root: Path, folder: str, name: str) -> Path:
    return root / "config" / folder / f"{name}.yaml"


def _read(root: Path, folder: str, kind: str, name: str) -> Settings:
    path = _path(root, folder, name)
    known = sorted(file.stem for file in path.parent.glob("*.yaml")) if name.isprintable() else []
    if not known:
        raise BadInput(
            f"There are no {kind} files in {path.parent} here; call Weft from the root of its checkout."
        )
    if name not in known:
        hint = did_you_mean(name, known) or f"; {path.parent} has {', '.join(known)}."
        raise BadInput(f"There is no {kind} '{name}'{hint}")
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*", name):
        raise BadInput(
            f"{path} cannot be used: it gives its name to files and jobs, which must be made of letters,"
            " digits and _ . + - alone."
        )
    settings = yaml_file.read(path)
    closed_world.check(settings, kind, str(path))
    schema = closed_world.schema(kind)
    return closed_world.fill_defaults(settings, schema, schema)


def _where(where: str, action: Callable[..., None], *arguments: Any) -> None:
    try:
        action(*arguments)
    except BadInput as problem:
        raise BadInput(f"{where}: {problem}.") from None


def _resolve_limits(place: Settings) -> None:
    if place["max_size_bytes"] is not None:
        place["max_size_bytes"] = parse_size(place["max_size_bytes"])
    if place["ranks_per_node"] is None:
        place["ranks_per_node"] = place["devices_per_node"]
    if place["cores"] is None and place["scheduler"] is None:
        place["cores"] = len(os.sched_getaffinity(0))


def _resolve_sweeps(
    where: str, experiment: str, sweeps: dict[str, Settings], sampling: Settings, place: Settings
) -> tuple[dict[str, Settings], dict[str, list[str]]]:
    """Return the sweeps that the system runs, resolved and checked; by sweep why what of it is left out."""
    kept, left_out, worded = {}, {}, set()
    for name, sweep in sweeps.items():
        sweep_where = f"{where}.{name}"
        _resolve_sizes(sweep_where, sweep)
        sweep["sampling"] = {**sampling, **sweep.get("sampling", {})}
        if isinstance(sweep.get("ranks"), str) or "node" in sweep.get("ranks", []):
            worded.add(name)
        left_out[name] = extent.fit(sweep_where, experiment, sweep, place)
        if not extent.is_empty(sweep):
            config_rules.check_sweep(sweep_where, experiment, sweep, place)
            kept[name] = sweep
    if not experiment_runs(experiment, place):
        return {}, {name: ["NCCL needs GPUs, and the backend of this system is host"] for name in sweeps}
    for name, reason in extent.drop_repeated(kept, worded, place).items():
        left_out[name].append(reason)
    config_rules.check_overlap(where, kept, place)
    return kept, left_out


def _resolve_sizes(where: str, sweep: Settings) -> None:
    def sizes(key: str) -> None:
        sweep[key] = parse_sizes(sweep[key])

    for key in ("sizes_bytes", "chunks_bytes"):
        if isinstance(sweep.get(key), list):
            _where(f"{where}.{key}", sizes, key)
