"""YAML files as people mean them: the scalars of YAML 1.2, and no key twice."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

import yaml

from weft.errors import BadInput

# libyaml where PyYAML was built with it: every job of a campaign reads the configuration twice.
_SafeLoader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_SafeLoader):
    """Reads ``on`` and ``1:0`` as the words they are; to YAML 1.1 they are a boolean and the number 60."""

    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {}


for _tag, _pattern, _first in (
    ("bool", r"^(true|false)$", "tf"),
    ("int", r"^[-+]?[0-9]+$", "-+0123456789"),
    ("float", r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$", "-+.0123456789"),
    ("null", r"^(null|~|)$", ["n", "~", ""]),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_first))


def _integer(_loader: _Loader, node: yaml.ScalarNode) -> int:
    return int(node.value)


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    keys: set[Any] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node)
        if not isinstance(key, str):
            raise BadInput(
                f"line {key_node.start_mark.line + 1}: the key {key!r} is not a word; put it in quotes."
            )
        if key in keys:
            raise BadInput(
                f"line {key_node.start_mark.line + 1}: the key '{key}' stands here a second time; keep one."
            )
        keys.add(key)
    return {loader.construct_object(k): loader.construct_object(v, deep=True) for k, v in node.value}


_Loader.add_constructor("tag:yaml.org,2002:int", _integer)
_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)


def read(path: Path) -> Any:
    """Return the content of a YAML file.

    Raises BadInput with file and line when it cannot be read, is no YAML, or has a key twice.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except BadInput as problem:
        raise BadInput(f"{path}, {problem}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not a text file in UTF-8.") from None
    except OSError as problem:
        raise BadInput(f"{path} cannot be read: {problem.strerror}.") from None
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        what = getattr(problem, "problem", None) or "it cannot be parsed"
        raise BadInput(f"{path}{where} is not YAML: {what}.") from None


def write(value: Any) -> str:
    """Return ``value`` as YAML, keys in their order, lists of plain values on one line."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


class _Dumper(yaml.SafeDumper):
    """Writes without anchors; quotes what YAML 1.1 would misread, so that any reader understands the file."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _flow_list(dumper: _Dumper, items: list[Any]) -> yaml.Node:
    plain = all(not isinstance(item, (list, dict)) for item in items)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=plain)


_Dumper.add_representer(list, _flow_list)
