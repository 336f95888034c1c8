"""Does the cluster have what the system file names, and as much of it as the jobs ask for?"""

from __future__ import annotations

import getpass
import os
import re
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from weft.config import ResolvedConfig
from weft.errors import did_you_mean
from weft.preflight import capacity, slurm
from weft.preflight.ask import Unanswered
from weft.preflight.findings import Findings, known_are
from weft.preflight.needs import Need, greatest
from weft.preflight.slurm import Partition

_COMMANDS = {"slurm": ("sbatch", "squeue", "scancel", "scontrol", "sinfo"), "lsf": ("bsub", "bjobs", "bkill")}
_HERE = "this cluster does not have"


def check_commands(config: ResolvedConfig, findings: Findings) -> bool:
    """Note a scheduler whose commands are not here, and return whether they are."""
    kind = config.system["scheduler"]["kind"]
    missing = [command for command in _COMMANDS[kind] if shutil.which(command) is None]
    if missing:
        findings.problems.append(
            f"System '{config.system_name}' has the scheduler {kind}, but there is no {missing[0]} here:"
            " call it on a login node of the cluster."
        )
    return not missing


def _check_checkout(findings: Findings) -> None:
    """Snakemake's plugin hands sbatch a line in double quotes, with the path of the checkout as it stands."""
    path = str(Path.cwd())
    if read_by_a_shell := "".join(sorted(set(path) & set("$`\"'\\\n"))):
        findings.problems.append(
            f"This checkout is in {path!r}, of which a shell on the way to Slurm would read"
            f" {read_by_a_shell!r}: move it to a folder without."
        )


def check_submission(config: ResolvedConfig, asked: Sequence[Need], findings: Findings) -> None:
    """Note what Slurm would refuse or never start of the jobs ``asked``, as far as it tells."""
    _check_checkout(findings)
    settings = config.system["scheduler"]
    found = Findings()
    try:
        partitions = slurm.partitions()
    except Unanswered as reason:
        findings.problems.append(f"Slurm does not answer ({reason}): call it again when it does.")
        return
    meant = _meant(settings["partition"], partitions, found)
    if settings["account"] or settings["qos"]:
        _check_account(settings, meant, found)
    if settings["reservation"]:
        known = found.known("scheduler.reservation", slurm.reservations)
        if known is not None:
            _check_known("scheduler.reservation", settings["reservation"], known, _HERE, found)
    # A job may start in any of the partitions: it is enough that one has what it needs.
    of_each = [capacity.of_partition(partition, settings["constraint"], asked, found) for partition in meant]
    if of_each and all(problems for problems, _ in of_each):
        found.problems += of_each[0][0]
    elif of_each and all(problems or waits for problems, waits in of_each):
        found.waits += next(waits for problems, waits in of_each if not problems)
    file = f"config/systems/{config.system_name}.yaml"
    findings.problems += [f"{file}: {problem}" for problem in found.problems]
    findings.waits += found.waits
    findings.unknown += found.unknown


def check_allocation(asked: Sequence[Need], findings: Findings) -> None:
    """Note what the Slurm job that this runs in lacks for the jobs ``asked``."""
    job_id, nodes = os.environ["SLURM_JOB_ID"], int(os.environ.get("SLURM_JOB_NUM_NODES", "1"))
    most = greatest(asked, lambda need: need.nodes)
    if most.nodes > nodes:
        findings.problems.append(
            f"{most.job} needs {most.nodes} nodes, but this allocation (job {job_id}) has {nodes}:"
            f" submit it with --nodes={most.nodes}."
        )
    each = re.match(r"\d+", os.environ.get("SLURM_JOB_CPUS_PER_NODE", ""))
    most = greatest(asked, lambda need: need.cpus)
    if each and most.cpus > int(each[0]):
        findings.problems.append(
            f"{most.job} needs {most.cpus} CPUs of a node, but this allocation (job {job_id}) has {each[0]}:"
            " submit it with --exclusive, or lower cores."
        )


def _meant(asked: str | None, partitions: dict[str, Partition], found: Findings) -> list[Partition]:
    """The partitions that jobs may start in."""
    if asked:
        names = asked.split(",")
        for name in names:
            _check_known("scheduler.partition", name, partitions, _HERE, found)
        return [partitions[name] for name in names if name in partitions]
    default = [partition for partition in partitions.values() if partition.is_default]
    if not default:
        found.problems.append(
            f"scheduler.partition is null, but this cluster has no default{known_are(partitions)}"
        )
    return default


def _check_account(settings: dict[str, Any], meant: Sequence[Partition], found: Findings) -> None:
    user = getpass.getuser()
    of_user = found.known("scheduler.account and scheduler.qos", lambda: slurm.associations(user))
    if not of_user:
        return  # no accounting, or none that this user is part of: Slurm has to say
    names = {partition.name for partition in meant}
    here = [entry for entry in of_user if not entry.partition or not names or entry.partition in names]
    accounts = {entry.account.lower() for entry in here}
    for account in (settings["account"] or "").lower().split(","):
        if account:
            _check_known("scheduler.account", account, accounts, f"user {user} may not charge", found)
            _check_allowed("account", account, [(each.name, each.accounts) for each in meant], found)
    qos = settings["qos"]
    if qos:
        own = {name for entry in here for name in entry.qos}
        known = found.known("scheduler.qos", slurm.qos_names)
        if known is not None and _check_known("scheduler.qos", qos, known, _HERE, found) and own:
            _check_known("scheduler.qos", qos, own, f"user {user} may not use", found)
        _check_allowed("qos", qos, [(each.name, each.qos) for each in meant], found)


def _check_known(key: str, word: str, known: Collection[str], lacks: str, found: Findings) -> bool:
    if word not in known:
        found.problems.append(
            f"{key} is '{word}', which {lacks}{did_you_mean(word, known) or known_are(known)}"
        )
    return word in known


def _check_allowed(
    key: str, word: str, allowed: Sequence[tuple[str, tuple[str, ...] | None]], found: Findings
) -> None:
    for partition, words in allowed:
        if words is not None and word.lower() not in [name.lower() for name in words]:
            found.problems.append(
                f"scheduler.{key} is '{word}', but partition {partition} is for {', '.join(words)} alone."
            )
