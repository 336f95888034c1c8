#!/usr/bin/env -S python3 -ESs
"""Stands in for Slurm's commands: each is a link to this file. Jobs run on this machine, at once.

State is kept in the folder that STAND_IN_SLURM names:

    cluster.json    what the cluster is, where it differs from CLUSTER of facts.py; a test may write it
    calls.jsonl     every call, a list of its words
    jobs/ID.json    every job: name, comment, folder, state, process group
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

from facts import STATE, UNREACHABLE, cluster, filled, nodes_of, option, parse, refuse
from queue_stand_in import sbatch, scancel, squeue, srun


def sinfo(words: list[str]) -> None:
    options, _ = parse(words)
    form = option(options, "-o", "--format") or "%P %a %l %D %T %N"
    known = cluster()
    partition = option(options, "-p", "--partition")
    for name in [partition] if partition else known["partitions"]:
        for node in nodes_of(known, name):
            facts = known["nodes"][node]
            values = {"P": name, "N": node, "n": node, "T": facts["state"], "t": facts["state"], "D": 1}
            values |= {"c": facts["cpus"], "m": facts["memory"], "G": facts["gres"], "f": facts["features"]}
            print(filled(form, values))


def scontrol(words: list[str]) -> None:
    known = cluster()
    words = [word for word in words if word not in ("-o", "--oneliner")]
    if words[:1] == ["ping"]:
        print("Slurmctld(primary) at ctl is UP")
    elif words[:2] == ["show", "config"]:
        print("\n".join(f"{key:<23} = {value}" for key, value in known["config"].items()))
    elif words[:1] == ["show"] and words[1].startswith("partition"):
        for name, facts in known["partitions"].items():
            fields = {"AllowAccounts": "ALL", "AllowQos": "ALL", "MaxNodes": "UNLIMITED", **facts}
            fields["TotalNodes"] = len(nodes_of(known, name))
            print(f"PartitionName={name}", *(f"{key}={value}" for key, value in fields.items()))
    elif words[:1] == ["show"] and words[1].startswith("reservation"):
        for name in known["reservations"]:
            print(f"ReservationName={name} StartTime=2026-01-01T00:00:00")
        if not known["reservations"]:
            print("No reservations in the system")
    else:
        refuse(f"scontrol: invalid keyword: {shlex.join(words)}")


def sacctmgr(words: list[str]) -> None:
    known = cluster()
    if not known["accounting"]:
        refuse("You are not running a supported accounting_storage plugin")
    _, (_, entity, *conditions) = parse(words)
    form = next(word for word in conditions if word.startswith("format=")).partition("=")[2]
    rows = {
        "a": known["associations"],
        "u": known["associations"],
        "q": [{"name": name} for name in known["qos"]],
    }[entity[0]]
    for row in rows:
        print("|".join(str(row.get(field.split("%")[0], "")) for field in form.split(",")))


def main() -> None:
    name, words = Path(sys.argv[0]).name, sys.argv[1:]
    with (STATE / "calls.jsonl").open("a") as calls:
        calls.write(json.dumps([name, *words]) + "\n")
    needs_controller = name != "sacctmgr" and not (name == "srun" and "--mpi=list" in words)
    if needs_controller and not cluster()["controller"]:
        refuse(f"{name}: error: {UNREACHABLE}")
    commands = {
        "sbatch": sbatch, "squeue": squeue, "scancel": scancel, "sinfo": sinfo, "scontrol": scontrol,
        "sacctmgr": sacctmgr, "srun": srun,
    }  # fmt: skip
    commands[name](words)


if __name__ == "__main__":
    main()
