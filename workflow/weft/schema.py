"""The record schema: checks one parsed line against it and says in words what is wrong with it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

RECORD_SCHEMA = Path(__file__).resolve().parent.parent / "schemas" / "record.schema.json"

_TYPE_NAMES = {
    "integer": "an integer",
    "number": "a number",
    "string": "a text",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}

# What would be right, by the rule that a value broke.
_RIGHT = {
    "type": "be {all}",
    "enum": "be one of {all}",
    "minimum": "be at least {limit}",
    "exclusiveMinimum": "be greater than {limit}",
    "exclusiveMaximum": "be less than {limit}",
    "pattern": "match {pattern}",
    "minItems": "have at least {limit} entries",
    "maxItems": "have at most {limit} entries",
    "minLength": "not be empty",
}


@cache
def record_schema() -> dict[str, Any]:
    """Return the JSON Schema of one line of a record file."""
    return json.loads(RECORD_SCHEMA.read_text(encoding="utf-8"))


@cache
def _validators() -> dict[str, jsonschema_rs.Validator]:
    """Return one validator per record type: faster than the whole schema, and it names only the errors that
    matter.
    """
    schema = record_schema()
    return {
        kind: jsonschema_rs.validator_for(
            {"$schema": schema["$schema"], "$ref": f"#/$defs/{kind}", "$defs": schema["$defs"]}
        )
        for kind in schema["properties"]["record"]["enum"]
    }


def is_valid(record: Any) -> bool:
    """Say whether a parsed line is a record by the schema."""
    kind = record.get("record") if isinstance(record, dict) else None
    validator = _validators().get(kind) if isinstance(kind, str) else None
    return validator is not None and validator.is_valid(record)


def explain(record: Any) -> str:
    """Say what is wrong with a record that is not valid: the key, its value, and what would be right.

    The result is the rest of a sentence that begins with the place of the line, without its full stop.
    """
    if not isinstance(record, dict):
        return f"the line is {_show(record)}; it must be an object"
    kind = record.get("record")
    kinds = record_schema()["properties"]["record"]["enum"]
    if "record" not in record:
        return f"the key record is missing; it must be one of {', '.join(kinds)}"
    if not isinstance(kind, str) or kind not in kinds:
        return f"record is {_show(kind)}; it must be one of {', '.join(kinds)}"
    errors = list(_validators()[kind].iter_errors(record))
    if not errors:
        raise ValueError("the record is valid")
    more = len(errors) - 1
    return f"{kind}: {_sentence(errors[0])}" + (f" (and {more} more)" if more else "")


def _sentence(error: jsonschema_rs.ValidationError) -> str:
    rule, facts = error.kind.name, error.kind.as_dict()
    place = _place(error.instance_path)
    if rule == "required":
        return f"the key {_place([*error.instance_path, facts['property']])} is missing; it must be there"
    if rule == "additionalProperties":
        keys = [_place([*error.instance_path, key]) for key in facts["unexpected"]]
        return f"unknown key {', '.join(keys)}; only the keys of the record schema are allowed"
    if rule == "type":
        facts["all"] = " or ".join(_TYPE_NAMES[name] for name in sorted(facts["types"]))
    elif rule == "enum":
        facts["all"] = ", ".join(map(_show, facts["options"]))
    right = f"it must {_RIGHT[rule].format(**facts)}" if rule in _RIGHT else error.message
    return f"{place} is {_show(error.instance)}; {right}"


def _place(path: list[str | int]) -> str:
    place = ""
    for step in path:
        place += f"[{step}]" if isinstance(step, int) else f".{step}" if place else step
    return place or "the line"


def _show(value: Any, longest: int = 60) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= longest else text[: longest - 1] + "…"
