"""How readily a category is born, and how sure an answer is: found by discovery simulated on the support set.

Half of the known categories play new ones, and the projection is fitted anew without them. Nothing of a query stream
is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import comb, exp, log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from firstsight.accuracy import matched, strict_accuracy
from firstsight.methods.discriminant import Floats, Labels, fit_projection, held_out_spread
from firstsight.methods.simulation import Simulated, halves, simulated
from firstsight.protocols import CONFIRMED
from firstsight.register.statistics import ENOUGH, Spread, StatisticsRegister

ARRIVING = 10_000  # images that arrive in all simulated streams together: small support sets are drawn more often
TRIALS = (4, 16)  # streams, at least and at most
CONCENTRATIONS = (-8.0, -4.0, 0.0, 4.0, 8.0, 12.0, 16.0)  # that are tried; logarithms
USUAL = 6.0  # concentration, unless a simulation says otherwise
COUNT_MATTERS = 0.1  # accuracy that a number of categories off by a factor of e is worth
SHARPNESSES = (0.005, 2.0)


class Shape(Enum):
    """How the spread of the dimensions is taken: as measured, or half way to being alike in all of them.

    The variance between categories is badly measured where there are few; that within them is not the same for all.
    """

    MEASURED = (0.0, 0.0)
    EVEN_WITHIN = (0.5, 0.0)
    EVEN_BETWEEN = (0.0, 0.5)

    def of(self, within: Floats, between: Floats) -> tuple[Floats, Floats]:
        """Geometrically between what was measured and its mean."""
        even, wide = (part ** (1 - h) * part.mean() ** h for part, h in zip((within, between), self.value, strict=True))
        return even, wide


@dataclass(frozen=True)
class Calibration:
    concentration: float
    sharpness: float
    shape: Shape = Shape.MEASURED
    weight: float | None = None  # of a known category in the simulation, if there was one

    def concentration_with(self, counts: Labels) -> float:
        """The concentration where known categories have so many images.

        A category is weighed by its images; the weight of a new one keeps its proportion to theirs.
        """
        return self.concentration + (0 if self.weight is None else log(_weight(counts) / self.weight))


def calibrated(features: Floats, labels: Labels, dimensions: int, seed: int) -> Calibration:
    """The shape and concentration under which simulated discovery does best, and the sharpness that makes it honest."""
    if (np.bincount(labels) > 1).sum() < 4:
        return Calibration(min(USUAL, _at_home(features, labels, dimensions)), 1.0)
    generator = np.random.default_rng(seed)
    categories = len(np.unique(labels))
    draws = int(np.clip(ARRIVING / (0.75 * len(labels)), *TRIALS))  # all images of half of them, half of the others'
    draws = min(draws, comb(categories, categories // 2))  # as many halves as there are
    streams = [simulated(labels, new, generator) for new in halves(labels, draws, generator)]
    trials = [Trial(features, labels, dimensions, stream) for stream in streams]
    shape, concentration = _best(trials)
    forecasts = [trial.forecast(shape, concentration) for trial in trials]
    least = minimize_scalar(
        lambda s: _log_loss(forecasts, exp(s)), bounds=[log(s) for s in SHARPNESSES], method="bounded"
    )
    return Calibration(concentration, exp(least.x), shape, float(np.mean([_weight(trial.counts) for trial in trials])))


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
        self.rows = projection(features[stream.arriving])[:, : len(within)]
        self.truth, self.known = labels[stream.arriving], stream.known

    def score(self, shape: Shape, concentration: float) -> float:
        """Accuracy, less what a wrong number of categories costs: those with a few images count."""
        category = self._register(shape, concentration).assign_many(self.rows).category
        found = max(1, int((np.bincount(category) >= CONFIRMED).sum()))
        off = abs(log(found / len(np.unique(self.truth))))
        return strict_accuracy(self.truth, category, self.known).all - COUNT_MATTERS * off

    def forecast(self, shape: Shape, concentration: float) -> tuple[list[Floats], NDArray[np.bool_]]:
        """For every row, how much less probable each other answer was than the one given; and which were right."""
        register = self._register(shape, concentration)
        behind, category = [], []
        for row in self.rows:
            distances = np.append(register.distances(row), 0.0)
            behind.append(distances - distances.min())
            category.append(register.assign_many(row[None]).category[0])
        return behind, matched(self.truth, np.array(category))

    def _register(self, shape: Shape, concentration: float) -> StatisticsRegister:
        within, between = shape.of(self.spread.within, self.spread.between)
        spread = replace(self.spread, within=within, between=between, concentration=concentration)
        return StatisticsRegister(spread, [str(i) for i in range(len(self.counts))], self.counts, self.sums)


def _at_home(features: Floats, labels: Labels, dimensions: int) -> float:
    """The largest concentration, less 1, under which no support image is rather of a new category than of its own."""
    everything = np.arange(len(labels))
    trial = Trial(features, labels, dimensions, Simulated(everything, everything, np.ones(len(labels), dtype=bool)))
    register, own = trial._register(Shape.MEASURED, 0.0), np.unique(labels, return_inverse=True)[1]
    odds = [register.distances(row)[at] for row, at in zip(trial.rows, own, strict=False)]
    return -float(max(odds)) - 1


def _best(trials: Sequence[Trial]) -> tuple[Shape, float]:
    """The shape that scores best, and of the concentrations that may be as good as its best the most usual one.

    That is those worse by no more than two standard errors of the difference: the fewer images there are, the more of
    what the draws prefer is chance.
    """
    scores = {shape: np.array([[t.score(shape, c) for t in trials] for c in CONCENTRATIONS]) for shape in Shape}
    shape = max(scores, key=lambda each: float(scores[each].mean(axis=1).max()))
    best = scores[shape].mean(axis=1).argmax()
    worse = scores[shape][best] - scores[shape]
    as_good = np.array(CONCENTRATIONS)[worse.mean(axis=1) <= 2 * worse.std(axis=1) / sqrt(len(trials))]
    return shape, float(np.clip(USUAL, as_good.min(), as_good.max()))


def _weight(counts: Labels) -> float:
    """What a category of these many images weighs, on average."""
    return float(np.minimum(counts, ENOUGH).mean())


def _log_loss(forecasts: Sequence[tuple[list[Floats], NDArray[np.bool_]]], sharpness: float) -> float:
    """How bad the confidence is as a forecast of being right."""
    losses = []
    for behind, right in forecasts:
        sure = np.array([1 / np.exp(-sharpness * each).sum() for each in behind])
        losses.append(-np.log(np.clip(np.where(right, sure, 1 - sure), 1e-6, 1)).mean())
    return float(np.mean(losses))
