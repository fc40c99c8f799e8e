"""Registers whose categories are sums of features: what was added can be taken away, exactly and in any order.

Knows nothing of images, models, files or torch. Single-threaded by contract: whoever holds it serialises writers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from firstsight.core.protocols import Centre
from firstsight.register.exact import Steps, Whole
from firstsight.register.learning import Floats, LearningRegister

PAGE = 1024  # features taken in at once


class AdditiveRegister(LearningRegister):
    """A kind says in which steps it counts (`_steps`) and what follows from a category's sum (`_renew`).

    A merge moves a sum, and undoing it moves it back: nothing is asked of the images again. Categories have positions
    in order of founding, for ever; one without features does not answer.
    """

    unlearns: ClassVar[bool] = True
    _steps: Steps

    @abstractmethod
    def _renew(self, which: list[int]) -> None:
        """The sums of these categories, by position, have changed."""

    @abstractmethod
    def _make_room(self, count: int) -> None:
        """For so many categories."""

    def _whole(self, features: Floats) -> Whole:
        """Features (or one) as they are added up."""
        return self._steps.whole(features)

    def _begin_sums(self, sums: Floats) -> None:
        """The known categories and their sums; what follows from those is up to the kind."""
        known, self._width = sums.shape
        # by position: what a category was taught since it began, where that counts (itself, or what it was merged
        # into), how many features count here so, and the sum of all that do, in whole steps
        self._own_counts, self._into, self._taught = [0] * known, list(range(known)), [0] * known
        self._lessons = 0  # all of them together
        self._own_sums = [np.zeros(self._width, dtype=np.int64)] * known
        self._sums = list(self._steps.sums(sums))

    def rebuild(
        self,
        centres: Iterable[Centre],
        reserved: Iterable[str] = (),
        members: Iterable[tuple[NDArray[Any], str]] = (),
        order: Sequence[str] = (),
        learned: bytes | None = None,
    ) -> None:
        """As any register that learns. In the `order` of founding given, categories have the places they always had.

        That, and exact sums, is why it answers to the bit as the one that `learned` so much, or these features.
        """
        super().rebuild(centres, reserved)
        for name in order:
            self._position_of(name)
        for home, category in self._merged.items():
            self._into[self._position_of(home)] = self._position_of(category)
        if learned is not None:
            whole = np.frombuffer(learned, dtype="<i8").reshape(len(self.names), -1)
            self._teach(whole[:, 0].astype(np.int64), whole[:, 1:].astype(np.int64))
        self._learn_all(members)

    def learned(self) -> bytes:
        """Of every category in order of position: how many features it was taught, and their sum in whole steps."""
        counts = np.array(self._own_counts, dtype="<i8")[:, None]
        sums = np.array(self._own_sums, dtype="<i8").reshape(-1, self._width)
        return np.concatenate([counts, sums], axis=1).tobytes()

    def learn(self, feature: NDArray[Any], category: str) -> None:
        self._take(self._position_of(category), self._checked(feature))

    def unlearn(self, feature: NDArray[Any], category: str) -> None:
        """A feature that was learned is not in this category after all: nothing is left of it, to the bit."""
        self._renew([self._add(self._position_of(category), -1, -self._whole(self._checked(feature)))])

    def redirect(self, category: str, to: str) -> None:
        """What a category was taught, in the stream and by people, counts for another from now on, or for itself."""
        at, old = self._position_of(category), self._into[self._position_of(category)]
        new = self._position_of(to)
        for position, sign in ((old, -1), (new, 1)):
            self._taught[position] += sign * self._own_counts[at]
            self._sums[position] = self._steps.check(self._sums[position] + sign * self._own_sums[at])
        self._renew([old, new])
        self._into[at] = new
        self._merged.pop(category, None)
        if to != category:
            self._merged[category] = to
        self._kin = {}

    def _add(self, at: int, count: int, whole: Whole) -> int:
        """A category is taught, or taught less; where that counts, and is to be renewed."""
        to = self._into[at]
        added = self._steps.check(self._sums[to] + whole)
        self._own_counts[at] += count
        self._lessons += count
        self._own_sums[at] = self._own_sums[at] + whole
        self._taught[to] += count
        self._sums[to] = added
        self.fresh = False
        return to

    def _learn_all(self, members: Iterable[tuple[NDArray[Any], str]]) -> None:
        """As one by one, which the order does not matter to, but faster."""
        counts, sums = np.zeros(0, dtype=np.int64), np.zeros((0, self._width), dtype=np.int64)
        members = iter(members)
        while page := list(islice(members, PAGE)):
            whole = self._whole(np.stack([self._checked(feature) for feature, _ in page]))
            at = np.array([self._position_of(category) for _, category in page])
            more = len(self.names) - len(counts)
            counts = np.concatenate([counts, np.zeros(more, dtype=np.int64)])
            sums = np.concatenate([sums, np.zeros((more, sums.shape[1]), dtype=np.int64)])
            np.add.at(counts, at, 1)
            np.add.at(sums, at, whole)
        self._teach(counts, sums)

    def _teach(self, counts: Whole, sums: Whole) -> None:
        """What categories were taught, by position."""
        changed = {self._add(at, int(counts[at]), sums[at]) for at in np.flatnonzero(counts).tolist()}
        if changed:
            self._renew(sorted(changed))

    def _take(self, position: int, feature: Floats) -> None:
        self._renew([self._add(position, 1, self._whole(feature))])

    def _take_in(self, position: int, via: int, feature: Floats) -> None:
        """What came by way of a merged category goes back with it, should that be undone."""
        self._take(via if via >= 0 else position, feature)

    def _position_of(self, name: str) -> int:
        position = super()._position_of(name)
        if position == len(self._into):
            nothing = np.zeros(self._width, dtype=np.int64)
            self._own_counts.append(0)
            self._taught.append(0)
            self._into.append(position)
            self._own_sums.append(nothing)
            self._sums.append(nothing)
            self._make_room(position + 1)
        return position
