"""Copies, host links, fan-out and atomics of p2p on the host backend: every axis."""

import itertools

import pytest

from programs.p2p import assert_bandwidth, p2p, points
from programs.records import Record


def assert_copied(record: Record) -> None:
    """Measured, right, and as fast as its time says; or unsupported, for the first reason that there is."""
    reasons = [
        words
        for words, applies in (
            ("without peer access", record["engine"] == "kernel" and not record["peer_access"]),
            ("part of a graph", record["batching"] == "graph" and not record["peer_access"]),
            ("no part for each of 3 streams", record["streams"] == 3 and record["size_bytes"] == 4),
        )
        if applies
    ]
    if reasons:
        assert record["outcome"] == "unsupported"
        assert reasons[0] in record["reason"]
    else:
        assert record["outcome"] == "measured"
        assert record["wrong"] == 0
        assert_bandwidth(record, transfers=2 if record["direction"] == "bidirectional" else 1)


def test_copy_measures_the_product_of_its_axes() -> None:
    result = p2p("copy", "--pairs 0:1,2:0 --sizes 1,7,4KiB,100003")
    product = itertools.product(
        ((0, 1), (2, 0)),
        ("unidirectional", "bidirectional"),
        ("copy_engine", "kernel"),
        ("write", "read"),
        (True, False),
        (1, 7, 4096, 100003),
    )
    expected = [(*pair, *rest) for pair, *rest in product]
    found = points(
        result.measurements, "source destination direction engine operation peer_access size_bytes"
    )
    assert len(found) == len(expected)
    assert set(found) == set(expected)
    for record in result.measurements:
        assert record["benchmark"] == "p2p.copy"
        assert_copied(record)


def test_copy_by_several_streams_and_as_a_graph() -> None:
    result = p2p("copy", "--pairs 0:1 --sizes 4,100003 --streams 1,3 --batching stream,graph")
    product = itertools.product(
        ("unidirectional", "bidirectional"),
        (True, False),
        ("copy_engine", "kernel"),
        ("write", "read"),
        (1, 3),
        ("stream", "graph"),
        (4, 100003),
    )
    axes = "direction peer_access engine operation streams batching size_bytes"
    assert points(result.measurements, axes) == list(product)
    for record in result.measurements:
        assert_copied(record)


def test_copy_by_kernel_says_what_it_was_launched_with() -> None:
    result = p2p("copy", "--pairs 0:1 --sizes 64 --peer-access on")
    for record in result.measured:
        assert record.get("kernel_grid") == ("1x1x1" if record["engine"] == "kernel" else None)


def test_copy_of_all_pairs() -> None:
    result = p2p(
        "copy", "--host-devices 3 --sizes 64 --directions unidirectional --peer-access on --operations read"
    )
    expected = [(a, b) for a in range(3) for b in range(3) if a != b for _ in ("copy_engine", "kernel")]
    assert points(result.measured, "source destination") == expected


def test_host_measures_the_product_of_its_axes() -> None:
    result = p2p("host", "--devices 0,3 --sizes 3,64KiB")
    directions = ("host_to_device", "device_to_host", "bidirectional")
    product = list(itertools.product(("pinned", "pageable"), directions, (3, 65536)))
    places = [("one_device", 0), ("one_device", 3), ("all_devices", None)]
    expected = [(*place, *rest) for place in places for rest in product]
    assert points(result.measured, "pattern device memory direction size_bytes") == expected
    for record in result.measured:
        alone = record["pattern"] == "one_device"
        assert record.get("devices") == (None if alone else [0, 3])
        ways = 2 if record["direction"] == "bidirectional" else 1
        assert_bandwidth(record, transfers=ways if alone else 2 * ways)


def test_all_host_links_at_once_are_at_least_two() -> None:
    records = p2p("host", "--devices 2 --host-patterns all_devices --sizes 4").measurements
    assert records
    for record in records:
        assert record["outcome"] == "unsupported"
        assert "at least two" in record["reason"]


def test_atomics_measures_the_product_of_its_axes() -> None:
    result = p2p("atomics", "--pairs 0:1,2:0")
    product = itertools.product(((0, 1), (2, 0)), ("one", "neighbouring", "spread"), ("unused", "used"))
    expected = [(*pair, *rest) for pair, *rest in product]
    assert points(result.measured, "source destination address result") == expected
    for record in result.measured:
        assert record["wrong"] == 0
        assert record["atomics_per_s"] == pytest.approx(1 / record["time_s"]["median"])
        assert "bandwidth_bytes_per_s" not in record


def test_fanout_counts_every_transfer() -> None:
    result = p2p("fanout", "--host-devices 5 --devices 0,2,4 --sizes 1000")
    expected = [
        *itertools.product(("one_to_all", "all_to_one"), (0, 2, 4), ("write", "read")),
        *itertools.product(("all_pairs",), (None,), ("write", "read")),
    ]
    assert points(result.measured, "pattern device operation") == expected
    for record in result.measured:
        assert record["devices"] == [0, 2, 4]
        assert_bandwidth(
            record, transfers={"one_to_all": 2, "all_to_one": 2, "all_pairs": 6}[record["pattern"]]
        )


def test_fanout_needs_two_devices() -> None:
    records = p2p("fanout", "--devices 1 --sizes 4").measurements
    assert {record["pattern"] for record in records} == {"one_to_all", "all_to_one", "all_pairs"}
    for record in records:
        assert record["outcome"] == "unsupported"
        assert "at least two devices" in record["reason"]
