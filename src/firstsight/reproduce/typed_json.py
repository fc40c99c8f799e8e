"""JSON read into dataclasses, field by field; what does not fit is named by where it stands.

Knows the types results are made of: str, bool, int, float, None, unions of those, lists, tuples, mappings with text
as keys, and dataclasses of them. JSON has no not-a-number: a float that is null was not there to be measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from math import nan
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


class FieldError(ValueError):
    """A field is missing, unknown, or not what it should be."""


def from_json(kind: type[T], value: Any, where: str = "") -> T:
    """The value as that type; FieldError says which part of it is not."""
    return _read(kind, value, where)  # type: ignore[no-any-return]


def _read(kind: Any, value: Any, where: str) -> Any:
    if kind is Any:
        return value
    if is_dataclass(kind) and isinstance(kind, type):
        return _object(kind, value, where)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _one_of(arguments, value, where)
    if origin is list:
        return [_read(arguments[0], part, f"{where}[{i}]") for i, part in enumerate(_checked(list, value, where))]
    if origin is tuple:
        return _tuple(arguments, _checked(list, value, where), where)
    if origin in (dict, Mapping):
        parts = _checked(dict, value, where).items()
        return {name: _read(arguments[1], part, _inside(where, name)) for name, part in parts}
    if kind is float:
        return nan if value is None else _number(value, where)
    return _checked(kind, value, where)


def _object(kind: type, value: Any, where: str) -> Any:
    """A dataclass: every field it needs, and none that it has not."""
    given, hints = _checked(dict, value, where), _hints(kind)
    if unknown := [name for name in given if name not in hints]:
        raise FieldError(f"{_inside(where, unknown[0])} is no field; there are: {', '.join(hints)}")
    content = {}
    for each in fields(kind):
        if each.name in given:
            content[each.name] = _read(hints[each.name], given[each.name], _inside(where, each.name))
        elif each.default is MISSING and each.default_factory is MISSING:
            raise FieldError(f"{_inside(where, each.name)} is missing")
    return kind(**content)


def _one_of(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    """The first of these types that fits; where none does, what is wrong with the one that was meant."""
    if value is None and NoneType in kinds:
        return None
    tried = [kind for kind in kinds if kind is not NoneType]
    for kind in tried[:-1]:
        try:
            return _read(kind, value, where)
        except FieldError:
            continue
    return _read(tried[-1], value, where)


def _tuple(kinds: tuple[Any, ...], values: list[Any], where: str) -> tuple[Any, ...]:
    if kinds[-1] is Ellipsis:
        kinds = (kinds[0],) * len(values)
    if len(kinds) != len(values):
        raise FieldError(f"{where or 'it'} has {len(values)} parts instead of {len(kinds)}")
    return tuple(_read(kind, part, f"{where}[{i}]") for i, (kind, part) in enumerate(zip(kinds, values, strict=True)))


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FieldError(f"{where or 'it'} is {_shown(value)}; expected a number")
    return float(value)


def _checked(kind: Any, value: Any, where: str) -> Any:
    if type(value) is not kind:
        expected = {str: "text", int: "a whole number", bool: "true or false", list: "a list", dict: "an object"}
        raise FieldError(f"{where or 'it'} is {_shown(value)}; expected {expected.get(kind, kind.__name__)}")
    return value


def _shown(value: Any) -> str:
    text = "null" if value is None else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _inside(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
