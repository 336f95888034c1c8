"""The same measurements in the container and on the bare machine, side by side in one report.

One job at a time: all nodes share the cores of this machine, so that jobs at once measure each other.
"""

from support.boxed_checkout import BoxedCheckout


def test_the_container_costs_nothing_that_can_be_seen(checkout: BoxedCheckout):
    checkout.build("make", "programs", "SYSTEM=box", "CAMPAIGN=container")
    checkout.snakemake(campaign="container", options=["--resources", "machine=1"])
    rows = checkout.rows("container")
    assert set(rows["outcome"]) == {"measured"}
    assert set(rows["container"].astype(object).where(rows["container"].notna(), None)) == {
        "openmpi.sif",
        None,
    }
    page = (checkout.results("container") / "report.html").read_text()
    assert "In the container and bare" in page
