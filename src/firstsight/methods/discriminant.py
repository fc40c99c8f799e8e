"""A space in which categories are alike in shape: principal components, turned and scaled by what labels say.

In it the images of every category lie around its mean with about the same variance in all directions, and the means
differ more in the first dimensions than in the last. All of them are kept: where known categories hardly differ, new
ones may.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.covariance import ledoit_wolf

Floats: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.int64]

FOLDS = 10  # parts of the known categories, each in turn left out
LEAST = 1e-3  # of W: what B is at least, where few categories seem not to differ; and of B, W


@dataclass(frozen=True)
class Projection:
    """From features to rows."""

    mean: Floats
    matrix: Floats

    def __call__(self, features: Floats) -> Floats:
        return (features - self.mean) @ self.matrix


def fit_projection(features: Floats, labels: Labels, dimensions: int) -> Projection:
    """Principal components; within them the pooled covariance of categories becomes I, that of their means diagonal.

    The covariance is shrunk by the rule of Ledoit and Wolf: there are fewer images than it has entries.
    """
    mean = features.mean(axis=0)
    axes = _principal_axes(features - mean, dimensions)
    reduced = (features - mean) @ axes
    means = _means(reduced, labels)
    covariance, _ = ledoit_wolf(reduced - means[labels], assume_centered=True)
    if not np.any(covariance):  # one image each: the images' own spread must do
        covariance, _ = ledoit_wolf(reduced, assume_centered=True)
    covariance += (1e-9 * np.trace(covariance) / len(covariance) + 1e-12) * np.eye(len(covariance))
    between = np.atleast_2d(np.cov(means[np.unique(labels)].T, bias=True))
    _, turn = eigh(between, covariance)
    return Projection(mean, axes @ turn[:, ::-1])


def spread_of(rows: Floats, labels: Labels) -> tuple[Floats, Floats]:
    """The variance within categories and between their means, for every dimension, without bias."""
    categories, counts = np.unique(labels, return_counts=True)
    means = _means(rows, labels)
    freedom = len(rows) - len(categories)
    between = np.square(means[categories] - rows.mean(axis=0)).sum(axis=0) / max(1, len(categories) - 1)
    if not freedom:  # one image each: half of how they differ is taken for either
        half = np.maximum(between / 2, 1e-9)
        return half, half
    within = np.square(rows - means[labels]).sum(axis=0) / freedom
    within = np.maximum(within, np.maximum(LEAST * between, 1e-9))  # copies of one image do not vary at all
    return within, np.maximum(between - within * (1 / counts).mean(), LEAST * within)


def held_out_spread(features: Floats, labels: Labels, dimensions: int) -> tuple[Floats, Floats]:
    """That spread for categories the projection was not fitted on, which is what new ones will have.

    Those it was fitted on lie closer together and farther apart. With too few categories, theirs must do.
    """
    categories = np.unique(labels)
    parts = [np.isin(labels, categories[fold::FOLDS]) for fold in range(min(FOLDS, len(categories)))]
    if not all(_teaches(labels[~out]) for out in parts):
        return spread_of(fit_projection(features, labels, dimensions)(features), labels)
    projections = [fit_projection(features[~out], labels[~out], dimensions) for out in parts]
    rows = np.zeros((len(labels), min(each.matrix.shape[1] for each in projections)))
    for out, projection in zip(parts, projections, strict=True):
        rows[out] = projection(features[out])[:, : rows.shape[1]]
    return spread_of(rows, labels)


def _teaches(labels: Labels) -> bool:
    """Whether there is a category to differ from another, and images to differ within one."""
    categories = len(np.unique(labels))
    return categories > 1 and len(labels) > categories


def _means(rows: Floats, labels: Labels) -> Floats:
    """The mean row of every label up to the largest; zeros where there is none."""
    sums = np.zeros((labels.max() + 1, rows.shape[1]))
    np.add.at(sums, labels, rows)
    return sums / np.maximum(np.bincount(labels), 1)[:, None]


def _principal_axes(centred: Floats, dimensions: int) -> Floats:
    """The directions of the largest variance, by the smaller of the two products."""
    count, width = centred.shape
    dimensions = max(1, min(dimensions, count - 1, width))
    if count > width:
        _, axes = eigh(centred.T @ centred, subset_by_index=[width - dimensions, width - 1])
        return np.asarray(axes[:, ::-1])
    squares, sides = eigh(centred @ centred.T, subset_by_index=[count - dimensions, count - 1])
    axes = centred.T @ sides[:, ::-1]
    return np.asarray(axes / np.sqrt(np.maximum(squares[::-1], 1e-12)))
