"""How readily a category is born, and how sure an answer is: found by discovery simulated on the support set.

The projection is fitted anew for every simulated stream, so the categories that play new ones are new to it. Nothing
of a query stream is needed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from firstsight.accuracy import strict_accuracy
from firstsight.methods.discriminant import Floats, Labels, fit_projection, held_out_spread
from firstsight.methods.simulation import Simulated, simulated
from firstsight.register.assignments import Assignments
from firstsight.register.statistics import Spread, StatisticsRegister

CONCENTRATIONS = np.arange(-8.0, 17.0, 2.0)  # logarithms
SHARPNESSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
USUAL = 6.0  # where there are too few categories to simulate anything
CONFIRMED = 3  # images that make a category more than a guess
COUNT_MATTERS = 0.05  # accuracy that a number of categories off by a factor of e is worth
MOST = 4000  # images of a simulated stream


@dataclass(frozen=True)
class Calibration:
    concentration: float
    sharpness: float


def calibrated(features: Floats, labels: Labels, dimensions: int, seed: int) -> Calibration:
    """The concentration under which simulated discovery does best, and the sharpness that makes it honest."""
    counts = np.bincount(labels)
    if (counts > 1).sum() < 4:
        return Calibration(USUAL, 1.0)
    generator = np.random.default_rng(seed)
    trials = [Trial(features, labels, dimensions, stream) for stream in simulated(labels, generator)]
    scores = [np.mean([trial.score(float(tried)) for trial in trials]) for tried in CONCENTRATIONS]
    concentration = float(CONCENTRATIONS[int(np.argmax(scores))])
    losses = [np.mean([trial.loss(concentration, sharpness) for trial in trials]) for sharpness in SHARPNESSES]
    return Calibration(concentration, SHARPNESSES[int(np.argmin(losses))])


class Trial:
    """One simulated stream, in the space of a projection that has seen only what teaches."""

    def __init__(self, features: Floats, labels: Labels, dimensions: int, stream: Simulated) -> None:
        taught, own = np.unique(labels[stream.teaching], return_inverse=True)
        projection = fit_projection(features[stream.teaching], own, dimensions)
        within, between = held_out_spread(features[stream.teaching], own, dimensions)
        self.spread = Spread(within, between, USUAL)
        teaching = projection(features[stream.teaching])[:, : len(within)]
        self.counts, self.sums = np.bincount(own), np.zeros((len(taught), len(within)))
        np.add.at(self.sums, own, teaching)
        self.rows = projection(features[stream.arriving[:MOST]])[:, : len(within)]
        self.truth, self.known = labels[stream.arriving[:MOST]], stream.known[:MOST]

    def answers(self, concentration: float, sharpness: float = 1.0) -> Assignments:
        spread = replace(self.spread, concentration=concentration, sharpness=sharpness)
        names = [str(i) for i in range(len(self.counts))]
        return StatisticsRegister(spread, names, self.counts, self.sums).assign_many(self.rows)

    def score(self, concentration: float) -> float:
        """Accuracy, less what a wrong number of categories costs: those with a few images count."""
        category = self.answers(concentration).category
        found = max(1, int((np.bincount(category) >= CONFIRMED).sum()))
        off = abs(np.log(found / len(np.unique(self.truth))))
        return strict_accuracy(self.truth, category, self.known).all - COUNT_MATTERS * float(off)

    def loss(self, concentration: float, sharpness: float) -> float:
        """The log loss of the confidence as a forecast of being right."""
        answers = self.answers(concentration, sharpness)
        assert answers.confidence is not None
        sure = np.clip(answers.confidence, 1e-6, 1 - 1e-6)
        return float(-np.log(np.where(_right(self.truth, answers.category), sure, 1 - sure)).mean())


def _right(truth: Labels, category: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether each row's category is the one that stands for what it truly is, matched as a whole."""
    table = np.zeros((category.max() + 1, truth.max() + 1))
    np.add.at(table, (category, truth), 1)
    stands_for = dict(zip(*linear_sum_assignment(table, maximize=True), strict=True))
    return np.array([stands_for.get(c) == t for c, t in zip(category, truth, strict=True)])
