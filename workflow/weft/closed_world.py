"""Settings against their JSON Schema: one sentence for the first thing wrong, then the defaults filled in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema_rs

from weft.errors import BadInput, did_you_mean

SCHEMAS = Path(__file__).parent.parent / "schemas"
TYPES = {
    "object": "a mapping of keys to values",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


def schema(name: str) -> dict[str, Any]:
    """Return the schema ``name``: campaign, system or mpi."""
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))


def resolve(part: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """Return ``part`` with its reference into ``root`` replaced; what stands beside the reference wins."""
    if "$ref" not in part:
        return part
    target = root["$defs"][part["$ref"].removeprefix("#/$defs/")]
    return {**resolve(target, root), **{key: value for key, value in part.items() if key != "$ref"}}


def check(settings: Any, name: str, file: str) -> None:
    """Raise BadInput when ``settings`` break the schema ``name``: file, key, value, what would be right."""
    root = schema(name)
    errors = list(jsonschema_rs.Draft202012Validator(root).iter_errors(settings))
    if errors:
        # The outermost first: inside a wrong thing nothing is news. A misspelt key is a missing one, too.
        error = min(errors, key=lambda e: (len(e.instance_path), e.schema_path[-1] != "additionalProperties"))
        raise BadInput(
            _sentence(root, settings, list(error.instance_path), str(list(error.schema_path)[-1]), file)
        )


def fill_defaults(settings: Any, part: dict[str, Any], root: dict[str, Any]) -> Any:
    """Return ``settings`` with every key that has a default in the schema, in the order of the schema."""
    part = resolve(part, root)
    if isinstance(settings, list):
        return [fill_defaults(item, part.get("items", {}), root) for item in settings]
    if not isinstance(settings, dict):
        return settings
    known = {key: resolve(value, root) for key, value in part.get("properties", {}).items()}
    others = part.get("additionalProperties") or {}
    filled = {}
    for key, value in known.items():
        if key in settings or "default" in value:
            filled[key] = fill_defaults(settings.get(key, value.get("default")), value, root)
    for key in settings:
        if key not in known:
            filled[key] = fill_defaults(settings[key], others, root)
    return filled


def key_path(path: Sequence[str | int]) -> str:
    """Return a path into settings as people write it: ``experiments.p2p_copy.sweep.sizes_bytes[1]``."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def shown(value: Any) -> str:
    """Return ``value`` as it stands in a sentence."""
    if isinstance(value, (dict, list)):
        return TYPES["object"] if isinstance(value, dict) else TYPES["array"]
    if value is None or isinstance(value, bool):
        return str(value).lower() if value is not None else "null"
    return f"'{value}'" if str(value).isprintable() else repr(value)


def _at(part: dict[str, Any], path: Sequence[str | int], root: dict[str, Any]) -> dict[str, Any]:
    for step in path:
        part = resolve(part, root)
        if isinstance(step, int):
            part = part.get("items", {})
        else:
            part = part.get("properties", {}).get(step) or part.get("additionalProperties") or {}
    return resolve(part, root)


def _sentence(root: dict[str, Any], settings: Any, path: list[str | int], keyword: str, file: str) -> str:
    value = settings
    for step in path:
        value = value[step]
    part = _at(root, path, root)
    where = f"{file}: {key_path(path)}" if path else file
    if keyword == "additionalProperties":
        known = list(part.get("properties", {}))
        key = next(key for key in value if key not in known)
        guess = did_you_mean(key, known)
        guess = guess or f"; known here: {', '.join(known)}."
        return f"{file}: there is no key '{key_path([*path, key])}'{guess}"
    if keyword == "required":
        key = next(key for key in part["required"] if key not in value)
        return f"{where} lacks the key '{key}': {_about(resolve(part['properties'][key], root))}"
    if keyword in ("minItems", "minProperties"):
        return f"{where} is empty, but needs at least one entry."
    if keyword == "uniqueItems":
        twice = next(item for n, item in enumerate(value) if item in value[:n])
        return f"{where} has {shown(twice)} twice; keep one."
    if "propertyNames" in part and keyword == "pattern" and isinstance(value, dict):
        names = resolve(part["propertyNames"], root)["pattern"]
        return f"{where} has a name that is none; names must match {names}."
    return f"{where} is {shown(value)}, but must be {_expected(part, value, root)}"


def _about(part: dict[str, Any]) -> str:
    return part.get("description", "see docs/configuration.md.")


def _expected(part: dict[str, Any], value: Any, root: dict[str, Any]) -> str:
    if "enum" in part:
        choices = [str(choice) for choice in part["enum"]]
        guess = did_you_mean(value, choices) if isinstance(value, str) else ""
        return f"one of {', '.join(choices)}{guess or '.'}"
    types = part.get("type", "object")
    types = [types] if isinstance(types, str) else types
    if part.get("description", "")[:1].islower():  # a noun phrase that says what a value looks like
        return f"{part['description']}."
    alternatives = []
    for kind in types:
        word = TYPES[kind]
        if kind == "string" and "pattern" in part:
            word = part.get("form") or words(part["pattern"])
        if kind in ("integer", "number"):
            word += bounds(part)
        if kind == "array" and "items" in part:
            items = resolve(part["items"], root)
            choices = f"one of {', '.join(items['enum'])}" if "enum" in items else items["description"]
            word = f"a list, each item {choices}"
        alternatives.append(word)
    return " or ".join(alternatives) + "."


def bounds(part: dict[str, Any]) -> str:
    """Return the bounds of a number as words, with a space before, or nothing."""
    limits = [
        f"{word} {part[key]}"
        for key, word in (
            ("minimum", "at least"),
            ("exclusiveMinimum", "above"),
            ("maximum", "at most"),
            ("exclusiveMaximum", "below"),
        )
        if key in part
    ]
    return f" {' and '.join(limits)}" if limits else ""


def words(pattern: str) -> str:
    """Return what a pattern of this package's schemas asks for: one of some words, or a size."""
    choices = pattern.strip("^$()").split("|")
    return (
        " or ".join(f"'{choice}'" for choice in choices)
        if all(choice.replace("_", "").isalpha() for choice in choices)
        else "a size as in 64KiB"
    )
