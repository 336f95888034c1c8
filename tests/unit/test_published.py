"""The importer: values against the reference CSVs, conventions, exclusions, and the committed records."""

import csv
import gzip
import io
import shutil

import pytest

from weft.errors import BadInput
from weft.published import import_published
from weft.published.collectives import bus_factor
from weft.records import find_record_files
from weft.table import build_table, read_table

TARTAN = "repo uuudown/Tartan@e3166abc:microbenchmark"
SYSTEMS = ["ac922", "c4140_v100_sxm2", "dgx1_p100", "dgx1_v100", "summitdev"]


@pytest.fixture(scope="module")
def reference(root_folder):
    return root_folder / "data/published"


@pytest.fixture(scope="module")
def root_folder(request):
    return request.config.rootpath


@pytest.fixture(scope="module")
def imported(reference, tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    import_published(reference, folder)
    return folder


@pytest.fixture(scope="module")
def tables(imported, tmp_path_factory):
    """Rows and metadata of each system, by its name."""
    result = {}
    for system in SYSTEMS:
        folder = tmp_path_factory.mktemp(system)
        paths = find_record_files([imported / system])
        summary = build_table(paths, folder / "table.parquet", folder / "problems.json")
        assert summary.problems == 0
        result[system] = read_table(folder / "table.parquet")
    return result


def rows(reference, name):
    """Rows of a reference CSV, as text."""
    text = gzip.decompress((reference / f"{name}.csv.gz").read_bytes()).decode()
    return list(csv.DictReader(io.StringIO(text)))


def only(frame, **values):
    """The one row with these values."""
    for name, value in values.items():
        frame = frame[frame[name].isna() if value is None else frame[name] == value]
    assert len(frame) == 1, frame
    return frame.iloc[0]


def find(rows, **values):
    """The one row of a CSV with these values."""
    found = [row for row in rows if all(row[name] == value for name, value in values.items())]
    assert len(found) == 1, found
    return found[0]


def test_committed_records_are_what_the_importer_makes(imported, root_folder):
    committed = root_folder / "results/published"
    names = {path.relative_to(imported).as_posix() for path in find_record_files([imported])}
    assert names == {path.relative_to(committed).as_posix() for path in find_record_files([committed])}
    for name in names:
        made, kept = (gzip.decompress((folder / name).read_bytes()) for folder in (imported, committed))
        assert made == kept, name
    assert (imported / "left_out.csv").read_bytes() == (committed / "left_out.csv").read_bytes()


def test_importing_again_gives_the_same_bytes_and_removes_what_is_no_longer_made(
    reference, imported, tmp_path
):
    import_published(reference, tmp_path)
    stale = tmp_path / "dgx1_p100/records/old.jsonl.gz"
    stale.touch()
    written = import_published(reference, tmp_path)
    assert not stale.exists()
    assert written == sorted(written, key=written.index)
    for path in written:
        assert path.read_bytes() == (imported / path.relative_to(tmp_path)).read_bytes()


def test_systems_are_those_with_measurements(imported):
    assert sorted(path.name for path in imported.iterdir() if path.is_dir()) == SYSTEMS


def test_pair_matrix_value(reference, tables):
    """DGX-1 P100, 40 MB from GPU 1 to GPU 0 (one PCIe switch), peer access off and on; row is destination."""
    source = rows(reference, "p2p_intranode")
    for enabled, link_class, limit in (("False", "PIX", 15.754e9), ("True", "NV1", 20e9)):
        printed = find(
            source,
            locator="repo uuudown/Tartan@e3166abc:microbenchmark/scale_up_p2p_test/dgx1_ascending.txt",
            gpu_row="0", gpu_col="1", p2p_enabled=enabled, message_bytes="40000000",
            direction="unidirectional",
        )  # fmt: skip
        row = only(
            tables["dgx1_p100"][0], benchmark="p2p.copy", source=1, destination=0,
            peer_access=enabled == "True",
            size_bytes=40_000_000, direction="unidirectional", repeat=0,
        )  # fmt: skip
        bandwidth = float(printed["bandwidth_gigabytes_per_second"]) * 1e9
        assert row["bandwidth_bytes_per_s"] == pytest.approx(bandwidth)
        assert row["time_median_s"] == pytest.approx(40e6 / bandwidth)
        assert row["link_class"] == link_class
        assert row["limit_bytes_per_s"] == pytest.approx(limit)
        assert row["efficiency"] == pytest.approx(bandwidth / limit)
        assert row["stopped_by"] == "source"
        assert row["operations_per_sample"] == 5
        assert row["locator"].endswith("dgx1_ascending.txt")
        assert "Tartan" in row["published_source"]
    assert float(printed["bandwidth_gigabytes_per_second"]) > 18


def test_bidirectional_is_the_sum_of_both_directions(tables):
    """Tartan prints the sum; the thesis prints one direction and is doubled."""
    p100 = tables["dgx1_p100"][0]
    row = only(p100, benchmark="p2p.copy", source=2, destination=0, peer_access=True, size_bytes=40_000_000,
               direction="bidirectional", repeat=0)  # fmt: skip
    assert row["bandwidth_bytes_per_s"] == pytest.approx(36.79e9)
    assert row["time_median_s"] == pytest.approx(2 * 40e6 / 36.79e9)
    assert row["limit_bytes_per_s"] == pytest.approx(40e9)
    ac922 = tables["ac922"][0]
    row = only(ac922, benchmark="p2p.copy", link_class="NV3", engine="copy_engine", direction="bidirectional")
    assert row["bandwidth_bytes_per_s"] == pytest.approx(2 * 70.7789e9)
    assert row["time_median_s"] == pytest.approx(1048576000 / 70.7789e9)
    assert row["limit_bytes_per_s"] == pytest.approx(150e9)


def test_local_copies_count_the_payload_once(tables):
    row = only(tables["dgx1_p100"][0], benchmark="p2p.copy", source=0, destination=0, size_bytes=40_000_000,
               direction="unidirectional", peer_access=False, repeat=0)  # fmt: skip
    assert row["bandwidth_bytes_per_s"] == pytest.approx(500.9e9 / 2)
    assert row["link_class"] == "X"
    assert row["limit_bytes_per_s"] == pytest.approx(366e9)
    assert "payload is half" in row["note"]


def test_sweep_takes_its_latency_test_as_a_second_run(reference, tables):
    printed = find(rows(reference, "p2p_intranode_sweep"), metric="latency", p2p_enabled="True", src_gpu="3",
                   dst_gpu="1", message_bytes="1024")  # fmt: skip
    row = only(tables["dgx1_p100"][0], benchmark="p2p.copy", source=3, destination=1, size_bytes=1024,
               peer_access=True, direction="unidirectional", repeat=1)  # fmt: skip
    assert row["time_median_s"] == float(printed["latency_seconds"])
    assert row["operations_per_sample"] == 100
    assert row["bandwidth_bytes_per_s"] == pytest.approx(1024 / float(printed["latency_seconds"]))


def test_every_row_of_the_sweep_is_a_record_or_counted(reference, imported, tables):
    """0.00 GB/s and other coarse prints are left out; nothing else is."""
    sweep = rows(reference, "p2p_intranode_sweep")
    coarse = [
        row
        for row in sweep
        if row["metric"] == "bandwidth" and float(row["bandwidth_gigabytes_per_second"]) < 0.1
    ]
    frame = tables["dgx1_p100"][0]
    assert (frame["locator"] == sweep[0]["locator"]).sum() == len(sweep) - len(coarse)
    left_out = {
        (row["file"], row["system"], row["reason"][:9]): int(row["rows"])
        for row in csv.DictReader((imported / "left_out.csv").open())
    }
    assert left_out["p2p_intranode_sweep", "dgx1_p100", "bandwidth"] == len(coarse) == 2645
    assert frame["bandwidth_bytes_per_s"].min() > 0


@pytest.mark.parametrize("name", ["p2p_intranode", "p2p_intranode_sweep", "p2p_internode", "collectives"])
def test_records_and_left_out_rows_are_all_rows(name, reference, imported, tables):
    """Rows whose locator is that of several CSVs (running text) are all left out, so they count once."""
    source = rows(reference, name)
    locators = {row["locator"] for row in source}
    made = sum(int(frame["locator"].isin(locators).sum()) for frame, _ in tables.values())
    left_out = sum(
        int(row["rows"]) for row in csv.DictReader((imported / "left_out.csv").open()) if row["file"] == name
    )
    assert made + left_out == len(source)


def test_routes_name_their_router(tables):
    row = only(tables["dgx1_p100"][0], benchmark="p2p.route", source=1, destination=4, size_bytes=40_000_000,
               direction="unidirectional", repeat=0)  # fmt: skip
    assert row["via"] == 0
    assert row["bandwidth_bytes_per_s"] == pytest.approx(9.19e9)
    assert row["limit_bytes_per_s"] == pytest.approx(20e9)
    assert row["link_class"] == "SYS"


def test_peer_access_that_a_pair_lacks_is_noted(tables):
    row = only(tables["dgx1_p100"][0], benchmark="p2p.copy", source=0, destination=5, size_bytes=1 << 28,
               peer_access=True, direction="unidirectional", repeat=0)  # fmt: skip
    assert "staged through host memory" in row["note"]


def test_thesis_kernel_copies_and_host_links(tables):
    frame = tables["dgx1_v100"][0]
    row = only(
        frame,
        benchmark="p2p.copy",
        engine="kernel",
        operation="read",
        link_class="NV2",
        direction="unidirectional",
    )
    assert row["bandwidth_bytes_per_s"] == pytest.approx(45.8154e9)
    assert row["limit_bytes_per_s"] == pytest.approx(50e9)
    row = only(frame, benchmark="p2p.host", direction="host_to_device")
    assert row["memory"] == "pinned"
    assert row["bandwidth_bytes_per_s"] == pytest.approx(10.6e9 * 1.048576, rel=1e-4)
    assert row["limit_bytes_per_s"] == pytest.approx(15.754e9)
    far = only(
        tables["ac922"][0],
        benchmark="p2p.host",
        engine="copy_engine",
        direction="host_to_device",
        link_class="SYS",
    )
    assert far["limit_bytes_per_s"] == pytest.approx(64e9)


def test_dell_reads_row_as_destination_and_says_what_it_assumes(reference, tables):
    printed = find(rows(reference, "p2p_intranode"), source="dell2018", gpu_row="2", gpu_col="0",
    p2p_enabled="True",
                   direction="unidirectional", latency_seconds="")  # fmt: skip
    frame, metadata = tables["c4140_v100_sxm2"]
    row = only(
        frame, benchmark="p2p.copy", source=0, destination=2, peer_access=True, direction="unidirectional"
    )
    assert row["bandwidth_bytes_per_s"] == pytest.approx(
        float(printed["bandwidth_gigabytes_per_second"]) * 1e9
    )
    assert row["size_bytes"] == 40_000_000
    assert "not printed" in row["note"]
    assert row["link_class"] == "NV2"
    assert len(metadata["links"]) == 12


@pytest.mark.parametrize(
    ("memory", "gpudirect", "placement"),
    [("device", "True", "device"), ("pinned_host", "False", "pinned"), ("unpinned_host", "True", "pageable")],
)
def test_transports_between_nodes(reference, tables, memory, gpudirect, placement):
    printed = find(rows(reference, "p2p_internode"), buffer_memory=memory, gpudirect_enabled=gpudirect,
                   message_bytes="1048576")  # fmt: skip
    row = only(tables["summitdev"][0], benchmark="pt2pt.bandwidth", placement=placement, size_bytes=1 << 20,
               gpudirect=gpudirect == "True")  # fmt: skip
    assert row["bandwidth_bytes_per_s"] == pytest.approx(
        float(printed["bandwidth_gigabytes_per_second"]) * 1e9
    )
    assert row["time_median_s"] == pytest.approx(float(printed["latency_from_bandwidth_seconds"]), rel=1e-4)
    assert row["window"] == 1
    assert row["nodes"] == 2


def test_crashed_transport_is_a_hole(tables):
    frame, metadata = tables["summitdev"]
    row = only(frame, outcome="failed")
    assert row["placement"] == "device"
    assert not row["gpudirect"]
    assert "segmentation fault" in row["reason"]
    assert metadata["holes"] == 1


def test_bus_bandwidth_of_nccl(reference, tables):
    printed = find(rows(reference, "collectives"), system="dgx1_p100", library="nccl2", op="all_gather",
    n_gpus="3",
                   test="sustained_bandwidth")  # fmt: skip
    row = only(tables["dgx1_p100"][0], benchmark="collective.all_gather", library="nccl2", ranks=3,
               locator=printed["locator"])  # fmt: skip
    bus = float(printed["bus_bandwidth_gigabytes_per_second"]) * 1e9
    assert row["bus_bandwidth_bytes_per_s"] == pytest.approx(bus)
    assert row["size_bytes"] == int(printed["effective_message_bytes"])
    assert row["time_median_s"] == pytest.approx(int(printed["per_rank_bytes"]) * 2 / bus)
    assert row["block_alignment_bytes"] == 4
    latency = only(tables["summitdev"][0], benchmark="collective.all_reduce", ranks=8, size_bytes=8, repeat=0)
    assert latency["time_median_s"] == 124e-6
    assert latency["nodes"] == 8


def test_bus_factors_are_those_of_nccl_tests():
    assert [bus_factor(operation, 4) for operation in ("all_reduce", "all_gather", "reduce_scatter",
    "broadcast", "reduce")] == [
        1.5, 0.75, 0.75, 1.0, 1.0,
    ]  # fmt: skip


def test_topology_of_a_numa_machine(tables):
    metadata = tables["dgx1_p100"][1]
    links = {(link["source"], link["destination"]): link for link in metadata["links"]}
    assert len(links) == 56
    assert (links[0, 1]["link_class"], links[0, 1]["pcie_class"], links[0, 1]["link_count"]) == (
        "NV1",
        "PIX",
        1,
    )
    assert (links[0, 5]["link_class"], links[0, 5]["pcie_class"], links[0, 5]["peer_access"]) == (
        "SYS",
        "SYS",
        False,
    )
    assert links[0, 2]["pcie_class"] == "PHB"
    assert len(metadata["nics"]) == 4
    assert len(metadata["nic_links"]) == 32
    assert metadata["devices"][5]["cpu_affinity"] == "20-39,60-79"
    assert metadata["devices"][0]["egress_limit_bytes_per_s"] == 80e9
    assert {link["link_class"] for link in tables["dgx1_v100"][1]["links"]} == {"NV1", "NV2", "SYS"}


def test_a_missing_csv_or_column_is_bad_input(reference, tmp_path):
    with pytest.raises(BadInput, match=r"systems.csv.*cannot be read"):
        import_published(tmp_path, tmp_path / "out")
    shutil.copytree(reference, tmp_path / "in")
    (tmp_path / "in/collectives.csv.gz").write_bytes(gzip.compress(b"source,system\n"))
    with pytest.raises(BadInput, match=r"collectives.csv: column .*library.* is missing"):
        import_published(tmp_path / "in", tmp_path / "out")
    assert not (tmp_path / "out").exists()
