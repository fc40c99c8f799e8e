"""What an encoder that learned the support set does with categories it has not seen, and how far it should learn.

Every category such an encoder was trained on is drawn together, so the support set says nothing of new ones. Others
that were trained alike, each without half of the known categories, do: to them that half is new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from firstsight.methods.firstsight.calibration import TEACHING, Calibration, Trial, calibrated_on
from firstsight.methods.firstsight.discriminant import Floats, Labels
from firstsight.methods.firstsight.prior import PRIOR, Prior
from firstsight.methods.firstsight.space import LeftOut, leave_half_out
from firstsight.methods.simulation import Simulated

ORDERS = 3  # streams of every encoder


@dataclass(frozen=True)
class CrossFit:
    """Where left out categories lay, how a rule for them is calibrated, and what it made of the simulated streams."""

    measured: tuple[LeftOut, ...]
    calibration: Calibration
    categories: Labels  # of all images that arrived, stream after stream
    right: Floats  # 1 where the answer was right

    @property
    def accuracy(self) -> float:
        """All, in simulated discovery."""
        return float(self.right.mean())

    def gain_over(self, other: CrossFit) -> tuple[float, float]:
        """By how much more is right than in the same streams of another, and the error of that.

        Images of one category are right or wrong together, so the error counts categories.
        """
        gained = self.right - other.right
        by_category = np.bincount(self.categories, gained)
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
        rest = np.setdiff1d(np.arange(len(labels)), own)
        known = np.isin(labels, labels[own])
        for _ in range(ORDERS):
            arriving = generator.permutation(rest)
            stream = Simulated(own, arriving, known[arriving])
            trials.append(Trial(each, labels, dimensions, stream, prior, measured[:at] + measured[at + 1 :]))
    calibration = calibrated_on(trials, prior)
    right = [trial.forecast(calibration.concentration)[1] for trial in trials]
    return CrossFit(
        tuple(measured),
        calibration,
        np.concatenate([trial.truth for trial in trials]),
        np.concatenate(right).astype(float),
    )


def mildest(tried: Sequence[CrossFit]) -> int:
    """Which of these to take, the mildest first: a stronger one only where it gains more than the error of that."""
    chosen = 0
    for at in range(1, len(tried)):
        gain, error = tried[at].gain_over(tried[chosen])
        if gain > error:
            chosen = at
    return chosen
