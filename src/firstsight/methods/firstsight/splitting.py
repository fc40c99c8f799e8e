"""How often a proposed split is right: counted on the simulated streams that a fit tries itself out on.

What the register of such a stream holds is cut in two where `splits` would propose it. A cut is right where either part
is by two thirds of one category, and those are two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from firstsight.methods.firstsight.discriminant import Labels
from firstsight.methods.firstsight.trial import Trial
from firstsight.register.halves import two_means
from firstsight.register.spread import Birth

MOSTLY = 2 / 3


def rehearsed(trials: Sequence[Trial], birth: Birth) -> tuple[float, ...]:
    """Of the splits that would be proposed after these streams, how many are right, and how many there are."""
    made = [right for trial in trials for factor, right in cuts(trial, birth) if factor > 0]
    return float(sum(made)), float(len(made))


def cuts(trial: Trial, birth: Birth) -> Iterator[tuple[float, bool]]:
    """Every category of two images or more, cut in two: the log Bayes factor of that, and whether it is right."""
    answers = trial.answers(birth)
    for category in np.unique(answers):
        members = answers == category
        features, truth = trial.arriving[members].astype(np.float64), trial.truth[members]
        second = two_means(features / np.sqrt(trial.spread.within))
        if second is not None:
            parts = second, ~second
            sums = np.stack([features[part].sum(axis=0) for part in parts])
            factor = trial.spread.two_or_one(np.array([float(part.sum()) for part in parts]), sums)
            yield factor, is_right(*(truth[part] for part in parts))


def is_right(one: Labels, other: Labels) -> bool:
    """Whether two parts are two categories, by and large."""
    counts: list[NDArray[np.int64]] = [np.bincount(part) for part in (one, other)]
    return bool(counts[0].argmax() != counts[1].argmax() and all(each.max() >= MOSTLY * each.sum() for each in counts))
