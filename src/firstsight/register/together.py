"""Features that are decided together, because they are known to show one thing: a burst of one camera.

Every feature is asked by itself first. Of the answers they give, that one holds for all which is nearest to most of
them, by the median; a new category stands at the radius. Of the features that say so, the one most like all of them is
assigned as ever, and the others follow it. They teach nothing: five pictures of one animal in two seconds are not five
witnesses.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from firstsight.core.assignments import Assignment
from firstsight.core.protocols import Register


class Together(NamedTuple):
    """The answers, and which of the features was assigned for all."""

    answers: list[Assignment]
    leads: int


def decide(register: Register, features: Sequence[NDArray[Any]]) -> Together:
    """Answer features as one. One alone is answered as ever."""
    if len(features) == 1:
        return Together([register.assign(features[0])], 0)
    alone = [register.match(feature) for feature in features]
    verdict = _verdict(register, features, {answer.category for answer in alone})
    agree = [i for i, answer in enumerate(alone) if answer.category == verdict]
    centre = register.centre_of(np.stack(features))
    leads = min(agree, key=lambda i: _apart(features[i], centre))
    answer = register.assign(features[leads])
    followers = replace(answer, created=False, lesson=False)
    return Together([answer if i == leads else followers for i in range(len(features))], leads)


def _verdict(register: Register, features: Sequence[NDArray[Any]], named: set[str | None]) -> str | None:
    """Of the categories that are named, None for a new one, the nearest by the median; the first on a tie, new last."""
    if len(named) == 1:
        return next(iter(named))
    distances: dict[str | None, list[float]] = {category: [] for category in named}
    for feature in features:
        nearest: dict[str | None, float] = {}
        for each in register.neighbours(feature, inf, sys.maxsize):
            nearest.setdefault(each.category, each.distance)
        for category in named - {None}:
            distances[category].append(nearest.get(category, inf))
    if None in named:
        distances[None] = [register.radius]
    return min(named, key=lambda c: (float(np.median(distances[c])), c is None, c or ""))


def _apart(one: NDArray[Any], other: NDArray[Any]) -> float:
    """How far two features are apart: in bits where they are codes."""
    if one.dtype.kind == "u":
        return float(np.bitwise_count(one ^ other).sum())
    return float(((one.astype(np.float64) - other) ** 2).sum())
