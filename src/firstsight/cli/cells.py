"""What the tables of `firstsight categories` say in a cell, and event numbers as people type them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from firstsight.core.errors import SettingsError

if TYPE_CHECKING:
    from firstsight.store.reconsider import Reconsidered
    from firstsight.store.view import View
    from firstsight.store.views import Member


def measured(image: Member | Reconsidered) -> str:
    """How sure the rule is of an image or, where it cannot tell, how near the category is."""
    if image.confidence is not None:
        return f"{image.confidence:.0%} sure"
    return "" if image.distance is None else f"{image.distance:g} (radius {image.radius:g})"


def who(said: Any) -> str:
    """Who put an image somewhere, or made an event: the rule, hindsight, or a person by name."""
    from firstsight.store.authors import Author

    kind, name = (said["author"], said["author_name"]) if isinstance(said, dict) else (said.author, said.author_name)
    return Author(kind, name).in_words


def runner_up(view: View, image: Member) -> str:
    """The category that came next, as people call it, and how far it was where that is a distance."""
    if image.runner_up is None:
        return ""
    name = view.name_of(image.runner_up)
    return name if image.confidence is not None else f"{name} at {image.runner_up_distance:g}"


def from_here(source: str) -> str:
    """A file's name as one would type it here; a forgotten image has none."""
    if not source:
        return "(forgotten)"
    path = Path(source)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else source


def event_numbers(events: list[str], last_event: int) -> list[int]:
    """Event numbers as typed, the highest first."""
    numbers: set[int] = set()
    for each in events:
        first, _, last = each.partition("-")
        last = last if "-" in each else first
        if not (first.isdecimal() and last.isdecimal() and len(each) < 30 and int(first) <= int(last)):
            raise SettingsError(f"{each!r} is no event's number", "give numbers, or ranges such as 120-180")
        numbers.update(range(int(first), max(int(first), min(int(last), last_event)) + 1))
    return sorted(numbers, reverse=True)
