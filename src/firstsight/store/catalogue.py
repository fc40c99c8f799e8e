"""What the log says, folded: events in the order of the log, each done, taken back or brought back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from firstsight.store.columns import Column
from firstsight.store.contents import key_of
from firstsight.store.events import (
    Assigned,
    Confirmed,
    Created,
    Discarded,
    Event,
    Forgotten,
    Founded,
    FoundEmpty,
    Merged,
    Moved,
    Promoted,
    RadiusChanged,
    Recentred,
    Recorded,
    Relocated,
    Renamed,
    Split,
    Undone,
)
from firstsight.store.holdings import AWAY, COLUMNS, DISCARDED, GONE, PLACED, Category, Holdings

__all__ = ["Catalogue", "Category"]


class Catalogue(Holdings):
    """Holdings that follow a log. `apply` takes events in its order."""

    def apply(self, recorded: Recorded, fetch: Callable[[int], Recorded]) -> None:
        """The next event of the log takes effect. `fetch` finds events that an Undone names."""
        assert recorded.number == self.last + 1, f"event {recorded.number} after {self.last}"
        event = recorded.event
        if isinstance(event, Undone):
            for number in event.events:
                self._toggle(fetch(number), fetch)
        else:
            self.do(recorded.number, event)
        if isinstance(event, Assigned):
            self.date(recorded.number, recorded.at)
        if not recorded.by_rule and not isinstance(event, Forgotten):
            self._first = {}
            self._mine("edits").append(recorded.number)
        self.last = recorded.number

    def _toggle(self, recorded: Recorded, fetch: Callable[[int], Recorded]) -> None:
        """Take an event back, or bring back what an Undone took."""
        self._mine("undone").add(recorded.number)
        if isinstance(recorded.event, Undone):
            for number in reversed(recorded.event.events):
                self.undone.discard(number)
                self.do(number, fetch(number).event)
        else:
            self.take_back(recorded.number, recorded.event)

    def do(self, number: int, event: Event) -> None:
        """An event takes effect, for the first time or again."""
        match event:
            case Assigned():
                self._put(number, event)
            case FoundEmpty():
                self._see_empty(number, event)
            case Created():
                self._found(Category(event.category, event.category, False, founded=number, centre=event.feature))
            case Founded():
                made = Category(event.category, event.name, True, founded=number, centre=event.feature, by_person=True)
                self._found(made)
            case Renamed():
                self._name(event.category, event.new)
            case Merged():
                self._redirect(event.category, event.into)
            case Split():
                made = Category(event.category, event.name, False, founded=number, centre=event.feature, by_person=True)
                self._found(made)
                self._place(event.images, [event.category] * len(event.images), [event.by] * len(event.images))
            case Moved():
                self._place(event.images, [event.to] * len(event.images), [event.by] * len(event.images))
            case Confirmed():
                homes = [self.home(image) for image in event.images]
                self._place(event.images, homes, [event.by] * len(event.images))
            case Promoted():
                self._promote(event.category, known=True)
            case Discarded():
                self._discard(event.images)
                for id in event.categories:
                    self._lose(id)
            case Recentred():
                self._recentre(event.category, event.feature)
            case Relocated():
                self._relocate(event.images, event.sources)
            case RadiusChanged():
                self.radius = event.new
            case Forgotten():
                for image in event.images:
                    self.keys[self._index(image)] = key_of(b"")
                self._relocate(event.images, [""] * len(event.images))
            case Undone():
                raise AssertionError("an Undone is toggled, not done")

    def take_back(self, number: int, event: Event) -> None:
        """An event has no effect any more."""
        match event:
            case Assigned() | FoundEmpty():
                self._flag(self._index(number), self.flags[self._index(number)] | GONE)
            case Created() | Founded():
                self._lose(event.category)
            case Renamed():
                self._name(event.category, event.old)
            case Merged():
                self._redirect(event.category, None)
            case Split():
                self._lose(event.category)
                self._place(event.images, event.homes, event.authors)
            case Moved():
                self._place(event.images, event.homes, event.authors)
            case Confirmed():
                self._place(event.images, [self.home(image) for image in event.images], event.authors)
            case Promoted():
                self._promote(event.category, known=False)
            case Discarded():
                for id in event.categories:
                    self._regain(id)
                self._discard(event.images, discarded=False)
            case Recentred():
                self._recentre(event.category, bytes.fromhex(event.old))
            case Relocated():
                self._relocate(event.images, event.old)
            case RadiusChanged():
                self.radius = event.old
            case Undone() | Forgotten():
                raise AssertionError(f"{type(event).__name__} cannot be taken back")

    # ------------------------------------------------------------------ comparing and keeping

    def state(self) -> dict[str, Any]:
        """Everything, as JSON and bytes: for snapshots, and to compare two catalogues by."""
        return {
            "last": self.last,
            "radius": self.radius,
            "categories": [{**asdict(c), "centre": c.centre.hex()} for c in self.categories.values()],
            "names": dict(self.names),
            "undone": sorted(self.undone),
            "edits": list(self.edits),
            "sources": {str(number): source for number, source in sorted(self.sources.items())},
            "authored": list(self.authored),
            **{name: getattr(self, name).values().astype(kind).tobytes() for name, kind in COLUMNS.items()},
        }

    @classmethod
    def of(cls, state: dict[str, Any]) -> Catalogue:
        """The catalogue a state describes."""
        catalogue = cls([], state["radius"])
        for values in state["categories"]:
            catalogue._found(Category(**{**values, "centre": bytes.fromhex(values["centre"])}))
        catalogue.merged = {c.id: c.merged_into for c in catalogue.categories.values() if c.merged_into is not None}
        catalogue.last, catalogue.undone, catalogue.names = state["last"], set(state["undone"]), dict(state["names"])
        catalogue.edits, catalogue.authored = list(state["edits"]), list(state["authored"])
        catalogue.sources = {int(number): source for number, source in state["sources"].items()}
        columns = {name: np.frombuffer(state[name], dtype=kind) for name, kind in COLUMNS.items()}
        catalogue._set_columns({name: Column(kind, columns[name]) for name, kind in COLUMNS.items()})
        catalogue.placed_images = int((columns["flags"] & (PLACED | AWAY) == PLACED).sum())
        catalogue.discarded_images = int((columns["flags"] & AWAY == DISCARDED).sum())
        return catalogue

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Catalogue) and self.state() == other.state()

    __hash__ = None  # type: ignore[assignment]
