"""How far a sweep reaches on a system: words for numbers, and what a small system leaves out."""

import shutil
from pathlib import Path

import pytest

from weft import config, extent, jobs

NODE = {"nodes": 1, "ranks_per_node": 4, "devices_per_node": 4, "max_size_bytes": None}


def fitted(experiment="pt2pt_latency", place=None, **axes):
    sweep = {"sizes_bytes": [8], **axes}
    reasons = extent.fit("here", experiment, sweep, {**NODE, **(place or {})})
    return sweep, reasons


@pytest.mark.parametrize(
    ("asked", "place", "ranks"),
    [
        ([2, "node"], {}, [2, 4]),
        (["node", 4], {}, [4]),
        ("fewer", {}, [2, 3]),
        ("fewer", {"nodes": 2}, [2, 3]),
        ("all", {"nodes": 2, "ranks_per_node": 3}, [2, 3, 4, 5, 6]),
        (["node"], {"nodes": 2}, [4]),
    ],
)
def test_words_for_numbers_of_ranks(asked, place, ranks):
    sweep, reasons = fitted(ranks=asked, place=place)
    assert sweep["ranks"] == ranks
    assert reasons == []


@pytest.mark.parametrize(
    ("asked", "ranks", "reason"),
    [
        ([2, 3, 8], [2], "3, 8 ranks: this system has places for 2 (nodes x ranks_per_node)"),
        ("fewer", [], "'fewer' ranks: this system has places for 2 (nodes x ranks_per_node)"),
    ],
)
def test_more_ranks_than_places_are_left_out(asked, ranks, reason):
    sweep, reasons = fitted(ranks=asked, place={"ranks_per_node": 2})
    assert sweep["ranks"] == ranks
    assert reasons == [reason]
    assert extent.is_empty(sweep) == (ranks == [])


def test_a_single_place_has_no_ranks_that_talk():
    sweep, reasons = fitted(ranks=[2, "node"], place={"ranks_per_node": 1})
    assert extent.is_empty(sweep)
    assert reasons == ["2 ranks: this system has places for 1 (nodes x ranks_per_node)"]


def test_message_rate_takes_the_even_ones_of_what_a_word_means():
    sweep, _ = fitted("pt2pt_message_rate", ranks="all", place={"ranks_per_node": 5})
    assert sweep["ranks"] == [2, 4]
    sweep, _ = fitted("pt2pt_message_rate", ranks=[2, "node"], place={"ranks_per_node": 5})
    assert sweep["ranks"] == [2]


def test_others_are_all_pairs_but_the_first():
    sweep, _ = fitted("p2p_copy", pairs="others", place={"devices_per_node": 3})
    assert sweep["pairs"] == ["0:2", "1:0", "1:2", "2:0", "2:1"]


@pytest.mark.parametrize(
    ("axes", "devices", "needed"),
    [
        ({"pairs": ["0:1"]}, 1, 2),
        ({"patterns": ["one_to_all"], "devices": "all"}, 1, 2),
        ({"pairs": ["0:1"], "via": "all"}, 2, 3),
    ],
)
def test_too_few_devices_leave_a_sweep_out(axes, devices, needed):
    sweep, reasons = fitted("p2p_copy", place={"devices_per_node": devices}, **axes)
    assert extent.is_empty(sweep)
    assert reasons == [f"{needed} devices: this system has {devices} (devices_per_node)"]


@pytest.fixture(scope="module")
def shipped(root, tmp_path_factory):
    """The configuration as shipped, in a folder where systems can be added."""
    folder = tmp_path_factory.mktemp("shipped")
    shutil.copytree(root / "config", folder / "config")
    return folder


@pytest.mark.parametrize("devices", [1, 2, 3, 4, 5, 8, 16])
@pytest.mark.parametrize("campaign", ["smoke", "standard", "full"])
def test_shipped_campaigns_run_whatever_a_node_has(shipped: Path, campaign, devices):
    system = shipped / "config/systems/h200x4.yaml"
    text = system.read_text().replace("devices_per_node: 4", f"devices_per_node: {devices}")
    system.with_name(f"gpus{devices}.yaml").write_text(text)
    resolved = config.load(f"gpus{devices}", campaign, shipped)
    names = [job.path for job in jobs.jobs(resolved)]
    assert len(names) == len(set(names))
    assert resolved.sweeps("p2p_host")
    assert bool(resolved.sweeps("p2p_copy")) == (devices > 1)
    assert bool(resolved.sweeps("p2p_route")) == (devices > 2)
    if devices > 1:
        assert max(job.ranks for job in jobs.jobs(resolved) if job.ranks) == devices


def test_a_word_that_meets_a_number_leaves_its_sweep_out(shipped: Path):
    text = (shipped / "config/systems/h200x4.yaml").read_text()
    (shipped / "config/systems/two.yaml").write_text(
        text.replace("devices_per_node: 4", "devices_per_node: 2")
    )
    resolved = config.load("two", "full", shipped)
    assert "matrix" not in resolved.sweeps("pt2pt_latency")
    reasons = [entry["reason"] for entry in resolved.skipped if entry["sweep"] == "matrix"]
    assert (
        "a node of this system has places for 2 ranks, with which 'sweep' already measures some of the same"
        in reasons
    )
