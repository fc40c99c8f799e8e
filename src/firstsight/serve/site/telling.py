"""Events for people who look at a page: names instead of ids, and which edit can be taken back."""

from __future__ import annotations

from dataclasses import dataclass

from firstsight.store.authors import PERSON, Author
from firstsight.store.events import (
    Confirmed,
    Created,
    Discarded,
    Event,
    Founded,
    Merged,
    Moved,
    Promoted,
    Recorded,
    Renamed,
    Split,
    Undone,
)
from firstsight.store.view import View
from firstsight.store.views import describe, toggled

SEVERAL = 3  # events of one command that are told


@dataclass(frozen=True)
class Told:
    """An edit: its number, what it did, by whom and when."""

    event: int
    what: str
    time: str
    by: str
    undone: bool = False  # taken back by now
    back: bool = False  # it is the taking back of another


def told(view: View, recorded: Recorded) -> Told:
    """One event in words."""
    by = Author.of(recorded.event.by)
    what, back = said(view, recorded.event), False
    if isinstance(recorded.event, Undone):
        every = [(verb, said(view, event)) for verb, event in toggled(view, recorded)]
        back = every[0][0] == "undone"
        more = f" and {len(every) - SEVERAL} more" if len(every) > SEVERAL else ""
        what = f"{'Took back' if back else 'Brought back'}: {'; '.join(each for _, each in every[:SEVERAL])}{more}"
    who = by.in_words if by.kind != PERSON.kind or by.name else ""
    return Told(recorded.number, what, recorded.time, who, view.is_undone(recorded.number), back)


def last_edit(view: View) -> Told | None:
    """The last command of a person, or its undo; None where nobody has said anything yet."""
    for number in reversed(view.catalogue.edits):
        recorded = view.event(number)
        if Author.of(recorded.event.by).kind == PERSON.kind:
            return told(view, view.event(recorded.command))
    return None


def said(view: View, event: Event) -> str:
    """An event in a few words, with the names categories have today."""
    names = view.catalogue.categories
    match event:
        case Created() | Founded():
            return f"{names[event.category].name} was founded"
        case Renamed():
            return f"{event.old} is called {event.new}"
        case Merged():
            return f"Merged {names[event.category].name} into {view.name_of(event.into)}"
        case Split():
            return f"Split {_images(len(event.images))} off as {names[event.category].name}"
        case Moved():
            return f"Moved {_images(len(event.images))} to {view.name_of(event.to)}"
        case Confirmed():
            return f"Confirmed {_images(len(event.images))}"
        case Promoted():
            return f"{names[event.category].name} is known from now on"
        case Discarded():
            gone = f", and {', '.join(event.names)}" if event.names else ""
            return f"Discarded {_images(len(event.images))}{gone}"
        case _:
            return describe(event)


def _images(count: int) -> str:
    return "1 image" if count == 1 else f"{count:,} images"
