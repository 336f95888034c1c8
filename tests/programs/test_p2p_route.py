"""Routes of p2p through a third device on the host backend: ways, chunks and their search."""

import itertools

from programs.p2p import assert_bandwidth, p2p, points


def test_route_takes_every_via_and_the_direct_way() -> None:
    result = p2p("route", "--host-devices 4 --pairs 0:1,2:3 --sizes 100,1000 --chunks none")
    ways = [(0, None, 1), (0, 2, 1), (0, 3, 1), (2, None, 3), (2, 0, 3), (2, 1, 3)]
    expected = [(*way, size) for way, size in itertools.product(ways, (100, 1000))]
    assert points(result.measured, "source via destination size_bytes") == expected
    for record in result.measured:
        assert record["chunk_bytes"] is None
        assert_bandwidth(record)


def test_route_finds_the_best_chunk() -> None:
    result = p2p("route", "--pairs 0:1 --via 2 --sizes 64KiB,1MiB")
    expected = [(None, 1 << 16), (None, 1 << 20), (2, 1 << 16), (2, 1 << 20), (2, 1 << 20)]
    assert points(result.measured, "via size_bytes") == expected
    *whole, best = result.measured
    assert all(record["chunk_bytes"] is None and "chunk_search" not in record for record in whole)
    tried = {entry["chunk_bytes"]: entry["time_s"] for entry in best["chunk_search"]}
    assert list(tried) == [1 << 16, 1 << 17, 1 << 18, 1 << 19]
    assert best["chunk_bytes"] == min(tried, key=tried.__getitem__)


def test_route_in_chunks_of_given_sizes() -> None:
    result = p2p("route", "--pairs 0:1 --via 3 --sizes 100,100003 --chunks 99,4KiB")
    relayed = [record for record in result.measured if record["via"] == 3]
    assert points(relayed, "chunk_bytes size_bytes") == [(99, 100), (99, 100003), (4096, 100003)]


def test_route_skips_pairs_that_end_at_the_via() -> None:
    result = p2p("route", "--via 1 --host-devices 3 --sizes 8 --chunks none")
    expected = [(0, None, 2), (0, 1, 2), (2, None, 0), (2, 1, 0)]
    assert points(result.measured, "source via destination") == expected


def test_route_needs_three_devices() -> None:
    result = p2p("route", "--host-devices 2 --sizes 8,16")
    expected = [(0, None, 8), (0, None, 16), (1, None, 8), (1, None, 16)]
    assert points(result.measurements, "source via size_bytes") == expected
    for record in result.measurements:
        assert record["outcome"] == "unsupported"
        assert "third device" in record["reason"]
