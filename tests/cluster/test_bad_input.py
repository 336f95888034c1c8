"""What Slurm would refuse is one sentence before anything is submitted; what it cannot know is told after."""

import re

import pytest

from support.boxed_checkout import BoxedCheckout

TOPOLOGY = "results/odd/smoke/records/topology/repeat0.jsonl"
PAIR = "results/odd/smoke/records/pt2pt_latency/nodes.ranks2.nodes2.gpudirect-on.repeat0.jsonl"
PMIX = "build/pmix.sif"
NEEDS = "scheduler.gres: Slurm knows gpu:arena there."
SINGLE = "config/mpi/mpich.yaml: launch.srun starts it with --mpi=pmi2: worlds of one rank each"
LACKS = "which lacks c++, cmake, ninja, mpicxx, which builds the programs; take one of envs/image."


def odd(checkout: BoxedCheckout, old: str, new: str) -> None:
    """Let there be a system `odd`: the box's, but for one line."""
    text = (checkout.folder / "config/systems/box.yaml").read_text()
    assert text.count(old) == 1
    checkout.write("config/systems/odd.yaml", text.replace(old, new))


def weft(checkout: BoxedCheckout, command: str, *words: str):
    python = ("env", "PYTHONPATH=workflow", ".venv/bin/python", "-m", "weft", command)
    return checkout.run(*python, "--system", "odd", "--campaign", "smoke", *words, check=False)


def image(path: str) -> tuple[str, str]:
    return "container: {} ", f"container: {{image: {path}}} "


@pytest.fixture(scope="module")
def images(checkout: BoxedCheckout) -> None:
    """build/shell.sif, with a shell and nothing else, and PMIX, a site's own with OpenMPI."""
    script = f"""
        ln --force build/images/openmpi.sif {PMIX}
        mkdir -p build/shell/bin; cp /bin/sh build/shell/bin
        for library in $(ldd /bin/sh | grep -o '/lib[^ ]*'); do cp --parents "$library" build/shell; done
        apptainer --quiet build --force build/shell.sif build/shell"""
    checkout.build("bash", "-ec", script)


CASES = {
    "partition": (
        ("partition: gpu", "partition: gpuu"),
        "scheduler.partition is 'gpuu', which this cluster does not have, did you mean 'gpu'?",
    ),
    "account": (
        ("account: proj", "account: chem"),
        "scheduler.account is 'chem', which user hpc may not charge; known: proj.",
    ),
    "gres": (
        ("gres: gpu:{devices}", "gres: gpu:h200:{devices}"),
        f"topology/repeat0 needs 4 gpu:h200 on a node, but no node of partition gpu has any; {NEEDS}",
    ),
    "nodes": (("nodes: 4", "nodes: 6"), "needs 6 nodes, but partition gpu has 4 (4 up); lower nodes."),
    "no image": (image("build/none.sif"), "container.image is 'build/none.sif', which does not exist."),
    "no MPI": (image("build/shell.sif"), f"container.image is 'build/shell.sif', {LACKS}"),
    "another MPI": (
        ("mpi: openmpi\nlauncher: srun\ncontainer: {} ",
         f"mpi: mpich\nlauncher: srun\ncontainer: {{image: {PMIX}}} "),
        f"container.image is '{PMIX}', whose OpenMPI speaks pmix, but {SINGLE}; change mpi or the image.",
    ),
}  # fmt: skip


def test_the_box_itself_fits(checkout):
    odd(checkout, "description: ", "description: ")
    done = weft(checkout, "check")
    assert done.returncode == 0, done.stderr
    pmix, fine = done.stderr.splitlines()
    assert re.fullmatch(r"weft: PMIx: Slurm's is pmix_v5, the image's 5\.\S+\.", pmix)
    assert fine.endswith("can run campaign 'smoke', as far as it can be known here.")


@pytest.mark.parametrize("case", CASES)
def test_one_sentence_and_no_job(checkout, images, case):
    change, sentence = CASES[case]
    odd(checkout, *change)
    before = checkout.jobs()
    for done in (weft(checkout, "check"), weft(checkout, "campaign", "--profile", "slurm")):
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1, done.stderr
        assert done.stderr.startswith("weft: config/systems/odd.yaml: ")
        assert sentence in done.stderr
    done = checkout.snakemake("records", system="odd", check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert sentence in done.stderr + done.stdout
    assert "Traceback" not in done.stderr + done.stdout
    assert checkout.jobs() == before
    assert not (checkout.folder / TOPOLOGY).exists()


def test_an_unreachable_controller_is_one_sentence(checkout):
    odd(checkout, "description: ", "description: ")
    checkout.box("controller", "stop")
    try:
        done = weft(checkout, "check")
    finally:
        checkout.box("controller", "start")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("weft: Slurm does not answer (scontrol")


def test_worlds_of_one_rank_are_told_on_the_terminal(checkout):
    """What cannot be known before: a launcher that wires up nothing. The program says so, once."""
    library = (checkout.folder / "config/mpi/openmpi.yaml").read_text()
    assert "--mpi=pmix" in library
    checkout.write("config/mpi/unwired.yaml", library.replace("--mpi=pmix", "--mpi=none"))
    odd(checkout, "mpi: openmpi", "mpi: unwired")
    soon = ("--slurm-init-seconds-before-status-checks", "1")
    done = weft(checkout, "campaign", "--profile", "slurm", *soon, PAIR)
    said = done.stderr + done.stdout
    assert done.returncode == 1, said
    assert re.search(r"\| pt2pt: .*(but MPI joins none of them|asks for 2 ranks, but MPI sees 1)", said), said
    assert "Traceback" not in said
