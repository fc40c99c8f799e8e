"""How readily a category is born, and how sure an answer is: found on the support set, where some play new ones.

A third of the known categories play new ones, and the space is fitted anew without them. Nothing of a query stream is
needed. The concentration is a minimum of a smooth function, so what hardly differs is calibrated alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb, exp, log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, logit

from firstsight.core.protocols import Progress, Silent
from firstsight.methods.firstsight.corrected import Corrected
from firstsight.methods.firstsight.discriminant import Floats, Labels
from firstsight.methods.firstsight.miscount import Miscount
from firstsight.methods.firstsight.number import counting_model
from firstsight.methods.firstsight.outlook import Outlook
from firstsight.methods.firstsight.prior import PRIOR, Prior
from firstsight.methods.firstsight.splitting import rehearsed
from firstsight.methods.firstsight.trial import Trial
from firstsight.methods.simulation import random_thirds, simulated
from firstsight.register.spread import ENOUGH, Birth

ARRIVING = 4_000  # images that arrive in all simulated streams together: small support sets are drawn more often
TEACHING = 0.75  # share of a known category's images that teach
TRIALS = (4, 16)  # streams, at least and at most
FEWEST = 3  # categories: with fewer there is nothing left to learn from when one plays a new one
SHARPNESSES = (0.005, 2.0)


@dataclass(frozen=True)
class Calibration:
    birth: Birth
    sharpness: float
    slope: float = 1.0  # of the log odds of being right, in those of the posterior
    shift: float = 0.0
    weight: float | None = None  # of a known category in the simulation, if there was one
    counting: tuple[float, ...] = ()  # how found categories relate to true ones, as far as the simulation tells
    outlook: tuple[float, ...] = ()  # how well discovery went there
    splitting: tuple[float, ...] = ()  # proposed splits that were right there, and all of them

    def concentration_with(self, counts: Labels) -> float:
        """The concentration where known categories have so many images.

        A category is weighed by its images; the weight of a new one keeps its proportion to theirs.
        """
        return self.birth.concentration + (0 if self.weight is None else log(_weight(counts) / self.weight))


def calibrated(
    features: Floats,
    labels: Labels,
    dimensions: int,
    seed: int,
    prior: Prior = PRIOR,
    progress: Progress | None = None,
) -> Calibration:
    """The concentration that tells new categories best, the sharpness that makes confidence honest, and an outlook."""
    categories = len(np.unique(labels))
    if categories < FEWEST or len(labels) == categories:
        dimensions = min(dimensions, features.shape[1])
        return Calibration(prior.birth_in(dimensions), prior.sharpness_in(dimensions))
    generator = np.random.default_rng(seed)
    draws = int(np.clip(ARRIVING / (len(labels) / 2), *TRIALS))  # all images of a third, a quarter of the others'
    draws = min(draws, comb(categories, max(1, categories // 3)))  # as many thirds as there are
    news = random_thirds(labels, draws, generator)
    streams = [simulated(labels, new, generator, TEACHING) for new in news]
    with (progress or Silent()).task("trying it out", 2 * draws) as advance:
        trials = []
        for stream in streams:
            trials.append(Trial(features, labels, dimensions, stream, prior))
            advance()
        return tried_out(trials, prior, advance).calibration(categories, generator)


@dataclass(frozen=True)
class Tried:
    """Simulated streams, how readily categories should be born there, and what the answers came to."""

    trials: Sequence[Trial]
    birth: Birth
    forecasts: Sequence[tuple[list[Floats], NDArray[np.bool_]]]
    prior: Prior

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which answers were right, stream after stream."""
        return np.concatenate([right for _, right in self.forecasts])

    def calibration(self, categories: int, generator: np.random.Generator) -> Calibration:
        """What a register needs to know, where so many categories are known."""
        outlook = Outlook.of(self.trials, self.birth, categories, generator)
        sharpness = best_sharpness(self.forecasts, self.trials[0].arriving.shape[1], self.prior)
        return Calibration(
            self.birth,
            sharpness,
            *best_odds(self.forecasts, sharpness, self.prior),
            float(np.mean([_weight(trial.counts) for trial in self.trials])),
            tuple(counting_model(self.trials, self.birth, generator).tolist()),
            () if outlook is None else outlook.values(),
            rehearsed(self.trials, self.birth),
        )


def tried_out(
    trials: Sequence[Trial],
    prior: Prior = PRIOR,
    advance: Callable[[], None] = lambda: None,
) -> Tried:
    """What comes of these streams; `advance` is called after each."""
    dimensions = trials[0].arriving.shape[1]
    birth = best_birth([trial.corrected() for trial in trials], dimensions, prior)
    forecasts = []
    for trial in trials:
        forecasts.append(trial.forecast(birth))
        advance()
    return Tried(trials, birth, forecasts, prior)


def best_birth(streams: Sequence[Corrected], dimensions: int, prior: Prior = PRIOR) -> Birth:
    """The concentration under which the truth is most probable, given the prior; log odds are sharpened as suits best.

    By that sharpness the concentration declines: what is known of new categories beforehand is no log odds of images.
    Who mistakes the first image of a category for another may lose all its images: it counts as the root of their
    number. That alone finds far too many categories where features are weak, so a wrong number of them counts as well.
    """
    usual = np.array([prior.concentration_in(dimensions), log(prior.sharpness_in(dimensions))])
    spread = np.array([prior.concentration_spread * dimensions, prior.sharpness_spread])
    miscount = Miscount.of(streams)

    def loss(at: Floats) -> tuple[float, Floats]:
        concentration, sharpness = float(at[0]), exp(at[1])
        losses, slopes = zip(*(_weighed_loss(stream, concentration, sharpness) for stream in streams), strict=True)
        off, (wrong, slope) = (at - usual) / spread, miscount(concentration, sharpness)
        total = float(np.mean(losses) + 0.5 * off @ off + wrong)
        return total, np.mean(slopes, axis=0) + off / spread + slope

    concentration, sharpness = minimize(loss, usual, jac=True, method="BFGS", options={"gtol": 1e-6}).x
    return Birth(float(concentration), exp(-sharpness))


def _weighed_loss(stream: Corrected, concentration: float, sharpness: float) -> tuple[float, Floats]:
    """How improbable the truth is, and the slope of that in the concentration and in the logarithm of the sharpness."""
    images, new = np.arange(len(stream.truth)), stream.log_odds.shape[1] - 1
    odds = sharpness * stream.log_odds
    odds[:, new] = sharpness * concentration
    sharp = odds.copy()
    odds[:, new] -= stream.falls
    weight = np.where(stream.truth == new, sqrt(stream.expected), 1.0)
    most = odds.max(axis=1, keepdims=True)
    probable = np.exp(odds - most)
    total = probable.sum(axis=1, keepdims=True)
    loss = float((weight * (np.log(total) + most)[:, 0] - weight * odds[images, stream.truth]).sum())
    excess = probable / total
    excess[images, stream.truth] -= 1
    excess *= weight[:, None]
    return loss, np.array([sharpness * excess[:, new].sum(), (excess * sharp).sum()])


def best_sharpness(
    forecasts: Sequence[tuple[list[Floats], NDArray[np.bool_]]], dimensions: int, prior: Prior = PRIOR
) -> float:
    """The sharpness under which confidence is the best forecast of being right, given the prior."""
    images = float(np.mean([len(right) for _, right in forecasts]))

    def loss(at: float) -> float:
        off = (at - log(prior.sharpness_in(dimensions))) / prior.sharpness_spread
        return _log_loss(forecasts, exp(at)) + 0.5 * off**2 / (images * prior.independent_images)

    bounds = [log(sharpness) for sharpness in SHARPNESSES]
    return exp(minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-6}).x)


def best_odds(
    forecasts: Sequence[tuple[list[Floats], NDArray[np.bool_]]], sharpness: float, prior: Prior = PRIOR
) -> tuple[float, float]:
    """Slope and shift that turn the log odds of the posterior into the best forecast of being right, given the prior.

    One sharpness serves answers of all kinds. Where categories are often mixed up, the surest are then too sure.
    """
    posterior = np.concatenate([_posteriors(behind, sharpness) for behind, _ in forecasts])
    odds, right = logit(np.clip(posterior, 1e-9, 1 - 1e-9)), np.concatenate([right for _, right in forecasts])
    signs, images = np.where(right, 1.0, -1.0), len(right) / len(forecasts) * prior.independent_images
    spread = np.array([prior.slope_spread, prior.shift_spread])

    def loss(at: Floats) -> tuple[float, Floats]:
        wrong = expit(-signs * (exp(at[0]) * odds + at[1]))  # how probable the forecast made the other outcome
        slopes = -np.array([(signs * wrong * odds).mean() * exp(at[0]), (signs * wrong).mean()])
        off = at / spread
        return float(-np.log1p(-wrong).mean() + 0.5 * off @ off / images), slopes + off / spread / images

    slope, shift = minimize(loss, np.zeros(2), jac=True, method="BFGS", options={"gtol": 1e-9}).x
    return exp(slope), float(shift)


def _posteriors(behind: Sequence[Floats], sharpness: float) -> Floats:
    """Of the answers given, by how much less probable each other one was."""
    starts = np.cumsum([0, *(len(each) for each in behind[:-1])])
    return np.asarray(1 / np.add.reduceat(np.exp(-sharpness * np.concatenate(behind)), starts))


def _weight(counts: Labels) -> float:
    """What a category of these many images weighs, on average."""
    return float(np.minimum(counts, ENOUGH).mean())


def _log_loss(forecasts: Sequence[tuple[list[Floats], NDArray[np.bool_]]], sharpness: float) -> float:
    """How bad the confidence is as a forecast of being right."""
    losses = []
    for behind, right in forecasts:
        sure = _posteriors(behind, sharpness)
        losses.append(-np.log(np.clip(np.where(right, sure, 1 - sure), 1e-6, 1)).mean())
    return float(np.mean(losses))
