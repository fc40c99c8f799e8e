"""Registers of prototypes: a category is one direction, compared by cosine, and how far it reaches is its own.

The rules differ in where a prototype goes when a feature joins, and in how far a category reaches. A distance is by how
much the cosine falls short of the category's mark: 0 is on it, and the radius moves all marks together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firstsight.register.additive import AdditiveRegister
from firstsight.register.exact import Steps, Whole
from firstsight.register.learning import Floats, LearningRegister
from firstsight.register.numbers import as_json, as_text, from_json, from_text
from firstsight.register.stack import Stack

BATCH = 64
FEWEST = 2  # features of a batch that move a prototype
FINE = 2.0**-8  # so that sums of up to 250,000 directions are kept in steps of 2^-44
TRUST = 10.0  # features of its own that what is typical is worth to a leader
RATES, INERTIA = (0.06, 0.3), (32.0, 8.0)  # of known categories and of new ones


class PrototypeRegister(LearningRegister):
    """Prototypes that stay where they are; a new category has the mark of the one nearest to its founder (SynC).

    >>> register = PrototypeRegister(["ant", "bee"], np.eye(2), marks=np.array([0.9, 0.5]))
    >>> register.assign(np.array([3, 2], dtype=np.float32)).category  # cosines 0.83 and 0.55
    'bee'
    >>> register.assign(np.array([3, -1.5], dtype=np.float32)).category  # 0.89 and -0.45
    'new-1'
    """

    kind = "marks"
    teachable = False

    def __init__(
        self, names: Sequence[str], prototypes: NDArray[Any], marks: NDArray[Any], radius: float = 0.0
    ) -> None:
        """A mark is the least cosine a feature has with a category's prototype."""
        self._first = np.asarray(prototypes, dtype=np.float64), np.asarray(marks, dtype=np.float64)
        super().__init__(names, self._first[0], radius)

    def header(self) -> dict[str, Any]:
        prototypes, marks = self._first
        return {
            "kind": self.kind,
            "radius": as_json(self.radius),
            "known": self.names[: self.known],
            "prototypes": as_text(prototypes),
            "marks": as_text(marks),
        }

    @classmethod
    def of(cls, header: Mapping[str, Any]) -> PrototypeRegister:
        """The register a header describes, holding its known categories."""
        marks = from_text(header["marks"])
        prototypes = from_text(header["prototypes"]).reshape(len(marks), -1)
        return cls(header["known"], prototypes, marks, from_json(header["radius"]))

    def _begin(self) -> None:
        self._count = self.known
        self._prototypes, self._marks = _unit(self._first[0]), self._first[1].copy()

    def distances(self, feature: Floats) -> Floats:
        return np.asarray(self._marks[: self._count] - self._cosines(feature))

    def _take(self, position: int, feature: Floats) -> None:
        if position == self._count:
            self._found(_unit(feature), self._mark_for(feature))

    def points(self, features: Floats) -> Floats:
        return _unit(features)

    def _mark_for(self, founder: Floats) -> float:
        """The mark a new category starts with."""
        return float(self._marks[self._cosines(founder).argmax()])

    def _cosines(self, feature: Floats) -> Floats:
        return np.asarray(self._prototypes[: self._count] @ _unit(feature))

    def _found(self, prototype: Floats, mark: float) -> None:
        if self._count == len(self._marks):
            more = max(64, self._count)
            self._prototypes = np.concatenate([self._prototypes, np.zeros((more, len(prototype)))])
            self._marks = np.concatenate([self._marks, np.zeros(more)])
        self._prototypes[self._count] = prototype
        self._marks[self._count] = mark
        self._count += 1


class GatedRegister(PrototypeRegister):
    """After every 64 features, prototypes move towards the mean of those of them that joined, two at least (TALON).

    How far depends on how many they are and how much they resemble the prototype; new categories move more readily.
    """

    kind = "gated"
    teachable = True

    def _begin(self) -> None:
        super()._begin()
        self._batch: list[tuple[int, Floats, float]] = []

    def _take(self, position: int, feature: Floats) -> None:
        super()._take(position, feature)
        unit = _unit(feature)
        self._batch.append((position, unit, float(self._prototypes[position] @ unit)))
        if len(self._batch) == BATCH:
            self._move()

    def _move(self) -> None:
        for position in dict.fromkeys(position for position, _, _ in self._batch):
            own = [(feature, cosine) for at, feature, cosine in self._batch if at == position]
            if (n := len(own)) < FEWEST:
                continue
            new = position >= self.known
            resemblance = max(0.0, float(np.mean([cosine for _, cosine in own])))
            step = RATES[new] * resemblance * n / (n + INERTIA[new])
            mean = np.mean([feature for feature, _ in own], axis=0)
            self._prototypes[position] = _unit((1 - step) * self._prototypes[position] + step * mean)
        self._batch = []


class LeaderRegister(AdditiveRegister):
    """Every leader is the mean direction of its features, its mark follows how alike they are (DiffGRE's inference).

    n features of length 1 with sum S have the mean cosine |S| / n with their leader. The mark is that, its founder left
    out as it is always alike to itself, together with `TRUST` features of what is typical.

    >>> register = LeaderRegister(["ant"], np.array([[1, 0]]), np.array([0.9]), np.array([9]), typical=0.8, radius=0.1)
    >>> register.assign(np.array([0.5, 2], dtype=np.float32)).category
    'new-1'
    """

    kind = "leaders"

    def __init__(
        self,
        names: Sequence[str],
        prototypes: NDArray[Any],
        alike: NDArray[Any],
        counts: NDArray[Any],
        typical: float,
        radius: float,
    ) -> None:
        """Known categories have so many features, `alike` their leaders on average; `typical` is that of a category."""
        self.typical = typical
        self._first = tuple(np.asarray(part, dtype=np.float64) for part in (prototypes, alike, counts))
        self._steps = Steps(np.full(self._first[0].shape[1], FINE))
        super().__init__(names, self._first[0], radius)

    def header(self) -> dict[str, Any]:
        prototypes, alike, counts = self._first
        return {
            "kind": self.kind,
            "radius": as_json(self.radius),
            "known": self.names[: self.known],
            "prototypes": as_text(prototypes),
            "marks": as_text(alike),
            "counts": as_text(counts),
            "typical": self.typical,
        }

    @classmethod
    def of(cls, header: Mapping[str, Any]) -> LeaderRegister:
        """The register a header describes, holding its known categories."""
        alike, counts = from_text(header["marks"]), from_text(header["counts"])
        prototypes = from_text(header["prototypes"]).reshape(len(alike), -1)
        return cls(header["known"], prototypes, alike, counts, header["typical"], from_json(header["radius"]))

    def _begin(self) -> None:
        prototypes, alike, counts = self._first
        self._begin_sums(_unit(prototypes) * (counts * alike)[:, None])
        self._leaders, self._marks = Stack(self._width), np.zeros(0)
        self._make_room(self.known)
        if self.known:
            self._renew(list(range(self.known)))

    def distances(self, feature: Floats) -> Floats:
        count = len(self.names)
        return np.asarray(self._marks[:count] - self._leaders.product(_unit(feature), count))

    def _whole(self, features: Floats) -> Whole:
        return self._steps.whole(_unit(features))

    def points(self, features: Floats) -> Floats:
        return _unit(features)

    def _renew(self, which: list[int]) -> None:
        for at in which:
            total = self._steps.values(self._sums[at])
            count = self._taught[at] + (float(self._first[2][at]) if at < self.known else 0.0)
            mark = TRUST * self.typical + float(np.linalg.norm(total)) - min(count, 1)
            there = count > 0 or at < self.known
            self._marks[at] = mark / (TRUST + max(count - 1, 0)) if there else np.inf
            self._leaders.put(at, _unit(total))

    def _make_room(self, count: int) -> None:
        self._leaders.make_room(count)
        if count > len(self._marks):
            more = max(64, count - len(self._marks), len(self._marks))
            self._marks = np.concatenate([self._marks, np.full(more, np.inf)])


def _unit(features: Floats) -> Floats:
    """Features (or one) at length 1; a feature of zeros, which has no direction, stays."""
    lengths = np.sqrt(np.square(features).sum(axis=-1, keepdims=True))
    return np.asarray(features / np.where(lengths == 0, 1, lengths))
