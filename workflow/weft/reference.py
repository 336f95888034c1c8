"""docs/configuration.md, written from the schemas: every key with its meaning, unit, values and default."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weft import closed_world

_HEAD = """# Configuration

What is measured stands in `config/campaigns/NAME.yaml`, where in `config/systems/NAME.yaml`, and how its MPI
is started in `config/mpi/NAME.yaml`. `make campaign SYSTEM=NAME CAMPAIGN=NAME` measures it. A key that is not
listed here is refused, and so is a value of another type or unit. What was asked for, with every default,
lies beside the results as `config.resolved.yaml`.

This page is written from workflow/schemas: `PYTHONPATH=workflow .venv/bin/python -m weft config --reference`.
"""
_TABLE = "| {} | what it is | unit | values | default |\n|---|---|---|---|---|\n"
_Schema = dict[str, Any]


def page() -> str:
    """Return docs/configuration.md."""
    parts = [_HEAD]
    for name in ("campaign", "system", "mpi"):
        root = closed_world.schema(name)
        experiments = root["properties"].pop("experiments", None)
        parts.append(f"\n## {root['title']}\n\n{root['description']}\n\n{_TABLE.format('key')}")
        parts.extend(_rows(root, root))
        if experiments:
            parts.extend(_experiments(experiments, root))
    return "".join(parts)


def _experiments(experiments: _Schema, root: _Schema) -> Iterator[str]:
    """The experiments, then each axis once, however many experiments have it."""
    yield f"\n### `experiments`\n\n{experiments['description']} Each has the axes listed beside it.\n\n"
    yield "| experiment | what it is | axes |\n|---|---|---|\n"
    axes: dict[str, _Schema] = {}
    for name, experiment in experiments["properties"].items():
        sweep = closed_world.resolve(experiment["additionalProperties"], root)
        keys = ", ".join(f"`{key}`" for key in sweep["properties"])
        yield f"| `{name}` | {experiment['description']} | {keys} |\n"
        for key, axis in sweep["properties"].items():
            required = key in sweep.get("required", [])
            # The same key may mean another thing elsewhere: pairs of devices, pairs of ranks.
            row = next(_rows({"properties": {key: axis}, "required": [key] if required else []}, root))
            axes[row] = axis
    yield "\n" + _TABLE.format("axis") + "".join(sorted(axes))


def _rows(part: _Schema, root: _Schema, prefix: str = "") -> Iterator[str]:
    for key, reference in part["properties"].items():
        value = closed_world.resolve(reference, root)
        nested = "properties" in value
        default = f"`{_shown(value['default'])}`" if "default" in value else ""
        cells = [
            f"`{prefix}{key}`",
            value["description"],
            value.get("unit", ""),
            "its keys" if nested else _values(value, root),
            "" if nested else "required" if key in part.get("required", []) else default,
        ]
        yield f"| {' | '.join(cells)} |\n"
        if nested:
            yield from _rows(value, root, f"{prefix}{key}.")


def _values(part: _Schema, root: _Schema) -> str:
    if "enum" in part:
        return ", ".join(f"`{choice}`" for choice in part["enum"])
    types = part["type"] if isinstance(part["type"], list) else [part["type"]]
    return ", or ".join(_type(kind, part, root) for kind in types)


def _type(kind: str, part: _Schema, root: _Schema) -> str:
    if kind == "array":
        items = closed_world.resolve(part["items"], root)
        return (
            f"a list; an item is {items['description'] if 'description' in items else _values(items, root)}"
        )
    if kind == "object":
        item = closed_world.resolve(part["additionalProperties"], root)
        return f"a mapping of names to {'lists of words' if item['type'] == 'array' else 'texts'}"
    if kind == "string" and "pattern" in part:
        return part.get("form") or closed_world.words(part["pattern"])
    return closed_world.TYPES[kind] + (closed_world.bounds(part) if kind in ("integer", "number") else "")


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
