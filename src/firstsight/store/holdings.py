"""What there is: categories with their names, images with where they are and who put them there.

Pure state: no files, no register, no clock. A copy costs next to nothing and shares what neither changes, so whoever
holds one that is no longer changed has a view of that moment. Only the catalogue changes it, event by event.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firstsight.store.authors import HINDSIGHT, PERSON, RULE, Author
from firstsight.store.columns import Column
from firstsight.store.contents import Contents, key_of
from firstsight.store.events import Assigned, FoundEmpty

# flags of an image: taken back; put where it is, or confirmed there, by a person; its category did not learn from it;
# a person's word on the same image answered it; of nothing, a person said; a frame in which a detector found nothing
GONE, PLACED, NO_LESSON, SETTLED, DISCARDED, EMPTY = 1, 2, 4, 8, 16, 32
AWAY = GONE | DISCARDED | EMPTY  # in no category
NOWHERE = -1  # the position of no category
COLUMNS = {  # one value an image
    "numbers": "<i8",
    "homes": "<i4",
    "flags": "u1",
    "authors": "<i4",
    "confidences": "<f8",
    "keys": "<u8",
    "times": "<i8",  # when it came, in microseconds
}


@dataclass(frozen=True)
class Category:
    """One category, for ever under its id and at its position."""

    id: str
    name: str
    known: bool
    position: int = -1  # in order of founding
    founded: int = 0  # the event that made it; 0 for those of the model
    centre: bytes = b""
    by_person: bool = False  # made by a split, or for labelled images
    merged_into: str | None = None
    gone: bool = False  # its founding was taken back, or it was discarded


class Holdings:
    """Categories and images as of the last event applied."""

    def __init__(self, known: Iterable[tuple[str, bytes]], radius: int | float) -> None:
        self.last = 0
        self.radius = radius
        self.categories: dict[str, Category] = {}
        self.order: list[str] = []  # ids by position
        self.names: dict[str, str] = {}  # every name in use or ever used as an id -> id
        self.merged: dict[str, str] = {}  # the categories that are part of another -> that one
        self.undone: set[int] = set()
        self.edits: list[int] = []  # the events that are not the rule's
        self.sources: dict[int, str] = {}  # where images are that are not where they came from
        self.authored: list[str] = [str(RULE), str(HINDSIGHT), str(PERSON)]  # whoever put an image somewhere
        self.placed_images = 0  # how many there are that a person placed,
        self.discarded_images = 0  # and how many that a person discarded
        self._shared: set[str] = set()  # the dictionaries, lists and sets above that a copy may see
        self._first: dict[str, int | None] = {}  # see `first_image`; of the categories asked for, until an edit
        self._set_columns({name: Column(kind) for name, kind in COLUMNS.items()})
        for name, centre in known:
            self._found(Category(name, name, known=True, centre=centre))

    def _set_columns(self, columns: dict[str, Column]) -> None:
        self.numbers, self.homes, self.flags, self.authors = (columns[name] for name in list(COLUMNS)[:4])
        self.confidences, self.keys, self.times = (columns[name] for name in list(COLUMNS)[4:])
        self.contents = Contents(self.keys.values(), self.numbers.values())

    def copy(self) -> Self:
        """Another catalogue that says the same; neither sees what is applied to the other."""
        other = type(self).__new__(type(self))
        vars(other).update(vars(self))
        for name in COLUMNS:
            setattr(other, name, getattr(self, name).copy())
        self._shared, other._shared = set(SHARED), set(SHARED)
        return other

    def _mine(self, name: str) -> Any:
        """A dictionary, list or set to change: a copy's is copied first."""
        if name in self._shared:
            setattr(self, name, getattr(self, name).copy())
            self._shared.discard(name)
        return getattr(self, name)

    # ------------------------------------------------------------------ asking

    def resolve(self, id: str) -> str:
        """The category that stands for this one now: itself, or the one it was merged into."""
        while (into := self.merged.get(id)) is not None:
            id = into
        return id

    def parts(self, id: str) -> list[str]:
        """A category and those that were merged into it."""
        return [id, *(each for each in self.merged if self.resolve(each) == id)]

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
        at = self.numbers.find(number)
        return at >= 0 and not self.flags[at] & AWAY

    def is_discarded(self, number: int) -> bool:
        at = self.numbers.find(number)
        return at >= 0 and self.flags[at] & AWAY == DISCARDED

    def is_forgotten(self, number: int) -> bool:
        """Whether all that told of an image was removed for good."""
        return bool(self.keys[self._index(number)] == key_of(b""))

    def is_empty(self, number: int) -> bool:
        """Whether that is a frame in which a detector found nothing."""
        at = self.numbers.find(number)
        return at >= 0 and self.flags[at] & AWAY == EMPTY

    def empty_frames(self) -> list[int]:
        """The numbers of the frames in which a detector found nothing, in order of arrival."""
        numbers: list[int] = self.numbers.values()[self.flags.values() & AWAY == EMPTY].tolist()
        return numbers

    def home(self, number: int) -> str:
        """The category an image was assigned or moved to, whatever that was merged into since."""
        position: int = self.homes[self._index(number)]
        return self.order[position]

    def category_of(self, number: int) -> str:
        """The category an image is in."""
        return self.resolve(self.home(number))

    def placed(self, number: int) -> bool:
        """Whether a person put the image where it is, or confirmed it there."""
        return bool(self.flags[self._index(number)] & PLACED)

    def author(self, number: int) -> Author:
        """Who put the image where it is, or confirmed it there."""
        return Author.of(self.authored[self.authors[self._index(number)]])

    def lesson(self, number: int) -> bool:
        """Whether the category an image is in learns from it, if it learns at all."""
        learned = self.flags[self._index(number)] & (PLACED | NO_LESSON) != NO_LESSON
        return learned or number == self.first_image(self.category_of(number))

    def first_image(self, id: str) -> int | None:
        """The first image of a new category: where all it learned from was taken away, it goes on from that one.

        Images to come do not change which that is: without any, a category knows nothing and learns from the next.
        """
        if id not in self._first:
            taught = self.categories[id].founded == 0
            self._first = {**self._first, id: None if taught else next(self._images(id), None)}
        return self._first[id]

    def images(self, id: str) -> list[int]:
        """The numbers of the images in a category, in order of arrival."""
        return list(self._images(id))

    def _images(self, id: str) -> Iterator[int]:
        homes = np.array([self.categories[each].position for each in self.parts(id)], dtype=np.int32)
        pages = zip(self.numbers.chunks(), self.homes.chunks(), self.flags.chunks(), strict=True)
        for numbers, owners, flags in pages:
            here = owners == homes[0] if len(homes) == 1 else np.isin(owners, homes)
            yield from numbers[here & (flags & AWAY == 0)].tolist()

    def columns(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]]:
        """Of all images there are: number, position of the category, flags."""
        flags = self.flags.values()
        here = flags & AWAY == 0
        return self.numbers.values()[here], self.owners()[self.homes.values()[here]], flags[here]

    def owners(self) -> NDArray[np.int32]:
        """By position, that of the category each stands for."""
        owners = np.arange(len(self.order), dtype=np.int32)
        for id in self.merged:
            owners[self.categories[id].position] = self.categories[self.resolve(id)].position
        return owners

    def members(self, features: Iterable[tuple[int, bytes]]) -> Iterator[tuple[bytes, str]]:
        """Of the features of images by number, those that a category learns from, each with where it was put.

        That is those it learned from when they were answered, those a person put there, and the first ones.
        """
        numbers, owners, flags = self.columns()
        owner, first = np.unique(owners, return_index=True)
        new = [self.categories[self.order[position]].founded > 0 for position in owner]
        lessons = flags & (PLACED | NO_LESSON) != NO_LESSON
        lessons[first[new]] = True
        here = set(numbers[lessons].tolist())
        return ((feature, self.home(number)) for number, feature in features if number in here)

    def centres(self) -> Iterator[tuple[bytes, str, str]]:
        """(centre, category it answers for, category it was made for) by rank: people's newest first, then by age."""
        here = [c for c in self.categories.values() if not c.gone]
        here.sort(key=lambda c: (0, -c.founded) if c.by_person else (1, c.position))
        return ((c.centre, self.resolve(c.id), c.id) for c in here)

    # ------------------------------------------------------------------ changing

    def _put(self, number: int, event: Assigned) -> None:
        """An image arrives, or comes back."""
        home = self.categories[event.home].position
        flags = (0 if event.lesson else NO_LESSON) | (0 if event.decided_by == "rule" else SETTLED)
        flags |= PLACED if event.by.startswith(PERSON.kind) else 0
        if len(self.numbers) and number <= self.numbers[len(self.numbers) - 1]:
            at = self._index(number)
            self.homes[at], self.authors[at] = home, self._number_of(event.by)
            self._flag(at, flags)
            return
        self.placed_images += bool(flags & PLACED)
        self._add(number, event, home, flags, nan if event.confidence is None else event.confidence)

    def _see_empty(self, number: int, event: FoundEmpty) -> None:
        """A frame without anything in it arrives, or comes back."""
        at = self.numbers.find(number)
        if at >= 0:
            self._flag(at, EMPTY)
        else:
            self._add(number, event, NOWHERE, EMPTY, nan)

    def _add(self, number: int, event: Assigned | FoundEmpty, home: int, flags: int, confidence: float) -> None:
        key = key_of(event.content)
        self.homes.append(home)
        self.authors.append(self._number_of(event.by))
        self.flags.append(flags)
        self.confidences.append(confidence)
        self.keys.append(key)
        self.times.append(0)
        self.contents.add(number, key)
        self.numbers.append(number)

    def date(self, number: int, at: int) -> None:
        """When an image came, which the log knows once it has it."""
        self.times[self._index(number)] = at

    def _place(self, images: Sequence[int], homes: Sequence[str], authors: Sequence[str]) -> None:
        for image, home, by in zip(images, homes, authors, strict=True):
            at = self._index(image)
            self.homes[at], self.authors[at] = self.categories[home].position, self._number_of(by)
            by_person = by.startswith(PERSON.kind)
            self._flag(at, (PLACED if by_person else 0) | self.flags[at] & ~PLACED)

    def _discard(self, images: Sequence[int], discarded: bool = True) -> None:
        for image in images:
            at = self._index(image)
            self._flag(at, self.flags[at] & ~DISCARDED | (DISCARDED if discarded else 0))

    def _relocate(self, images: Sequence[int], sources: Sequence[str]) -> None:
        known = self._mine("sources")
        for image, source in zip(images, sources, strict=True):
            if source:
                known[image] = source
            else:
                known.pop(image, None)

    def _flag(self, at: int, flags: int) -> None:
        """Set the flags of an image, and count it among those that people placed or discarded."""
        before = self.flags[at]
        self.placed_images += (flags & (PLACED | AWAY) == PLACED) - (before & (PLACED | AWAY) == PLACED)
        self.discarded_images += (flags & AWAY == DISCARDED) - (before & AWAY == DISCARDED)
        self.flags[at] = flags

    def _number_of(self, by: str) -> int:
        if by not in self.authored:
            self._mine("authored").append(by)
        return self.authored.index(by)

    def _found(self, category: Category) -> None:
        """A category comes into being, or back."""
        before = self.categories.get(category.id)
        if before is None:
            self._mine("order").append(category.id)
        position = len(self.order) - 1 if before is None else before.position
        self._mine("categories")[category.id] = replace(category, position=position)
        self._mine("names")[category.id] = category.id
        self.names[category.name] = category.id

    def _lose(self, id: str) -> None:
        """The founding of a category is taken back: its id stays taken, its name is free again."""
        category = self.categories[id]
        self._mine("categories")[id] = replace(category, gone=True)
        if category.name != id:
            del self._mine("names")[category.name]

    def _regain(self, id: str) -> None:
        """A category that was lost is there again, as it was."""
        category = replace(self.categories[id], gone=False)
        self._mine("categories")[id] = category
        self._mine("names")[category.name] = id

    def _promote(self, id: str, known: bool) -> None:
        self._mine("categories")[id] = replace(self.categories[id], known=known)

    def _recentre(self, id: str, centre: bytes) -> None:
        self._mine("categories")[id] = replace(self.categories[id], centre=centre)

    def _name(self, id: str, name: str) -> None:
        category, names = self.categories[id], self._mine("names")
        if category.name != id:
            del names[category.name]
        self._mine("categories")[id] = replace(category, name=name)
        names[name] = id

    def _redirect(self, id: str, into: str | None) -> None:
        self._mine("categories")[id] = replace(self.categories[id], merged_into=into)
        if into is None:
            del self._mine("merged")[id]
        else:
            self._mine("merged")[id] = self.categories[into].id

    def _index(self, number: int) -> int:
        at = self.numbers.find(number)
        if at < 0:
            raise KeyError(number)
        return at


SHARED = ("categories", "order", "names", "merged", "undone", "edits", "sources", "authored")
