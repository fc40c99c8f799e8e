"""Discovery simulated on the support set: some known categories play new ones, so that a rule can be tried on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FOLDS = 3  # every known category plays a new one once


@dataclass(frozen=True)
class Simulated:
    """Positions in the support set: those that teach, and those that arrive, in turn. `known` is about the latter."""

    teaching: NDArray[np.int64]
    arriving: NDArray[np.int64]
    known: NDArray[np.bool_]


def simulated(labels: NDArray[np.int64], generator: np.random.Generator) -> Iterator[Simulated]:
    """Streams of support images: a third of the categories are new, and half of the others' images arrive."""
    categories = np.unique(labels)
    for fold in range(FOLDS):
        new = categories[fold % len(categories) :: FOLDS] if len(categories) > 1 else categories[:0]
        teaching, arriving = [], [np.flatnonzero(np.isin(labels, new))]
        for category in np.setdiff1d(categories, new):
            own = generator.permutation(np.flatnonzero(labels == category))
            half = (len(own) + 1) // 2
            teaching.append(own[:half])
            arriving.append(own[half:])
        order = generator.permutation(np.concatenate(arriving))
        yield Simulated(np.concatenate(teaching), order, ~np.isin(labels[order], new))
