"""The output of nccl-tests as measurement records, with the identity that our own program gives its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weft.errors import BadInput
from weft.nccl_tests.operations import (
    BINARIES,
    DATATYPES,
    REDUCING,
    alignment_bytes,
    bus_factor,
    rounds_to,
)
from weft.nccl_tests.output import Output, Row, Value
from weft.published.recording import Protocol, measured

_ROOTED = ("broadcast", "reduce", "scatter", "gather")


@dataclass(frozen=True)
class Asked:
    """What a binary was called for; datatype and reduction in our words."""

    operation: str
    ranks: int
    processes: str
    graph: bool
    datatype: str = "float32"
    reduction: str = "sum"

    def identity(self) -> dict[str, Any]:
        """The members that tell a record's configuration, apart from sizes, place and devices."""
        return {
            "library": "nccl", "ranks": self.ranks, "datatype": self.datatype,
            "element_bytes": dict(DATATYPES.values())[self.datatype],
            "reduction": self.reduction if self.operation in REDUCING else None,
            "root": 0 if self.operation in _ROOTED else None,
            "graph": self.graph, "processes": self.processes,
            "algorithm": "auto", "protocol": "auto", "transport": "auto",
        }  # fmt: skip


def asked_by(output: Output, operation: str | None, name: str) -> Asked:
    """Return what the output ``name`` itself says it was called for.

    ``operation`` is needed before 2.18, which does not name its binary. Raises BadInput where it says too
    little, or ran in a way that our program does not have.
    """
    if operation is None:
        of = {binary: key for key, binary in BINARIES.items()}
        if output.binary not in of:
            raise BadInput(f"{name}: it does not say which operation it is of; add --operation.")
        operation = of[output.binary]
    kinds = {(row.datatype, row.reduction) for row in output.rows}
    if len(kinds) > 1:
        raise BadInput(f"{name}: it has several datatypes or reductions; give one run of each.")
    datatype, reduction = kinds.pop() if kinds else ("float", "sum")
    if datatype not in DATATYPES:
        raise BadInput(f"{name}: its elements are {datatype}; known are {', '.join(DATATYPES)}.")
    return Asked(
        operation, len(output.devices), _processes(output, name), output.graph, DATATYPES[datatype][0],
        reduction or "sum",
    )  # fmt: skip


def unmeasured(asked: Asked, sizes_bytes: list[int], outcome: str, reason: str) -> list[dict[str, Any]]:
    """Return a record for each size, in and out of place, that was not measured."""
    return [
        {
            "record": "measurement", "outcome": outcome, "reason": reason,
            "benchmark": f"collective.{asked.operation}", "size_bytes": size, "requested_bytes": size,
            "in_place": in_place, **asked.identity(),
        }
        for in_place in (False, True)
        for size in sizes_bytes
    ]  # fmt: skip


def measurements(output: Output, asked: Asked, name: str) -> list[dict[str, Any]]:
    """Return the records of all sizes that the output ``name`` was asked for, those without a row as failed.

    Raises BadInput where it is not of what was asked for, has a size that nobody asked for, or a bus
    bandwidth that does not follow from its time.
    """
    found = asked_by(output, asked.operation, name) if output.rows else asked
    if (other := _difference(found.identity(), asked.identity())) is not None:
        raise BadInput(
            f"{name}: {other} is {found.identity()[other]}, but {asked.identity()[other]} was asked for."
        )
    if len(output.rows) > len(output.sizes_bytes):
        raise BadInput(
            f"{name}: {len(output.rows)} rows, but {len(output.sizes_bytes)} sizes were asked for."
        )
    hosts = {device.host for device in output.devices}
    place = {"nodes": len(hosts), "devices": [device.device for device in output.devices]} if hosts else {}
    records = []
    for size, row in zip(output.sizes_bytes, output.rows, strict=False):
        records += _of_row(output, asked, row, size, place, f"{name} line {row.line}")
    missing = output.sizes_bytes[len(output.rows) :]
    reason = output.failure or "nccl-tests ended before it came to this size, and does not say why"
    return records + unmeasured(asked, missing, "failed", reason)


def _difference(one: dict[str, Any], other: dict[str, Any]) -> str | None:
    return next((key for key in one if one[key] != other[key]), None)


def _processes(output: Output, name: str) -> str:
    ranks, pids = len(output.devices), len({(device.host, device.pid) for device in output.devices})
    if output.threads == 1 and ranks:
        if output.devices_per_thread == 1 and pids == ranks:
            return "one_per_device"
        if pids == 1 and output.devices_per_thread == ranks:
            return "one"
    raise BadInput(
        f"{name}: {pids} processes with {output.threads} threads of {output.devices_per_thread} devices drove"
        f" {ranks} ranks; what our program has too is one process a device or one for all, of one thread."
    )


def _of_row(
    output: Output, asked: Asked, row: Row, size: int, place: dict[str, Any], where: str
) -> list[dict[str, Any]]:
    identity = asked.identity()
    element = identity["element_bytes"]
    if not rounds_to(asked.operation, size, row.size_bytes, element, asked.ranks):
        raise BadInput(f"{where}: a row of {row.size_bytes} bytes, where one of {size} was asked for.")
    if row.size_bytes == 0:
        few = f"{size} bytes are too few for a block of each of {asked.ranks} participants"
        return unmeasured(asked, [size], "unsupported", f"{few}: nccl-tests sends none")
    return [
        _record(output, asked, row, value, where)
        | {"in_place": in_place, "requested_bytes": size, **identity, **place}
        for in_place, value in ((False, row.out_of_place), (True, row.in_place))
    ]


def _record(output: Output, asked: Asked, row: Row, value: Value, where: str) -> dict[str, Any]:
    if value.time_s <= 0:
        raise BadInput(f"{where}: a time of 0, shorter than nccl-tests prints.")
    bus = row.size_bytes * bus_factor(asked.operation, asked.ranks) / value.time_s
    slack = value.bus_resolution_bytes_per_s + bus * value.resolution_s / value.time_s
    if abs(bus - value.bus_bytes_per_s) > slack:
        raise BadInput(
            f"{where}: a bus bandwidth of {value.bus_bytes_per_s / 1e9:g} GB/s, where size and time give"
            f" {bus / 1e9:.4g}: the columns are not what they are taken for."
        )
    element = asked.identity()["element_bytes"]
    record = measured(
        f"collective.{asked.operation}", row.size_bytes, value.time_s,
        Protocol(output.iterations * output.aggregated, warmup_samples=None), count=row.count,
        block_alignment_bytes=alignment_bytes(asked.operation, row.count, element, asked.ranks),
        bandwidth_bytes_per_s=row.size_bytes / value.time_s, bus_bandwidth_bytes_per_s=bus,
        note="mean, not median, of operations back to back by the host's clock, averaged over the processes",
    )  # fmt: skip
    # Before 2.11 a row has the largest deviation, of which only the last line says whether it is too large.
    wrong = value.wrong
    if value.deviation is not None:
        wrong = (output.out_of_bounds or 0) if value.deviation > 0 else 0
    if wrong is None:
        return record
    if wrong == 0:
        return record | {"wrong": 0}
    return record | {"outcome": "wrong", "wrong": wrong, "reason": f"nccl-tests found {wrong} wrong values"}
