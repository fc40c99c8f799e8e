"""Which categories a register would answer a whole stream with, and nothing else of what it tells and keeps.

Calibration asks about dozens of simulated streams and throws the registers away. Nobody needs their confidence,
runners-up, names or exact sums, which take most of a register's time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from firstsight.methods.firstsight.discriminant import Floats, Labels
from firstsight.register.spread import Spread


@dataclass(frozen=True)
class Kinds:
    """Log odds of a category against a new one, but for the concentration, are a polynomial of a feature's values.

    Its coefficients, by how many features' worth the mean is believed: all of them, the last included.
    """

    along: Floats  # (trusted + 1, D): of a feature times a category's mean
    squares: Floats  # (trusted + 1, D): of the mean's squares
    constant: Floats  # (trusted + 1,)
    own: Floats  # (trusted + 1, D): of the feature's squares

    @classmethod
    def of(cls, spread: Spread) -> Self:
        believed, total = np.arange(int(spread.trusted) + 1.0)[:, None], spread.within + spread.between
        variance = 1 / (1 / spread.between + believed / spread.within)
        precision, shrink = 1 / (spread.within + variance), believed * variance / spread.within
        constant = 0.5 * (np.log(precision).sum(axis=1) + np.log(total).sum())
        return cls(precision * shrink, -0.5 * precision * shrink**2, constant, 0.5 * (1 / total - precision))


def answers(spread: Spread, counts: Labels, sums: Floats, features: Floats) -> NDArray[np.int32]:
    """The category of every feature, by position: those of these counts and sums come first, then new ones in turn."""
    told = (at for at, *_ in decided(spread, counts, sums, features))
    return np.fromiter(told, dtype=np.int32, count=len(features))


def decided(spread: Spread, counts: Labels, sums: Floats, features: Floats) -> Iterator[tuple[int, Floats, float]]:
    """For every feature in turn: its category, the log odds of all that were there, and those of a new one."""
    birth, lessons = spread.birth, 0
    kinds, there, room = Kinds.of(spread), len(counts), len(counts) + len(features)
    size, total = np.zeros(room), np.zeros((room, features.shape[1]))
    size[:there], total[:there] = counts, sums
    weights, offsets, kind = np.zeros_like(total), np.zeros(room), np.zeros(room, dtype=np.intp)

    def renew(at: int) -> None:
        of = kind[at] = int(min(size[at], spread.trusted))
        mean = total[at] / size[at]
        np.multiply(kinds.along[of], mean, out=weights[at])
        weight = np.log(min(size[at], spread.enough))
        offsets[at] = weight + kinds.constant[of] + np.square(mean) @ kinds.squares[of]

    for at in range(there):
        renew(at)
    for feature, own in zip(features, np.square(features) @ kinds.own.T, strict=True):
        odds = weights[:there] @ feature
        odds += offsets[:there]
        odds += own[kind[:there]]
        best, new = int(odds.argmax()), birth.after(lessons, len(counts))
        if odds[best] < new:
            best, there = there, there + 1
        yield best, odds, new
        if size[best] < spread.enough:
            lessons += 1
            size[best] += 1
            total[best] += feature
            renew(best)
