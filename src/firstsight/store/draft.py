"""The next state, while it is being made: edits one after another, none of which counts until all are in the log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

import numpy as np

from firstsight.core.errors import SettingsError
from firstsight.core.protocols import Register
from firstsight.store import edits
from firstsight.store.events import BY_RULE, Assigned, Event, Forgotten, Recorded, Undone
from firstsight.store.log import Log
from firstsight.store.state import State
from firstsight.store.teaching import follow


class Draft:
    """A copy of a state that events are applied to. Every verb sees what those before it did."""

    def __init__(self, log: Log, state: State) -> None:
        self.log = log
        self.start = state.catalogue.last
        self.catalogue = state.catalogue.copy()
        self.built = None if state.built is None else state.built.copy()
        self._build = state.build
        self.events: list[Event] = []  # to be appended

    def state(self) -> State:
        """What this has become."""
        return State(self.catalogue, self.built, self._build)

    @property
    def register(self) -> Register:
        """The register to learn and found with."""
        if self.built is None:
            assert self.catalogue.last == self.start or not self.events, "built from the log, which has no drafts"
            self.built = self._build(self.catalogue)
        return self.built

    def fetch(self, number: int) -> Recorded:
        """An event of the log, or of this draft."""
        if number > self.start and number - self.start <= len(self.events):
            return Recorded(number, 0, self.events[number - self.start - 1])
        return self.log.event(number)

    def take(self, recorded: Recorded) -> None:
        """The next event takes effect, on the catalogue and on the register if there is one."""
        before = self.catalogue if self.built is None or recorded.kind in BY_RULE else self.catalogue.copy()
        self.catalogue.apply(recorded, self.fetch)
        if self.built is not None and not follow(self.built, before, self.catalogue, recorded, self.fetch):
            self.built = None

    def _edit(self, event: Event) -> Event:
        self.events.append(event)
        self.take(Recorded(self.catalogue.last + 1, 0, event))
        return event

    # ------------------------------------------------------------------ what people say

    def rename(self, category: str, name: str) -> Event:
        """Call a category something else; its id stays."""
        return self._edit(edits.rename(self.catalogue, category, name))

    def merge(self, category: str, into: str) -> Event:
        """Make a category part of another: its images belong there, and what its centres match goes there."""
        return self._edit(edits.merge(self.catalogue, category, into))

    def split(self, images: Sequence[int], name: str | None = None) -> Event:
        """Give images a category of their own, with a centre of its own."""
        register = self.register
        images = edits.images(self.catalogue, images)
        features = np.stack([register.feature_from(self._assigned(number).feature) for number in images])
        centre = register.feature_bytes(register.centre_of(features))
        return self._edit(edits.split(self.catalogue, images, register.next_name(), name, centre))

    def move(self, images: Sequence[int], to: str) -> Event:
        """Put images into a category, for good."""
        return self._edit(edits.move(self.catalogue, images, to))

    def confirm(self, images: Sequence[int]) -> Event:
        """Say that images are where they belong."""
        return self._edit(edits.confirm(self.catalogue, images))

    def change_radius(self, radius: int | float) -> Event:
        """Set how far categories reach, for the images to come."""
        self.register.copy().radius = radius  # which refuses what cannot be
        if self.log.header["register"]["radius"] in (None, inf):
            raise SettingsError("this register was made to never discover, whatever its radius", "start a new one")
        return self._edit(edits.change_radius(self.catalogue, radius))

    def undo(self, event: int | None = None) -> Event:
        """Take back an event: the one named, or the last edit by a person. Refused where later ones depend on it."""
        return self._edit(edits.undo(self.catalogue, event, self.fetch, self._by_people()))

    def redo(self, event: int | None = None) -> Event:
        """Bring back what was taken back."""
        return self._edit(edits.redo(self.catalogue, event, self.fetch, self._by_people()))

    def can_be_undone(self, event: int) -> bool:
        """Whether an event is one to undo: not undone already, no undo itself, and not for good."""
        return event not in self.catalogue.undone and not isinstance(self.fetch(event).event, Undone | Forgotten)

    def _by_people(self) -> list[Recorded]:
        return [self.fetch(number) for number in self.catalogue.edits]

    def _assigned(self, number: int) -> Assigned:
        event = self.fetch(number).event
        assert isinstance(event, Assigned)
        return event


Edit = Callable[[Draft], object]
