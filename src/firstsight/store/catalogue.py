"""What the log says, folded: which categories there are, what they are called, which images lie in them.

Pure state: no files, no register, no clock. `apply` takes events in the order of the log. A copy costs next to nothing
and shares what neither changes, so whoever holds one that is no longer changed has a view of that moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import nan
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firstsight.store.columns import Column
from firstsight.store.contents import Contents, key_of
from firstsight.store.events import (
    BY_RULE,
    Assigned,
    Confirmed,
    Created,
    Event,
    Forgotten,
    Merged,
    Moved,
    RadiusChanged,
    Recorded,
    Renamed,
    Split,
    Undone,
)

# flags of an image: taken back; put where it is, or confirmed there, by a person; its category did not learn from it;
# a person's word on the same image answered it
GONE, PLACED, NO_LESSON, SETTLED = 1, 2, 4, 8
COLUMNS = {"numbers": "<i8", "homes": "<i4", "flags": "u1", "confidences": "<f8", "keys": "<u8"}  # one value an image


@dataclass(frozen=True)
class Category:
    """One category, for ever under its id and at its position."""

    id: str
    name: str
    known: bool
    position: int = -1  # in order of founding
    founded: int = 0  # the event that made it; 0 for known categories
    centre: bytes = b""
    by_person: bool = False  # made by a split
    merged_into: str | None = None
    gone: bool = False  # its founding was taken back


class Catalogue:
    """Categories and images as of the last event applied."""

    def __init__(self, known: Iterable[tuple[str, bytes]], radius: int | float) -> None:
        self.last = 0
        self.radius = radius
        self.categories: dict[str, Category] = {}
        self.order: list[str] = []  # ids by position
        self.names: dict[str, str] = {}  # every name in use or ever used as an id -> id
        self.merged: dict[str, str] = {}  # the categories that are part of another -> that one
        self.undone: set[int] = set()
        self.edits: list[int] = []  # the events by people
        self.placed_images = 0  # how many there are that a person placed
        self._shared: set[str] = set()  # the dictionaries, lists and sets above that a copy may see
        self._first: dict[str, int | None] = {}  # see `first_image`; of the categories asked for, until an edit
        self._set_columns({name: Column(kind) for name, kind in COLUMNS.items()})
        for name, centre in known:
            self._found(Category(name, name, known=True, centre=centre))

    def _set_columns(self, columns: dict[str, Column]) -> None:
        self.numbers, self.homes, self.flags, self.confidences, self.keys = (columns[name] for name in COLUMNS)
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
        return at >= 0 and not self.flags[at] & GONE

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

    def lesson(self, number: int) -> bool:
        """Whether the category an image is in learns from it, if it learns at all."""
        learned = self.flags[self._index(number)] & (PLACED | NO_LESSON) != NO_LESSON
        return learned or number == self.first_image(self.category_of(number))

    def first_image(self, id: str) -> int | None:
        """The first image of a new category: where all it learned from was taken away, it goes on from that one.

        Images to come do not change which that is: without any, a category knows nothing and learns from the next.
        """
        if id not in self._first:
            known = self.categories[id].known
            self._first = {**self._first, id: None if known else next(self._images(id), None)}
        return self._first[id]

    def images(self, id: str) -> list[int]:
        """The numbers of the images in a category, in order of arrival."""
        return list(self._images(id))

    def _images(self, id: str) -> Iterator[int]:
        homes = np.array([self.categories[each].position for each in self.parts(id)], dtype=np.int32)
        pages = zip(self.numbers.chunks(), self.homes.chunks(), self.flags.chunks(), strict=True)
        for numbers, owners, flags in pages:
            here = owners == homes[0] if len(homes) == 1 else np.isin(owners, homes)
            yield from numbers[here & (flags & GONE == 0)].tolist()

    def columns(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]]:
        """Of all images there are: number, position of the category, flags."""
        flags = self.flags.values()
        here = flags & GONE == 0
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
        new = [not self.categories[self.order[position]].known for position in owner]
        lessons = flags & (PLACED | NO_LESSON) != NO_LESSON
        lessons[first[new]] = True
        here = set(numbers[lessons].tolist())
        return ((feature, self.home(number)) for number, feature in features if number in here)

    def centres(self) -> Iterator[tuple[bytes, str, str]]:
        """(centre, category it answers for, category it was made for) by rank: people's newest first, then by age."""
        here = [c for c in self.categories.values() if not c.gone]
        here.sort(key=lambda c: (0, -c.founded) if c.by_person else (1, c.position))
        return ((c.centre, self.resolve(c.id), c.id) for c in here)

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
        if recorded.kind not in BY_RULE and not isinstance(event, Forgotten):
            self._first = {}
            self._mine("edits").append(recorded.number)
        self.last = recorded.number

    def _toggle(self, recorded: Recorded, fetch: Callable[[int], Recorded]) -> None:
        """Take an event back, or bring back what an Undone took."""
        self._mine("undone").add(recorded.number)
        if isinstance(recorded.event, Undone):
            for number in reversed(recorded.event.events):
                self.undone.discard(number)
                self._do(number, fetch(number).event)
        else:
            self._take_back(recorded.number, recorded.event)

    def _do(self, number: int, event: Event) -> None:
        match event:
            case Assigned():
                self._put(number, event)
            case Created():
                self._found(Category(event.category, event.category, False, founded=number, centre=event.feature))
            case Renamed():
                self._name(event.category, event.new)
            case Merged():
                self._redirect(event.category, event.into)
            case Split():
                made = Category(event.category, event.name, False, founded=number, centre=event.feature, by_person=True)
                self._found(made)
                self._place(event.images, [event.category] * len(event.images))
            case Moved():
                self._place(event.images, [event.to] * len(event.images))
            case Confirmed():
                self._place(event.images, [self.home(image) for image in event.images])
            case RadiusChanged():
                self.radius = event.new
            case Forgotten():
                for image in event.images:
                    self.keys[self._index(image)] = key_of(b"")
            case Undone():
                raise AssertionError("an Undone is toggled, not done")

    def _take_back(self, number: int, event: Event) -> None:
        match event:
            case Assigned():
                self._flag(self._index(number), self.flags[self._index(number)] | GONE)
            case Created():
                self._lose(event.category)
            case Renamed():
                self._name(event.category, event.old)
            case Merged():
                self._redirect(event.category, None)
            case Split():
                self._lose(event.category)
                self._place(event.images, event.homes, event.placed)
            case Moved():
                self._place(event.images, event.homes, event.placed)
            case Confirmed():
                self._place(event.images, [self.home(image) for image in event.images], event.placed)
            case RadiusChanged():
                self.radius = event.old
            case Undone() | Forgotten():
                raise AssertionError(f"{type(event).__name__} cannot be taken back")

    def _put(self, number: int, event: Assigned) -> None:
        """An image arrives, or comes back."""
        home = self.categories[event.home].position
        flags = (0 if event.lesson else NO_LESSON) | (0 if event.decided_by == "rule" else SETTLED)
        if len(self.numbers) and number <= self.numbers[len(self.numbers) - 1]:
            at = self._index(number)
            self.homes[at] = home
            self._flag(at, flags)
            return
        key = key_of(event.content)
        self.homes.append(home)
        self.flags.append(flags)
        self.confidences.append(nan if event.confidence is None else event.confidence)
        self.keys.append(key)
        self.contents.add(number, key)
        self.numbers.append(number)

    def _place(self, images: Sequence[int], homes: Sequence[str], placed: Sequence[bool] | None = None) -> None:
        for i, (image, home) in enumerate(zip(images, homes, strict=True)):
            at = self._index(image)
            self.homes[at] = self.categories[home].position
            by_person = placed is None or placed[i]
            self._flag(at, (PLACED if by_person else 0) | self.flags[at] & (NO_LESSON | SETTLED))

    def _flag(self, at: int, flags: int) -> None:
        """Set the flags of an image, and count it among those that people placed."""
        self.placed_images += (flags & (PLACED | GONE) == PLACED) - (self.flags[at] & (PLACED | GONE) == PLACED)
        self.flags[at] = flags

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
        catalogue.edits = list(state["edits"])
        columns = {name: np.frombuffer(state[name], dtype=kind) for name, kind in COLUMNS.items()}
        catalogue._set_columns({name: Column(kind, columns[name]) for name, kind in COLUMNS.items()})
        catalogue.placed_images = int((columns["flags"] & (PLACED | GONE) == PLACED).sum())
        return catalogue

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Catalogue) and self.state() == other.state()

    __hash__ = None  # type: ignore[assignment]


SHARED = ("categories", "order", "names", "merged", "undone", "edits")
