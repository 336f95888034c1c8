"""Configuration: what is refused, with which sentence; what is filled in."""

import os
from pathlib import Path

import pytest
import yaml

from weft import closed_world, config, reference, yaml_file
from weft.cli import main
from weft.errors import BadInput
from weft.sizes import format_size, parse_size, parse_sizes

CAMPAIGN, SYSTEM, MPI = "config/campaigns/tiny.yaml", "config/systems/tiny.yaml", "config/mpi/openmpi.yaml"
HOST = "sizes_bytes: [64KiB], devices: [0]"

# What is changed in which file, and the sentence that it gives.
REFUSED = [
    (CAMPAIGN, "repeats: 2", "repeat: 2", "there is no key 'repeat', did you mean 'repeats'?"),
    (CAMPAIGN, "p2p_host:", "p2p_hots:",
     "there is no key 'experiments.p2p_hots', did you mean 'p2p_host'?"),
    (CAMPAIGN, "engines:", "engine:",
     "there is no key 'experiments.p2p_copy.sweep.engine', did you mean 'engines'?"),
    (CAMPAIGN, "repeats: 2", "colour: red",
     "there is no key 'colour'; known here: description, repeats, sampling"),
    (CAMPAIGN, "repeats: 2", "repeats: two",
     "repeats is 'two', but must be a whole number at least 1 and at most 1000."),
    (CAMPAIGN, "repeats: 2", "repeats: 0",
     "repeats is '0', but must be a whole number at least 1 and at most 1000."),
    (CAMPAIGN, "repeats: 2", "repeats: true", "repeats is true, but must be a whole number at least 1"),
    (CAMPAIGN, "time_budget_s: 0.01", "time_budget_s: 10ms",
     "sampling.time_budget_s is '10ms', but must be a number above 0"),
    (CAMPAIGN, "time_budget_s: 0.01", "time_budget_s: 0",
     "sampling.time_budget_s is '0', but must be a number above 0"),
    (CAMPAIGN, "[64KiB]", "[64 kb]",
     "experiments.p2p_host.sweep.sizes_bytes[0] is '64 kb', but must be a number of "
     "bytes, one with KiB, MiB or GiB as in 64KiB, or a range as in 4:1GiB:x4."),
    (CAMPAIGN, "[64KiB]", "[0]",
     "experiments.p2p_host.sweep.sizes_bytes[0] is '0', but must be a number of bytes"),
    (CAMPAIGN, "[64KiB]", "[0KiB]", "experiments.p2p_host.sweep.sizes_bytes: the size '0KiB' is 0"),
    (CAMPAIGN, "[64KiB]", "[]",
     "experiments.p2p_host.sweep.sizes_bytes is empty, but needs at least one entry."),
    (CAMPAIGN, "[64KiB]", "64KiB",
     "experiments.p2p_host.sweep.sizes_bytes is '64KiB', but must be a list, each item a number of"),
    (CAMPAIGN, "[64KiB]", "['8:4:x2']",
     "sizes_bytes: the range '8:4:x2' is empty; write the smaller size first."),
    (CAMPAIGN, "[64KiB]", "['4:8:x1']",
     "sizes_bytes: the range '4:8:x1' never ends; its factor must be 2 or more."),
    (CAMPAIGN, "sizes_bytes: [1KiB], operations", "sizes_bytes: [6], operations",
     "collective_mpi.sweep.sizes_bytes has 6, but a float32 has 4 bytes: a multiple of 4."),
    (CAMPAIGN, HOST, "devices: [0]",
     "experiments.p2p_host.sweep lacks the key 'sizes_bytes': Payload of one operation."),
    (CAMPAIGN, "devices: [0]", "devices: [2]",
     "p2p_host.sweep.devices names device 2, but the system has 2 devices, 0 to 1."),
    (CAMPAIGN, "devices: [0]", "devices: [0, 0]", "p2p_host.sweep.devices has '0' twice; keep one."),
    (CAMPAIGN, '["0:1"]', '["0:2"]',
     "p2p_copy.sweep.pairs has 0:2, but there is no device 2: the system has 2 devices, 0 to 1."),
    (CAMPAIGN, '["0:1"]', '["1:1"]',
     "pairs has 1:1, but source and destination must be two different devices."),
    (CAMPAIGN, '["0:1"]', '["0-1"]',
     "pairs[0] is '0-1', but must be two different indices joined by a colon, as in 0:1."),
    (CAMPAIGN, '["0:1"]', "some",
     "pairs is 'some', but must be 'all' or 'others' or a list, each item two different indices"),
    (CAMPAIGN, "[copy_engine]", "[copyengine]",
     "engines[0] is 'copyengine', but must be one of copy_engine, kernel, did you mean 'copy_engine'?"),
    (CAMPAIGN, "[write]", "[push]", "operations[0] is 'push', but must be one of write, read."),
    (CAMPAIGN, "[all_reduce]", "[allreduce]",
     "operations[0] is 'allreduce', but must be one of broadcast, all_gather"),
    (CAMPAIGN, "[device, pinned]", "[devise, pinned]",
     "placements[0] is 'devise', but must be one of device, pinned, pageable, did"),
    (CAMPAIGN, "[device, pinned]", "[device], gpudirect: [off]",
     "gpudirect is off for the placement device alone"),
    (CAMPAIGN, "[device, pinned]", "[device], gpudirect: [true]",
     "gpudirect[0] is true, but must be one of on, off."),
    (CAMPAIGN, "ranks: [2, 3]", "ranks: some",
     "ranks is 'some', but must be 'all' or 'fewer' or a list, each item a number of ranks, 2 or more, or"),
    (CAMPAIGN, "ranks: [2, 3]", "ranks: [1]",
     "ranks[0] is '1', but must be a number of ranks, 2 or more, or node."),
    (CAMPAIGN, "ranks: [2, 3]", "ranks: [2, 3], participants: [3]",
     "participants has 3, but it runs with 2 ranks."),
    (CAMPAIGN, "ranks: [2, 3]", "ranks: [2, 3], participants: [2]",
     "participants is a list, so ranks must be one number"),
    (CAMPAIGN, "ranks: [2, 3]", "ranks: [2, 3], counts: [aligned, nccl_tests]",
     "collective_mpi.sweep.counts has aligned and nccl_tests, which are alike for most sizes; keep one."),
    (CAMPAIGN, "ranks: [2, 3]", "algorithms: [ring], ranks: [2, 3]",
     "there is no key 'experiments.collective_mpi.sweep.algorithms'"),
    (CAMPAIGN, "{ranks: [2], sizes_bytes: [1KiB]}", "{ranks: [2], sizes_bytes: [1KiB], algorithms: [nvls]}",
     "collective_nccl.sweep.algorithms[0] is 'nvls', but must be one of auto, ring, tree."),
    (CAMPAIGN, "{ranks: [2], sizes_bytes: [1KiB]}", "{ranks: [4], sizes_bytes: [1KiB], processes: [one]}",
     "collective_nccl.sweep.processes has one, which drives the devices of one node, of which there are 2;"),
    (CAMPAIGN, "pt2pt_latency:",
     "pt2pt_message_rate:\n    odd: {sizes_bytes: [8], ranks: [3]}\n  pt2pt_latency:",
     "pt2pt_message_rate.odd.ranks has 3, but message rate pairs one half with the other: an even number."),
    (CAMPAIGN, "sizes_bytes: [8], placements", "sizes_bytes: [8], pairs: ['0:2'], placements",
     "pt2pt_latency.sweep.pairs has 0:2, but there is no rank 2: it runs with 2 ranks, 0 to 1."),
    (CAMPAIGN, "    sweep: {" + HOST + "}",
     "    sweep: {" + HOST + "}\n    again: {sizes_bytes: [4, 65536]}",
     "experiments.p2p_host: the sweeps 'sweep' and 'again' both measure sizes_bytes 65536, devices 0"),
    (CAMPAIGN, "    sweep: {" + HOST + "}", "    Sweep: {" + HOST + "}",
     "experiments.p2p_host has a name that is none"),
    (CAMPAIGN, "  p2p_host:\n    sweep: {" + HOST + "}", "  p2p_host: {" + HOST + "}",
     "experiments.p2p_host.sizes_bytes is a list, but must be a mapping of keys to values."),
    (CAMPAIGN, "p2p_host:", "p2p_copy:", "line 7: the key 'p2p_copy' stands here a second time; keep one."),
    (CAMPAIGN, "p2p_host:", "p2p_host: ]", "line 7 is not YAML: "),
    (CAMPAIGN, "description: As", "descriptoin: As",
     "there is no key 'descriptoin', did you mean 'description'?"),
    (SYSTEM, "backend: host", "backend: hip", "backend is 'hip', but must be one of host, cuda."),
    (SYSTEM, "mpi: openmpi", "mpi: openmp", "There is no mpi 'openmp', did you mean 'openmpi'?"),
    (SYSTEM, "mpi: openmpi", "mpi: ../mpi/openmpi",
     "There is no mpi '../mpi/openmpi', did you mean 'openmpi'?"),
    (SYSTEM, "mpi: openmpi", "mpi: openmpi\nlauncher: lokal",
     "launcher is 'lokal', which config/mpi/openmpi.yaml does not know, did you mean 'local'?"),
    (SYSTEM, "mpi: openmpi", "mpi: openmpi\nenvironment: {A: 1}",
     "environment.A is '1', but must be text."),
    (SYSTEM, "mpi: openmpi", "mpi: openmpi\nenvironment: {A-B: x}", "environment has a name that is none"),
    (SYSTEM, "mpi: openmpi", "mpi: openmpi\nmax_size_bytes: 1GB",
     "max_size_bytes is '1GB', but must be a whole number at least 1 or a size as in 64KiB or null."),
    (MPI, "{ranks}", "{rank}",
     "launch.local: '{rank}' has the placeholder 'rank', but known are ranks, nodes, ranks_per_node, cores"),
    (MPI, "{ranks}", "{ranks", "launch.local: '{ranks' has an unpaired brace"),
    (MPI, "off: {OMPI_MCA_smsc: ^cma}", "of: {}",
     "there is no key 'gpudirect.host.of', did you mean 'off'?"),
]  # fmt: skip


def said(capsys) -> str:
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1, "one sentence"
    return captured.err


@pytest.mark.parametrize(("file", "old", "new", "sentence"), REFUSED)
def test_refused(checkout, monkeypatch, capsys, file, old, new, sentence):
    checkout.edit(file, old, new)
    before = sorted(checkout.folder.rglob("*"))
    monkeypatch.chdir(checkout.folder)
    assert main(["campaign", "--system", "tiny", "--campaign", "tiny"]) == 2
    text = said(capsys)
    assert sentence in text
    assert "config/" in text or "There is no" in text
    assert sorted(checkout.folder.rglob("*")) == before


ROUTES = [
    ("via: [0]",
     "via names device 0, which is the source of the pair 0:1; a route leads through a third device."),
    ("via: [1, 2]", "via names device 1, which is the destination of the pair 0:1"),
    ("via: [4]", "via names device 4, but the system has 4 devices, 0 to 3."),
    ("chunks_bytes: [64KiB]", "chunks_bytes has 65536, which is no piece of the largest of sizes_bytes."),
    ("chunks_bytes: some",
     "chunks_bytes is 'some', but must be 'none' or 'auto' or a list, each item a number of bytes"),
]  # fmt: skip


@pytest.mark.parametrize(("axis", "sentence"), ROUTES)
def test_refused_routes(checkout, monkeypatch, capsys, axis, sentence):
    checkout.edit(SYSTEM, "devices_per_node: 2", "devices_per_node: 4")
    sweep = "    sweep: {sizes_bytes: [64KiB], pairs: ['0:1'], " + axis + "}"
    checkout.edit(CAMPAIGN, "  p2p_host:", f"  p2p_route:\n{sweep}\n  p2p_host:")
    monkeypatch.chdir(checkout.folder)
    assert main(["config", "--system", "tiny", "--campaign", "tiny"]) == 2
    assert sentence in said(capsys)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["config", "--campaign", "tinny", "--system", "tiny"],
            "There is no campaign 'tinny', did you mean 'tiny'?",
        ),
        (
            ["config", "--campaign", "tiny", "--system", "?"],
            "There is no system '?'; config/systems has tiny.",
        ),
        (
            ["campaign", "--campaign", "tiny", "--system", "tiny", "--profile", "lokal"],
            "There is no profile 'lokal', did",
        ),
        (
            ["campaign", "--campaign", "tiny", "--system", "tiny", "--profile", "a/b"],
            "There is no profile folder a/b.",
        ),
        (["config", "--colour"], "weft config knows no argument --colour; see weft config --help."),
        (["tabel"], "invalid choice: 'tabel'"),
        (["table"], "the following arguments are required: --records, --output, --problems"),
        (
            ["config", "--system", "tiny", "--campaign", "tiny", "--output", "/proc/x/y"],
            "/proc/x/y cannot be written: ",
        ),
    ],
)
def test_refused_arguments(checkout, monkeypatch, capsys, arguments, sentence):
    monkeypatch.chdir(checkout.folder)
    assert main(arguments) == 2
    assert sentence in said(capsys)


def test_called_elsewhere(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["config"]) == 2
    assert (
        "There are no system files in config/systems here; call Weft from the root of its checkout."
        in said(capsys)
    )


def test_defaults_and_sizes_are_filled_in(checkout):
    resolved = config.load("tiny", "tiny", checkout.folder)
    assert resolved.system["cores"] == len(os.sched_getaffinity(0))
    assert resolved.system["toolchain"] == "locked"
    assert resolved.slots == 4
    sweep = resolved.sweeps("p2p_copy")["sweep"]
    assert sweep["sizes_bytes"] == [4, 65536]
    assert sweep["peer_access"] == ["on", "off"]
    assert sweep["sampling"] == {
        "precision": 0.02, "confidence": 0.95, "min_sample_s": None, "min_samples": 6, "max_samples": 20,
        "time_budget_s": 0.01, "keep_samples": False,
    }  # fmt: skip
    assert resolved.sweeps("p2p_route") == {}


def test_sampling_of_one_sweep(checkout):
    checkout.edit(CAMPAIGN, HOST, HOST + ", sampling: {precision: 0.1}")
    resolved = config.load("tiny", "tiny", checkout.folder)
    assert resolved.sweeps("p2p_host")["sweep"]["sampling"]["precision"] == 0.1
    assert resolved.sweeps("p2p_host")["sweep"]["sampling"]["min_samples"] == 6
    assert resolved.sweeps("p2p_copy")["sweep"]["sampling"]["precision"] == 0.02


def test_what_is_skipped_is_listed(checkout):
    checkout.edit(SYSTEM, "mpi: openmpi", "mpi: openmpi\nmax_size_bytes: 1KiB")
    resolved = config.load("tiny", "tiny", checkout.folder)
    assert {(entry["experiment"], entry["reason"]) for entry in resolved.skipped} == {
        ("p2p_copy", "64KiB: larger than max_size_bytes of this system, 1KiB"),
        ("p2p_host", "64KiB: larger than max_size_bytes of this system, 1KiB"),
        ("collective_nccl", "NCCL needs GPUs, and the backend of this system is host"),
    }
    assert resolved.sweeps("p2p_copy")["sweep"]["sizes_bytes"] == [4]
    assert resolved.sweeps("p2p_host") == {}
    assert resolved.sweeps("collective_nccl") == {}


def test_resolved_config_reads_back_the_same(checkout):
    resolved = config.load("tiny", "tiny", checkout.folder)
    for read in (yaml.safe_load(resolved.as_yaml()), _strict(checkout.folder, resolved.as_yaml())):
        assert read["campaign"]["experiments"] == resolved.campaign["experiments"]
        assert read["system"] == {"name": "tiny", **resolved.system}
        assert read["mpi"] == {"name": "openmpi", **resolved.mpi}
        assert read["skipped"] == resolved.skipped


def _strict(folder: Path, text: str) -> object:
    (folder / "resolved.yaml").write_text(text)
    return yaml_file.read(folder / "resolved.yaml")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: [on, off, yes, no]", ["on", "off", "yes", "no"]),
        ("a: [1:0, 10:30]", ["1:0", "10:30"]),
        ("a: [1, -2, 0x10, 010]", [1, -2, "0x10", 10]),
        ("a: [1.5, .5, 1e-3, 2E3, 1.]", [1.5, 0.5, 0.001, 2000.0, 1.0]),
        ("a: [true, false, null, ~, True]", [True, False, None, None, "True"]),
        ("a: 2026-11-21", "2026-11-21"),
    ],
)
def test_yaml_scalars(tmp_path, text, value):
    (tmp_path / "a.yaml").write_text(text)
    assert yaml_file.read(tmp_path / "a.yaml") == {"a": value}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"a: 1\n1: 2\n", "line 2: the key 1 is not a word"),
        (b"a: {b: 1, b: 2}\n", "line 1: the key 'b' stands here a second time"),
        (b"a: \xff\n", "is not a text file in UTF-8"),
        (b"a: !!python/object:os.system {}\n", "line 1 is not YAML: could not determine a constructor"),
        (b"a: b: c\n", "line 1 is not YAML: mapping values are not allowed"),
    ],
)
def test_yaml_refused(tmp_path, content, sentence):
    (tmp_path / "a.yaml").write_bytes(content)
    with pytest.raises(BadInput, match=f"{tmp_path}/a.yaml") as problem:
        yaml_file.read(tmp_path / "a.yaml")
    assert sentence in str(problem.value)


def test_sizes():
    assert [parse_size(text) for text in (1, "100", "64KiB", "3MiB", "1GiB")] == [
        1,
        100,
        65536,
        3 << 20,
        1 << 30,
    ]
    assert [format_size(size) for size in (1, 100, 65536, 3 << 20, 1 << 30)] == [
        "1",
        "100",
        "64KiB",
        "3MiB",
        "1GiB",
    ]
    assert parse_sizes(["4:1KiB:x4", 64, 100]) == [4, 16, 64, 100, 256, 1024]


@pytest.mark.parametrize("name", ["campaign", "system", "mpi"])
def test_schemas_are_closed_and_described(name):
    root = closed_world.schema(name)

    def walk(part: dict, path: str) -> None:
        part = closed_world.resolve(part, root)
        if "properties" in part:
            assert part.get("additionalProperties") is False, f"{path} lets unknown keys in"
        for key, value in part.get("properties", {}).items():
            resolved = closed_world.resolve(value, root)
            assert resolved.get("description", "").endswith("."), f"{path}.{key} has no sentence"
            if key.endswith(("_s", "_bytes")):
                assert resolved["unit"] == {"s": "s", "bytes": "bytes"}[key.rsplit("_", 1)[1]]
            walk(resolved, f"{path}.{key}")
        if isinstance(part.get("additionalProperties"), dict):
            walk(part["additionalProperties"], f"{path}.*")

    walk(root, name)


def test_page_is_in_sync(root):
    written = (root / "docs/configuration.md").read_text()
    assert written == reference.page(), (
        "PYTHONPATH=workflow .venv/bin/python -m weft config --reference > docs/configuration.md"
    )
