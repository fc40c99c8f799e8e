"""The next state, while it is being made: edits one after another, none of which counts until all are in the log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf

import numpy as np

from firstsight.core.errors import SettingsError
from firstsight.core.protocols import Register
from firstsight.store import edits, undoing
from firstsight.store.authors import By, author
from firstsight.store.events import Assigned, Discarded, Event, Forgotten, Recorded, Undone
from firstsight.store.finding import category as find
from firstsight.store.log import Log
from firstsight.store.state import State
from firstsight.store.teaching import follow


class Draft:
    """A copy of a state that events are applied to. Every verb sees what those before it did."""

    def __init__(self, log: Log, state: State, by: By = None) -> None:
        self.log = log
        self.by = str(author(by))
        self.before = state
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
        before = self.catalogue if self.built is None or recorded.by_rule else self.catalogue.copy()
        self.catalogue.apply(recorded, self.fetch)
        if self.built is not None and not follow(self.built, before, self.catalogue, recorded, self.fetch):
            self.built = None

    def append(self, event: Event) -> Event:
        """The next event of this command."""
        event = replace(event, by=self.by, command=self.start + 1 if self.events else None)
        self.events.append(event)
        self.take(Recorded(self.catalogue.last + 1, 0, event))
        return event

    # ------------------------------------------------------------------ what people say

    def rename(self, category: str, name: str) -> Event:
        """Call a category something else; its id stays."""
        return self.append(edits.rename(self.catalogue, category, name))

    def merge(self, category: str, into: str) -> Event:
        """Make a category part of another: its images belong there, and what its centres match goes there."""
        return self.append(edits.merge(self.catalogue, category, into))

    def split(self, images: Sequence[int], name: str | None = None) -> Event:
        """Give images a category of their own, with a centre of its own."""
        images = edits.images(self.catalogue, images)
        centre = self.centre([self.assigned(number).feature for number in images])
        return self.append(edits.split(self.catalogue, images, edits.next_id(self.catalogue), name, centre))

    def move(self, images: Sequence[int], to: str) -> Event:
        """Put images into a category, for good."""
        return self.append(edits.move(self.catalogue, images, to))

    def confirm(self, images: Sequence[int]) -> Event:
        """Say that images are where they belong."""
        return self.append(edits.confirm(self.catalogue, images))

    def change_radius(self, radius: int | float) -> Event:
        """Set how far categories reach, for the images to come."""
        self.register.copy().radius = radius  # which refuses what cannot be
        if self.log.header["register"]["radius"] in (None, inf):
            raise SettingsError("this register was made to never discover, whatever its radius", "start a new one")
        return self.append(edits.change_radius(self.catalogue, radius))

    def promote(self, category: str, name: str | None = None) -> Event:
        """Make a discovered category a known one, under its name or another; what it has learned stays."""
        if name is not None and find(self.catalogue, category).name != name.strip():
            self.rename(category, name)
        return self.append(edits.promote(self.catalogue, category))

    def discard(self, images: Sequence[int]) -> Event:
        """Images are of nothing: they leave, with discovered categories that have no others, and teach nothing."""
        centres = not self.before.register.learns  # which images made, and not all that are in a category
        event = self.append(edits.discard(self.catalogue, images, parts=centres))
        if centres:
            self._recentre(event)
        return event

    def discard_category(self, category: str) -> Event:
        """A discovered category is of nothing: it goes, with all its images."""
        return self.append(edits.discard_category(self.catalogue, category))

    def relocate(self, sources: dict[int, str]) -> Event:
        """The files of images are elsewhere, by number."""
        return self.append(edits.relocate(self.catalogue, sources))

    def undo(self, *events: int, followers: bool = False) -> Event:
        """Take back events, each with its whole command, or the last edit. Refused where later ones depend on one.

        With `followers` those are taken back too.
        """
        return self.append(undoing.undo(self.catalogue, events, self.fetch, self._edits(), followers))

    def redo(self, event: int | None = None) -> Event:
        """Bring back what was taken back."""
        return self.append(undoing.redo(self.catalogue, event, self.fetch, self._edits()))

    def can_be_undone(self, event: int) -> bool:
        """Whether an event is one to undo: not undone already, no undo itself, and not for good."""
        return event not in self.catalogue.undone and not isinstance(self.fetch(event).event, Undone | Forgotten)

    def _recentre(self, discarded: Event) -> None:
        """Categories whose centre was made of what is discarded have that of the images left to them."""
        assert isinstance(discarded, Discarded)
        gone = [self.assigned(image).feature for image in discarded.images]
        for home in dict.fromkeys(discarded.homes):
            category = self.catalogue.categories[home]
            made_of_it = category.by_person or category.centre in gone
            left = edits.of_home(self.catalogue, home) or self.catalogue.images(self.catalogue.resolve(home))
            if category.founded > 0 and not category.gone and made_of_it and left:
                centre = self.centre([self.assigned(image).feature for image in left])
                if centre != category.centre:
                    self.append(edits.recentre(self.catalogue, home, left, centre))

    def centre(self, features: Sequence[bytes]) -> bytes:
        """The centre of features, by a rule that does not depend on what the register has learned."""
        register = self.before.register
        return register.feature_bytes(register.centre_of(np.stack([register.feature_from(each) for each in features])))

    def _edits(self) -> list[Recorded]:
        return [self.fetch(number) for number in self.catalogue.edits]

    def with_content(self, content: bytes) -> list[int]:
        """The images there are of this content, oldest first."""
        found = self.catalogue.contents.candidates(content, self.catalogue.last)
        return [n for n in found if self.catalogue.has_image(n) and self.assigned(n).content == content]

    def assigned(self, number: int) -> Assigned:
        """The event of an image."""
        event = self.fetch(number).event
        assert isinstance(event, Assigned)
        return event


Edit = Callable[[Draft], object]
