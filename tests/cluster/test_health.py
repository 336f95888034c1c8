"""`make health` on a real Slurm names the node whose link is slow, and nothing on a healthy cluster."""

import shutil

import pytest

from support.boxed_checkout import BoxedCheckout

SYSTEM = "box-health"


@pytest.fixture(scope="module")
def cluster(checkout: BoxedCheckout) -> BoxedCheckout:
    """The box as a system that is measured thrice, as health needs it."""
    system = (checkout.folder / "config/systems/box.yaml").read_text()
    assert "max_repeats: 2" in system
    checkout.write(f"config/systems/{SYSTEM}.yaml", system.replace("max_repeats: 2", "max_repeats: 3"))
    return checkout


def health_of_a_new_run(cluster: BoxedCheckout) -> tuple[int, str]:
    shutil.rmtree(cluster.results("health", SYSTEM), ignore_errors=True)
    cluster.snakemake(system=SYSTEM, campaign="health")
    done = cluster.run("make", "health", f"SYSTEM={SYSTEM}", "CAMPAIGN=health", check=False)
    return done.returncode, (done.stdout + done.stderr).replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize("run", [1, 2, 3])
def test_a_healthy_cluster_is_healthy(cluster, run):
    status, said = health_of_a_new_run(cluster)
    assert status == 0, said
    assert "4 nodes   messages between nodes, throughput" in said, "it was really compared"


def test_a_node_of_half_the_rate_is_named_and_only_it(cluster):
    cluster.box("rate", "n3", "250mbit")
    try:
        status, said = health_of_a_new_run(cluster)
    finally:
        cluster.box("rate", "n3", "500mbit")
    assert status != 0, said
    assert "Slower than its peers: node n3;" in said
