"""The record schema: what it accepts, and what is said of what it does not."""

import copy

import pytest

from support.examples import example
from weft import schema

KINDS = schema.record_schema()["properties"]["record"]["enum"]


def _objects(definition, path=()):
    """Paths of the objects within a record's definition: (keys, schema of the object); 0 stands for a list's
    entry.
    """
    while "$ref" in definition:
        definition = schema.record_schema()["$defs"][definition["$ref"].rpartition("/")[2]]
    if "properties" in definition:
        yield path, definition
        for key, inner in definition["properties"].items():
            yield from _objects(inner, (*path, key))
    if "items" in definition:
        yield from _objects(definition["items"], (*path, 0))


OBJECTS = [
    (kind, path, definition)
    for kind in KINDS
    for path, definition in _objects(schema.record_schema()["$defs"][kind])
]
REQUIRED = [
    (kind, path, key)
    for kind, path, definition in OBJECTS
    for key in definition.get("required", ())
    if key != "record"
]


def _at(record, path):
    for step in path:
        record = record[step]
    return record


@pytest.mark.parametrize("kind", KINDS)
def test_full_example_is_valid(kind):
    assert schema.is_valid(example(kind))


@pytest.mark.parametrize(("kind", "path", "definition"), OBJECTS)
def test_examples_hold_every_key_of_the_schema(kind, path, definition):
    assert set(_at(example(kind), path)) == set(definition["properties"])


@pytest.mark.parametrize(("kind", "path", "key"), REQUIRED)
def test_missing_key_is_named(kind, path, key):
    record = example(kind)
    del _at(record, path)[key]
    assert not schema.is_valid(record)
    assert key in schema.explain(record)
    assert "missing" in schema.explain(record)


@pytest.mark.parametrize(
    ("kind", "path"),
    [(kind, path) for kind, path, definition in OBJECTS if "additionalProperties" in definition],
)
def test_world_is_closed(kind, path):
    record = example(kind)
    _at(record, path)["colour"] = "blue"
    assert not schema.is_valid(record) or path == ("variables",)
    if path != ("variables",):
        assert "unknown key" in schema.explain(record)
        assert "colour" in schema.explain(record)


def test_every_object_is_closed():
    assert all("additionalProperties" in definition for _, _, definition in OBJECTS)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"size_bytes": -4}, "size_bytes is -4; it must be at least 0"),
        ({"size_bytes": "4"}, 'size_bytes is "4"; it must be an integer'),
        ({"source": 0.5}, "source is 0.5; it must be an integer or null"),
        ({"outcome": "fine"},
        'outcome is "fine"; it must be one of "measured", "unsupported", "wrong", "failed"'),
        ({"ranks": 0}, "ranks is 0; it must be at least 1"),
        ({"bandwidth_bytes_per_s": 0}, "bandwidth_bytes_per_s is 0; it must be greater than 0"),
        ({"benchmark": "copy"}, 'benchmark is "copy"; it must match'),
        ({"link_class": "NVX"}, 'link_class is "NVX"; it must match'),
        ({"reason": ""}, 'reason is ""; it must not be empty'),
        ({"outcome": "wrong"}, "wrong is 0; it must be at least 1"),
    ],
)  # fmt: skip
def test_value_and_what_would_be_right_are_said(changes, said):
    record = example("measurement") | changes
    assert not schema.is_valid(record)
    assert said in schema.explain(record)


def test_place_of_a_nested_value_is_said():
    record = example("measurement")
    record["device_states"][0]["power_w"] = [1]
    assert "device_states[0].power_w is [1]; it must have at least 2 entries" in schema.explain(record)
    record = example("measurement")
    record["time_s"]["confidence"] = 1
    assert "time_s.confidence is 1; it must be less than 1" in schema.explain(record)


@pytest.mark.parametrize(
    ("benchmark", "key"),
    [("p2p.route", "via"), ("p2p.fanout", "pattern"), ("p2p.host", "memory"), ("p2p.latency", "method"),
     ("pt2pt.latency", "placement"), ("collective.broadcast", "library"), ("p2p.copy", "engine")],
)  # fmt: skip
def test_axes_of_a_benchmark_are_required(benchmark, key):
    record = example("measurement") | {"benchmark": benchmark}
    assert schema.is_valid(record)
    del record[key]
    assert not schema.is_valid(record)
    assert f"the key {key} is missing" in schema.explain(record)


@pytest.mark.parametrize("outcome", ["unsupported", "wrong", "failed"])
def test_a_hole_needs_its_reason(outcome):
    record = example("measurement") | {"outcome": outcome, "wrong": 1}
    del record["time_s"], record["timer"]
    assert schema.is_valid(record)
    del record["reason"]
    assert not schema.is_valid(record)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ([], "the line is []; it must be an object"),
        (7, "the line is 7; it must be an object"),
        ({}, "the key record is missing"),
        ({"record": "spam"}, 'record is "spam"; it must be one of environment'),
        ({"record": ["end"]}, 'record is ["end"]; it must be one of environment'),
    ],
)
def test_what_is_no_record_is_said(line, said):
    assert not schema.is_valid(line)
    assert schema.explain(line).startswith(said)


def test_number_of_further_errors_is_said():
    record = example("link")
    del record["source"], record["destination"]
    assert schema.explain(record).endswith("(and 1 more)")


def test_explaining_a_valid_record_is_a_mistake():
    with pytest.raises(ValueError, match="is valid"):
        schema.explain(copy.deepcopy(example("end")))
