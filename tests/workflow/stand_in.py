"""Stands in for a measured program where the workflow is tested: same options, no measuring.

A file behaviour.json in the working directory, {experiment: {"sleep_s": 1, "status": 1, "truncate": true}},
changes what it does; every start is noted as a line of starts.txt.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

TIME = {
    "median": 1e-6, "ci_low": 9.9e-7, "ci_high": 1.01e-6, "confidence": 0.95, "samples": 20,
    "operations_per_sample": 1, "warmup_samples": 3, "converged": True, "stopped_by": "precision",
    "quantiles": dict.fromkeys(["min", "p01", "p05", "p25", "p75", "p95", "p99", "max"], 1e-6),
}  # fmt: skip

HOST = ["hostname", "operating_system", "kernel", "cpu_model", "logical_cpus", "numa_nodes", "memory_bytes"]


def main() -> None:
    options = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=True))
    experiment, output = options["--experiment"], Path(options["--output"])
    leads = os.environ.get("OMPI_COMM_WORLD_RANK", "0") == "0"
    behaviour = json.loads(Path("behaviour.json").read_text()).get(experiment, {})
    if leads:
        with Path("starts.txt").open("a") as starts:
            starts.write(f"{os.getpid()} {output}\n")
    partial = output.with_name(f"{output.name}.partial")
    if leads:
        partial.write_text("half a rec")
    time.sleep(behaviour.get("sleep_s", 0))
    status = behaviour.get("status", 0)
    if status == 2:
        partial.unlink(missing_ok=True)
        print("stand_in: this cannot be", file=sys.stderr)
        sys.exit(2)
    if status < 0:
        os.kill(os.getpid(), -status)
        signal.pause()
    if leads:
        lines = [json.dumps(record) for record in records(options, "wrong" if status else "measured")]
        if behaviour.get("truncate"):
            lines = [*lines[:-2], lines[-2][:40]]
        partial.write_text("\n".join(lines) + "\n")
        partial.rename(output)
    # As the ranks of a real program agree that it is written: mpirun ends all of them at a bad status.
    while status and not output.exists():
        time.sleep(0.01)
    sys.exit(status)


def records(options: dict[str, str], outcome: str) -> list[dict]:
    experiment = options["--experiment"]
    environment = {
        "record": "environment", "schema_version": 1, "program": Path(sys.argv[0]).name,
        "weft": {"version": "0", "commit": None, "dirty": None, "compiler": None, "build_type": None},
        "system": options["--system"], "campaign": options["--campaign"], "experiment": experiment,
        "repeat": int(options["--repeat"]), "started_at": None, "command_line": sys.argv,
        "device_backend": "host",
        "host": dict.fromkeys(HOST),
        "devices": [], "software": {}, "geometry": None, "container_digest": None,
        "scheduler": None, "variables": {},
    }  # fmt: skip
    measured = (
        [measurement(options, int(size), outcome) for size in sizes(options)]
        if experiment != "topology"
        else []
    )
    outcomes = dict.fromkeys(["measured", "unsupported", "wrong", "failed"], 0) | {outcome: len(measured)}
    end = {"record": "end", "measurements": len(measured), "outcomes": outcomes, "wall_time_s": 0.1}
    return [environment, *measured, end]


def sizes(options: dict[str, str]) -> list[int]:
    units = {"KiB": 1 << 10, "MiB": 1 << 20}
    return [
        int(text.rstrip("KMiB")) * units.get(text[-3:], 1) for text in options.get("--sizes", "4").split(",")
    ]


def measurement(options: dict[str, str], size_bytes: int, outcome: str) -> dict:
    program, _, case = options["--experiment"].partition("_")
    ranks = int(options.get("--expect-ranks", "1"))
    common = {
        "record": "measurement",
        "outcome": outcome,
        "size_bytes": size_bytes,
        "timer": "host_clock",
        "time_s": TIME,
    }
    if outcome == "wrong":
        common |= {"reason": "bytes differ", "wrong": 1}
    if program == "collective":
        return common | {
            "benchmark": "collective.all_reduce",
            "library": case,
            "ranks": ranks,
            "in_place": False,
        }
    if program == "pt2pt":
        return common | {
            "benchmark": f"pt2pt.{case}", "placement": "pinned", "gpudirect": options["--gpudirect"] == "on",
            "chunk_bytes": None, "ranks": ranks, "pairs": 1,
        }  # fmt: skip
    if case == "host":
        return common | {
            "benchmark": "p2p.host",
            "device": 0,
            "direction": "host_to_device",
            "memory": "pinned",
        }
    return common | {
        "benchmark": "p2p.copy", "source": 0, "destination": 1, "engine": "copy_engine", "operation": "write",
        "peer_access": True, "direction": "unidirectional",
    }  # fmt: skip


main()
