"""Registers that learn: images that join a category shape it.

What is kept of a category, and how far a feature is from it, is the business of the kind of register. Knows nothing of
images, models, files or torch. Single-threaded by contract: whoever holds it serialises writers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from math import exp, inf, isnan
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from firstsight.core.assignments import Assignment, Assignments, Candidate
from firstsight.core.errors import ModelError, SettingsError
from firstsight.core.protocols import Centre, Halves
from firstsight.register.halves import halves
from firstsight.register.naming import Naming

UNCHANGED = ("names", "_position", "_reserved", "_centres")  # in place; names grow by `Naming`
LARGEST = 600.0  # exponent that leaves room for a sum

Floats: TypeAlias = NDArray[np.float64]


class Look(NamedTuple):
    """The nearest category and the next that is another, -1 for none, their distances, and how sure the answer is."""

    nearest: int
    second: int
    distance: float
    second_distance: float
    confidence: float | None


class LearningRegister(Naming, ABC):
    """The nearest category within the radius answers and takes the feature in; else the feature founds one.

    A kind says what it starts from (`_begin`), how far a feature is from every category (`distances`) and what a
    category becomes by a feature (`_take`). A distance may depend on all that came before, so a kind cannot unlearn
    unless it says so: after an edit it is built again from the features of all images.
    """

    kind: ClassVar[str]
    stored: ClassVar[str] = "<f4"
    learns: ClassVar[bool] = True
    unlearns: ClassVar[bool] = False
    teachable: ClassVar[bool] = True
    confident: ClassVar[bool] = False  # whether it can tell how probable an answer is

    def __init__(self, names: Sequence[str], centres: NDArray[Any], radius: float) -> None:
        """`centres` are where the known categories are, one feature each: for whoever asks, not for deciding."""
        super().__init__(names)
        self._centres = np.asarray(centres, dtype=np.float32)
        self.fresh = True  # nothing has shaped it since it began: it is what its header says
        self.radius = radius
        self.rebuild(self.known_centres())

    # ------------------------------------------------------------------ what a kind of register adds

    @abstractmethod
    def _begin(self) -> None:
        """Forget all features: the known categories as they were at the start."""

    @abstractmethod
    def distances(self, feature: Floats) -> Floats:
        """How far a feature is from every category, in order of position; infinite where one cannot answer."""

    @abstractmethod
    def _take(self, position: int, feature: Floats) -> None:
        """A feature joins a category; the position after the last one is that of a new category, which it founds."""

    @abstractmethod
    def header(self) -> dict[str, Any]:
        """What it takes to start the same register again, as JSON; its `kind` and `radius` among it."""

    def _learns_on(self, position: int) -> bool:
        """Whether this category still learns from the answers it gives."""
        return True

    def _confidence(self, distances: Floats, chosen: int) -> float | None:
        """How probable it is that the chosen category (-1: a new one) is right, if this kind can tell."""
        return None

    # ------------------------------------------------------------------ keeping

    @property
    def radius(self) -> float:
        """How far a category reaches, adjustable at any time; it decides about the images to come."""
        return self._radius

    @radius.setter
    def radius(self, radius: float) -> None:
        self.check_radius(radius)
        self._radius = float(radius)

    def check_radius(self, radius: float) -> None:
        if isnan(radius) or radius == -inf:
            raise SettingsError(f"radius is {radius}; it can be any number, or infinite: then nothing is ever new")

    def known_centres(self) -> list[Centre]:
        return [
            Centre(feature, name, name) for feature, name in zip(self._centres, self.names[: self.known], strict=True)
        ]

    def feature_bytes(self, feature: NDArray[Any]) -> bytes:
        return feature.astype(self.stored).tobytes()

    @classmethod
    def feature_from(cls, content: bytes) -> NDArray[Any]:
        return np.frombuffer(content, dtype=cls.stored).astype(np.float32)

    def centre_of(self, features: NDArray[Any]) -> NDArray[np.float32]:
        """The centre for a category of these features: their mean."""
        mean: Floats = features.mean(axis=0, dtype=np.float64)
        return mean.astype(np.float32)

    def copy(self) -> Self:
        other = super().copy()
        for name, value in vars(self).items():
            if hasattr(value, "copy") and name not in UNCHANGED:
                setattr(other, name, value.copy())
        return other

    def rebuild(
        self,
        centres: Iterable[Centre],
        reserved: Iterable[str] = (),
        members: Iterable[tuple[NDArray[Any], str]] = (),
        order: Sequence[str] = (),
        learned: bytes | None = None,
    ) -> None:
        """Start again from the known categories, and from these features where they were put, by arrival.

        A known category that was merged stays where it was taught and answers for the other, which its features join.
        Categories without a feature do not answer, though their ids are taken.
        """
        centres = list(centres)
        self._begin_names([*reserved, *(centre.home for centre in centres)])
        self._merged = {c.home: c.category for c in centres if c.category != c.home}
        self._kin: dict[str, list[int]] = {}  # the known categories that answer for one, where some are merged
        self.comparisons = 0
        self.fresh = True
        self._begin()
        self._learn_all((feature, category) for feature, category in members)

    def _learn_all(self, members: Iterable[tuple[NDArray[Any], str]]) -> None:
        for feature, category in members:
            self.learn(feature, category)

    def learn(self, feature: NDArray[Any], category: str) -> None:
        """A feature is in this category: someone said so."""
        self._take(self._position_of(self._merged.get(category, category)), self._checked(feature))
        self.fresh = False

    def unlearn(self, feature: NDArray[Any], category: str) -> None:
        """A feature that was learned is not in this category after all."""
        raise NotImplementedError(f"a register of kind {self.kind} is built again")

    def redirect(self, category: str, to: str) -> None:
        """What a category was taught counts for another from now on; for itself, where that is undone."""
        raise NotImplementedError(f"a register of kind {self.kind} is built again")

    def learned(self) -> bytes | None:
        """What it has learned, for `rebuild`; None where only the features themselves tell."""
        return None

    # ------------------------------------------------------------------ answering

    def match(self, feature: NDArray[Any], without: str | None = None) -> Assignment:
        """What this feature is; changes nothing. `without` names a category that is to be asked as if it had not."""
        seen = self._look(self._checked(feature), without)
        nearest, matched = seen.nearest, seen.distance <= self.radius and seen.nearest >= 0
        other, apart = (seen.second, seen.second_distance) if matched else (nearest, seen.distance)
        category = self._answer(nearest) if matched else None
        return Assignment(
            category=category,
            is_new=category is None or self._position[category] >= self.known,
            created=False,
            distance=seen.distance if nearest >= 0 else None,
            radius=self.radius,
            runner_up=Candidate(self._answer(other), apart) if other >= 0 else None,
            via=self.names[nearest] if matched and category != self.names[nearest] else None,
            confidence=seen.confidence,
        )

    def assign(self, feature: NDArray[Any]) -> Assignment:
        """Match, take the feature in, and register a new category when nothing matches."""
        return self.assign_many(np.asarray(feature)[None])[0]

    def assign_many(self, features: NDArray[Any]) -> Assignments:
        """What assigning the features one by one gives: each is decided by what those before it left."""
        count = len(features)
        category, runner_up, via = (np.full(count, -1, dtype=np.int32) for _ in range(3))
        distance, runner_up_distance, confidence = (np.full(count, np.nan) for _ in range(3))
        created, lesson = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
        for i, (given, look) in enumerate(self._looks(np.asarray(features))):
            nearest, second, apart, second_apart, sure = look
            if nearest >= 0:
                distance[i] = apart
            created[i] = nearest < 0 or apart > self.radius
            confidence[i] = np.nan if sure is None else sure
            category[i] = self._position_of(self.next_name() if created[i] else self._answer(nearest))
            if not created[i] and category[i] != nearest:
                via[i] = nearest
            other, other_apart = (nearest, apart) if created[i] else (second, second_apart)
            if other >= 0:
                runner_up[i], runner_up_distance[i] = self._position_of(self._answer(other)), other_apart
            lesson[i] = self._learns_on(int(category[i]))
            if lesson[i]:
                self._take_in(int(category[i]), int(via[i]), given)
            self.fresh = False
        return Assignments(
            names=self.names,
            known=self.known,
            radius=self.radius,
            category=category,
            via=via,
            created=created,
            distance=distance,
            runner_up=runner_up,
            runner_up_distance=runner_up_distance,
            compared=~np.isnan(distance),
            confidence=confidence,
            lesson=lesson,
        )

    def answer_again(self, features: NDArray[Any]) -> NDArray[np.int32]:
        """The category each feature would have now, by position, -1 for none: hindsight. Changes nothing."""
        again = np.full(len(features), -1, dtype=np.int32)
        for i, feature in enumerate(features):
            distances = self.distances(self._checked(feature))
            if len(distances) and distances.min() <= self.radius:
                again[i] = distances.argmin()
        return again

    def halves(self, features: NDArray[Any]) -> Halves | None:
        """Two parts that lie clearly apart, most of the smaller too far out for a category of the larger alone."""
        found = halves(self.points(self._checked(features)))
        if found is None:
            return None
        without, rest = self.copy(), "the rest"
        without.rebuild(self.known_centres(), members=[(feature, rest) for feature in features[~found.second]])
        left = [without.match(feature).category != rest for feature in features[found.second]]
        return found if 2 * sum(left) > len(left) else None

    def points(self, features: Floats) -> Floats:
        """Features as points that lie as near each other as they are alike."""
        return features

    def neighbours(self, feature: NDArray[Any], within: float, limit: int) -> list[Candidate]:
        distances = self.distances(self._checked(feature))
        near = np.argsort(distances, kind="stable")[:limit]
        there = (i for i in near.tolist() if np.isfinite(distances[i]) and distances[i] <= within)
        return [Candidate(self._answer(i), float(distances[i])) for i in there]

    def _looks(self, features: NDArray[Any]) -> Iterator[tuple[Floats, Look]]:
        """Each feature as it is compared, and what decides about it once those before it were taken in."""
        for feature in features:
            given = self._checked(feature)
            yield given, self._look(given)

    def _look(self, feature: Floats, without: str | None = None) -> Look:
        """What decides about a feature."""
        distances = self._distances(feature, without)
        self.comparisons += len(distances)
        nearest = _smallest(distances)
        rest = distances.copy()
        if nearest >= 0:
            rest[nearest] = np.inf
            if self._merged:
                rest[self._answering(self._answer(nearest))] = np.inf
        second, distance = _smallest(rest), float(distances[nearest]) if nearest >= 0 else inf
        confidence = self._confidence(distances, nearest if distance <= self.radius and nearest >= 0 else -1)
        return Look(nearest, second, distance, float(rest[second]) if second >= 0 else inf, confidence)

    def _distances(self, feature: Floats, without: str | None) -> Floats:
        return self.distances(feature)

    def _take_in(self, position: int, via: int, feature: Floats) -> None:
        """A category that answered learns; the one it answered by way of, where that is merged, is given too."""
        self._take(position, feature)

    def _answer(self, position: int) -> str:
        """The category a position answers for."""
        name = self.names[position]
        return self._merged.get(name, name)

    def _answering(self, category: str) -> list[int]:
        """The positions that answer for a category: its own, and those of known ones that were merged into it."""
        if category not in self._kin or category not in self._position:
            merged = [home for home, to in self._merged.items() if to == category]
            self._kin[category] = [self._position[each] for each in (category, *merged) if each in self._position]
        return self._kin[category]

    def _checked(self, feature: NDArray[Any]) -> Floats:
        given = np.asarray(feature, dtype=np.float64)
        if not np.isfinite(given).all():
            raise ModelError(
                "a feature holds a value that is not a finite number", "the encoder that made it is at fault"
            )
        if given.shape[-1] != self._centres.shape[-1]:
            raise ModelError(
                f"a feature of {given.shape[-1]} values cannot be compared with centres of another length",
                "use the encoder that made the centres",
            )
        return given


def _smallest(values: Floats) -> int:
    """The position of the smallest value, the first on a tie; -1 where none is finite."""
    best = int(values.argmin()) if len(values) else -1
    return best if best >= 0 and np.isfinite(values[best]) else -1


def posterior(distances: Floats, radius: float, chosen: int, sharpness: float = 1.0) -> float:
    """The probability of an answer where distances are log odds of a new category; that (-1) is at the radius."""
    at = radius if chosen < 0 else distances[chosen]
    if at == inf:  # there is nothing else
        return 1.0
    there = distances[np.isfinite(distances)]  # in what order a sum is made depends on how many there are
    with np.errstate(over="ignore"):  # a radius may be as far as numbers go
        known = np.exp(np.minimum(sharpness * (at - there), LARGEST)).sum()
        return float(1 / (known + exp(min(sharpness * (at - radius), LARGEST))))
