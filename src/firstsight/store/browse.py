"""What pages show of a register, a page at a time: fast with 100,000 images and 10,000 categories.

Everything but the images of the page itself comes from columns in memory; see `table`. What comes first is the
largest, the newest, the least sure or the first by name, and of equals the older.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from firstsight.store.catalogue import Category
from firstsight.store.events import in_words
from firstsight.store.table import KINDS, Kind, Table, table
from firstsight.store.touched import history
from firstsight.store.view import View
from firstsight.store.views import Member, member

__all__ = [
    "Counts",
    "Entry",
    "Page",
    "Stretch",
    "arrivals",
    "births",
    "categories",
    "counts",
    "entry",
    "history",
    "images",
]

Sort: TypeAlias = Literal["size", "age", "unsure", "name", "seen"]
Item = TypeVar("Item")

SAMPLES = 4  # images that show a category among others


@dataclass(frozen=True)
class Page(Generic[Item]):
    """Some of many."""

    items: tuple[Item, ...]
    offset: int  # of the first of them
    total: int  # how many there are in all

    @property
    def more(self) -> bool:
        """Whether others follow."""
        return self.offset + len(self.items) < self.total


@dataclass(frozen=True)
class Entry:
    """A category among others."""

    id: str
    name: str
    kind: Kind
    images: int
    placed: int  # of them, put there or confirmed by a person
    unsure: int  # of them, those a person should look at
    first_seen: str | None  # when its first image came
    last_seen: str | None
    samples: tuple[int, ...]  # images that show it: its founder, then the surest

    @property
    def share_unsure(self) -> float:
        return self.unsure / self.images if self.images else 0.0


@dataclass(frozen=True)
class Counts:
    """A register in a few numbers."""

    images: int
    known: int  # categories,
    new: int
    tentative: int
    placed: int  # images that a person put where they are, or confirmed there,
    unsure: int
    discarded: int

    @property
    def categories(self) -> int:
        return self.known + self.new + self.tentative


@dataclass(frozen=True)
class Stretch:
    """What came in a stretch of time."""

    start: str
    end: str
    images: int
    new: int  # of them, in categories that are not known
    births: int  # categories that were found, and are there still

    @property
    def share_new(self) -> float:
        return self.new / self.images if self.images else 0.0


def categories(
    view: View, kind: Kind | None = None, search: str = "", sort: Sort = "size", offset: int = 0, limit: int = 50
) -> Page[Entry]:
    """The categories of a kind, or of all, whose name or id holds what is searched for."""
    columns, wanted = table(view), search.strip().casefold()
    here = np.ones(len(columns.live), dtype=bool) if kind is None else _of_kind(columns, kind)
    if wanted:
        here &= [wanted in each.name.casefold() or wanted in each.id.casefold() for each in columns.live]
    found = np.flatnonzero(here)
    start, stop = _bounds(offset, limit)
    some = found[_order(columns, found, sort)[start:stop]]
    return Page(tuple(entry(columns, columns.live[at]) for at in some.tolist()), start, len(found))


def entry(columns: Table, category: Category, samples: int = SAMPLES) -> Entry:
    """One category, with so many images that show it."""
    at, own = category.position, columns.of(category.position)
    times = columns.times[own]
    return Entry(
        id=category.id,
        name=category.name,
        kind=columns.kind(at),
        images=int(columns.images[at]),
        placed=int(columns.placed[at]),
        unsure=int(columns.unsure[at]),
        first_seen=in_words(int(times[0])) if len(times) else None,
        last_seen=in_words(int(columns.last[at])) if len(times) else None,
        samples=_samples(columns, category, own, samples),
    )


def images(
    view: View, category: str | None = None, newest: bool = True, offset: int = 0, limit: int = 100
) -> Page[Member]:
    """The images of a category by its id, or of all, by arrival. Only those of the page are read from the log."""
    columns = table(view)
    numbers = columns.numbers
    if category is not None:
        numbers = numbers[columns.of(view.catalogue.categories[view.catalogue.resolve(category)].position)]
    start, stop = _bounds(offset, limit)
    some = (numbers[::-1] if newest else numbers)[start:stop]
    return Page(_members(view, some.tolist()), start, len(numbers))


def arrivals(view: View, before: int | None = None, limit: int = 100) -> tuple[Member, ...]:
    """The newest images, the last first, or the newest before one: what stays the same page while others come."""
    numbers = table(view).numbers
    end = len(numbers) if before is None else int(numbers.searchsorted(before))
    return _members(view, numbers[max(0, end - max(0, limit)) : end][::-1].tolist())


def counts(view: View) -> Counts:
    """The register in a few numbers."""
    columns = table(view)
    known, new, tentative = (int(_of_kind(columns, kind).sum()) for kind in KINDS)
    return Counts(
        images=len(columns.numbers),
        known=known,
        new=new,
        tentative=tentative,
        placed=int(columns.placed.sum()),
        unsure=int(columns.is_unsure.sum()),
        discarded=view.catalogue.discarded_images,
    )


def births(view: View, bins: int = 50) -> tuple[Stretch, ...]:
    """Images and births from the first image to the last, in stretches of equal length.

    A category was born when its first image came; one that a person split off, when the image before that came.
    """
    columns = table(view)
    if not len(columns.times):
        return ()
    founded = np.array([each.founded for each in columns.live if each.founded], dtype=np.int64)
    times = view.catalogue.times.values()[view.catalogue.numbers.values().searchsorted(founded + 1, "right") - 1]
    is_new = columns.kinds[columns.owners] != KINDS.index("known")
    first, last = int(columns.times.min()), int(columns.times.max())
    bins = max(1, min(bins, last - first))
    edges = [first + (last - first) * i // bins for i in range(bins + 1)]
    came, new, born = (_counted(edges, each) for each in (columns.times, columns.times[is_new], times))
    return tuple(
        Stretch(in_words(edges[i]), in_words(edges[i + 1]), int(came[i]), int(new[i]), int(born[i]))
        for i in range(bins)
    )


def _counted(edges: Sequence[int], times: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of these times lie in each stretch; what was before the first image counts with it."""
    at = np.searchsorted(np.array(edges[1:-1], dtype=np.int64), times, "right")
    return np.bincount(at, minlength=len(edges) - 1)


def _of_kind(columns: Table, kind: Kind) -> NDArray[np.bool_]:
    """Which of the categories there are is of a kind."""
    return np.asarray(columns.kinds[columns.positions] == KINDS.index(kind))


def _order(columns: Table, found: NDArray[np.int64], sort: Sort) -> NDArray[np.int64]:
    """These of the categories there are, as a page has them; the sorting leaves equals as they are."""
    if sort == "name":
        names = [columns.live[at].name.casefold() for at in found.tolist()]
        return np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
    at = columns.positions[found]
    keys: dict[str, tuple[NDArray[np.int64], ...]] = {
        "size": (-columns.images[at],),
        "age": (-at,),
        "unsure": (columns.images[at], -columns.unsure[at]),
        "seen": (-columns.last[at],),
    }
    return np.lexsort(keys[sort])


def _samples(columns: Table, category: Category, own: NDArray[np.int64], count: int) -> tuple[int, ...]:
    numbers = columns.numbers[own]
    founder = numbers == category.founded + 1 if category.founded else np.zeros(len(own), dtype=bool)
    surest = np.lexsort((numbers, -columns.sure[own], ~founder))[:count]
    return tuple(numbers[surest].tolist())


def _members(view: View, numbers: Sequence[int]) -> tuple[Member, ...]:
    return tuple(member(view, number) for number in numbers)


def _bounds(offset: int, limit: int) -> tuple[int, int]:
    start = max(0, offset)
    return start, start + max(0, limit)
