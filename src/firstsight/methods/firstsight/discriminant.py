"""A space in which categories are alike in shape: a few directions, turned and scaled by what labels say.

In it the images of every category lie around its mean with about the same variance in all directions. The first
dimensions, one fewer than there are categories, are those in which the means differ; in the others they do not, and new
categories still may. Those are in order of how much all images vary there: the data say which dimension is which, not
the rounding of a machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

Floats: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.int64]

TELLING = 1e-2  # weight of how much all images vary, beside how much the means do, when dimensions are put in order
LEAST = 1e-9  # of the mean variance: what a direction has at least, where no two images differ in it
SHORTEST = 1e-6  # of the longest axis: what is shorter is rounding
SHARE = 3  # few images: so many of them for every principal component


@dataclass(frozen=True)
class Projection:
    """From features to what a register compares."""

    mean: Floats
    axes: Floats  # the directions that are kept
    turn: Floats  # what is made of them

    def __call__(self, features: Floats) -> Floats:
        return (features - self.mean) @ self.axes @ self.turn

    @property
    def matrix(self) -> Floats:
        return self.axes @ self.turn


def fit_projection(features: Floats, labels: Labels, axes: Floats) -> Projection:
    """Turn and scale the reduced features so that categories have covariance I and their means a diagonal one.

    `labels` count from 0 without a gap; `axes` are the directions that are kept.
    """
    mean = category_means(features, labels).mean(axis=0)
    reduced = (features - mean) @ axes
    means = category_means(reduced, labels)
    covariance = pooled_covariance(reduced, labels)
    telling = np.atleast_2d(np.cov(means.T, bias=True)) + TELLING * reduced.T @ reduced / len(reduced)
    _, turn = eigh(telling, covariance, overwrite_a=True, overwrite_b=True, check_finite=False)
    return Projection(mean, axes, turn[:, ::-1])


def axes_of_few(features: Floats, dimensions: int) -> Floats:
    """Directions to keep where there are few images for so many: some principal components, and random ones.

    As many components as images would leave nothing of those images out, and much of every other one. Random directions
    treat all images alike; they are scaled to stand for everything the components leave out.
    """
    axes = principal_axes(features, min(dimensions, len(features) // SHARE))
    width, missing = len(axes), min(dimensions, len(axes)) - axes.shape[1]
    if not missing:
        return axes
    signs = np.random.default_rng(0).integers(0, 2, (width, missing)) * 2.0 - 1
    random = (signs - axes @ (axes.T @ signs)) / sqrt(missing)
    return np.concatenate([axes, random], axis=1)


def principal_axes(features: Floats, dimensions: int) -> Floats:
    """The directions of the largest variance, at least one, by the smaller of the two products."""
    centred = features - features.mean(axis=0)
    count, width = centred.shape
    dimensions = max(1, min(dimensions, count - 1, width))
    if count > width:
        _, axes = eigh(centred.T @ centred, subset_by_index=[width - dimensions, width - 1])
        return np.asarray(axes[:, ::-1])
    return _along(centred, dimensions)[0]


@dataclass(frozen=True)
class Span:
    """Features along all of their principal axes: where there are fewer images than values, fewer say the same."""

    mean: Floats
    axes: Floats
    features: Floats

    @classmethod
    def of(cls, features: Floats) -> Span:
        mean = features.mean(axis=0)
        return cls(mean, *_along(features - mean, len(features) - 1))

    def whole(self, projection: Projection) -> Projection:
        """The same projection, of features as they were."""
        return Projection(self.mean + self.axes @ projection.mean, self.axes @ projection.axes, projection.turn)


def _along(centred: Floats, count: int) -> tuple[Floats, Floats]:
    """So many principal axes, the longest first, and every image along them; an axis of no length is left at 0."""
    squares, sides = eigh(centred @ centred.T, driver="evd")  # all of them in less time than some by another driver
    sides, lengths = sides[:, : -count - 1 : -1], np.sqrt(np.maximum(squares[: -count - 1 : -1], 0))
    return np.asarray(centred.T @ sides / np.maximum(lengths, SHORTEST * lengths[0] or 1.0)), sides * lengths


def axes_again(features: Floats, axes: Floats) -> Floats:
    """What the principal axes of more images would be had there been only these: one step of a power iteration.

    The result lies in the span of these images, as their own principal axes would, and takes a tenth of the time.
    """
    if len(features) <= axes.shape[1]:
        return principal_axes(features, axes.shape[1])
    centred = features - features.mean(axis=0)
    return np.asarray(np.linalg.qr(centred.T @ (centred @ axes))[0])


def pooled_covariance(features: Floats, labels: Labels) -> Floats:
    """The covariance within categories, shrunk towards a round one by the oracle approximating rule (Chen et al.).

    The fewer images there are beyond one for each category, the rounder it is.
    """
    freedom, width = len(labels) - (labels.max() + 1), features.shape[1]
    scatter = features - category_means(features, labels)[labels]
    covariance = scatter.T @ scatter / max(freedom, 1)
    trace, squares = float(np.trace(covariance)), float(np.square(covariance).sum())
    if not trace:  # one image each, or copies of one: half of how they differ is taken for it
        return np.eye(width) * (float(np.square(features).mean()) / 2 or 1.0)
    uneven = (freedom + 1 - 2 / width) * (squares - trace**2 / width)
    shrunk = 1.0 if uneven <= 0 else min(1.0, ((1 - 2 / width) * squares + trace**2) / uneven)
    return np.asarray((1 - shrunk) * covariance + (shrunk + LEAST) * trace / width * np.eye(width))


def category_means(features: Floats, labels: Labels) -> Floats:
    """The mean feature of every category."""
    return np.asarray(category_sums(features, labels) / np.bincount(labels)[:, None])


def category_sums(features: Floats, labels: Labels) -> Floats:
    """The sum of every category's features, added up in their order."""
    parts = np.split(features[np.argsort(labels, kind="stable")], np.cumsum(np.bincount(labels))[:-1])
    return np.stack([part.sum(axis=0) for part in parts])
