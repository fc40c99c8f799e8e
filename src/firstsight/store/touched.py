"""The history of one category, without reading the whole log: which edits are about which categories.

Edits never change and are only added, so what is known of a log is kept as long as it is open, and grows with it.
"""

from __future__ import annotations

from threading import RLock
from typing import NamedTuple
from weakref import WeakKeyDictionary

from firstsight.store.events import Confirmed, Recorded, Undone
from firstsight.store.log import Log
from firstsight.store.view import View
from firstsight.store.views import named_in


class Edit(NamedTuple):
    """What an edit is about."""

    number: int
    categories: frozenset[str]
    images: frozenset[int]  # that it confirms, wherever they are


_edits: WeakKeyDictionary[Log, list[Edit]] = WeakKeyDictionary()
_turn = RLock()


def history(view: View, category: str, limit: int = 50) -> list[Recorded]:
    """The founding of a category by its id and the edits that are about it, or confirm its images, the last first."""
    catalogue = view.catalogue
    parts, own = set(catalogue.parts(catalogue.resolve(category))), set(view.images(catalogue.resolve(category)))
    about = [
        each.number for each in _known(view) if not each.categories.isdisjoint(parts) or not each.images.isdisjoint(own)
    ]
    founded = {catalogue.categories[each].founded for each in parts} - {0}
    return [view.event(number) for number in sorted({*about, *founded}, reverse=True)[:limit]]


def _known(view: View) -> list[Edit]:
    """What is known of the edits of a view, those that are new to us read from the log."""
    numbers = view.catalogue.edits
    with _turn:
        known = _edits.setdefault(view.log, [])
        by_number = {each.number: each for each in known}
        for number in numbers[len(known) :]:
            edit = _edit(view, view.event(number), by_number)
            by_number[number] = edit
            known.append(edit)
        return known[: len(numbers)]


def _edit(view: View, recorded: Recorded, known: dict[int, Edit]) -> Edit:
    event = recorded.event
    if isinstance(event, Undone):  # it is about what those are that it takes back
        targets = [known.get(each) or _edit(view, view.event(each), known) for each in event.events]
        categories = frozenset(each for target in targets for each in target.categories)
        return Edit(recorded.number, categories, frozenset(each for target in targets for each in target.images))
    confirmed = frozenset(event.images) if isinstance(event, Confirmed) else frozenset[int]()
    return Edit(recorded.number, frozenset(named_in(event)), confirmed)
