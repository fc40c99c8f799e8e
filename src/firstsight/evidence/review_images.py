"""The images of a view as columns: what questions about very many of them rest on. Reads no event."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from firstsight.core.protocols import CONFIRMED
from firstsight.store.holdings import AWAY, PLACED, SETTLED
from firstsight.store.view import View

Places: TypeAlias = NDArray[np.intp]  # of images, in the columns


class Images:
    """All images there are, in order of arrival, and the categories they are in."""

    def __init__(self, view: View) -> None:
        self._catalogue = catalogue = view.catalogue
        flags = catalogue.flags.values()
        here = flags & AWAY == 0
        self.numbers = catalogue.numbers.values()[here]
        self.owners = catalogue.owners()[catalogue.homes.values()[here]]  # positions of categories
        self.confidences = catalogue.confidences.values()[here]  # as they were answered; not a number where untold
        self.placed = flags[here] & PLACED != 0  # by a person
        self.open = flags[here] & (PLACED | SETTLED) == 0  # no person has said anything of it
        count = len(catalogue.order)
        self._sizes = np.bincount(self.owners, minlength=count)
        self._placed = np.bincount(self.owners[self.placed], minlength=count)

    def places(self, numbers: Sequence[int]) -> Places:
        """Where images are in the columns, -1 where they are in no category."""
        wanted = np.asarray(numbers, dtype=np.int64)
        at = np.searchsorted(self.numbers, wanted)
        found = at < len(self.numbers)
        found[found] = self.numbers[at[found]] == wanted[found]
        return np.where(found, at, -1)

    def least_sure(
        self, most: int, sure: NDArray[np.float64] | None = None, other: NDArray[np.bool_] | None = None
    ) -> Places:
        """So many of the open images, and their equals, of which the rule was the least sure, but for `other` ones."""
        sure = self.confidences if sure is None else sure
        wanted = self.open & ~np.isnan(sure)
        at = np.flatnonzero(wanted if other is None else wanted & ~other)
        return at if len(at) <= most else at[sure[at] <= np.partition(sure[at], most - 1)[most - 1]]

    def all_in(self, places: Places, category: str) -> bool:
        """Whether these images are all in this category."""
        return bool((places >= 0).all() and (self.owners[places] == self.position(category)).all())

    def of(self, category: str) -> Places:
        """The images of a category."""
        return np.flatnonzero(self.owners == self.position(category))

    def position(self, category: str) -> int:
        return self._catalogue.categories[category].position

    def size(self, category: str) -> int:
        return int(self._sizes[self.position(category)])

    def standing(self, category: str) -> tuple[bool, int, str]:
        """By which the lesser of two is merged into the greater: new before known, then by size."""
        return self.is_known(category), self.size(category), category

    def is_known(self, category: str) -> bool:
        return self._catalogue.categories[category].known

    def is_there(self, category: str) -> bool:
        """Whether it is neither gone nor merged."""
        found = self._catalogue.categories[category]
        return found.merged_into is None and not found.gone

    def is_settled(self, category: str) -> bool:
        """Whether a person placed all its images."""
        at = self.position(category)
        return bool(self._placed[at] == self._sizes[at] > 0)

    @cached_property
    def tentative(self) -> NDArray[np.intp]:
        """Positions of the new categories that rest on few images, none of them placed by a person."""
        new = np.array([not c.known and self.is_there(c.id) for c in self._catalogue.categories.values()], dtype=bool)
        return np.flatnonzero(new & (self._sizes > 0) & (self._sizes < CONFIRMED) & (self._placed == 0))
