"""DP-BOA (ECCV 2026): birth or assignment by a Dirichlet process of Gaussian categories."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from firstsight.core.settings import Rule, Settings
from firstsight.methods.baselines.classifier import LinearNetwork
from firstsight.methods.later.projected import Projected, principal
from firstsight.methods.networks import check_nearest
from firstsight.register.niw import NiwRegister, Prior

DIMENSIONS = 128
CONCENTRATION = log(1e-9)
MOST_TRUSTED = 50.0  # n0 at most
LEAST_BETWEEN = 1e-3  # the variance of means against that of images, at least
RIDGE = 1e-3  # of the mean variance, added to each: few images do not show all directions


class DpBoa(Projected, LinearNetwork):
    """A category is a Gaussian of unknown mean and covariance under a prior estimated from the support set.

    Features are those of a network trained by cross-entropy. The prior is the publication's: the mean of all, the
    pooled covariance W within categories worth n0 = min(half a category's images, 50) of its own, kappa0 from how
    categories' means vary, alpha 1e-9. Ours: the features' 128 principal directions, where it has all 768; whitened by
    W, which changes no answer; a thousandth of the mean variance added to W; kappa0 at most 1000; optimiser and
    schedule as for all methods here.
    """

    metric = "euclidean"
    prior: Tensor
    counts: Tensor
    factors: Tensor

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: Settings) -> None:
        super().__init__(tail, inputs, categories, settings, dimensions=DIMENSIONS)
        width = self.dimensions
        self.register_buffer("prior", torch.ones(2, dtype=torch.float64))  # kappa0 and n0
        self.register_buffer("counts", torch.zeros(categories))
        self.register_buffer("factors", torch.zeros(categories, width, width))

    def rows(self, stem: Tensor) -> Tensor:
        return self.projected(super().rows(stem))

    def finish(self, rows: Tensor, labels: Tensor) -> None:
        features, known = rows.cpu().double().numpy(), labels.cpu().numpy()
        origin = features.mean(axis=0)
        basis = principal(features, self.dimensions)
        basis = basis @ whitening((features - origin) @ basis, known)
        self.project(origin, basis)
        super().finish(self.projected(rows), labels)
        points = (features - origin) @ basis
        self.counts.copy_(torch.from_numpy(np.bincount(known, minlength=self.categories)))
        self.prior.copy_(torch.tensor(prior_weights(points, known)))
        for category in np.unique(known):
            factor = self._factor(points[known == category])
            self.factors[category, : len(factor)] = torch.from_numpy(factor)

    def register(self, names: Sequence[str], radius: float | None = None, rule: Rule | None = None) -> NiwRegister:
        check_nearest(rule)
        mean_weight, scatter_weight = self.prior.tolist()
        prior = Prior(mean_weight, scatter_weight, CONCENTRATION)
        counts, factors = self.counts.cpu().numpy(), self.factors.cpu().numpy()
        reach = self.radius if radius is None else radius
        return NiwRegister(prior, list(names), counts, self._points(), factors, reach)

    def _factor(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """F where F^T F is what rows add to Psi: their scatter, and how far their mean is from the origin."""
        count, mean = len(rows), rows.mean(axis=0)
        kappa = float(self.prior[0])
        pull = np.sqrt(kappa * count / (kappa + count)) * mean
        return np.asarray(np.linalg.qr(np.concatenate([rows - mean, pull[None]]), mode="r"))


def whitening(rows: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """The map after which rows vary by the identity within categories, and with it anything measured by that."""
    within = _within(rows, labels)
    width = len(within)
    within += RIDGE * np.trace(within) / width * np.eye(width) + np.finfo(np.float64).tiny * np.eye(width)
    return np.asarray(np.linalg.inv(np.linalg.cholesky(within)).T)


def prior_weights(rows: NDArray[np.float64], labels: NDArray[np.int64]) -> tuple[float, float]:
    """kappa0 and n0 by the publication's formulas."""
    categories, counts = np.unique(labels, return_counts=True)
    means = np.stack([rows[labels == category].mean(axis=0) for category in categories])
    within = np.trace(_within(rows, labels))
    between = means.var(axis=0, ddof=1 if len(means) > 1 else 0).sum()
    ratio = between / max(within, np.finfo(np.float64).tiny) - (1 / counts).mean()
    return 1 / max(float(ratio), LEAST_BETWEEN), min(float(counts.mean()) / 2, MOST_TRUSTED)


def _within(rows: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """The pooled covariance of rows around their categories' means."""
    categories, member = np.unique(labels, return_inverse=True)
    means = np.stack([rows[labels == category].mean(axis=0) for category in categories])
    off = rows - means[member]
    return np.asarray(off.T @ off / max(len(rows) - len(categories), 1))
