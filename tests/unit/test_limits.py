"""Limits of rows: those of the path taken, from the topology that the records hold."""

import numpy as np
import pytest

from support import synthetic
from support.built_table import COLLECTIVE, MESSAGE
from support.cases import COPY
from support.synthetic import environment, measurement


def with_topology(*measurements):
    return [environment("p2p_copy", 0), *synthetic.topology(), *measurements]


def limits(built):
    rows = built.rows.sort_values("line")
    return list(
        zip(
            rows["link_class"].astype(object).where(rows["link_class"].notna(), None),
            rows["limit_bytes_per_s"].round(3).astype(object).where(rows["limit_bytes_per_s"].notna(), None),
            rows["limit_origin"].astype(object).where(rows["limit_origin"].notna(), None),
            strict=True,
        )
    )


HOST = {"benchmark": "p2p.host", "size_bytes": 1000, "device": 3, "memory": "pinned"}

FANOUT = {"benchmark": "p2p.fanout", "size_bytes": 1000, "device": 2, "devices": [0, 1, 2]}

BY_CLASS = {**COPY, "source": None, "destination": None}


@pytest.mark.parametrize(
    ("axes", "expected"),
    [
        (COPY, ("NV2", 50e9, "nvlink")),
        ({**COPY, "destination": 2}, ("NV1", 25e9, "nvlink")),
        ({**COPY, "direction": "bidirectional"}, ("NV2", 100e9, "nvlink")),
        ({**COPY, "destination": 5}, ("SYS", 16e9, "pcie")),
        ({**COPY, "peer_access": False}, ("PHB", 16e9, "pcie")),
        ({**COPY, "peer_access": False, "destination": 4, "direction": "bidirectional"},
        ("SYS", 32e9, "pcie")),
        ({**COPY, "destination": 0}, ("X", 450e9, "memory_computed")),
        ({**COPY, "destination": 0, "direction": "bidirectional"}, ("X", 450e9, "memory_computed")),
        ({**COPY, "destination": 99}, (None, None, None)),
        ({**COPY, "benchmark": "p2p.latency", "method": "smallest_copy"}, ("NV2", 50e9, "nvlink")),
        ({**COPY, "benchmark": "p2p.route", "destination": 5, "via": 1, "chunk_bytes": None},
        ("SYS", 50e9, "nvlink")),
        ({**COPY, "benchmark": "p2p.route", "destination": 5, "via": 2, "chunk_bytes": None},
        ("SYS", 16e9, "pcie")),
        ({**COPY, "benchmark": "p2p.route", "via": None, "chunk_bytes": None}, ("NV2", 50e9, "nvlink")),
        ({**HOST, "direction": "host_to_device"}, (None, 16e9, "pcie")),
        ({**HOST, "direction": "bidirectional"}, (None, 32e9, "pcie")),
        ({**HOST, "direction": "device_to_host", "device": None}, (None, 16e9, "pcie")),
        ({**HOST, "direction": "device_to_host", "device": None, "pattern": "all_devices", "devices": [0, 3]},
         (None, 32e9, "pcie")),
        ({**HOST, "direction": "bidirectional", "pattern": "one_device"}, (None, 32e9, "pcie")),
        ({**COPY, "benchmark": "p2p.atomics", "address": "one", "result": "used", "atomics_per_s": 1e9},
         ("NV2", None, None)),
        ({**FANOUT, "pattern": "one_to_all"}, (None, 150e9, "nvlink")),
        ({**FANOUT, "pattern": "all_pairs"}, (None, 450e9, "nvlink")),
        (MESSAGE, ("NV2", 50e9, "nvlink")),
        ({**MESSAGE, "benchmark": "pt2pt.bidirectional_bandwidth"}, ("NV2", 100e9, "nvlink")),
        ({**MESSAGE, "placement": "pinned"}, ("PHB", 16e9, "pcie")),
        ({**MESSAGE, "nodes": 2}, ("NV2", 50e9, "nvlink")),
        ({**MESSAGE, "destination_host": "b", "nodes": 2}, (None, 12.5e9, "nic")),
        ({**MESSAGE, "benchmark": "pt2pt.message_rate"}, ("NV2", None, None)),
        ({**COLLECTIVE, "devices": [0, 1]}, (None, 150e9, "nvlink")),
        ({**COLLECTIVE, "nodes": 2}, (None, 12.5e9, "nic")),
        ({**BY_CLASS, "link_class": "NV1"}, ("NV1", 25e9, "nvlink")),
        ({**BY_CLASS, "link_class": "NV2", "direction": "bidirectional"}, ("NV2", 100e9, "nvlink")),
        ({**BY_CLASS, "link_class": "PHB", "peer_access": False}, ("PHB", 16e9, "pcie")),
        ({**BY_CLASS, "link_class": "NV9"}, ("NV9", None, None)),
    ],
)  # fmt: skip
def test_limit_is_that_of_the_path_taken(table_of, axes, expected):
    built = table_of(with_topology(measurement(axes, 1.0, device_states=False)))
    assert built.problems == []
    assert limits(built) == [expected]


def test_efficiency_is_rate_over_limit(table_of):
    one, collective = measurement(COPY, 1.0), measurement(COLLECTIVE | {"devices": [0, 1]}, 1.0)
    rows = table_of(with_topology(one, collective)).rows
    assert rows["efficiency"].tolist() == pytest.approx(
        [one["bandwidth_bytes_per_s"] / 50e9, collective["bus_bandwidth_bytes_per_s"] / 150e9]
    )


def test_slowest_participant_limits_a_collective(table_of):
    topology = synthetic.topology()
    topology[1]["egress_limit_bytes_per_s"] = 40e9
    del topology[7]["egress_limit_bytes_per_s"]
    rows = [
        measurement(COLLECTIVE | axes, 1.0)
        for axes in ({"devices": [0, 1]}, {"devices": [2, 3]}, {"devices": [2, 7]})
    ]
    built = table_of([environment("collective_nccl", 0), *topology, *rows])
    assert [limit for _, limit, _ in limits(built)] == [40e9, 150e9, None]


def test_slower_host_link_limits_a_staged_copy(table_of):
    topology = synthetic.topology()
    topology[1]["host_link_limit_bytes_per_s"] = 8e9
    rows = [
        measurement(COPY | {"peer_access": False, "source": s, "destination": d}, 1.0)
        for s, d in ((0, 1), (1, 0))
    ]
    built = table_of([environment("p2p_copy", 0), *topology, *rows])
    assert [limit for _, limit, _ in limits(built)] == [8e9, 8e9]


def test_topology_of_another_campaign_is_not_used(table_of):
    own = environment("p2p_copy", 0)
    other = environment("topology", 0, campaign="other")
    elsewhere = environment("topology", 0, host={**own["host"], "hostname": "node2"})
    weaker = [
        record | {"limit_bytes_per_s": 1e9} if record["record"] == "link" else record
        for record in synthetic.topology()
    ]
    assert limits(table_of([own, measurement(COPY, 1.0)], [other, *synthetic.topology()])) == [
        (None, None, None)
    ]
    built = table_of(
        [own, measurement(COPY, 1.0)],
        [elsewhere, *weaker],
        [environment("topology", 0), *synthetic.topology()],
    )
    assert limits(built) == [("NV2", 50e9, "nvlink")]


def test_without_topology_there_is_no_limit(table_of):
    built = table_of([environment("p2p_copy", 0), measurement(COPY, 1.0)])
    assert limits(built) == [(None, None, None)]
    assert np.isnan(built.rows["efficiency"].tolist()[0])
