"""What UCX and NCCL log, read strictly: a log of UCX 1.22 on H200, and composed lines of NCCL 2.28."""

import os
from pathlib import Path

import orjson
import pytest
from tests.support.synthetic import environment, measurement

from weft import schema
from weft.errors import BadInput
from weft.evidence import logs, nccl, ucx

LOGS = Path(__file__).parents[1] / "support/library_logs"
UCX, NCCL = ((LOGS / f"{library}.txt").read_text() for library in ("ucx", "nccl"))


def test_ucx_says_what_goes_how() -> None:
    found = ucx.digest(UCX.splitlines())
    assert (found["unused_variables"], found["unread"]) == (["UCX_IB_GPU_DIRECT_RDMA"], [])
    assert found["protocols"][-3:] == [
        {"reach": "intra-node", "operation": "tagged message by ucp_tag_send", "source_memory": "cuda/GPU0",
         "destination_memory": None, "low_bytes": 3515, "high_bytes": None,
         "protocol": "rendezvous zero-copy read from remote", "transport": "cuda_ipc/cuda"},
        {"reach": "intra-node", "operation": "rendezvous data fetch", "source_memory": "cuda",
         "destination_memory": "cuda/GPU0", "low_bytes": 0, "high_bytes": 0,
         "protocol": "no data fetch", "transport": None},
        {"reach": "intra-node", "operation": "rendezvous data fetch", "source_memory": "cuda",
         "destination_memory": "cuda/GPU0", "low_bytes": 1, "high_bytes": None,
         "protocol": "zero-copy read from remote", "transport": "cuda_ipc/cuda"},
    ]  # fmt: skip


def test_ucx_says_its_version_where_it_logs_more() -> None:
    line = "[1.1] [n1:1:0]     ucp_context.c:2339 UCX  INFO  Version 1.22.0 (loaded from libucp.so.0)"
    assert ucx.digest([line])["version"] == "1.22.0"


@pytest.mark.parametrize(
    ("memory", "reach", "size_bytes", "said"),
    [
        ("cuda", "intra-node", 3514, "eager copy-in copy-out, sysv/memory"),
        ("cuda", "intra-node", 3515, "rendezvous zero-copy read from remote, cuda_ipc/cuda"),
        ("cuda", "intra-node", 1 << 30, "rendezvous zero-copy read from remote, cuda_ipc/cuda"),
        ("host", "intra-node", 92, "eager short, sysv/memory"),
        (
            "host",
            "intra-node",
            9000,
            "multi-frag eager copy-in copy-out, sysv/memory"
            " or rendezvous zero-copy read from remote, cma/memory",
        ),
        ("cuda", "inter-node", 3515, None),
    ],
)
def test_ucx_path_of_a_size(memory, reach, size_bytes, said) -> None:
    assert ucx.path_of(ucx.digest(UCX.splitlines())["protocols"], memory, reach, size_bytes) == said


def test_rows_of_ucx_without_the_prefix_of_a_log() -> None:
    bare = [line.split("]   ", 1)[-1] for line in UCX.splitlines() if "|" in line]
    assert ucx.digest(bare)["protocols"] == ucx.digest(UCX.splitlines())["protocols"]


def test_a_row_of_ucx_that_is_none_of_the_known_is_kept() -> None:
    found = ucx.digest([*UCX.splitlines(), "[1.1] [n1:1:0]   | 5 KB and more | telepathy | ether |"])
    assert found["unread"] == ["| 5 KB and more | telepathy | ether |"]


def test_nccl_says_what_joins_the_ranks() -> None:
    found = nccl.digest(NCCL.splitlines())
    assert (found["version"], found["unread"]) == ("2.28.9+cuda13.0", [])
    assert found["communicators"] == [
        {"ranks": 2, "connections": {"P2P/CUMEM": 2}, "choices": [], "collective_channels": 24,
         "p2p_channels": 32},
        {"ranks": 4, "connections": {"NET/IB/GDRDMA": 1, "NET/Socket": 1, "SHM/direct": 1},
         "choices": [{"operation": "AllReduce", "size_bytes": 1048576, "algorithm": "ring",
                      "protocol": "ll128", "channels": 8}]},
    ]  # fmt: skip
    assert nccl.path_of(found["communicators"], 4) == "NET/IB/GDRDMA, NET/Socket, SHM/direct"
    assert nccl.path_of(found["communicators"], 3) is None


def test_the_rings_of_nccl_say_nothing_of_how_ranks_are_joined() -> None:
    ring = "vm:1:1 [0] NCCL INFO Channel 00/24 : 0 1"
    assert nccl.digest([*NCCL.splitlines(), ring]) == nccl.digest(NCCL.splitlines())


def test_a_channel_of_nccl_that_goes_on_otherwise_is_kept() -> None:
    found = nccl.digest([*NCCL.splitlines(), "n1:1:1 [0] NCCL INFO Channel 00/0 : 0 -> 1 by pigeon"])
    assert found["unread"] == ["Channel 00/0 : 0 -> 1 by pigeon"]


def record_with_logs(folder, *logged):
    record = folder / "results/s/c/records/collective_nccl/a.repeat0.jsonl"
    record.parent.mkdir(parents=True)
    end = {"record": "end", "measurements": 1, "wall_time_s": 1.5,
           "outcomes": {"measured": 1, "unsupported": 0, "wrong": 0, "failed": 0}}  # fmt: skip
    one = {"benchmark": "p2p.host", "device": 0, "direction": "host_to_device", "memory": "pinned",
           "size_bytes": 4096}  # fmt: skip
    lines = [environment("collective_nccl", 0), measurement(one, 1.0), end]
    record.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    for name, text in logged:
        path = folder / "results/s/c/logs/collective_nccl" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return record


def test_reports_become_part_of_the_record_once(tmp_path) -> None:
    record = record_with_logs(
        tmp_path, ("a.repeat0.nccl.n1.101", NCCL), ("a.repeat0.nccl.n1.102", ""),
        ("a.repeat0.ucx.n1.101", UCX), ("a.repeat01.nccl.n1.9", NCCL),
    )  # fmt: skip
    assert (
        logs.log_of("results/s/c/records/e/j.repeat0.jsonl", "ucx")
        == "results/s/c/logs/e/j.repeat0.ucx.%h.%p"
    )
    assert logs.add_reports(record) == 2
    lines = [orjson.loads(line) for line in record.read_bytes().splitlines()]
    assert [line["record"] for line in lines] == [
        "environment", "measurement", "library_report", "library_report", "end"
    ]  # fmt: skip
    assert [(line["library"], line["logs"]) for line in lines[2:4]] == [("ucx", 1), ("nccl", 1)]
    assert all(schema.is_valid(line) for line in lines), [schema.explain(line) for line in lines]
    assert logs.add_reports(record) == 0


def test_logs_of_an_earlier_run_and_of_other_matters_make_no_report(tmp_path) -> None:
    record = record_with_logs(
        tmp_path, ("a.repeat0.nccl.n1.7", NCCL), ("a.repeat0.ucx.n1.8", "nothing of interest\n")
    )
    os.utime(tmp_path / "results/s/c/logs/collective_nccl/a.repeat0.nccl.n1.7", (1e9, 1e9))
    before = record.read_bytes()
    assert logs.add_reports(record) == 0
    assert record.read_bytes() == before


def test_a_record_that_is_not_there_is_one_sentence(tmp_path) -> None:
    with pytest.raises(BadInput, match=r"no\.jsonl cannot be read or written: No such file"):
        logs.add_reports(tmp_path / "no.jsonl")
