"""How readily a category is born, and how sure an answer is: found by discovery simulated on the support set.

Half of the known categories play new ones, and the projection is fitted anew without them. Nothing of a query stream
is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, log

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from firstsight.accuracy import matched, strict_accuracy
from firstsight.methods.discriminant import Floats, Labels, fit_projection, held_out_spread
from firstsight.methods.simulation import Simulated, halves, simulated
from firstsight.protocols import CONFIRMED
from firstsight.register.statistics import Spread, StatisticsRegister

TRIALS = 4
CONCENTRATIONS = (-8, -4, 0, 4, 8, 12, 16)  # logarithms; then one step of 2 to either side of the best
USUAL = 6.0  # where there are too few categories to simulate anything
COUNT_MATTERS = 0.05  # accuracy that a number of categories off by a factor of e is worth
SHARPNESSES = (0.005, 2.0)
MOST = 4000  # images of a simulated stream


@dataclass(frozen=True)
class Calibration:
    concentration: float
    sharpness: float


def calibrated(features: Floats, labels: Labels, dimensions: int, seed: int) -> Calibration:
    """The concentration under which simulated discovery does best, and the sharpness that makes it honest."""
    if (np.bincount(labels) > 1).sum() < 4:
        return Calibration(min(USUAL, _at_home(features, labels, dimensions)), 1.0)
    generator = np.random.default_rng(seed)
    streams = [simulated(labels, new, generator) for new in halves(labels, TRIALS, generator)]
    trials = [Trial(features, labels, dimensions, stream) for stream in streams]
    concentration = _best(trials, CONCENTRATIONS)
    concentration = _best(trials, (concentration - 2, concentration, concentration + 2))
    forecasts = [trial.forecast(concentration) for trial in trials]
    least = minimize_scalar(
        lambda s: _log_loss(forecasts, exp(s)), bounds=[log(s) for s in SHARPNESSES], method="bounded"
    )
    return Calibration(concentration + _fuller(trials, labels), exp(least.x))


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

    def score(self, concentration: float) -> float:
        """Accuracy, less what a wrong number of categories costs: those with a few images count."""
        category = self._register(concentration).assign_many(self.rows).category
        found = max(1, int((np.bincount(category) >= CONFIRMED).sum()))
        off = abs(log(found / len(np.unique(self.truth))))
        return strict_accuracy(self.truth, category, self.known).all - COUNT_MATTERS * off

    def forecast(self, concentration: float) -> tuple[list[Floats], NDArray[np.bool_]]:
        """For every row, how much less probable each other answer was than the one given; and which were right."""
        register = self._register(concentration)
        behind, category = [], []
        for row in self.rows:
            distances = np.append(register.distances(row), 0.0)
            behind.append(distances - distances.min())
            category.append(register.assign_many(row[None]).category[0])
        return behind, matched(self.truth, np.array(category))

    def _register(self, concentration: float) -> StatisticsRegister:
        spread = replace(self.spread, concentration=concentration)
        return StatisticsRegister(spread, [str(i) for i in range(len(self.counts))], self.counts, self.sums)


def _at_home(features: Floats, labels: Labels, dimensions: int) -> float:
    """The largest concentration, less 1, under which no support image is rather of a new category than of its own."""
    everything = np.arange(len(labels))
    trial = Trial(features, labels, dimensions, Simulated(everything, everything, np.ones(len(labels), dtype=bool)))
    register, own = trial._register(0.0), np.unique(labels, return_inverse=True)[1]
    odds = [register.distances(row)[at] for row, at in zip(trial.rows, own, strict=False)]
    return -float(max(odds)) - 1


def _fuller(trials: Sequence[Trial], labels: Labels) -> float:
    """The log of how many more images a known category has than in the trials, where half of them arrive.

    A category is weighed by its images; the weight of a new one keeps its proportion to theirs.
    """
    taught = np.mean([trial.counts.mean() for trial in trials])
    return log(np.unique(labels, return_counts=True)[1].mean() / taught)


def _best(trials: Sequence[Trial], tried: Sequence[float]) -> float:
    scores = [np.mean([trial.score(each) for trial in trials]) for each in tried]
    return float(tried[int(np.argmax(scores))])


def _log_loss(forecasts: Sequence[tuple[list[Floats], NDArray[np.bool_]]], sharpness: float) -> float:
    """How bad the confidence is as a forecast of being right."""
    losses = []
    for behind, right in forecasts:
        sure = np.array([1 / np.exp(-sharpness * each).sum() for each in behind])
        losses.append(-np.log(np.clip(np.where(right, sure, 1 - sure), 1e-6, 1)).mean())
    return float(np.mean(losses))
