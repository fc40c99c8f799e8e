"""What a store held at one moment, for anyone to ask: it does not change, and waits for nobody.

Whoever writes meanwhile makes the next state; a view keeps its own. Knows the catalogue, the register, and the log as
far as it went by then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Literal, TypeVar

from numpy.typing import NDArray

from firstsight.core.assignments import Assignment, Candidate
from firstsight.core.errors import NotFound
from firstsight.core.protocols import Register
from firstsight.core.threads import one_thread
from firstsight.store.authors import HINDSIGHT
from firstsight.store.catalogue import Catalogue, Category
from firstsight.store.events import Assigned, FoundEmpty, Recorded
from firstsight.store.finding import category
from firstsight.store.log import Log
from firstsight.store.pictures import Pictures
from firstsight.store.state import State

Made = TypeVar("Made")


class View:
    """A store as of its last event then."""

    def __init__(self, log: Log, state: State) -> None:
        self._log = log
        self._state = state
        self.catalogue: Catalogue = state.catalogue

    @property
    def name(self) -> str:
        """What people call the register's log."""
        return self._log.name

    @property
    def log(self) -> Log:
        """The log it is of, which may have grown since."""
        return self._log

    @property
    def pictures(self) -> Pictures:
        """The images that were sent to it, beside it; not as of then."""
        return self._log.pictures

    @property
    def last(self) -> int:
        """The number of the last event."""
        return self.catalogue.last

    @property
    def radius(self) -> int | float:
        return self.catalogue.radius

    @property
    def confident(self) -> bool:
        """Whether its answers say how probable they are."""
        return bool(self._log.header["confident"])

    @property
    def register(self) -> Register:
        """The register as of then, to be asked and not to be changed."""
        return self._state.register

    def once(self, make: Callable[[View], Made]) -> Made:
        """What a function makes of this moment, which it is asked once, however many views there are of it."""
        if make not in self._state.made:
            self._state.made[make] = make(self)
        made: Made = self._state.made[make]
        return made

    # ------------------------------------------------------------------ answering

    @one_thread()
    def match(self, feature: NDArray[Any], content: bytes) -> Assignment:
        """What an image is. A person's word on this very image comes before the rule."""
        return self.named(self.said_before(content) or self.register.match(feature))

    def recognise(self, content: bytes, source: str = "") -> Assignment | None:
        """The answer to an image that is here already: the one from this source, one a person placed, or the last."""
        here = self.with_content(content)
        if not here:
            return self.discarded_before(content)
        number = max(here, key=lambda n: (self.assigned(n).source == source, self.catalogue.placed(n), n))
        return self.named(replace(self.assignment(number), decided_by="record"))

    def keyed(self, key: str) -> int | None:
        """The image that came with this key, also one that was undone or discarded since."""
        number = self._log.keyed(key) if key else None
        return None if number is None or number > self.last else number

    def retried(self, key: str) -> Assignment | None:
        """The answer to what came with this key before: as it stands or, where it was undone, as it stood."""
        if (number := self.keyed(key)) is None:
            return None
        if self.catalogue.is_discarded(number):
            return self._nothing(number)
        return self.named(replace(self.assignment(number), decided_by="record"))

    def assignment(self, number: int) -> Assignment:
        """An image as it stands: in the category it is in now, with what was measured unless it was moved since."""
        return self.standing(number, self.assigned(number))

    def standing(self, number: int, event: Assigned) -> Assignment:
        """The same, of an image whose event is at hand."""
        home = self.catalogue.home(number)
        category, other = self.catalogue.resolve(home), event.runner_up and self.catalogue.resolve(event.runner_up)
        where_it_was = home == event.home
        second = other if where_it_was and other != category else None
        return Assignment(
            category=category,
            is_new=not self.catalogue.categories[category].known,
            created=False,
            distance=event.distance if where_it_was else None,
            radius=event.radius,
            runner_up=Candidate(second, event.runner_up_distance or 0) if second else None,
            via=home if home != category else None,
            image=number,
            decided_by=self._decided_by(number),
            confidence=event.confidence if where_it_was else None,
            lesson=self.catalogue.lesson(number),
        )

    def _decided_by(self, number: int) -> Literal["rule", "hindsight", "person"]:
        kind = self.catalogue.author(number).kind
        return "hindsight" if kind == HINDSIGHT.kind else "person" if self.catalogue.placed(number) else "rule"

    def said_before(self, content: bytes) -> Assignment | None:
        """What a person said of this very image: where it is or, failing that, that it is of nothing."""
        return self.placed_before(content) or self.discarded_before(content)

    def discarded_before(self, content: bytes) -> Assignment | None:
        """The answer to an image that a person discarded: no category, and not counted again."""
        if not self.catalogue.discarded_images:
            return None
        found = self.catalogue.contents.candidates(content, self.last)
        here = [n for n in found if self.catalogue.is_discarded(n) and self.assigned(n).content == content]
        if not here:
            return None
        return self._nothing(here[-1])

    def _nothing(self, number: int) -> Assignment:
        return Assignment(None, False, False, None, self.radius, None, image=number, decided_by="discarded")

    def placed_before(self, content: bytes) -> Assignment | None:
        """The answer to an image that a person placed before, if one did."""
        if not self.catalogue.placed_images:
            return None
        here = [number for number in self.with_content(content) if self.catalogue.placed(number)]
        if not here:
            return None
        answer = self.assignment(here[-1])
        return replace(answer, distance=None, runner_up=None, confidence=None, radius=self.radius, image=None)

    def named(self, answer: Assignment) -> Assignment:
        """The answer with the name people gave its category, which may be known by now."""
        if answer.category is None:
            return answer
        category = self.catalogue.categories[answer.category]
        name = None if category.name == answer.category else category.name
        if (answer.name, answer.is_new) == (name, not category.known):
            return answer
        return replace(answer, name=name, is_new=not category.known)

    # ------------------------------------------------------------------ looking

    def category(self, name: str) -> Category:
        """The category a person means, by id or name; a merged one stands for what it was merged into."""
        return category(self.catalogue, name)

    def name_of(self, id: str) -> str:
        """What people call a category, or the one it was merged into."""
        return self.catalogue.categories[self.catalogue.resolve(id)].name

    def category_of(self, image: int) -> str:
        """The id of the category an image is in."""
        return self.catalogue.category_of(image)

    def images(self, category: str | None = None) -> list[int]:
        """The numbers of the images of a category by its id, or of all, in order of arrival."""
        if category is None:
            numbers: list[int] = self.catalogue.columns()[0].tolist()
            return numbers
        return self.catalogue.images(category)

    def event(self, number: int) -> Recorded:
        """One event."""
        if number > self.last:
            raise NotFound(f"{self.name} has no event {number}", f"it has 1 to {self.last}")
        return self._log.event(number)

    def events(self, after: int = 0) -> Iterator[Recorded]:
        """The events after one."""
        return self._log.read(after, self.last)

    def newest(self) -> Iterator[Recorded]:
        """All events, the last one first."""
        return self._log.newest(self.last)

    def edits(self) -> list[Recorded]:
        """The events that are not the rule's own."""
        return [self.event(number) for number in self.catalogue.edits]

    def is_undone(self, event: int) -> bool:
        """Whether an event was taken back, and not brought back since."""
        return event in self.catalogue.undone

    def features(self) -> Iterator[tuple[int, bytes]]:
        """Every image there ever was, by number, and its feature."""
        return self._log.features(self.last)

    def encoders(self) -> dict[int, dict[str, Any]]:
        """What made the features."""
        return self._log.encoders()

    def assigned(self, number: int) -> Assigned:
        """The event of an image, with where its file is now."""
        return self.located(self.event(number))

    def located(self, recorded: Recorded) -> Assigned:
        """The same, of what was read already."""
        event = self._located(recorded)
        assert isinstance(event, Assigned)
        return event

    def seen(self, number: int) -> Assigned | FoundEmpty:
        """The event of an image or of an empty frame, with where its file is now."""
        return self._located(self.event(number))

    def _located(self, recorded: Recorded) -> Assigned | FoundEmpty:
        event, moved = recorded.event, self.catalogue.sources.get(recorded.number)
        assert isinstance(event, Assigned | FoundEmpty)
        return event if moved is None else replace(event, source=moved)

    def with_content(self, content: bytes) -> list[int]:
        """The images there are of this content, oldest first."""
        found = self.catalogue.contents.candidates(content, self.last)
        return [n for n in found if self.catalogue.has_image(n) and self.assigned(n).content == content]

    def with_source(self, source: str, empty: bool = False) -> list[tuple[int, str]]:
        """The images there are from this source or from a path that ends with it, and their whole sources.

        With `empty`, frames in which nothing was found, too.
        """
        if not source:  # as that of forgotten images
            return []
        moved, end = self.catalogue.sources, f"/{source}"
        came = {n for n in self._log.with_source(source, self.last) if n not in moved}
        now = {n for n, where in moved.items() if where == source or where.endswith(end)}
        here = [n for n in sorted(came | now) if self.catalogue.has_image(n) or (empty and self.catalogue.is_empty(n))]
        return [(n, self.seen(n).source) for n in here]
