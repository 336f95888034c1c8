"""Latencies of p2p on the host backend: every method."""

import os

import pytest

from programs.p2p import p2p, points

CORES = len(os.sched_getaffinity(0))


def test_smallest_copy() -> None:
    result = p2p("latency", "--methods smallest_copy --pairs 0:1,1:0")
    assert points(result.measured, "source peer_access") == [(0, True), (0, False), (1, True), (1, False)]
    for record in result.measured:
        assert record["size_bytes"] == 4
        assert record.get("bandwidth_bytes_per_s") is None


def test_smallest_copy_as_a_graph() -> None:
    records = p2p(
        "latency", "--pairs 0:1 --batching stream,graph --methods smallest_copy,start_up"
    ).measurements
    copies = [record for record in records if record["method"] == "smallest_copy"]
    assert points(copies, "peer_access batching outcome") == [
        (True, "stream", "measured"),
        (True, "graph", "measured"),
        (False, "stream", "measured"),
        (False, "graph", "unsupported"),
    ]
    alone = [record for record in records if record["method"] == "start_up"]
    assert points(alone, "peer_access batching outcome") == [
        (True, None, "measured"),
        (False, None, "measured"),
    ]


def test_start_up_is_timed_by_the_host() -> None:
    records = p2p("latency", "--pairs 0:1,1:0 --methods start_up").measured
    assert points(records, "source peer_access") == [(0, True), (0, False), (1, True), (1, False)]
    for record in records:
        assert record["timer"] == "host_clock"
        assert record["wrong"] == 0
        assert record["engine"] == "copy_engine"
        assert record.get("bandwidth_bytes_per_s") is None


@pytest.mark.skipif(CORES < 2, reason="a flag passed to and fro needs two cores")
def test_load_store() -> None:
    on, off = p2p("latency", "--methods load_store --pairs 0:1").measurements
    assert on["outcome"] == "measured"
    assert on["timer"] == "host_clock"
    assert on["wrong"] == 0
    assert on["time_s"]["operations_per_sample"] > 1
    assert off["outcome"] == "unsupported"
    assert "without peer access" in off["reason"]


@pytest.mark.skipif(
    CORES > 255, reason="there are at most 256 devices, so that each has a core of its own here"
)
def test_load_store_between_devices_of_one_core_is_unsupported() -> None:
    result = p2p("latency", f"--methods load_store --peer-access on --host-devices {CORES + 1}")
    shared = [record for record in result.measurements if record["outcome"] == "unsupported"]
    assert shared
    for record in shared:
        assert f"devices {record['source']} and {record['destination']} share core" in record["reason"]
