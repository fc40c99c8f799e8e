"""How features stand to the centres there are: the two nearest of different categories, and the first within reach."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

FAR = int(np.iinfo(np.int16).max)  # farther than any code
NOBODY = -1

Ints: TypeAlias = NDArray[np.int32]
Distances: TypeAlias = NDArray[Any]  # int16 where bits are counted, else float64


class Place(NamedTuple):
    """How one feature stands: as `Standing`, in plain numbers."""

    nearest: int
    distance: float
    second: int
    second_distance: float
    first: int
    first_distance: float


class Standing:
    """One entry per feature: positions of centres (-1 for none) and their distances.

    Centres join in order of rank, so on a tie the one that joined before stays. `owner` gives the category of
    every centre; its last entry is -1, so that nobody's centre (-1) is nobody's. With `reach` the first centre
    within that distance is kept as well.
    """

    __slots__ = ("distance", "first", "first_distance", "nearest", "reach", "second", "second_distance")

    def __init__(self, count: int, reach: int | None, distances: type[np.number[Any]] = np.int16) -> None:
        self.reach = reach
        far = FAR if distances is np.int16 else np.inf
        self.nearest, self.second, self.first = (np.full(count, NOBODY, dtype=np.int32) for _ in range(3))
        self.distance, self.second_distance, self.first_distance = (
            np.full(count, far, dtype=distances) for _ in range(3)
        )

    def join(self, at: Any, centre: int | Ints, distance: Distances, owner: Ints) -> None:
        """A centre (or one for each entry) takes part in the entries `at`, a slice or distinct positions."""
        nearest, best = self.nearest[at], self.distance[at]
        second, next_best = self.second[at], self.second_distance[at]
        other = owner[centre] != owner[nearest]
        closer = distance < best
        overtaken = closer & other
        between = ~closer & other & (distance < next_best)
        self.second[at] = np.where(overtaken, nearest, np.where(between, centre, second))
        self.second_distance[at] = np.where(overtaken, best, np.where(between, distance, next_best))
        self.nearest[at] = np.where(closer, centre, nearest)
        self.distance[at] = np.where(closer, distance, best)
        if self.reach is not None:
            self.meet(at, centre, distance)

    def meet(self, at: Any, centre: int | Ints, distance: Distances) -> None:
        """A centre becomes the first within reach where there is none yet."""
        assert self.reach is not None
        takes = (self.first[at] < 0) & (distance <= self.reach)
        self.first[at] = np.where(takes, centre, self.first[at])
        self.first_distance[at] = np.where(takes, distance, self.first_distance[at])

    def __getitem__(self, at: int) -> Place:
        return Place(
            self.nearest.item(at),
            self.distance.item(at),
            self.second.item(at),
            self.second_distance.item(at),
            self.first.item(at),
            self.first_distance.item(at),
        )

    def take(self, at: Any) -> Standing:
        """The entries at these positions, copied."""
        taken = Standing.__new__(Standing)
        taken.reach = self.reach
        for name in self.__slots__:
            if name != "reach":
                setattr(taken, name, getattr(self, name)[at])
        return taken

    def copy(self) -> Standing:
        """The same entries, to be changed on their own."""
        copied = self.take(slice(None))
        for name in self.__slots__:
            if name != "reach":
                setattr(copied, name, getattr(copied, name).copy())
        return copied

    def put(self, at: slice, other: Standing) -> None:
        """Replace a stretch of entries."""
        for name in self.__slots__:
            if name != "reach":
                getattr(self, name)[at] = getattr(other, name)
