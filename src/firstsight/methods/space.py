"""The space rows live in, and how categories are spread there: within them W, and between their means B.

Both are measured on categories the projection was not fitted on, which is what new ones will be: a part of the known
categories is left out in turn. Few of them measure little, so neighbouring dimensions are averaged, and a prior is
mixed in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from firstsight.methods.discriminant import (
    Floats,
    Labels,
    Projection,
    axes_again,
    axes_of_few,
    category_means,
    fit_projection,
    principal_axes,
)
from firstsight.methods.prior import PRIOR, Prior

FOLDS = 5  # parts of the known categories, each in turn left out
SMOOTH = 30.0  # deviations that a variance is averaged over, in neighbouring dimensions where one has fewer
NARROWEST = 0.5  # that averaging, in dimensions
LEAST_LEVEL = 0.02  # of B / W, where few categories seem not to differ
LEAST = 1e-3  # likewise, in a single dimension


@dataclass(frozen=True)
class Space:
    """A projection, and the variances W and B of its rows."""

    projection: Projection
    within: Floats
    between: Floats


def fit_space(features: Floats, labels: Labels, dimensions: int, prior: Prior = PRIOR) -> Space:
    """The projection of these features, with the spread that categories it has not seen will have in it."""
    few = len(labels) <= dimensions
    axes = axes_of_few(features, dimensions) if few else principal_axes(features, dimensions)
    projection = fit_projection(features, labels, axes)
    rows = projection(features)
    leading = min(int(labels.max()), rows.shape[1])  # dimensions in which the means of known categories differ

    def axes_without(some: Floats) -> Floats:
        return axes_of_few(some, dimensions) if few else axes_again(some, axes)

    unseen = _held_out(features, labels, axes_without, leading, rows.shape[1])
    within = _within(unseen, leading, prior)
    between = _between(unseen, within, leading, prior)
    within[leading:] = _also_of_seen(within, rows, labels)[leading:]
    return Space(projection, within, np.maximum(between, LEAST * within))


@dataclass(frozen=True)
class _Unseen:
    """Sums of squares over categories that were left out, for every dimension, and what they are sums of."""

    scatter: Floats  # of images around their category's mean
    freedom: int  # of that
    means: Floats  # of those means
    categories: int
    share: float  # of W that is in such a square: a mean of n images varies by W / n
    led: bool  # whether any projection had leading dimensions


def _held_out(
    features: Floats, labels: Labels, axes_of: Callable[[Floats], Floats], leading: int, width: int
) -> _Unseen:
    """Leave out a part of the categories in turn, project by the others, and sum up where the left out ones lie."""
    counts = np.bincount(labels)
    scatter, means, categories, freedom = np.zeros(width), np.zeros(width), 0, 0
    for fold in range(min(FOLDS, len(counts))):
        out = labels % FOLDS == fold
        others, own = (np.unique(labels[part], return_inverse=True)[1] for part in (~out, out))
        if not len(others) or len(others) == others.max() + 1 == 1:  # nothing to measure by
            continue
        taught = features[~out]
        rows = fit_projection(taught, others, axes_of(taught))(features[out])
        centres, known = category_means(rows, own), int(others.max()) + 1
        places = _places(min(known - 1, rows.shape[1]), rows.shape[1], leading, width)
        scatter += np.square(rows - centres[own]).sum(axis=0)[places]
        means += np.square(centres).sum(axis=0)[places] * known / (known + 1)  # the origin is but a mean of so many
        categories, freedom = categories + len(centres), freedom + len(own) - len(centres)
    return _Unseen(scatter, freedom, means, categories, float((1 / counts).mean()), len(counts) > 2)


def _places(led: int, had: int, leading: int, width: int) -> Labels:
    """For every dimension the one that corresponds to it in a projection with fewer: leading ones to leading ones."""
    first = np.linspace(0, max(led - 1, 0), leading)
    rest = np.linspace(min(led, had - 1), had - 1, width - leading)
    return np.rint(np.concatenate([first, rest])).astype(np.int64)


def _within(unseen: _Unseen, leading: int, prior: Prior) -> Floats:
    believed = np.where(np.arange(len(unseen.scatter)) < leading, prior.leading_within, prior.resting_within)
    measured = _smooth(unseen.scatter, leading, SMOOTH / max(unseen.freedom, 1))
    freedom = np.full(len(believed), float(unseen.freedom))
    if not unseen.led:
        measured[:leading], freedom[:leading] = 0.0, 0.0
    return np.asarray((prior.within_weight * believed + measured) / (prior.within_weight + freedom))


def _between(unseen: _Unseen, within: Floats, leading: int, prior: Prior) -> Floats:
    """Measured, mixed with a belief: one level where known categories do not differ, a multiple of it where they do."""
    count = unseen.categories
    measured = _smooth(unseen.means / max(count, 1), leading, SMOOTH / max(count, 1)) - within * unseen.share
    rest = slice(leading, None)
    level = prior.level
    if count and len(within) > leading:
        found = max(float(measured[rest].mean() / within[rest].mean()), LEAST_LEVEL)
        level = (prior.level_weight * prior.level + count * found) / (prior.level_weight + count)
    believed = level * within
    believed[:leading] *= prior.leading
    counts = np.full(len(within), float(count))
    if not unseen.led:
        counts[:leading] = 0.0
    mixed = prior.shape_weight * believed + counts * np.maximum(measured, 0)
    return np.asarray(mixed / (prior.shape_weight + counts))


def _also_of_seen(within: Floats, rows: Floats, labels: Labels) -> Floats:
    """W so that both fit in: images the projection was fitted on vary more than others where labels say nothing."""
    freedom = len(labels) - (labels.max() + 1)
    if not freedom:
        return within
    scatter = np.square(rows - category_means(rows, labels)[labels]).sum(axis=0)
    seen = _smooth(scatter / freedom, int(labels.max()), SMOOTH / freedom)
    return np.asarray(np.sqrt(within * np.maximum(within, seen)))


def _smooth(values: Floats, leading: int, width: float) -> Floats:
    """Averaged over neighbours, leading dimensions among themselves and the others likewise."""
    parts = [part for part in (values[:leading], values[leading:]) if len(part)]
    return np.concatenate([_averaged(part, max(width, NARROWEST)) for part in parts])


def _averaged(values: Floats, width: float) -> Floats:
    """Gaussian weights of that width; at the ends over those there are."""
    at = np.arange(len(values))
    weights = np.exp(-0.5 * np.square((at[:, None] - at) / width))
    return np.asarray(weights @ values / weights.sum(axis=1))
