"""The table of experiments agrees with the campaign schema and the rules: nothing asked for is ignored."""

from pathlib import Path

import pytest

from weft import closed_world
from weft.experiments import EXPERIMENTS, sampling_arguments
from weft.jobs import CHOICES

# What becomes the geometry, the launch or the sampling of a job, or an option of the whole job.
SAMPLING = {
    "precision": 0.02, "confidence": 0.95, "min_sample_s": None, "min_samples": 20, "max_samples": 10000,
    "time_budget_s": 0.5, "keep_samples": False,
}  # fmt: skip
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


def test_every_setting_of_the_sampling_reaches_the_program(schema):
    settings = schema["$defs"]["sampling"]["properties"]
    given = {key: index for index, key in enumerate(settings, 1)}
    arguments = sampling_arguments(given)
    assert len(arguments) == 2 * (len(settings) - 1) + 1  # keep_samples is a flag
    assert "--keep-samples" in arguments
    for key in settings.keys() - {"keep_samples"}:
        assert str(given[key]) == arguments[arguments.index(_option(key)) + 1]


def test_what_is_left_to_the_program_is_not_passed_on():
    assert "--min-sample-s" not in sampling_arguments(SAMPLING)
    assert "--min-samples" in sampling_arguments(SAMPLING)


def _option(key: str) -> str:
    return {"time_budget_s": "--budget-s"}.get(key, f"--{key.replace('_', '-')}")
