"""What the report shows of a cluster: nodes by name, nothing pooled that differs, container beside bare."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from support import cluster, synthetic
from weft.figures import Dataset, Figure, draw, style, transports
from weft.figures.axes import telling
from weft.figures.dataset import BETWEEN, WITHIN
from weft.figures.measures import BANDWIDTH
from weft.figures.nodes import natural, short_names
from weft.figures.ratios import DIFFERENT, SAME, UNDECIDED, verdicts
from weft.report import build_report
from weft.report.provenance import _merged, environments
from weft.table import build_table

style.apply()
MIB = 2**20
NIC = cluster.NIC_RATE


def table(folder: Path, paths: list[Path]) -> Dataset:
    build_table(paths, folder / "table.parquet", folder / "problems.json")
    assert (folder / "problems.json").read_text() == "[]"
    return Dataset(folder / "table.parquet")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("cluster")
    return table(folder, cluster.write_cluster(folder / "records", slow={"node3": 2.0}))


@pytest.fixture(scope="module")
def drawn(dataset: Dataset) -> dict[str, Figure]:
    subjects = ("health", "copy", "message", "collective", "container")
    return {figure.key: figure for subject in subjects for figure in draw(dataset, subject)}


def texts(figure: Figure) -> list[str]:
    return [e.text or "" for e in ET.fromstring(figure.svg).iter() if e.tag.endswith("}text")]


def test_pairs_of_nodes_are_named_and_the_slow_one_seen(drawn: dict[str, Figure]) -> None:
    figure = drawn["pt2pt_bandwidth_nodes_1mib"]
    assert {"node1", "node2", "node3", "node4", "device", "pinned"} <= set(texts(figure))
    assert "of 4\u00a0nodes" in figure.caption and "node3" in figure.caption
    rates = figure.data[figure.data["placement"] == "device"].set_index(["source_host", "destination_host"])
    slow = rates["bandwidth_bytes_per_s"].loc[[("node1", "node3"), ("node3", "node4")]]
    assert (slow < 0.55 * NIC).all()
    assert rates["bandwidth_bytes_per_s"].loc[("node1", "node4")] > 0.85 * NIC


def test_latency_between_nodes_is_shown_at_the_smallest_size(drawn: dict[str, Figure]) -> None:
    figure = drawn["pt2pt_latency_nodes_8b"]
    assert len(figure.data) == 2 * 6  # two transports; a ping-pong of a pair is one
    assert figure.data["time_s"].between(20e-6, 60e-6).all()


def test_no_line_holds_messages_within_and_between_nodes(drawn: dict[str, Figure]) -> None:
    data = drawn["pt2pt_bandwidth"].data
    between = data["panel"].astype(str).str.startswith(BETWEEN)
    assert data.loc[between, "max"].max() < NIC
    assert data.loc[~between & (data["size_bytes"] == 4 * MIB), "min"].min() > 10 * NIC
    assert {
        f"{reach}, {image}" for reach in (WITHIN, BETWEEN) for image in ("bare", "in openmpi.sif")
    } == set(data["panel"].astype(str))


def test_device_0_of_two_nodes_is_not_a_local_copy(drawn: dict[str, Figure]) -> None:
    assert not any("within one device" in text for text in drawn["pt2pt_bandwidth"].left_out)


def test_both_ways_between_nodes_have_twice_the_limit(dataset: Dataset) -> None:
    frame = dataset.configurations("pt2pt.bidirectional_bandwidth")
    assert set(frame.loc[frame["reach"] == BETWEEN, "limit_bytes_per_s"]) == {2 * NIC}


def test_environments_of_a_program_are_one_entry(dataset: Dataset) -> None:
    """However many jobs ran it, on whatever nodes: an image makes another entry, a host does not."""
    found, count = environments(dataset)
    assert count == len(found) == 6  # topology and collectives in the image; copies and messages in both
    assert all("job id" not in dict(entries) for one in found for _, entries in one.groups)
    merged = _merged([{"host": {"hostname": name}, "program": "p"} for name in ("n10", "n2", "n2")])
    assert merged["host"]["hostname"] == "n2, n10"


def test_single_runs_in_a_figure_are_those_of_its_lines(dataset: Dataset) -> None:
    """The pair matrices, measured by other jobs with more pairs at once, have sizes of the sweep too."""
    frame, rest, _ = transports.load(dataset, "pt2pt.bandwidth", BANDWIDTH)
    marks = transports.marks(dataset, "pt2pt.bandwidth", BANDWIDTH, frame, rest)
    assert set(marks["pairs"]) == {1}
    assert len(marks) == frame["runs"].sum()


def test_within_against_between_says_both_values_and_the_network(drawn: dict[str, Figure]) -> None:
    figure = drawn["pt2pt_bandwidth_reach"]
    assert "within a node and" in figure.caption and "of the network's 125\u00a0MB/s" in figure.caption
    assert set(figure.data["line"].astype(str)) == {WITHIN, BETWEEN}
    assert figure.data["panel"].nunique() == 5  # transports
    assert drawn["pt2pt_bandwidth_reach_2"].title.endswith("in openmpi.sif")


def test_collectives_against_nodes(drawn: dict[str, Figure]) -> None:
    data = drawn["collective_nodes_time"].data
    assert sorted(data["nodes"].unique()) == [2, 3, 4]
    one = data[(data["panel"] == "all-reduce") & (data["line"] == "1\u00a0MiB")].set_index("nodes")["value"]
    assert one[3] > 1.8 * one[2]  # the slow node joins
    assert {"collective_nodes_bus_bandwidth", "collective_nodes_bandwidth"} <= set(drawn)
    assert "1\u00a0rank a node" in drawn["collective_nodes_time"].shaped
    assert "collective_participants" not in drawn  # of one node: none was measured


def test_container_and_bare_are_never_one_line(drawn: dict[str, Figure]) -> None:
    panels = set(drawn["p2p_copy_bandwidth"].data["panel"].astype(str))
    assert {panel.split(", ")[-1] for panel in panels} == {"bare", "in openmpi.sif"}


def test_ratio_of_container_and_bare(drawn: dict[str, Figure]) -> None:
    data = drawn["container_bare"].data
    copies = data[data["benchmark"] == "p2p.copy"]
    assert len(copies) == 6
    assert copies["ratio"].between(1.005, 1.025).all()  # the container is made 1.5 % slower
    assert (copies["low"] < copies["ratio"]).all() and (copies["ratio"] < copies["high"]).all()
    assert set(data["benchmark"]) == {"p2p.copy", "pt2pt.bandwidth"}  # the others were not measured bare
    assert f"{(data['verdict'] == SAME).sum()} take the same time" in drawn["container_bare"].caption


def test_verdicts_of_ratios() -> None:
    ratio, low, high = np.array([(1.019, 1.01, 1.03), (1.3, 0.9, 1.7), (1.3, 1.1, 1.5), (0.9, 0.8, 0.95)]).T
    many, few = np.full(4, 5), np.full(4, 4)
    assert verdicts(ratio, low, high, many, 0.02).tolist() == [SAME, UNDECIDED, DIFFERENT, DIFFERENT]
    assert verdicts(ratio, low, high, few, 0.02).tolist() == [SAME, UNDECIDED, UNDECIDED, UNDECIDED]


def test_other_hosts_are_another_configuration(tmp_path: Path) -> None:
    """Ranks 0 and 1 of one job stand on nodes 1 and 2, of the next on 3 and 4."""
    imaginary = cluster.Cluster()
    paths = []
    for repeat, (one, other) in enumerate([(0, 1), (2, 3)]):
        message = imaginary.message("bandwidth", MIB, one, other, source_rank=0, destination_rank=1, ranks=2)
        paths.append(tmp_path / f"{repeat}.jsonl")
        environment = imaginary.environment("pt2pt_bandwidth", repeat, 2, True)
        synthetic.write_file(paths[-1], [environment, message])
    frame = table(tmp_path, paths).configurations("pt2pt.bandwidth")
    assert frame["runs"].tolist() == [1, 1]
    assert set(frame["source_host"]) == {"node1", "node3"}


def test_sixty_four_nodes_have_room(tmp_path: Path) -> None:
    imaginary = cluster.Cluster(64, slow={"node17": 1.5})
    records = list(imaginary.matrix("bandwidth", (MIB,), ("device",)))
    environment = imaginary.environment("pt2pt_bandwidth", 0, 64, True)
    synthetic.write_file(tmp_path / "all.jsonl", [environment, *records])
    figures = {figure.key: figure for figure in draw(table(tmp_path, [tmp_path / "all.jsonl"]), "message")}
    figure = figures["pt2pt_bandwidth_nodes_1mib"]
    assert "over 4\u202f032\u00a0pairs" in figure.caption.lower() and "node17" in figure.caption
    assert len(figure.svg) < 400_000
    names = [text for text in texts(figure) if text.startswith("node")]
    assert names[:3] == ["node1", "node3", "node5"]


def test_axes_that_tell_rows_apart() -> None:
    frame = pd.DataFrame({"container": [None, "a", "a"], "mpi_library": ["x", "y", "y"], "ranks": [2, 2, 4]})
    assert telling(frame, ("container", "mpi_library", "ranks")) == ["container", "ranks"]


def test_what_has_no_mpi_library_is_not_another_mpi_library() -> None:
    frame = pd.DataFrame({"mpi_library": ["Open MPI 5.0.7", None], "container": ["a.sif", None]})
    assert telling(frame, ("mpi_library",)) == []
    assert telling(frame, ("container",)) == ["container"]


def test_names_of_hosts() -> None:
    assert sorted(["node10", "node2", "gpu-1-3", "gpu-1-20"], key=natural) == [
        "gpu-1-3",
        "gpu-1-20",
        "node2",
        "node10",
    ]
    assert short_names(["a.x.org", "b.x.org"]) == ["a", "b"]
    assert short_names(["a.x.org", "a.y.org"]) == ["a.x.org", "a.y.org"]


def test_the_page_says_what_is_sick_and_which_jobs_ran(dataset: Dataset, tmp_path: Path) -> None:
    problems = dataset.path.with_name("problems.json")
    build_report(dataset.path, problems, tmp_path / "report.html", tmp_path / "figures", None, None)
    page = (tmp_path / "report.html").read_text()
    assert page.count("Slower than its peers: node3;") == 2  # in the summary, and with the evidence
    assert '<th scope="row">node3</th><td>both ways</td>' in page
    assert cluster.DIGEST in page and "node[1-4]" in page and "<td>batch</td>" in page
    assert "In the container and bare" in page and "Message latency between nodes" in page


def test_a_healthy_page_says_what_would_have_been_found(tmp_path: Path) -> None:
    healthy = table(tmp_path, cluster.write_cluster(tmp_path / "records", bare=False, repeats=3))
    build_report(
        healthy.path, tmp_path / "problems.json", tmp_path / "report.html", tmp_path / "figures", None, None
    )
    page = (tmp_path / "report.html").read_text()
    assert "Nothing is sick" in page and "smallest ratio of times that would have been found" in page
    assert "In the container and bare" not in page
