"""From counters to a verdict: what each name promises, what the counters show, and what they do not tell."""

import pandas as pd
import pytest

from support.cases import COPY, MIB
from support.counted import COLLECTIVE, HOST, MESSAGE, NVLINK, STAGED, counted
from support.synthetic import environment, measurement, topology, write_file
from weft.table import build_table, read_table


@pytest.fixture
def rows(tmp_path):
    def make(*records, links="NV4", reports=()):
        (tmp_path / "r").mkdir(exist_ok=True)
        classes = [dict(r, link_class=links) if r["record"] == "link" else r for r in topology()]
        write_file(tmp_path / "r/0.jsonl", [environment("topology", 0), *classes])
        write_file(tmp_path / "r/1.jsonl", [environment("p2p_copy", 0), *records, *reports])
        build_table([tmp_path / "r/0.jsonl", tmp_path / "r/1.jsonl"], tmp_path / "t", tmp_path / "p")
        return read_table(tmp_path / "t")[0]

    return make


def verdict(row) -> tuple[object, ...]:
    names = ("path_expected", "path_seen", "path_verdict")
    return tuple(None if pd.isna(row[name]) else row[name] for name in names)


@pytest.mark.parametrize(
    ("case", "devices", "links", "expected"),
    [
        (COPY, NVLINK, "NV4", ("nvlink", "nvlink", "proven")),
        (COPY, ((1, 0, 6, 6), (0, 1, 6, 6)), "NV4", ("nvlink", "nvlink", "proven")),  # a gate is polled
        (COPY, STAGED, "NV4", ("nvlink", "pcie", "other")),
        (COPY, STAGED, "PHB", ("pcie", "pcie", "proven")),
        (COPY, ((0.5, 0, 0.6, 0), (0, 0.5, 0, 0.6)), "NV4", ("nvlink", "both", "other")),
        (COPY | {"peer_access": False}, STAGED, "NV4", ("pcie", "pcie", "proven")),
        (COPY | {"peer_access": False}, NVLINK, "NV4", ("pcie", "nvlink", "other")),
        (COPY | {"peer_access": False}, ((0, 0, None, None),) * 2, "NV4", ("pcie", "no_nvlink", "not_told")),
        (COPY, ((0, 0, None, None),) * 2, "NV4", ("nvlink", "no_nvlink", "other")),
        (COPY | {"destination": 0}, ((0, 0, 0.001, 0.001),), "NV4", ("memory", "memory", "proven")),
        (COPY | {"benchmark": "p2p.route", "via": 2, "chunk_bytes": None},
         ((1, 0, 0, 0), (1, 1, 0, 0), (0, 1, 0, 0)), "NV4", ("nvlink", "nvlink", "proven")),
        (HOST, ((0, 0, 0.09, 1.08),), "NV4", ("pcie", "pcie", "proven")),
        (HOST | {"direction": "bidirectional"}, ((0, 0, 0.55, 0.55),), "NV4", ("pcie", "pcie", "proven")),
        (MESSAGE, NVLINK, "NV4", ("nvlink", "nvlink", "proven")),
        (MESSAGE | {"gpudirect": False, "placement": "pinned"}, STAGED, "NV4", ("pcie", "pcie", "proven")),
        (MESSAGE | {"gpudirect": False, "placement": "pinned"}, NVLINK, "NV4", ("pcie", "nvlink", "other")),
        (MESSAGE, STAGED, "NV4", ("nvlink", "pcie", "other")),
        (MESSAGE | {"destination_host": "n2", "nodes": 2}, STAGED, "NV4", ("pcie", "pcie", "proven")),
        (MESSAGE | {"size_bytes": 4096}, STAGED, "NV4", (None, "pcie", "not_told")),
        (MESSAGE | {"size_bytes": 4096}, NVLINK, "NV4", ("nvlink", "nvlink", "proven")),
        (COLLECTIVE, ((1, 1, 0, 0), (1, 1, 0, 0)), "NV4", ("nvlink", "nvlink", "proven")),
        (COLLECTIVE | {"ranks": 4}, ((1, 1, 0, 0),) * 4, "NV4", ("nvlink", "nvlink", "proven")),
        (COLLECTIVE | {"benchmark": "collective.gather"}, ((0, 0.5, 0, 0), (0.5, 0, 0, 0)), "NV4",
         ("nvlink", "nvlink", "proven")),
        (COLLECTIVE, ((0, 0, 1.1, 1.1), (0, 0, 1.1, 1.1)), "NV4", ("nvlink", "pcie", "other")),
        (COLLECTIVE, ((0.5, 0.5, 0.5, 0.5),) * 2, "NV4", ("nvlink", "both", "other")),
        (COLLECTIVE | {"library": "mpi"}, NVLINK, "NV4", (None, "nvlink", "not_told")),
    ],
)  # fmt: skip
def test_verdict(rows, case, devices, links, expected) -> None:
    operations = 1 + (1 << 20) // case["size_bytes"]
    row = rows(counted(case, *devices, operations=operations), links=links).iloc[0]
    assert verdict(row) == expected


def test_nothing_is_proven_without_counters_or_with_too_little_payload(rows) -> None:
    silent = measurement(COPY, 1.0, device_states=False)
    assert verdict(rows(silent).iloc[0]) == ("nvlink", None, "not_told")
    little = counted(MESSAGE | {"size_bytes": 8}, *NVLINK, operations=1023)  # bytes just below 8 KiB
    row = rows(little).iloc[0]
    assert verdict(row) == (None, None, "not_told")
    assert row["nvlink_share"] == pytest.approx(1) and pd.isna(row["path_basis_bytes"])


def test_a_hole_has_no_verdict(rows) -> None:
    hole = {"record": "measurement", "outcome": "unsupported", "reason": "no peer access", **COPY}
    table = rows(hole, counted(COPY | {"source": 1, "destination": 0}, *NVLINK))
    assert table["path_verdict"].isna().tolist() == [True, False]


def test_a_small_copy_rests_on_the_next_larger_of_its_kind_and_says_so(rows) -> None:
    table = rows(
        counted(COPY | {"size_bytes": 4}, (0, 0, 9, 9), (0, 0, 9, 9)),
        counted(COPY | {"size_bytes": 4, "peer_access": False}, *NVLINK),
        counted(COPY | {"size_bytes": 4, "engine": "kernel"}, *NVLINK),
        counted(COPY | {"size_bytes": 2 * MIB}, *STAGED),
        counted(COPY, *NVLINK),
        counted(COPY | {"size_bytes": 8 * MIB, "peer_access": False}, *STAGED),
    )
    assert [verdict(row)[2] for _, row in table.iterrows()] == [
        "proven", "proven", "not_told", "other", "proven", "proven"
    ]  # fmt: skip
    assert table["path_basis_bytes"].fillna(0).tolist() == [MIB, 8 * MIB, 0, 2 * MIB, MIB, 8 * MIB]


def test_a_small_message_rests_on_none_other(rows) -> None:
    table = rows(counted(MESSAGE | {"size_bytes": 512}, *NVLINK), counted(MESSAGE, *NVLINK))
    assert table["path_verdict"].tolist() == ["not_told", "proven"]


def test_what_ucx_reports_decides_what_a_small_message_promises(rows) -> None:
    def protocol(low, high, name, transport):
        return {
            "reach": "intra-node", "operation": "tagged message by ucp_tag_send",
            "source_memory": "cuda/GPU0", "destination_memory": "cuda",
            "low_bytes": low, "high_bytes": high, "protocol": name, "transport": transport,
        }  # fmt: skip

    report = {
        "record": "library_report", "library": "ucx", "logs": 2, "version": "1.22.0", "unread": [],
        "unused_variables": [],
        "protocols": [protocol(0, 40000, "eager copy-in", "sysv/memory"),
                      protocol(40001, None, "rendezvous", "cuda_ipc/cuda")],
    }  # fmt: skip
    table = rows(
        counted(MESSAGE | {"size_bytes": 32768}, *STAGED, operations=40),
        counted(MESSAGE | {"size_bytes": 65536}, *STAGED, operations=40),
        reports=[report],
    )
    assert table["library_path"].tolist() == ["eager copy-in, sysv/memory", "rendezvous, cuda_ipc/cuda"]
    assert [verdict(row) for _, row in table.iterrows()] == [
        (None, "pcie", "not_told"), ("nvlink", "pcie", "other")
    ]  # fmt: skip


def test_a_benchmark_without_bandwidth_is_counted_by_its_size(rows) -> None:
    latency = {"benchmark": "p2p.latency", "source": 0, "destination": 1, "method": "load_store",
               "peer_access": True, "size_bytes": 4}  # fmt: skip
    row = rows(counted(latency, (1, 1, 0, 0), (1, 1, 0, 0), operations=100000, payload=False)).iloc[0]
    assert row["path_payload_bytes"] == 800000  # there and back
    assert row["nvlink_share"] == pytest.approx(1)
    assert verdict(row) == ("nvlink", "nvlink", "proven")


@pytest.mark.parametrize(
    ("operation", "ranks", "sent"),
    [("all_reduce", 4, 1.5), ("all_gather", 4, 0.75), ("broadcast", 2, 0.5), ("gather", 3, 2 / 9),
     ("send_recv", 3, 1)],
)  # fmt: skip
def test_the_share_of_a_collective_is_of_what_its_ranks_must_send(rows, operation, ranks, sent) -> None:
    case = COLLECTIVE | {"benchmark": f"collective.{operation}", "ranks": ranks}
    row = rows(counted(case, *((sent, sent, 0, 0),) * ranks)).iloc[0]
    assert row["nvlink_share"] == pytest.approx(1)
