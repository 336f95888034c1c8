"""The same measurements in the container and on the bare machine, side by side in one report.

One job at a time: all nodes share the cores of this machine, so that jobs at once measure each other.
"""

from support.boxed_checkout import BoxedCheckout


def test_both_places_are_measured_and_compared(checkout: BoxedCheckout):
    checkout.build("make", "programs", "SYSTEM=box", "CAMPAIGN=both_places")
    checkout.snakemake(campaign="both_places", options=["--resources", "machine=1"])
    rows = checkout.rows("both_places")
    assert set(rows["outcome"]) == {"measured"}
    places = rows["container"].astype(object).where(rows["container"].notna(), None)
    assert places.groupby(rows["experiment"], observed=True).agg(set).tolist() == [{"openmpi.sif", None}] * 3
    page = (checkout.results("both_places") / "report.html").read_text()
    assert "In the container and bare" in page
