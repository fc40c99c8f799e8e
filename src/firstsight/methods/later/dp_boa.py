"""DP-BOA (ECCV 2026): birth or assignment by a Dirichlet process of Gaussian categories."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firstsight.core.protocols import Features, Register, SupportFeatures
from firstsight.methods.baselines.classifier import LinearLearner
from firstsight.methods.decisions import CentreDecision, category_means
from firstsight.methods.projection import principal, projected, single
from firstsight.register.niw import NiwRegister, Prior

DIMENSIONS = 128
CONCENTRATION = log(1e-9)
MOST_TRUSTED = 50.0  # n0 at most
LEAST_BETWEEN = 1e-3  # the variance of means against that of images, at least
RIDGE = 1e-3  # of the mean variance, added to each: few images do not show all directions


@dataclass(frozen=True, kw_only=True, eq=False)
class DirichletProcess(CentreDecision):
    """A category is a Gaussian of unknown mean and covariance under a prior estimated from the support set.

    The prior is the publication's: the mean of all, the pooled covariance W within categories worth n0 = min(half a
    category's images, 50) of its own, kappa0 from how categories' means vary, alpha 1e-9. Ours: the features' 128
    principal directions, where it has all 768; whitened by W, which changes no answer; a thousandth of the mean
    variance added to W; kappa0 at most 1000.
    """

    decides = "posterior"
    metric = "euclidean"

    origin: Features
    basis: Features
    mean_weight: float  # kappa0
    scatter_weight: float  # n0
    counts: Features
    factors: Features

    @classmethod
    def fit(cls, support: SupportFeatures, settings: Any) -> Self:
        features, labels = support.features.astype(np.float64), support.labels
        origin = features.mean(axis=0)
        basis = principal(features, DIMENSIONS)
        basis = basis @ whitening((features - origin) @ basis, labels)
        points = (features - origin) @ basis
        mean_weight, scatter_weight = prior_weights(points, labels)
        width = basis.shape[1]
        factors = np.zeros((len(support.names), width, width))
        for category in np.unique(labels):
            factor = _factor(points[labels == category], mean_weight)
            factors[category, : len(factor)] = factor
        placed = SupportFeatures(projected(support.features, single(origin), single(basis)), labels, support.names)
        return cls(
            names=support.names,
            centres=category_means(placed),
            reach=0.0,
            origin=single(origin),
            basis=single(basis),
            mean_weight=mean_weight,
            scatter_weight=scatter_weight,
            counts=single(np.bincount(labels, minlength=len(support.names))),
            factors=single(factors),
        )

    @property
    def width(self) -> int:
        return len(self.origin)

    def project(self, features: Features) -> Features:
        return projected(features, self.origin, self.basis)

    def _register(self, radius: float) -> Register:
        prior = Prior(self.mean_weight, self.scatter_weight, CONCENTRATION)
        return NiwRegister(prior, list(self.names), self.counts, self.centres, self.factors, radius)


class DpBoa(LinearLearner):
    """Features of a backbone trained by cross-entropy. Ours: optimiser and schedule as for all methods here."""

    decision = DirichletProcess


def whitening(points: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """The map after which points vary by the identity within categories, and with it anything measured by that."""
    within = _within(points, labels)
    width = len(within)
    within += RIDGE * np.trace(within) / width * np.eye(width) + np.finfo(np.float64).tiny * np.eye(width)
    return np.asarray(np.linalg.inv(np.linalg.cholesky(within)).T)


def prior_weights(points: NDArray[np.float64], labels: NDArray[np.int64]) -> tuple[float, float]:
    """kappa0 and n0 by the publication's formulas."""
    categories, counts = np.unique(labels, return_counts=True)
    means = np.stack([points[labels == category].mean(axis=0) for category in categories])
    within = np.trace(_within(points, labels))
    between = means.var(axis=0, ddof=1 if len(means) > 1 else 0).sum()
    ratio = between / max(within, np.finfo(np.float64).tiny) - (1 / counts).mean()
    return 1 / max(float(ratio), LEAST_BETWEEN), min(float(counts.mean()) / 2, MOST_TRUSTED)


def _factor(points: NDArray[np.float64], mean_weight: float) -> NDArray[np.float64]:
    """F where F^T F is what points add to Psi: their scatter, and how far their mean is from the origin."""
    count, mean = len(points), points.mean(axis=0)
    pull = np.sqrt(mean_weight * count / (mean_weight + count)) * mean
    return np.asarray(np.linalg.qr(np.concatenate([points - mean, pull[None]]), mode="r"))


def _within(points: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """The pooled covariance of points around their categories' means."""
    categories, member = np.unique(labels, return_inverse=True)
    means = np.stack([points[labels == category].mean(axis=0) for category in categories])
    off = points - means[member]
    return np.asarray(off.T @ off / max(len(points) - len(categories), 1))
