"""The register of Gaussians made of the last features, behind a classifier that answers where it is sure (AGE's rule).

A feature holds a point and the classifier's probability of every known category. Where the most probable one reaches
that category's threshold, it answers, and nothing is learned. Every other point is weighed by Gaussians, one per
category, known or new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firstsight.register.learning import Floats, LearningRegister
from firstsight.register.numbers import as_json, as_text, from_json, from_text

WINDOW = 20  # features a category remembers
SHARED = 2.0  # features that the shared covariance is worth
LEAST = 1e-5  # variance in every direction


class WindowRegister(LearningRegister):
    """A category is the mean and the covariance of its last 20 points, which is drawn to the one all share.

    A distance is -2 log density, measured from the peak of a new category's: 0 where a founder is. A feature the
    classifier is sure of is nearer to that category than to all others, and within any radius.
    """

    kind = "windows"

    def __init__(
        self,
        names: Sequence[str],
        windows: Sequence[NDArray[Any]],
        shared: NDArray[Any],
        thresholds: NDArray[Any],
        radius: float,
    ) -> None:
        """The last points of every known category, oldest first, and the covariance they share."""
        self.shared = np.asarray(shared, dtype=np.float64)
        self.thresholds = np.asarray(thresholds, dtype=np.float64)
        self._first = [np.asarray(points, dtype=np.float64)[-WINDOW:] for points in windows]
        nothing = np.zeros(len(self.shared))
        means = np.array([points.mean(axis=0) if len(points) else nothing for points in self._first])
        super().__init__(names, np.concatenate([means, np.eye(len(names))], axis=1), radius)

    def header(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "radius": as_json(self.radius),
            "known": self.names[: self.known],
            "shared": as_text(self.shared),
            "thresholds": as_text(self.thresholds),
            "sizes": [len(points) for points in self._first],
            "points": as_text(np.concatenate(self._first)),
        }

    @classmethod
    def of(cls, header: Mapping[str, Any]) -> WindowRegister:
        """The register a header describes, holding its known categories."""
        shared = from_text(header["shared"])
        width = round(len(shared) ** 0.5)
        points = from_text(header["points"]).reshape(-1, width)
        windows = np.split(points, np.cumsum(header["sizes"])[:-1])
        thresholds = from_text(header["thresholds"])
        return cls(header["known"], windows, shared.reshape(width, width), thresholds, from_json(header["radius"]))

    def _begin(self) -> None:
        width = len(self.shared)
        self._windows: list[list[Floats]] = []
        self._pairs = np.triu_indices(width)
        self._weights, self._offsets = np.zeros((0, len(self._pairs[0]) + width)), np.zeros(0)
        self._peak = float(np.linalg.slogdet(self._covariance(np.zeros((1, width))))[1])
        for points in self._first:
            self._found()
            self._windows[-1] = list(points)
            self._renew(len(self._windows) - 1)

    def distances(self, feature: Floats) -> Floats:
        """A log density is a polynomial of a point's products and values: one product with a matrix for all."""
        n, point = len(self._windows), feature[: len(self.shared)]
        terms = np.concatenate([point[self._pairs[0]] * point[self._pairs[1]], point])
        distances: Floats = self._weights[:n] @ terms + self._offsets[:n]
        sure = self._sure(feature)
        if sure >= 0:
            distances[sure] = min(float(distances.min()), self.radius) - 1
        return distances

    def _take(self, position: int, feature: Floats) -> None:
        if position == len(self._windows):
            self._found()
        elif position == self._sure(feature):
            return
        self._windows[position] = [*self._windows[position], feature[: len(self.shared)]][-WINDOW:]
        self._renew(position)

    def points(self, features: Floats) -> Floats:
        return features[:, : len(self.shared)]

    def _sure(self, feature: Floats) -> int:
        """The category the classifier is sure of, or -1."""
        chances = feature[len(self.shared) :]
        best = int(chances.argmax())
        return best if chances[best] >= self.thresholds[best] else -1

    def _found(self) -> None:
        """Room for one more category, which cannot answer without points."""
        if len(self._windows) == len(self._offsets):
            more = max(64, len(self._offsets))
            self._weights = np.concatenate([self._weights, np.zeros((more, self._weights.shape[1]))])
            self._offsets = np.concatenate([self._offsets, np.full(more, np.inf)])
        self._windows.append([])

    def _renew(self, at: int) -> None:
        if not self._windows[at]:
            return
        points = np.array(self._windows[at])
        mean, covariance = points.mean(axis=0), self._covariance(points)
        precision = np.linalg.inv(covariance)
        first, second = self._pairs
        self._weights[at, : len(first)] = np.where(first == second, 1, 2) * precision[self._pairs]
        self._weights[at, len(first) :] = -2 * precision @ mean
        self._offsets[at] = mean @ precision @ mean + np.linalg.slogdet(covariance)[1] - self._peak

    def _covariance(self, points: Floats) -> Floats:
        """The points' own, shrunk, and the shared one; that alone for one point."""
        least = LEAST * np.eye(len(self.shared))
        if len(points) == 1:
            return self.shared + least
        weight = SHARED / (len(points) + SHARED)
        return (1 - weight) * shrunk_covariance(points) + weight * self.shared + least


def shrunk_covariance(points: Floats) -> Floats:
    """Ledoit and Wolf (2004): the covariance drawn towards a multiple of the identity, as far as its errors suggest."""
    count, width = points.shape
    off = points - points.mean(axis=0)
    covariance = off.T @ off / count
    scale = np.trace(covariance) / width
    spread = np.square(covariance - scale * np.eye(width)).sum()
    squares = np.square(off)
    error = ((squares.T @ squares).sum() / count - np.square(covariance).sum()) / count
    weight = min(1.0, float(error / spread)) if spread > 0 else 0.0
    return np.asarray((1 - weight) * covariance + weight * scale * np.eye(width))
