"""The published field lists, and tables against them: names, types, patterns, ranges, and what refers to what."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from firstsight.core.errors import DataError

Line: TypeAlias = Mapping[str, Any]
Field: TypeAlias = Mapping[str, Any]
EMPTY = (None, "")
BOOLEANS = ("true", "false")


@cache
def published(name: str) -> dict[str, Any]:
    """What a standard says, as facts: `camtrap_dp` or `darwin_core`."""
    found: dict[str, Any] = json.loads((files("firstsight.exports") / f"{name}.json").read_text())
    return found


def check_tables(rules: Mapping[str, Mapping[str, Field]], tables: Mapping[str, Sequence[Line]]) -> None:
    """DataError where a table is not as its standard has it; `rules` are the fields of every table."""
    for table, lines in tables.items():
        check_table(table, rules[table], lines)
        for name, field in rules[table].items():
            other = field.get("reference")
            if other is not None and other in tables:
                key = next(name for name, each in rules[other].items() if each.get("unique"))
                there = {line[key] for line in tables[other]}
                _refuse_if(table, name, [v for v in _given(lines, name) if v not in there], f"{other} has no such")


def check_table(table: str, fields: Mapping[str, Field], lines: Sequence[Line]) -> None:
    """The same of one table by itself."""
    for line in lines:
        if unknown := line.keys() - fields.keys():
            raise DataError(f"{table} has no field {', '.join(sorted(unknown))}")
        if absent := [name for name, each in fields.items() if each.get("required") and line.get(name) in EMPTY]:
            raise DataError(f"{table}: {', '.join(absent)} must be given")
    for name, field in fields.items():
        values = _given(lines, name)
        for what, fits in _rules(field):
            _refuse_if(table, name, [value for value in values if not fits(value)], what)
        if field.get("unique"):
            _refuse_if(table, name, [] if len(set(values)) == len(values) else values[:1], "expected a value once")


def _rules(field: Field) -> list[tuple[str, Callable[[Any], bool]]]:
    """What a value has to be, in words and as a test."""
    kind, form = field["type"], field.get("format", "")
    found: list[tuple[str, Callable[[Any], bool]]] = []
    if kind in ("number", "integer"):
        low, high = field.get("minimum", float("-inf")), field.get("maximum", float("inf"))
        whole = float if kind == "number" else int
        found.append((f"expected {kind}, {low:g} to {high:g}", lambda value: _within(value, whole, low, high)))
    if kind == "datetime":
        found.append((f"expected {form}", lambda value: _dated(value, form)))
    if kind == "boolean":
        found.append(("expected true or false", lambda value: value in BOOLEANS))
    if allowed := field.get("enum"):
        found.append((f"allowed: {', '.join(allowed)}", lambda value: value in allowed))
    if pattern := field.get("pattern"):
        found.append((f"expected {pattern}", lambda value: re.match(pattern, str(value)) is not None))
    return found


def _within(value: Any, kind: Callable[[str], float], low: float, high: float) -> bool:
    try:
        return low <= kind(str(value)) <= high
    except ValueError:
        return False


def _dated(value: Any, form: str) -> bool:
    try:
        datetime.strptime(str(value), form)
    except ValueError:
        return False
    return True


def _given(lines: Sequence[Line], name: str) -> list[Any]:
    return [value for line in lines if (value := line.get(name)) not in EMPTY]


def _refuse_if(table: str, name: str, wrong: Sequence[Any], what: str) -> None:
    if wrong:
        raise DataError(f"{table}: {name} is {wrong[0]!r}; {what}")
