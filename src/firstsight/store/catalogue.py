"""What the log says, folded: which categories there are, what they are called, which images lie in them.

Pure state: no files, no register, no clock. `apply` takes events in the order of the log.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firstsight.store.events import (
    Assigned,
    Confirmed,
    Created,
    Event,
    Merged,
    Moved,
    RadiusChanged,
    Recorded,
    Renamed,
    Split,
    Undone,
)

# flags of an image: taken back; put where it is, or confirmed there, by a person; its category did not learn from it
GONE, PLACED, NO_LESSON = 1, 2, 4


@dataclass
class Category:
    """One category, for ever under its id."""

    id: str
    name: str
    known: bool
    founded: int = 0  # the event that made it; 0 for known categories
    feature: bytes = b""  # its centre
    by_person: bool = False  # made by a split
    merged_into: str | None = None
    gone: bool = False  # its founding was taken back


class Catalogue:
    """Categories and images as of the last event applied."""

    def __init__(self, known: Iterable[tuple[str, bytes]], radius: int | float) -> None:
        self.last = 0
        self.radius = radius
        self.categories = {name: Category(name, name, known=True, feature=feature) for name, feature in known}
        self.order = list(self.categories)  # ids by position, as `home` counts them
        self.position = {name: i for i, name in enumerate(self.order)}
        self.names = {name: name for name in self.order}  # every name in use or ever used as an id -> id
        self.undone: set[int] = set()
        self.numbers = array("q")  # of the images
        self.homes = array("i")  # the category each was assigned or moved to
        self.flags = array("B")
        self.placed_images: set[int] = set()  # those there are whose flag says so
        self._first: set[int] | None = None  # see `first_images`; found when asked for, and again after an edit

    # ------------------------------------------------------------------ asking

    def resolve(self, id: str) -> str:
        """The category that stands for this one now: itself, or the one it was merged into."""
        while (into := self.categories[id].merged_into) is not None:
            id = into
        return id

    def live(self) -> list[Category]:
        """The categories there are: neither merged nor taken back, oldest first."""
        return [c for c in self.categories.values() if c.merged_into is None and not c.gone]

    def find(self, name: str) -> Category | None:
        """A category by id or name; a merged one stands for what it was merged into."""
        id = name if name in self.categories else self.names.get(name)
        if id is None or self.categories[id].gone:
            return None
        return self.categories[self.resolve(id)]

    def has_image(self, number: int) -> bool:
        index = bisect_left(self.numbers, number)
        found = index < len(self.numbers) and self.numbers[index] == number
        return found and not self.flags[index] & GONE

    def home(self, number: int) -> str:
        """The category an image was assigned or moved to, whatever that was merged into since."""
        return self.order[self.homes[self._index(number)]]

    def category_of(self, number: int) -> str:
        """The category an image is in."""
        return self.resolve(self.home(number))

    def placed(self, number: int) -> bool:
        """Whether a person put the image where it is, or confirmed it there."""
        return bool(self.flags[self._index(number)] & PLACED)

    def lesson(self, number: int) -> bool:
        """Whether the category an image is in learns from it, if it learns at all."""
        learned = self.flags[self._index(number)] & (PLACED | NO_LESSON) != NO_LESSON
        return learned or number in self.first_images()

    def first_images(self) -> set[int]:
        """The first image of every new category: where all it learned from was taken away, it goes on from that one.

        Images to come do not change which that is: without any, a category knows nothing and learns from the next.
        """
        if self._first is None:
            numbers, owners, _ = self.columns()
            owner, first = np.unique(owners, return_index=True)
            new = [not self.categories[self.order[position]].known for position in owner]
            self._first = set(numbers[first[new]].tolist())
        return self._first

    def images(self, id: str) -> list[int]:
        """The numbers of the images in a category, in order of arrival."""
        numbers, owners, _ = self.columns()
        return [int(n) for n in numbers[owners == self.position[id]]]

    def columns(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.bool_]]:
        """Of all images there are: number, position of the category, placed by a person."""
        flags = np.array(self.flags, dtype=np.uint8)
        here = flags & GONE == 0
        owner = np.array([self.position[self.resolve(id)] for id in self.order], dtype=np.int32)
        homes = np.array(self.homes, dtype=np.int32)[here]
        numbers = np.array(self.numbers, dtype=np.int64)[here]
        return numbers, owner[homes] if len(owner) else homes, flags[here] & PLACED != 0

    def members(self, features: Iterable[tuple[int, bytes]]) -> Iterator[tuple[bytes, str]]:
        """Of the features of images by number, those that a category learns from, each with the one it is in.

        That is those it learned from when they were answered, those a person put there, and the first ones.
        """
        numbers, owners, placed = self.columns()
        flags = np.array(self.flags, dtype=np.uint8)
        lessons = placed | (flags[flags & GONE == 0] & NO_LESSON == 0) | np.isin(numbers, list(self.first_images()))
        here = dict(zip(numbers[lessons].tolist(), owners[lessons].tolist(), strict=True))
        return ((feature, self.order[here[number]]) for number, feature in features if number in here)

    def centres(self) -> Iterator[tuple[bytes, str, str]]:
        """(centre, category it answers for, category it was made for) by rank: people's newest first, then by age."""
        here = [c for c in self.categories.values() if not c.gone]
        here.sort(key=lambda c: (0, -c.founded) if c.by_person else (1, self.position[c.id]))
        return ((c.feature, self.resolve(c.id), c.id) for c in here)

    # ------------------------------------------------------------------ folding

    def apply(self, recorded: Recorded, fetch: Callable[[int], Recorded]) -> None:
        """The next event of the log takes effect. `fetch` finds events that an Undone names."""
        assert recorded.number == self.last + 1, f"event {recorded.number} after {self.last}"
        event = recorded.event
        if isinstance(event, Undone):
            for number in event.events:
                self._toggle(fetch(number), fetch)
        else:
            self._do(recorded.number, event)
        if not isinstance(event, Assigned | Created):
            self._first = None
        self.last = recorded.number

    def _toggle(self, recorded: Recorded, fetch: Callable[[int], Recorded]) -> None:
        """Take an event back, or bring back what an Undone took."""
        if isinstance(recorded.event, Undone):
            self.undone.add(recorded.number)
            for number in reversed(recorded.event.events):
                self.undone.discard(number)
                self._do(number, fetch(number).event)
        else:
            self.undone.add(recorded.number)
            self._take_back(recorded.number, recorded.event)

    def _do(self, number: int, event: Event) -> None:
        match event:
            case Assigned():
                self._put(number, self.position[event.home], 0 if event.lesson else NO_LESSON)
            case Created():
                self._found(Category(event.category, event.category, False, number, event.feature))
            case Renamed():
                self._name(event.category, event.new)
            case Merged():
                self.categories[event.category].merged_into = event.into
            case Split():
                self._found(Category(event.category, event.name, False, number, event.feature, by_person=True))
                self._place(event.images, [event.category] * len(event.images))
            case Moved():
                self._place(event.images, [event.to] * len(event.images))
            case Confirmed():
                self._place(event.images, [self.home(image) for image in event.images])
            case RadiusChanged():
                self.radius = event.new
            case Undone():
                raise AssertionError("an Undone is toggled, not done")

    def _take_back(self, number: int, event: Event) -> None:
        match event:
            case Assigned():
                self.flags[self._index(number)] |= GONE
                self.placed_images.discard(number)
            case Created():
                self._lose(event.category)
            case Renamed():
                self._name(event.category, event.old)
            case Merged():
                self.categories[event.category].merged_into = None
            case Split():
                self._lose(event.category)
                self._place(event.images, event.homes, event.placed)
            case Moved():
                self._place(event.images, event.homes, event.placed)
            case Confirmed():
                self._place(event.images, [self.home(image) for image in event.images], event.placed)
            case RadiusChanged():
                self.radius = event.old
            case Undone():
                raise AssertionError("an Undone is toggled, not taken back")

    def _put(self, number: int, home: int, flags: int) -> None:
        """An image arrives, or comes back."""
        if self.numbers and number <= self.numbers[-1]:
            index = self._index(number)
            self.homes[index], self.flags[index] = home, flags
        else:
            self.numbers.append(number)
            self.homes.append(home)
            self.flags.append(flags)

    def _place(self, images: Sequence[int], homes: Sequence[str], placed: Sequence[bool] | None = None) -> None:
        for i, (image, home) in enumerate(zip(images, homes, strict=True)):
            index = self._index(image)
            self.homes[index] = self.position[home]
            by_person = placed is None or placed[i]
            self.flags[index] = (PLACED if by_person else 0) | self.flags[index] & NO_LESSON
            (self.placed_images.add if by_person else self.placed_images.discard)(image)

    def _found(self, category: Category) -> None:
        """A category comes into being, or back."""
        if category.id not in self.categories:
            self.position[category.id] = len(self.order)
            self.order.append(category.id)
        self.categories[category.id] = category
        self.names[category.id] = self.names[category.name] = category.id

    def _lose(self, id: str) -> None:
        """The founding of a category is taken back: its id stays taken, its name is free again."""
        category = self.categories[id]
        category.gone = True
        if category.name != id:
            del self.names[category.name]

    def _name(self, id: str, name: str) -> None:
        category = self.categories[id]
        if category.name != id:
            del self.names[category.name]
        category.name = name
        self.names[name] = id

    def _index(self, number: int) -> int:
        index = bisect_left(self.numbers, number)
        if index == len(self.numbers) or self.numbers[index] != number:
            raise KeyError(number)
        return index

    # ------------------------------------------------------------------ comparing and keeping

    def state(self) -> dict[str, Any]:
        """A copy of everything, as JSON and arrays: for snapshots, and to compare two catalogues by."""
        return {
            "last": self.last,
            "radius": self.radius,
            "categories": [{**vars(c), "feature": c.feature.hex()} for c in self.categories.values()],
            "names": dict(self.names),
            "undone": sorted(self.undone),
            "numbers": self.numbers[:],
            "homes": self.homes[:],
            "flags": self.flags[:],
        }

    @classmethod
    def of(cls, state: dict[str, Any]) -> Catalogue:
        """The catalogue a state describes."""
        catalogue = cls([], state["radius"])
        for values in state["categories"]:
            catalogue._found(Category(**{**values, "feature": bytes.fromhex(values["feature"])}))
        catalogue.last, catalogue.undone, catalogue.names = state["last"], set(state["undone"]), dict(state["names"])
        catalogue.numbers, catalogue.homes, catalogue.flags = state["numbers"], state["homes"], state["flags"]
        flagged = zip(state["numbers"], state["flags"], strict=True)
        catalogue.placed_images = {number for number, flags in flagged if flags & (PLACED | GONE) == PLACED}
        return catalogue

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Catalogue) and self.state() == other.state()

    __hash__ = None  # type: ignore[assignment]
