"""What befalls a campaign: interrupted, killed, two at once, no controller, no nodes, no room, no image.

Before each test all is measured but for what it measures anew; after each, one more call completes the
campaign with what is missing, and only that.
"""

from collections.abc import Iterator

import pytest

from support import faults
from support.boxed_checkout import BoxedCheckout
from support.disk import small_disk
from support.faults import CAMPAIGN, COPY, MESSAGES, ROUTE, SNAKEMAKE, Call

MEASURE = (*SNAKEMAKE, "records")
CAMPAIGN_MEASURES = (*CAMPAIGN, "records")


@pytest.fixture(scope="module")
def measured(checkout: BoxedCheckout) -> BoxedCheckout:
    """The campaign, complete, with its report."""
    checkout.run(*CAMPAIGN)
    return checkout


@pytest.fixture
def campaign(measured: BoxedCheckout) -> Iterator[BoxedCheckout]:
    """The campaign without two of its records; in the end complete, and nothing left running."""
    faults.forget(measured, COPY, ROUTE)
    yield measured
    assert faults.records(measured).keys() == faults.JOBS
    assert faults.half_records(measured) == []
    faults.nothing_runs(measured)


def completed(checkout: BoxedCheckout, *command: str) -> tuple[set[str], str]:
    """The jobs that one more call measured, and what it said."""
    before = faults.records(checkout)
    done = checkout.run(*(command or MEASURE))
    after = faults.records(checkout)
    return {job for job in after if after[job] != before.get(job)}, done.stdout + done.stderr


def noted(checkout: BoxedCheckout, call: Call) -> faults.Rank:
    """The rank of a route that was stopped when Snakemake had noted the end of the copies."""
    rank = faults.stopped(checkout, ROUTE, call)
    call.says("Finished jobid")
    assert COPY in faults.records(checkout)
    return rank


def test_ctrl_c_of_snakemake(campaign):
    call = Call(campaign, *MEASURE)
    noted(campaign, call)
    call.press_ctrl_c()
    assert call.end() == 1, call.said()
    faults.nothing_runs(campaign)
    assert completed(campaign)[0] == {ROUTE}


def test_snakemake_killed_leaves_a_job_that_the_next_campaign_cancels(campaign):
    call = Call(campaign, *MEASURE)
    rank = noted(campaign, call)
    call.kill()
    call.end()
    repeated, said = completed(campaign, *CAMPAIGN_MEASURES)
    assert repeated == {ROUTE}
    assert f"Cancelled what was left in Slurm's queue: job {rank.job_id}." in said


def test_campaign_killed_ends_its_jobs_and_keeps_what_was_not_noted(campaign):
    call = Call(campaign, *CAMPAIGN_MEASURES)
    faults.stopped(campaign, ROUTE, call)
    faults.wait_for("the copies to be measured", lambda: COPY in faults.records(campaign), call)
    call.kill()
    call.end()
    faults.nothing_runs(campaign)
    assert completed(campaign, *CAMPAIGN_MEASURES)[0] == {ROUTE}


def test_two_campaigns_at_once_and_ctrl_c_of_the_first(campaign):
    first = Call(campaign, *CAMPAIGN_MEASURES)
    faults.stopped(campaign, ROUTE, first)
    faults.wait_for("the copies to be measured", lambda: COPY in faults.records(campaign), first)
    before = faults.records(campaign)
    second = Call(campaign, *CAMPAIGN_MEASURES)
    second.says("Another campaign runs in this checkout (pid ")
    first.press_ctrl_c()
    assert first.end() == 130, first.said()
    assert "Interrupted. Call it again to go on: what is finished stays." in first.said()
    assert second.end() == 0, second.said()
    after = faults.records(campaign)
    assert {job for job in after if after[job] != before.get(job)} == {ROUTE}


class Waited:
    """A campaign that began while three nodes of four were drained, and whose controller was restarted."""

    def __init__(self, checkout: BoxedCheckout) -> None:
        faults.forget(checkout, ROUTE, MESSAGES)
        self._checkout = checkout
        self._set_nodes("State=DRAIN", "Reason=test")
        faults.wait_for("the nodes to be drained", lambda: self._states() == {"drained"})
        try:
            call = Call(checkout, *MEASURE)
            rank = faults.stopped(checkout, ROUTE, call)
            checkout.box("controller", "stop")
            try:
                rank.go_on()
                self._wait_for(ROUTE, call)
            finally:
                checkout.box("controller", "start")
            call.says("Finished jobid")
            self.meanwhile = faults.records(checkout)
        finally:
            faults.wait_for("the nodes to be resumed", self._resumed)
        self.status, self.said = call.end(), call.said()
        self.repeated, _ = completed(checkout)

    def _set_nodes(self, *words: str) -> None:
        update = "scontrol", "update", "NodeName=n[2-4]"
        self._checkout.box.run(*update, *words, root=True, check=False)

    def _states(self) -> set[str]:
        words = "sinfo", "--noheader", "--Node", "--nodes=n[2-4]", "--partition=gpu", "--format=%T"
        return set(self._checkout.box.run(*words, check=False).stdout.split())

    def _resumed(self) -> bool:
        """A node refuses until it has told the new controller of itself, and one that is resumed, too."""
        self._set_nodes("State=RESUME")
        states = self._states()
        return bool(states) and states <= {"idle", "mixed", "allocated"}

    def _wait_for(self, job: str, call: Call) -> None:
        faults.wait_for(f"{job} to be measured", lambda: job in faults.records(self._checkout), call)


@pytest.fixture(scope="module")
def waited(measured: BoxedCheckout) -> Waited:
    return Waited(measured)


def test_nodes_that_are_drained_are_told_and_waited_for(waited):
    told = "Partition gpu has 1 up, 3 drained (n2, n3, n4): jobs of more nodes than are up, such as"
    assert f"{told} {MESSAGES} with 2, will wait for the others." in waited.said
    assert MESSAGES not in waited.meanwhile
    assert (waited.status, waited.repeated) == (0, set()), waited.said


def test_a_controller_that_is_restarted_is_waited_for(waited):
    assert ROUTE in waited.meanwhile
    assert "failed" not in waited.said
    assert (waited.status, waited.repeated) == (0, set()), waited.said


def test_no_room_for_results_is_one_sentence(measured):
    nothing = "Nothing can be written to results/faults/faults/: No space left on device. Make room, and"
    target = f"{faults.RECORDS}/{ROUTE}.jsonl"
    with small_disk(measured, "results") as disk:
        call = Call(measured, *SNAKEMAKE, target)
        rank = faults.stopped(measured, ROUTE, call)
        disk.fill()
        rank.go_on()
        assert call.end() == 1, call.said()
        assert nothing in call.said()
        assert faults.records(measured) == {}
        again = measured.run(*CAMPAIGN, check=False)
        assert (again.returncode, again.stderr.count("\n")) == (2, 1), again.stderr
        assert nothing in again.stderr
        disk.clear()
        assert completed(measured, *SNAKEMAKE, target)[0] == {ROUTE}
        assert faults.half_records(measured) == []
        faults.nothing_runs(measured)
    assert completed(measured)[0] == set()


def test_an_image_that_was_deleted_is_built_again_and_nothing_finished_is_repeated(campaign):
    image = campaign.folder / "build/images/openmpi.sif"
    build = (campaign.folder / "envs/image").read_text()
    image.rename(image.with_suffix(".moved"))
    campaign.write("envs/image", "#!/bin/sh\nmv build/images/openmpi.moved build/images/openmpi.sif\n")
    try:
        repeated, said = completed(campaign, *CAMPAIGN_MEASURES)
    finally:
        campaign.write("envs/image", build)
        if image.with_suffix(".moved").exists():
            image.with_suffix(".moved").rename(image)
    assert repeated == {COPY, ROUTE}
    assert "weft: No longer there, and built again before all else: build/images/openmpi.sif." in said
