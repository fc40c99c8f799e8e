"""Discovery simulated on the support set: some known categories play new ones, so that a rule can be tried on them."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Labels: TypeAlias = NDArray[np.int64]

ALWAYS = 16  # images that a category may give in any case
MUCH_MORE = 4  # times the median
FIFTH = 5


@dataclass(frozen=True)
class Simulated:
    """Positions in the support set: those that teach, and those that arrive, in turn. `known` is about the latter."""

    teaching: Labels
    arriving: Labels
    known: NDArray[np.bool_]


def simulated(labels: Labels, new: Labels, generator: np.random.Generator, teaching_share: float = 0.5) -> Simulated:
    """A stream of support images to which some categories are new; those of the others that do not teach arrive too."""
    teaching, arriving = [], [np.flatnonzero(np.isin(labels, new))]
    for category in np.setdiff1d(labels, new):
        own = generator.permutation(np.flatnonzero(labels == category))
        taught = ceil(len(own) * teaching_share)
        teaching.append(own[:taught])
        arriving.append(own[taught:])
    order = generator.permutation(np.concatenate(arriving))
    return Simulated(np.concatenate(teaching), order, ~np.isin(labels[order], new))


def thirds(labels: Labels) -> list[Labels]:
    """Every category plays a new one once; none does where there is but one."""
    categories = np.unique(labels)
    if len(categories) == 1:
        return [categories[:0]] * 3
    return [categories[fold % len(categories) :: 3] for fold in range(3)]


def random_thirds(labels: Labels, count: int, generator: np.random.Generator) -> list[Labels]:
    """A third of the categories, at least one, plays new ones; drawn so many times."""
    categories = np.unique(labels)
    return [generator.permutation(categories)[: max(1, len(categories) // 3)] for _ in range(count)]


def evenly(labels: Labels, most: int, generator: np.random.Generator) -> Labels:
    """Positions of at most so many images, in order: as many of every category as there are, up to a limit.

    No category gives much more than the others, or it would be what they are all measured by.
    """
    counts = np.unique(labels, return_counts=True)[1]
    turn = np.empty(len(labels), dtype=np.int64)  # in which an image would be taken, were each category to give one
    for category in np.unique(labels):
        own = np.flatnonzero(labels == category)
        turn[generator.permutation(own)] = np.arange(len(own))
    fair = int((turn < max(ALWAYS, MUCH_MORE * np.median(counts))).sum())
    return np.sort(np.argsort(turn, kind="stable")[: min(most, fair)])


def withheld(labels: Labels) -> NDArray[np.bool_]:
    """Which images a learner that withholds some is not trained on: every fifth of each category."""
    out = np.zeros(len(labels), dtype=bool)
    for category in np.unique(labels):
        out[np.flatnonzero(labels == category)[FIFTH - 1 :: FIFTH]] = True
    return out
