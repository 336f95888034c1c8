"""`snakemake --profile slurm` on a real Slurm: containers, several nodes, and the report of it."""

import json

import numpy as np
import pandas as pd
import pytest

from support.boxed_checkout import BoxedCheckout

RATE_BYTES_PER_S = 500e6 / 8
TOPOLOGY = "results/box/smoke/records/topology/repeat0.jsonl"


@pytest.fixture(scope="module")
def finished(checkout: BoxedCheckout) -> BoxedCheckout:
    """The campaign `smoke`, measured through Slurm: what is judged by its rate alone, then the rest together.

    All nodes share the cores of this machine, so that jobs at once measure each other.
    """
    switches = [f"gpudirect-{switch}.repeat{repeat}" for switch in ("on", "off") for repeat in (0, 1)]
    between = [
        f"results/box/smoke/records/pt2pt_bandwidth/nodes.ranks2.nodes2.{name}.jsonl" for name in switches
    ]
    checkout.snakemake(*between, options=["--resources", "machine=1"])
    checkout.snakemake()
    return checkout


@pytest.fixture(scope="module")
def rows(finished: BoxedCheckout) -> pd.DataFrame:
    return finished.rows("smoke")


def between_nodes(rows: pd.DataFrame) -> pd.Series:
    return rows["source_host"].astype(str) != rows["destination_host"].astype(str)


def test_all_is_measured_on_at_least_three_nodes_in_the_container(finished, rows):
    assert set(rows["outcome"]) <= {"measured", "unsupported"}
    assert (rows["outcome"] == "measured").mean() > 0.9
    assert len(set(rows["source_host"].dropna()) | set(rows["destination_host"].dropna())) >= 3
    assert set(rows["container"]) == {"openmpi.sif"}
    assert (finished.results("smoke") / "report.html").stat().st_size > 500_000
    assert json.loads((finished.results("smoke") / "problems.json").read_text()) == []


def test_what_slurm_knew_is_recorded(finished, rows):
    digest = (finished.folder / "build/images/openmpi.sha256").read_text().strip()
    assert set(rows["container_digest"]) == {f"sha256:{digest}"}
    assert set(rows["partition"]) == {"gpu"}
    assert rows["job_id"].nunique() == rows["file"].nunique(), "a job of Slurm for each record file"
    assert set(rows.loc[rows["nodes"] == 4, "node_list"]) == {"n[1-4]"}


def test_the_network_is_as_fast_as_it_is_shaped(rows):
    there = rows[(rows["benchmark"] == "pt2pt.bandwidth") & (rows["size_bytes"] == 4 * 2**20)]
    between = there[between_nodes(there) & (there["pairs"] == 1)]
    rates = between.groupby(["placement", "gpudirect"], observed=True)["bandwidth_bytes_per_s"].median()
    assert len(rates) == 5, "five transports"
    assert rates.between(0.85 * RATE_BYTES_PER_S, RATE_BYTES_PER_S).all(), rates
    within = there[~between_nodes(there)]["bandwidth_bytes_per_s"].median()
    assert within > 4 * RATE_BYTES_PER_S


def test_latencies_and_their_intervals_are_sane(rows):
    there = rows[(rows["benchmark"] == "pt2pt.latency") & (rows["size_bytes"] == 8)]
    assert (there["time_ci_low_s"] <= there["time_median_s"]).all()
    assert (there["time_median_s"] <= there["time_ci_high_s"]).all()
    assert there["time_median_s"].between(1e-8, 0.1).all()
    # The fastest sample of either: where all nodes share two cores, most of a median may be waiting for one.
    fastest_s = there.groupby(between_nodes(there))["time_min_s"].min()
    assert fastest_s[False] < fastest_s[True]


def test_collectives_grow_with_the_number_of_nodes(rows):
    there = rows[(rows["benchmark"] == "collective.all_reduce") & (rows["nodes"] > 1)]
    assert set(there["nodes"]) == {2, 3, 4}
    large = there[there["size_bytes"] == there["size_bytes"].max()]
    assert np.isfinite(large["bus_bandwidth_bytes_per_s"]).all()


def test_one_result_file_is_one_job(finished):
    (finished.folder / TOPOLOGY).unlink()
    before = finished.jobs()
    finished.snakemake(TOPOLOGY)
    assert len(finished.jobs() - before) == 1
    assert (finished.folder / TOPOLOGY).exists()


def test_one_rule_anew_is_its_one_job(finished):
    others = {path: path.stat().st_mtime_ns for path in finished.results("smoke").glob("records/*/*.jsonl")}
    before = finished.jobs()
    finished.run(
        ".venv/bin/snakemake",
        "--profile",
        "slurm",
        "-R",
        "topology",
        "--config",
        "system=box",
        "campaign=smoke",
    )
    assert len(finished.jobs() - before) == 1
    changed = [path.parent.name for path, time in others.items() if path.stat().st_mtime_ns != time]
    assert changed == ["topology"]


def test_a_script_submitted_by_hand_is_used_by_the_report(finished):
    finished.run("make", "sbatch", "SYSTEM=box", "CAMPAIGN=smoke")
    path = finished.folder / TOPOLOGY
    old = json.loads(path.read_text().partition("\n")[0])["scheduler"]["job_id"]
    path.unlink()
    finished.run("sbatch", "--wait", "results/box/smoke/sbatch/topology.sbatch")
    new = json.loads(path.read_text().partition("\n")[0])["scheduler"]["job_id"]
    assert new != old
    before = finished.jobs()
    finished.snakemake()
    assert finished.jobs() == before, "nothing is measured again"
    page = (finished.results("smoke") / "report.html").read_text()
    assert new in page
