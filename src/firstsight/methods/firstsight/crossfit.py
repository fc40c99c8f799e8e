"""What an encoder that learned the support set does with categories it has not seen, and how far it should learn.

Every category such an encoder was trained on is drawn together, so the support set says nothing of new ones. Others
that were trained alike, each without half of the known categories, do: to them that half is new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from firstsight.methods.firstsight.calibration import TEACHING, Calibration, Tried, tried_out
from firstsight.methods.firstsight.discriminant import Floats, Labels
from firstsight.methods.firstsight.prior import PRIOR, Prior
from firstsight.methods.firstsight.space import LeftOut, leave_half_out
from firstsight.methods.firstsight.trial import Trial
from firstsight.methods.simulation import Simulated

ORDERS = 4  # streams of every encoder
HALF = 0.5
FEWEST = 6  # known categories: half of them must still tell something
PROOF = 2.0  # errors that a gain must be above


@dataclass(frozen=True)
class CrossFit:
    """Where left out categories lay in the spaces of several encoders, and what came of simulated streams there."""

    measured: tuple[LeftOut, ...]
    tried: Tried

    def calibration(self, categories: int, seed: int) -> Calibration:
        """What a register needs to know, where so many categories are known."""
        return self.tried.calibration(categories, np.random.default_rng(seed))

    @property
    def accuracy(self) -> float:
        """All, in simulated discovery."""
        return float(self.tried.right.mean())

    def gain_over(self, other: CrossFit) -> tuple[float, float]:
        """By how much more is right than in the same streams of another, and the error of that.

        Images of one category are right or wrong together, so the error counts categories.
        """
        gained = self.tried.right.astype(np.float64) - other.tried.right
        by_category = np.bincount(np.concatenate([trial.truth for trial in self.tried.trials]), gained)
        return float(gained.mean()), float(np.sqrt(np.square(by_category).sum()) / len(gained))


def halves(labels: Labels, seed: int) -> list[Labels]:
    """Positions that each of two encoders is trained on: most images of half of the categories, each half once."""
    generator = np.random.default_rng(seed)
    categories = generator.permutation(np.unique(labels))
    taught = []
    for half in (categories[::2], categories[1::2]):
        own = [generator.permutation(np.flatnonzero(labels == category)) for category in half]
        taught.append(np.sort(np.concatenate([some[: int(np.ceil(TEACHING * len(some)))] for some in own])))
    return taught


def cross_fit(
    features: Sequence[Floats],
    taught: Sequence[Labels],
    labels: Labels,
    dimensions: int,
    seed: int,
    prior: Prior = PRIOR,
) -> CrossFit:
    """Simulated discovery by several encoders: each one's features of all images, and those it was trained on.

    What an encoder's space is like for new categories is measured by the others, so no stream is told of itself.
    """
    generator = np.random.default_rng(seed)
    measured = [leave_half_out(each, labels, own, dimensions) for each, own in zip(features, taught, strict=True)]
    trials = []
    for at, (each, own) in enumerate(zip(features, taught, strict=True)):
        rest = generator.permutation(np.setdiff1d(np.arange(len(labels)), own))
        stream = Simulated(own, rest, np.isin(labels[rest], labels[own]))
        trial = Trial(each, labels, dimensions, stream, prior, measured[:at] + measured[at + 1 :])
        trials += [trial, *(trial.shuffled(generator) for _ in range(ORDERS - 1))]
    return CrossFit(tuple(measured), tried_out(trials, prior))


def as_far_as_it_pays(tried: Mapping[float, CrossFit]) -> float:
    """Which strength to take, of some from mild to strong: 0 is an encoder as it came, 1 as it was trained.

    The encoders here learned less than half of the support set, and what they know they keep half way. So half way is
    gone if that gains at all; further only for a gain that chance does not make: twice the error.
    """
    chosen = min(tried)
    for strength in sorted(tried):
        gain, error = tried[strength].gain_over(tried[chosen])
        if gain > (PROOF * error if strength > HALF else 0):
            chosen = strength
    return chosen
