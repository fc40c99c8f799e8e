"""Which categories and images a page shows, found in the columns of a view: quick with very many of either."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from firstsight.core.protocols import CONFIRMED
from firstsight.store.catalogue import Catalogue, Category
from firstsight.store.holdings import AWAY, PLACED, SETTLED

UNSURE = 0.5  # below this a person should look
Order: TypeAlias = Literal["size", "newest", "oldest", "unsure", "name"]
Which: TypeAlias = Literal["all", "new", "known", "tentative"]


@dataclass(frozen=True)
class Line:
    """A category in a list."""

    category: Category
    images: int
    placed: int  # by people
    unsure: int  # images nobody has looked at, of which the rule was not sure
    first: int | None  # image
    last: int | None

    @property
    def kind(self) -> str:
        few = not self.placed and self.images < CONFIRMED
        return "known" if self.category.known else "tentative" if few else "new"


class Shelf:
    """All categories of a view with what is counted of them."""

    def __init__(self, catalogue: Catalogue) -> None:
        flags = catalogue.flags.values()
        here = flags & AWAY == 0
        self.catalogue = catalogue
        self.numbers: NDArray[np.int64] = catalogue.numbers.values()[here]
        self.owners: NDArray[np.int32] = catalogue.owners()[catalogue.homes.values()[here]]
        flags, count = flags[here], len(catalogue.order)
        looked_at = flags & (PLACED | SETTLED) != 0
        with np.errstate(invalid="ignore"):
            doubtful = ~looked_at & (catalogue.confidences.values()[here] < UNSURE)
        self.sizes = np.bincount(self.owners, minlength=count)
        self.placed = np.bincount(self.owners[flags & PLACED != 0], minlength=count)
        self.unsure = np.bincount(self.owners[doubtful], minlength=count)
        self.doubtful = doubtful
        self.last = np.zeros(count, np.int64)
        self.last[self.owners] = self.numbers  # the last one assigned stays
        self.first = np.zeros(count, np.int64)
        self.first[self.owners[::-1]] = self.numbers[::-1]

    def line(self, category: Category) -> Line:
        at = category.position
        images, placed, unsure = (int(each[at]) for each in (self.sizes, self.placed, self.unsure))
        return Line(category, images, placed, unsure, int(self.first[at]) or None, int(self.last[at]) or None)

    def lines(self, which: Which, order: Order, text: str) -> list[Category]:
        """The categories that are asked for, in order."""
        found, words = self.catalogue.live(), text.casefold().split()
        if words:
            found = [c for c in found if all(word in f"{c.name} {c.id}".casefold() for word in words)]
        if which in ("known", "new"):
            found = [c for c in found if c.known == (which == "known")]
        if which == "tentative":
            few = (self.sizes < CONFIRMED) & (self.placed == 0)
            found = [c for c in found if not c.known and few[c.position]]
        if order == "name":
            return sorted(found, key=lambda c: (c.name.casefold(), c.position))
        keys = {"size": -self.sizes, "unsure": -self.unsure, "newest": -np.arange(len(self.sizes))}
        key = keys.get(order, np.arange(len(self.sizes))).tolist()
        return sorted(found, key=lambda c: (key[c.position], c.position))

    def images(self, category: Category, order: Literal["newest", "oldest", "unsure"] = "oldest") -> NDArray[np.int64]:
        """The numbers of the images of a category."""
        at = np.flatnonzero(self.owners == category.position)
        numbers = self.numbers[at]
        if order == "unsure":
            held = self.catalogue.confidences.values()[self.catalogue.flags.values() & AWAY == 0][at]
            return numbers[np.lexsort((numbers, np.where(self.doubtful[at], held, 1.0)))]
        return numbers if order == "oldest" else numbers[::-1]

    def samples(self, category: Category, count: int) -> list[int]:
        """The first image of a category, and its latest."""
        found = self.images(category)
        return found.tolist() if len(found) <= count else [int(found[0]), *found[:-count:-1].tolist()]

    def latest(self, before: int | None, after: int, count: int) -> list[int]:
        """The newest images, of those that came before one and after another."""
        start = int(np.searchsorted(self.numbers, after, "right"))
        end = len(self.numbers) if before is None else int(np.searchsorted(self.numbers, before))
        found: list[int] = self.numbers[max(start, end - count) : max(end, start)][::-1].tolist()
        return found


def matching(categories: Sequence[Category], text: str, limit: int) -> list[Category]:
    """Categories whose name or id begins with what was typed, then those that hold it."""
    asked = text.casefold().strip()
    named = [(c, c.name.casefold(), c.id.casefold()) for c in categories]
    begins = [c for c, name, id in named if name.startswith(asked) or id.startswith(asked)]
    holds = [c for c, name, id in named if asked in name and not (name.startswith(asked) or id.startswith(asked))]
    return [*begins, *holds][:limit]
