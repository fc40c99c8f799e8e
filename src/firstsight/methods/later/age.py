"""AGE, Adaptive Gaussian Expansion (ICLR 2026): a classifier where it is sure, Gaussians that grow for the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from firstsight.core.accuracy import strict_accuracy
from firstsight.core.settings import Rule, Settings
from firstsight.methods.later.contrasted import Contrasted
from firstsight.methods.later.projected import Projected, principal
from firstsight.methods.networks import check_nearest, withheld
from firstsight.methods.simulation import simulated, thirds
from firstsight.register.windows import WINDOW, WindowRegister

DIMENSIONS = 42
OWN = 0.5  # how far a threshold is the category's own, beta
DEVIATIONS = 0.8
REACHES = 8
LEAST_REACH = 1e-3  # an image is within its own category's


class Age(Projected, Contrasted):
    """Cross-entropy and SupCon; the classifier is sure above a threshold per category, from a fifth of the images
    that training does not see; the rest goes to Gaussians in the 42 principal directions of features at length 1.

    Ours: a category's confidence is the largest probability of its images; the shared covariance is that of images
    around their categories' means; how far from a Gaussian is outside, which is not said, is found by discovery
    simulated on the support set, without the classifier; known categories start from their last 20 images.
    """

    withholds = True
    thresholds: Tensor
    shared: Tensor
    windows: Tensor
    sizes: Tensor

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: Settings) -> None:
        super().__init__(tail, inputs, categories, settings, dimensions=DIMENSIONS)
        width = self.dimensions
        self.register_buffer("thresholds", torch.zeros(categories, dtype=torch.float64))
        self.register_buffer("shared", torch.eye(width, dtype=torch.float64))
        self.register_buffer("windows", torch.zeros(categories, WINDOW, width))
        self.register_buffer("sizes", torch.zeros(categories, dtype=torch.int64))

    def rows(self, stem: Tensor) -> Tensor:
        features: Tensor = self.tail(stem)
        unit = nn.functional.normalize(features.float(), dim=-1)
        return torch.cat([self.projected(unit), torch.softmax(self.layer(features).float(), -1)], dim=-1)

    def renewed(self, rows: Tensor) -> Tensor:
        return torch.cat([self.projected(rows[:, : -self.categories]), rows[:, -self.categories :]], dim=-1)

    def finish(self, rows: Tensor, labels: Tensor) -> None:
        features, known = rows[:, : -self.categories].cpu().double().numpy(), labels.cpu().numpy()
        self.project(features.mean(axis=0), principal(features, self.dimensions))
        now = self.renewed(rows)
        points = now[:, : -self.categories]
        super().finish(points, labels)
        confidence = now[:, -self.categories :].amax(-1)
        out = withheld(labels)
        self.thresholds.copy_(torch.from_numpy(thresholds_of(*_of(confidence, labels, out), self.categories)))
        seen = points.cpu().double().numpy()
        off = seen - self._points()[known]
        self.shared.copy_(torch.from_numpy(off.T @ off / max(1, len(off) - len(np.unique(known)))))
        for category in range(self.categories):
            own = points[labels == category][-WINDOW:]
            self.windows[category, : len(own)], self.sizes[category] = own, len(own)
        self.reach.fill_(chosen_reach(seen, known, self.shared.cpu().numpy()))

    def register(self, names: Sequence[str], radius: float | None = None, rule: Rule | None = None) -> WindowRegister:
        check_nearest(rule)
        return self._register(names, self.thresholds, self.radius if radius is None else radius)

    def closed_set(self, names: Sequence[str]) -> WindowRegister:
        """The classifier, sure of everything."""
        return self._register(names, torch.zeros_like(self.thresholds), self.radius)

    def _register(self, names: Sequence[str], thresholds: Tensor, radius: float) -> WindowRegister:
        windows = [own[:size].cpu().numpy() for own, size in zip(self.windows, self.sizes.tolist(), strict=True)]
        return WindowRegister(list(names), windows, self.shared.cpu().numpy(), thresholds.cpu().numpy(), radius)


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


def _distances(register: WindowRegister, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([register.match(row).distance for row in rows], dtype=np.float64)


def _of(confidence: Tensor, labels: Tensor, out: Tensor) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Confidences and labels of the images kept back, of all where there are none."""
    some = out if out.any() else torch.ones_like(out)
    return confidence[some].cpu().double().numpy(), labels[some].cpu().numpy()
