"""The table of experiments agrees with the campaign schema and the rules: nothing asked for is ignored."""

from pathlib import Path

import pytest

from weft import closed_world
from weft.experiments import EXPERIMENTS
from weft.jobs import CHOICES

# What becomes the geometry, the launch or the sampling of a job, or an option of the whole job.
NO_OPTION = {"ranks", "nodes", "ranks_per_node", "container", "gpudirect", "sampling", *CHOICES}


@pytest.fixture(scope="module")
def schema():
    return closed_world.schema("campaign")


@pytest.fixture(scope="module")
def entries(schema):
    return schema["properties"]["experiments"]["properties"]


def test_a_campaign_may_name_every_experiment(entries):
    assert set(entries) == set(EXPERIMENTS) - {"topology"}


@pytest.mark.parametrize("name", sorted(set(EXPERIMENTS) - {"topology"}))
def test_every_axis_of_a_campaign_reaches_the_program(schema, entries, name):
    sweep = closed_world.resolve(entries[name]["additionalProperties"], schema)
    assert set(sweep["properties"]) - NO_OPTION <= set(EXPERIMENTS[name].options)


def test_every_experiment_has_a_rule_of_its_name(root: Path):
    rules = "".join(path.read_text() for path in sorted((root / "workflow/rules").glob("*.smk")))
    missing = [name for name in EXPERIMENTS if f"\nrule {name}:\n" not in rules]
    assert not missing
