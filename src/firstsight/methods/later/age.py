"""AGE, Adaptive Gaussian Expansion (ICLR 2026): a classifier where it is sure, Gaussians that grow for the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from firstsight.core.accuracy import strict_accuracy
from firstsight.core.protocols import Features, Register, SupportFeatures
from firstsight.methods.decisions import CentreDecision, category_means
from firstsight.methods.later.contrasted import Contrasted
from firstsight.methods.projection import principal, projected, single
from firstsight.methods.simulation import simulated, thirds, withheld
from firstsight.register.windows import WINDOW, WindowRegister

DIMENSIONS = 42
OWN = 0.5  # how far a threshold is the category's own, beta
DEVIATIONS = 0.8
REACHES = 8
LEAST_REACH = 1e-3  # an image is within its own category's


@dataclass(frozen=True, kw_only=True, eq=False)
class GrowingGaussians(CentreDecision):
    """The classifier is sure above a threshold per category, from a fifth of the images that training does not see;
    the rest goes to Gaussians in the 42 principal directions of features at length 1.

    A feature holds the image's direction, then its probability of every known category. Ours: a category's confidence
    is the largest probability of its images; the shared covariance is that of images around their categories' means;
    how far from a Gaussian is outside, which is not said, is found by discovery simulated on the support set, without
    the classifier; known categories start from their last 20 images.
    """

    decides = "posterior"

    origin: Features
    basis: Features
    thresholds: NDArray[np.float64]
    shared: NDArray[np.float64]  # the covariance within categories
    windows: Features  # the last images of every category, (C, 20, D)
    sizes: NDArray[np.int64]  # how many of those there are

    @classmethod
    def fit(cls, support: SupportFeatures, settings: Any) -> Self:
        names, labels = support.names, support.labels
        units, chances = support.features[:, : -len(names)], support.features[:, -len(names) :]
        features = units.astype(np.float64)
        origin, basis = single(features.mean(axis=0)), single(principal(features, DIMENSIONS))
        points = projected(units, origin, basis)
        centres = category_means(SupportFeatures(points, labels, names))
        kept_back = withheld(labels)
        some = kept_back if kept_back.any() else ~kept_back
        off = points.astype(np.float64) - centres[labels]
        shared = off.T @ off / max(1, len(off) - len(np.unique(labels)))
        windows = np.zeros((len(names), WINDOW, points.shape[1]), dtype=np.float32)
        sizes = np.zeros(len(names), dtype=np.int64)
        for category in range(len(names)):
            own = points[labels == category][-WINDOW:]
            windows[category, : len(own)], sizes[category] = own, len(own)
        return cls(
            names=names,
            centres=centres,
            reach=chosen_reach(points.astype(np.float64), labels, shared),
            origin=origin,
            basis=basis,
            thresholds=thresholds_of(chances.max(axis=1)[some].astype(np.float64), labels[some], len(names)),
            shared=shared,
            windows=windows,
            sizes=sizes,
        )

    @property
    def width(self) -> int:
        return len(self.origin) + len(self.names)

    def project(self, features: Features) -> Features:
        count = len(self.names)
        placed = projected(features[:, :-count], self.origin, self.basis)
        return np.concatenate([placed, features[:, -count:]], axis=1)

    def _register(self, radius: float) -> Register:
        return self._sure_above(self.thresholds, radius)

    def closed_set(self) -> Register:
        """The classifier, sure of everything."""
        return self._sure_above(np.zeros_like(self.thresholds), self.radius)

    def _sure_above(self, thresholds: NDArray[np.float64], radius: float) -> Register:
        windows = [own[:size] for own, size in zip(self.windows, self.sizes.tolist(), strict=True)]
        return WindowRegister(list(self.names), windows, self.shared, thresholds, radius)

    def _telling(self, features: Features) -> Features:
        return features[:, : -len(self.names)]

    def _telling_slope(self, feature: Features, slope: NDArray[Any]) -> Features:
        return np.concatenate([slope, np.zeros(len(self.names), dtype=slope.dtype)])


class Age(Contrasted):
    """Cross-entropy and SupCon; a feature is the image's direction, and what the classifier makes of it."""

    withholds = True
    decision = GrowingGaussians

    def features(self, stem: Tensor) -> Tensor:
        features: Tensor = self.tail(stem)
        return torch.cat([F.normalize(features.float(), dim=-1), torch.softmax(self.layer(features).float(), -1)], -1)


def thresholds_of(confidence: NDArray[np.float64], labels: NDArray[np.int64], categories: int) -> NDArray[np.float64]:
    """A category's mean confidence less 0.8 deviations, half way to the mean of all categories'."""
    present = np.unique(labels)
    own = {c: confidence[labels == c].mean() - DEVIATIONS * confidence[labels == c].std() for c in present}
    typical = float(np.mean(list(own.values())))
    return np.array([OWN * own.get(c, typical) + (1 - OWN) * typical for c in range(categories)])


def chosen_reach(points: NDArray[np.float64], labels: NDArray[np.int64], shared: NDArray[np.float64]) -> float:
    """The radius under which Gaussians alone do best when known categories play new ones."""
    streams = list(_streams(points, labels, shared))
    nearest = np.concatenate([_distances(register, arriving) for register, arriving, _, _ in streams])
    low, high = np.quantile(nearest, (0.05, 0.95))
    tried = np.linspace(max(low, LEAST_REACH), max(high, LEAST_REACH), REACHES)
    scores = []
    for reach in tried:
        accuracies = []
        for register, arriving, truth, known in streams:
            register.rebuild(register.known_centres())
            register.radius = float(reach)
            accuracies.append(strict_accuracy(truth, register.assign_many(arriving).category, known).all)
        scores.append(np.mean(accuracies))
    return float(tried[int(np.argmax(scores))])


def _streams(
    points: NDArray[np.float64], labels: NDArray[np.int64], shared: NDArray[np.float64]
) -> Iterator[tuple[WindowRegister, NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]]:
    """Simulated streams, and registers of the last images of what teaches."""
    generator = np.random.default_rng(0)
    for new in thirds(labels):
        stream = simulated(labels, new, generator)
        taught = labels[stream.teaching]
        windows = [points[stream.teaching[taught == category]][-WINDOW:] for category in np.unique(taught)]
        names = [str(i) for i in range(len(windows))]
        register = WindowRegister(names, windows, shared, np.ones(len(names)), 0.0)
        unsure = np.zeros((len(stream.arriving), len(names)))
        arriving = np.concatenate([points[stream.arriving], unsure], axis=1)
        yield register, arriving, labels[stream.arriving], stream.known


def _distances(register: WindowRegister, features: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([register.match(feature).distance for feature in features], dtype=np.float64)
