"""Another MPI library is one word in the system file: its image, its launch line, its switches follow."""

import pytest

from support.boxed_checkout import BoxedCheckout


@pytest.mark.parametrize(("library", "name"), [("openmpi", "Open MPI"), ("mpich", "MPICH")])
def test_messages_and_collectives_run_with_either_library(checkout: BoxedCheckout, library, name):
    system = (checkout.folder / "config/systems/box.yaml").read_text()
    assert "\nmpi: openmpi\n" in system
    checkout.write(
        f"config/systems/box-{library}.yaml", system.replace("\nmpi: openmpi\n", f"\nmpi: {library}\n")
    )
    checkout.build("make", "programs", f"SYSTEM=box-{library}", "CAMPAIGN=both_rules")
    checkout.snakemake(system=f"box-{library}", campaign="both_rules")
    rows = checkout.rows("both_rules", f"box-{library}")
    assert set(rows["outcome"]) == {"measured"}
    assert {"pt2pt.latency", "collective.all_reduce", "collective.all_to_all"} <= set(rows["benchmark"])
    assert all(text.startswith(name) for text in rows["mpi_library"].unique())
    assert set(rows["container"]) == {f"{library}.sif"}
    assert {1, 2, 3, 4} <= set(rows["nodes"])
