"""What befalls single jobs: cancelled, out of memory or time, on a node that dies, with a rank that hangs.

All in one campaign, so that the waiting is done once. A job that failed is tried again by the same call; what
fails every time is missing after it, and one more call measures just that.
"""

import re

import pytest

from support import faults
from support.boxed_checkout import BoxedCheckout
from support.faults import COPY, HOST, LATENCY, MESSAGES, ROUTE, Call


class Struck:
    """A campaign that all of it befell: what it said and left, and the same after one more call."""

    def __init__(self, checkout: BoxedCheckout) -> None:
        self.checkout = checkout
        faults.forget(checkout)
        self.ranks: dict[str, faults.Rank] = {}
        call = Call(checkout, *faults.CAMPAIGN, "--set-resources", "p2p_host:mem_mb=100")
        ranks = {COPY: 0, LATENCY: 0, ROUTE: 0, MESSAGES: 1}
        for job, rank in faults.stopping(checkout, ranks, call, lines=2):
            self.ranks[job] = rank
            self.strike(job, rank)
        self.status = call.end()
        self.said = call.said()
        checkout.box("power", self.ranks[ROUTE].node, "on")
        self.records = faults.records(checkout)
        self.report = (checkout.results("faults", "faults") / "report.html").exists()
        self.again = checkout.run(*faults.SNAKEMAKE, "records")
        self.records_after = faults.records(checkout)

    def strike(self, job: str, rank: faults.Rank) -> None:
        if job == COPY:
            self.checkout.run("scancel", rank.job_id)
        elif job == LATENCY:
            # A limit is a minute at least; an administrator can say how much of it is left.
            end = f"JobId={rank.job_id}", "EndTime=now+1"
            self.checkout.box.run("scontrol", "update", *end, root=True)
        elif job == ROUTE:
            self.checkout.box("power", rank.node, "off")

    def told(self, job: str, state: str) -> bool:
        """Whether the terminal told of the end of the job that was struck."""
        return f"SLURM-job '{self.ranks[job].job_id}' failed" in self.said and f"'{state}'" in self.said

    def state(self, job: str) -> str:
        """What became of the job that was struck."""
        words = "sacct", "-j", self.ranks[job].job_id, "-n", "-P", "-o", "state"
        return self.checkout.run(*words).stdout.split()[0]

    def steps(self, job: str) -> list[str]:
        """The starts of the program within the job that was struck."""
        words = "sacct", "-j", self.ranks[job].job_id, "-n", "-P", "-o", "jobid"
        return [step for step in self.checkout.run(*words).stdout.split() if re.search(r"\.\d", step)]


@pytest.fixture(scope="module")
def struck(checkout: BoxedCheckout) -> Struck:
    return Struck(checkout)


def test_a_cancelled_job_is_told_and_tried_again(struck):
    assert struck.state(COPY).startswith("CANCELLED")
    assert struck.told(COPY, "CANCELLED"), struck.said
    assert COPY in struck.records


def test_a_job_that_ran_out_of_time_is_told_and_tried_again(struck):
    assert struck.state(LATENCY) == "TIMEOUT"
    assert struck.told(LATENCY, "TIMEOUT"), struck.said
    assert LATENCY in struck.records


def test_a_job_whose_node_died_is_told_and_runs_on_another(struck):
    assert struck.state(ROUTE) == "NODE_FAIL"
    assert struck.told(ROUTE, "NODE_FAIL"), struck.said
    assert ROUTE in struck.records


def test_a_job_that_runs_out_of_memory_is_told_and_is_all_that_is_missing(struck):
    assert "exceeded memory limit" in struck.said, struck.said
    assert struck.status == 1, struck.said
    assert faults.JOBS - struck.records.keys() == {HOST}


def test_a_rank_that_hangs_is_named_with_what_it_was_doing(struck):
    told = re.search(r"pt2pt: no progress for 60 s in (.*): (.*); the run is ended", struck.said)
    assert told, struck.said
    assert "latency" in told[1]
    assert re.fullmatch(
        rf"rank 1 on {struck.ranks[MESSAGES].node} does not answer, rank 0 on n\d waits", told[2]
    )
    assert len(struck.steps(MESSAGES)) == 1, "it is tried again as another job, not within this one"
    assert MESSAGES in struck.records


def test_one_more_call_measures_what_is_missing_and_only_that(struck):
    assert faults.half_records(struck.checkout) == []
    assert struck.report, "of what there is"
    assert struck.records_after.keys() == faults.JOBS
    assert {job for job, file in struck.records_after.items() if struck.records.get(job) != file} == {HOST}


def test_nothing_is_left_running(struck):
    faults.nothing_runs(struck.checkout)
