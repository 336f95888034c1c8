"""`make health` on a real Slurm names the node whose link is slow, and nothing on a healthy cluster."""

import shutil

import pytest

from support.boxed_checkout import BoxedCheckout


def health_of_a_new_run(checkout: BoxedCheckout) -> tuple[int, str]:
    shutil.rmtree(checkout.results("health"), ignore_errors=True)
    checkout.snakemake(campaign="health")
    done = checkout.run("make", "health", "SYSTEM=box", "CAMPAIGN=health", check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("run", [1, 2, 3])
def test_a_healthy_cluster_is_healthy(checkout, run):
    status, said = health_of_a_new_run(checkout)
    assert status == 0, said


def test_a_node_of_half_the_rate_is_named_and_only_it(checkout):
    checkout.box("rate", "n3", "500mbit")
    try:
        status, said = health_of_a_new_run(checkout)
    finally:
        checkout.box("rate", "n3", "1gbit")
    assert status != 0, said
    sick = [line for line in said.splitlines() if line.split()[:2] == ["node", "n3"]]
    assert sick, said
    assert not [line for line in said.splitlines() if line.split()[:1] in (["link"], ["device"])], said
