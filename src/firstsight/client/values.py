"""What a service says in JSON, as the values that a store gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import inf
from typing import Any, TypeVar

from firstsight.core.assignments import Assignment, Candidate
from firstsight.store.splits import SplitSuggestion
from firstsight.store.views import Member, Summary

Value = TypeVar("Value")


@dataclass(frozen=True)
class Event:
    """Something that was recorded. `command` is the number that undo takes."""

    number: int
    time: str
    kind: str
    what: str
    author: str
    author_name: str
    command: int
    undone: bool = False


def event(said: Mapping[str, Any]) -> Event:
    return value(Event, {**said, "number": said["event"]})


def assignment(said: Mapping[str, Any]) -> Assignment:
    """An answer as a discoverer gives it."""
    other, name = said["runner_up"], said["name"]
    given = {
        **said,
        "radius": inf if said["radius"] is None else said["radius"],
        "runner_up": other and Candidate(other["category"], inf if other["distance"] is None else other["distance"]),
        "name": None if name == said["category"] else name,
    }
    return value(Assignment, given)


def summary(said: Mapping[str, Any]) -> Summary:
    return value(Summary, {**said, "merged": tuple(said["merged"])})


def member(said: Mapping[str, Any]) -> Member:
    radius = inf if said["radius"] is None else said["radius"]
    return value(Member, {**said, "radius": radius, "box": tuple(said["box"])})


def halves(said: Mapping[str, Any]) -> SplitSuggestion:
    return value(SplitSuggestion, {**said, "images": tuple(said["images"]), "rest": tuple(said["rest"])})


def value(kind: type[Value], said: Mapping[str, Any]) -> Value:
    """A value of a kind, from those fields that it has."""
    names = [each.name for each in fields(kind)]  # type: ignore[arg-type]
    return kind(**{name: said[name] for name in names if name in said})
