"""Writing TOML for scenario files and grids."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING

from selfclock._core import ScenarioError
from selfclock.scenario.table import plain

if TYPE_CHECKING:
    from collections.abc import Mapping


#: Writes a text: a TOML basic string has the escapes of a JSON string.
_quoted = json.JSONEncoder(ensure_ascii=False).encode


def to_toml(document: Mapping[str, object]) -> str:
    """Write a document of scalars, lists and tables as TOML: top-level tables as sections, deeper ones inline."""
    lines = [f"{_key(key)} = {to_toml_value(value)}" for key, value in document.items() if not _sections(value)]
    for key, value in document.items():
        heading = f"[[{key}]]" if isinstance(value, list) else f"[{key}]"
        for section in _sections(value):
            lines += ["", heading, *(f"{_key(name)} = {to_toml_value(item)}" for name, item in section.items())]
    return "\n".join(lines) + "\n"


@cache
def _key(name: str) -> str:
    """Write a key, quoted unless it consists of letters, digits, "-" and "_"."""
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else _quoted(name)


def _sections(value: object) -> list[dict[str, object]]:
    """Return the tables in a top-level value; empty if it is something else."""
    candidates = value if isinstance(value, list) else [value]
    tables = [candidate for candidate in candidates if isinstance(candidate, dict)]
    return tables if len(tables) == len(candidates) else []


def to_toml_value(value: object) -> str:
    """Write a value as TOML, tables inline; quantities, parts of a scenario and arrays as a file has them."""
    return _written(plain(value))


def _written(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return _quoted(value)
        case list() | tuple():
            return f"[{', '.join(map(_written, value))}]"
        case dict():
            return f"{{ {', '.join(f'{_key(key)} = {_written(item)}' for key, item in value.items())} }}"
        case _:
            raise ScenarioError(f"{value!r}: a scenario holds text, numbers, true, false, lists and tables")
