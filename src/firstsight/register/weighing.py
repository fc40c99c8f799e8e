"""Registers that weigh categories by their odds, and of very many only those that can matter.

Knows nothing of images, models, files or torch. Single-threaded by contract: whoever holds it serialises writers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from functools import partial
from math import exp, inf
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from firstsight.core.errors import ModelError
from firstsight.register.additive import AdditiveRegister
from firstsight.register.learning import Floats, Look
from firstsight.register.shortlist import Places, Reached, Shortlist

MANY = 10_000  # categories from which only those that can matter to a feature are weighed
ERROR = 1e-3  # that a confidence may be off by then
TOGETHER = 64  # features looked up together at most, and
ROOM = 1 << 25  # rough distances kept at once


class Odds(Protocol):
    """What log odds mean to whoever is told a confidence."""

    @property
    def sharpness(self) -> float: ...

    def chance(self, posterior: float) -> float: ...

    def reach(self, categories: int, error: float) -> float: ...


class WeighingRegister(AdditiveRegister):
    """A distance is the log odds of a new category against one, as `Shortlist` bounds it.

    An answer is the nearest by exact distances, however it was found. A runner-up beyond reach is none: with all else
    out there it would change the confidence by less than half of `ERROR`.
    """

    spread: Odds
    _shortlist: Shortlist | None

    @abstractmethod
    def _new_shortlist(self) -> Shortlist:
        """Of all categories there are. Whoever changes one from then on says so to it, and adds it to `_changed`."""

    @abstractmethod
    def _distances_at(self, feature: Floats, which: Places) -> Floats:
        """As `distances`, to some categories, to the bit."""

    @abstractmethod
    def _constants(self, feature: Floats) -> Floats:
        """What a feature adds to a distance, for each kind of category."""

    @abstractmethod
    def _nearly(self, feature: Floats, constants: Floats, which: Places) -> Floats:
        """The same but for the last digits, and faster."""

    def _look(self, feature: Floats, without: str | None = None) -> Look:
        if len(self.names) < MANY:
            return super()._look(feature, without)
        if without is not None:
            return self._judged(feature, [], without)
        ask = partial(self._near().reached, feature, self._constants(feature), self.radius)
        return self._judged(feature, (ask(reach) for reach in (self._reach, inf)))

    def _looks(self, features: NDArray[Any]) -> Iterator[tuple[Floats, Look]]:
        """Very many categories are gone through once for some features, which costs little more than for one."""
        first = 0
        while first < len(features):
            size = min(TOGETHER, max(1, ROOM // max(1, len(self.names))))
            some = features[first : first + size]
            first += size
            given = self._checked_all(some) if len(self.names) >= MANY and len(some) > 1 else None
            yield from super()._looks(some) if given is None else self._looks_ahead(given)

    def _looks_ahead(self, features: Floats) -> Iterator[tuple[Floats, Look]]:
        """By products of matrices: rough distances differ in their last digits from those of one feature alone."""
        constants = np.stack([self._constants(each) for each in features])
        rough = self._near().rough_of(features, constants, room=len(self.names) + len(features))
        self._changed: set[int] = set()
        for feature, before, own in zip(features, constants, rough, strict=True):
            now = self._constants(feature)
            own += np.float32(now[0] - before[0])  # to all alike: a new category may be less probable since
            if changed := sorted(self._changed):
                own[changed] = self._nearly(feature, now, np.array(changed))
            yield feature, self._judged(feature, [self._near().all_of(own, feature, now)])

    def _checked_all(self, features: NDArray[Any]) -> Floats | None:
        """None where one cannot be compared: those before it are answered, one by one."""
        try:
            return self._checked(features)
        except ModelError:
            return None

    @property
    def _reach(self) -> float:
        return self.spread.reach(len(self.names), ERROR / 2)

    def _near(self) -> Shortlist:
        if self._shortlist is None:
            self._shortlist, self._changed = self._new_shortlist(), set()
        return self._shortlist

    def _judged(self, feature: Floats, tries: Iterable[Reached | None], without: str | None = None) -> Look:
        """By the first rough distances that can tell; else nothing less than all exact ones do."""
        looks = (self._look_near(feature, reached) for reached in tries if reached is not None)
        look = next((look for look in looks if look is not None), None) or super()._look(feature, without)
        matters = look.second_distance <= min(look.distance, self.radius) + self._reach
        return look if matters else look._replace(second=-1, second_distance=inf)

    def _look_near(self, feature: Floats, reached: Reached) -> Look | None:
        """What decides, where rough distances prove it: whatever they leave out is beyond reach."""
        exact, sharpness = partial(self._distances_at, feature), self.spread.sharpness
        found = reached.nearest(exact)
        if found is None or found[1] > reached.within or found[0] < 0:
            return None
        nearest, distance = found
        self.comparisons += reached.compared
        at = min(distance, self.radius)
        reached.leave_out([nearest])
        odds = exp(sharpness * (at - distance)) + exp(sharpness * (at - self.radius))
        most, least = (self.spread.chance(1 / (odds + rest)) for rest in reached.odds(at, sharpness))
        reached.leave_out(self._answering(self._answer(nearest)))
        second = reached.nearest(exact)
        if second is None or most - least > ERROR / 2:
            return None
        return Look(nearest, second[0], distance, second[1], (most + least) / 2)
