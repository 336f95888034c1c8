"""What is wrong with a cluster is one sentence before anything is submitted, with stand-ins for Slurm."""

import getpass
import shutil

import pytest

from support.site import FILE, Site
from support.slurm import Slurm

FINE = "weft: System 'cluster' can run campaign 'tiny', as far as it can be known here.\n"
NO_NODE = "no node of partition gpu"
KNOWS = "scheduler.gres: Slurm knows gpu:h200 there."


@pytest.fixture
def slurm(tmp_path) -> Slurm:
    return Slurm(tmp_path / "slurm")


@pytest.fixture
def site(checkout, slurm, monkeypatch) -> Site:
    return Site(checkout, slurm, monkeypatch)


def test_a_system_that_fits(site):
    assert site.is_fine()
    assert not site.slurm.calls("sbatch")


def test_a_checkout_whose_path_a_shell_would_read(site, monkeypatch):
    odd = site.checkout.folder / "it's $HOME"
    shutil.copytree(site.checkout.folder / "config", odd / "config")
    monkeypatch.chdir(odd)
    assert 'a shell on the way to Slurm would read "$\'": move it' in site.problem()


def lacks(key: str, word: str, end: str) -> str:
    return f"scheduler.{key} is '{word}', which this cluster does not have{end}"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"partition": "gpuu"}, lacks("partition", "gpuu", ", did you mean 'gpu'?")),
        ({"partition": "batch"}, lacks("partition", "batch", "; known: gpu.")),
        ({"account": "prj"}, "is 'prj', which user ME may not charge, did you mean 'proj'?"),
        ({"account": "chem"}, "scheduler.account is 'chem', which user ME may not charge; known: proj."),
        ({"qos": "norml"}, lacks("qos", "norml", ", did you mean 'normal'?")),
        ({"qos": "high"}, "scheduler.qos is 'high', which user ME may not use; known: normal."),
        ({"reservation": "tuesday"}, lacks("reservation", "tuesday", "; known: maint.")),
        ({"gres": "gpu:a100:{devices}"}, f"2 gpu:a100 on a node, but {NO_NODE} has any; {KNOWS}"),
        ({"gres": "gpu:5"}, f"needs 5 gpu on a node, but {NO_NODE} has more than 4; {KNOWS}"),
        ({"gres": "gpu:{devices},nvme"}, f"needs 1 nvme on a node, but {NO_NODE} has any; {KNOWS}"),
        (
            {"constraint": "nvlnk&(a|nvlink*2)"},
            f"scheduler.constraint has 'nvlnk', a feature that {NO_NODE} has, did you mean 'nvlink'?",
        ),
    ],
)  # fmt: skip
def test_what_the_cluster_does_not_have(site, settings, sentence):
    site.nodes(*[{"gres": "gpu:h200:4(S:0-1)", "features": "a,nvlink"}] * 4)
    site.slurm.is_now(qos=["normal", "high"], reservations=["maint"])
    site.scheduled(**settings)
    problem = site.problem()
    assert problem.startswith(f"{FILE}: ")
    assert sentence.replace("ME", getpass.getuser()) in problem


def test_all_that_is_wrong_is_said_at_once_and_ends_with_status_2(site):
    site.scheduled(account="chem", qos="norml")
    site.edit(FILE, "cores: 4", "cores: 16")
    words = ("--system", "cluster", "--campaign", "tiny")
    for command in (("check", *words), ("campaign", *words, "--profile", "slurm")):
        done = site.checkout.run("-m", "weft", *command)
        assert done.returncode == 2
        lines = done.stdout.splitlines()
        assert [line.split()[2] for line in lines if line.startswith(f"weft: {FILE}: ")] == [
            "scheduler.account", "scheduler.qos", "topology/repeat0",
        ]  # fmt: skip
        assert len(lines) == 3
    assert not (site.checkout.folder / "results").exists()
    assert not site.slurm.calls("sbatch")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "cores: 4",
            "cores: 10",
            "10 CPUs on a node, but no node of partition gpu has more than 8; lower cores.",
        ),
        ("nodes: 2", "nodes: 6", "needs 6 nodes, but partition gpu has 4 (4 up); lower nodes."),
    ],
)
def test_more_than_there_is(site, old, new, sentence):
    site.edit("config/campaigns/tiny.yaml", "ranks: [2, 3]", "ranks: all")
    site.edit(FILE, old, new)
    assert site.problem().endswith(sentence)


def test_too_little_time_memory_or_nodes(site):
    site.partitions(gpu={"MaxTime": "00:05:00"})
    end = (
        "minutes, but partition gpu ends jobs after 5; name another, or lower time_budget_s of the campaign."
    )
    assert site.problem().endswith(end)
    site.partitions(gpu={"MaxNodes": "1"})
    assert site.problem().endswith("needs 2 nodes, but partition gpu gives a job 1 at most; lower nodes.")
    site.partitions(gpu={})
    site.nodes(*[{"memory": 900}] * 4)
    assert "MB of memory on a node, but no node of partition gpu has more than 900" in site.problem()
    site.nodes({}, *[{"gres": "gpu:h200:1"}] * 3)
    assert site.problem().endswith(f"needs 2 gpu on each of 2 nodes, but partition gpu has 1 such; {KNOWS}")


def test_nodes_that_are_away_are_waited_for(site):
    site.nodes({}, {"state": "down*"}, {"state": "drained"}, {"state": "idle*"})
    done = site.checkout.run("-m", "weft", "check", "--system", "cluster", "--campaign", "tiny")
    assert done.returncode == 0
    first, last = done.stdout.splitlines()
    assert first.startswith(
        "weft: Partition gpu has 1 up, 1 down (n2), 1 drained (n3), 1 idle (n4): jobs of more"
    )
    assert f"{last}\n" == FINE
    site.partitions(gpu={"State": "DOWN"})
    assert site.findings().waits == [
        "Slurm starts no jobs in partition gpu now, its state is DOWN: they will wait."
    ]
    site.partitions(gpu={"State": "INACTIVE"})
    assert site.problem() == f"{FILE}: partition gpu takes no jobs now: Slurm calls it INACTIVE."


def test_one_of_several_partitions_is_enough(site):
    site.partitions(short={"MaxTime": "00:02:00", "Default": "NO"}, long={"Default": "NO"})
    site.scheduled(partition="short,long")
    assert site.is_fine()
    site.edit(FILE, '"short,long"', '"short"')
    assert "partition short ends jobs after 2" in site.problem()
    site.edit(FILE, 'partition: "short", ', "")
    assert site.problem() == (
        f"{FILE}: scheduler.partition is null, but this cluster has no default; known: short, long."
    )
    site.partitions(short={"MaxTime": "00:02:00", "Default": "NO"}, long={})
    assert site.is_fine()


def test_a_partition_for_others(site):
    site.partitions(gpu={"AllowAccounts": "chem,bio"})
    assert site.problem() == f"{FILE}: scheduler.account is 'proj', but partition gpu is for chem, bio alone."


def test_what_a_site_does_not_tell_blocks_nothing(site):
    site.slurm.is_now(accounting=False)
    site.scheduled(account="chem", qos="high")
    found = site.findings()
    assert not found.problems
    assert found.unknown == [
        "Not checked: scheduler.account and scheduler.qos (sacctmgr: You are not running a supported"
        " accounting_storage plugin)."
    ]
    site.slurm.is_now(accounting=True, associations=[])
    assert site.is_fine()


def test_slurm_does_not_answer(site):
    site.slurm.is_now(controller=False)
    assert site.problem() == (
        "Slurm does not answer (scontrol: scontrol: error: Unable to contact slurm controller (connect"
        " failure)): call it again when it does."
    )


def test_no_slurm_here(site):
    site.set("PATH", "/usr/bin:/bin")
    assert site.problem() == (
        "System 'cluster' has the scheduler slurm, but there is no sbatch here: call it on a login node of"
        " the cluster."
    )


def test_a_profile_for_another_system(site):
    assert "but this profile runs jobs here: take profile slurm" in site.problem("local")
    site.edit(FILE, "scheduler: {", "environment: {} # {")
    site.edit(FILE, "launcher: srun", "launcher: local")
    assert "System 'cluster' has no scheduler, but this profile submits jobs (slurm)" in site.problem("slurm")


def test_a_slurm_without_the_pmi_of_the_launch_line(site):
    site.slurm.is_now(mpi=["none", "pmi2"], pmix=[])
    assert site.problem() == (
        "config/mpi/openmpi.yaml: launch.srun: srun has no --mpi=pmix on this cluster, and would start worlds"
        " of one rank each; known: none, pmi2."
    )


def test_a_launcher_that_is_not_here(site):
    site.edit(FILE, "launcher: srun", "launcher: mpirun")
    site.edit("config/mpi/openmpi.yaml", "mpirun: [mpirun,", "mpirun: [mpirun-of-elsewhere,")
    assert site.problem() == "config/mpi/openmpi.yaml: launch.mpirun: there is no mpirun-of-elsewhere here."


def test_an_allocation_that_is_too_small(site):
    site.set("SLURM_JOB_ID", "7")
    site.set("SLURM_JOB_NUM_NODES", "1")
    site.set("SLURM_JOB_CPUS_PER_NODE", "2(x1)")
    wide, thick = site.findings().problems
    assert wide.endswith("needs 2 nodes, but this allocation (job 7) has 1: submit it with --nodes=2.")
    assert "CPUs of a node, but this allocation (job 7) has 2: submit it with --exclusive" in thick
    site.set("SLURM_JOB_NUM_NODES", "2")
    site.set("SLURM_JOB_CPUS_PER_NODE", "8(x2)")
    assert site.is_fine()
    assert any("--ntasks=3" in words for words in site.slurm.calls("srun")), "MPI is tried where it will run"
