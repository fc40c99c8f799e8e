"""The space features are compared in, and how categories are spread there: within them W, and between their means B.

Both are measured on categories the projection was not fitted on, which is what new ones will be: a part of the known
categories is left out in turn. Few of them measure little, so neighbouring dimensions are averaged, and a prior is
mixed in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from firstsight.methods.firstsight.discriminant import (
    Floats,
    Labels,
    Projection,
    Span,
    axes_again,
    axes_of_few,
    category_means,
    fit_projection,
    principal_axes,
)
from firstsight.methods.firstsight.prior import PRIOR, Prior

FEW = 1.5  # images for every dimension, up to which not all of these are principal components
FOLDS = 5  # parts of the known categories, each in turn left out
SMOOTH = 30.0  # deviations that a variance is averaged over, in neighbouring dimensions where one has fewer
NARROWEST = 0.5  # that averaging, in dimensions
LEAST_LEVEL = 0.02  # of B / W, where few categories seem not to differ
LEAST = 1e-3  # likewise, in a single dimension


@dataclass(frozen=True)
class Space:
    """A projection, and the variances W and B of what it makes of features."""

    projection: Projection
    within: Floats
    between: Floats
    own: Floats  # where the features lie that it was fitted on


def fit_space(
    features: Floats, labels: Labels, dimensions: int, prior: Prior = PRIOR, measured: Sequence[LeftOut] = ()
) -> Space:
    """The projection of these features, with the spread that categories it has not seen will have in it.

    `measured` says where such categories lay in spaces like this one; without it they are left out here, in turn.
    """
    if FEW * dimensions < len(features) < features.shape[1]:  # the same in a quarter less time
        span = Span.of(features)
        first = np.eye(span.features.shape[1], dimensions)
        space = _fitted(span.features, labels, _axes_from(first, span.features), prior, measured)
        return replace(space, projection=span.whole(space.projection))
    return _fitted(features, labels, _axes_of(features, dimensions), prior, measured)


def _fitted(
    features: Floats, labels: Labels, axes_of: Callable[[Floats], Floats], prior: Prior, measured: Sequence[LeftOut]
) -> Space:
    projection = fit_projection(features, labels, axes_of(features))
    projected = projection(features)
    parts = Parts.of(labels, projected.shape[1])
    left_out = _pooled(measured or _in_turn(features, labels, axes_of), parts)
    within = _within(left_out, parts, prior)
    between = _between(left_out, within, parts, prior)
    within[parts.leading :] = _also_of_seen(within, projected, labels, parts)[parts.leading :]
    return Space(projection, within, np.maximum(between, LEAST * within), projected)


def _axes_of(features: Floats, dimensions: int) -> Callable[[Floats], Floats]:
    """The directions that are kept, of these features, or of some of them."""
    if len(features) <= FEW * dimensions:
        return lambda some: axes_of_few(some, dimensions)
    return _axes_from(principal_axes(features, dimensions), features)


def _axes_from(axes: Floats, features: Floats) -> Callable[[Floats], Floats]:
    """Those axes, of all of the features; of some of them, what would be instead."""
    return lambda some: axes if some is features else axes_again(some, axes)


@dataclass(frozen=True)
class Parts:
    """Where the dimensions of a projection differ in kind.

    First those in which the means of its categories differ, then those in which its images do, then the others: of
    these nobody can say which is which.
    """

    leading: int
    informed: int
    width: int

    @classmethod
    def of(cls, labels: Labels, width: int) -> Parts:
        return cls(min(int(labels.max()), width), min(len(labels) - 1, width), width)

    @property
    def slices(self) -> list[slice]:
        return [slice(*ends) for ends in pairwise((0, self.leading, self.informed, self.width))]

    def from_fewer(self, values: Floats, fewer: Parts) -> Floats:
        """What was found for the dimensions of a projection of fewer images, at those that correspond to them here."""
        values, last = fewer.levelled(values), fewer.width - 1
        places = [
            np.linspace(first := min(there.start, last), max(there.stop - 1, first), here.stop - here.start)
            for there, here in zip(fewer.slices, self.slices, strict=True)
        ]
        return np.asarray(values[np.rint(np.concatenate(places)).astype(np.int64)])

    def smooth(self, values: Floats, width: float) -> Floats:
        """Averaged over neighbours of the same kind."""
        leading, informed, others = (values[part] for part in self.slices)
        parts = [_averaged(part, max(width, NARROWEST)) for part in (leading, informed)]
        return self.levelled(np.concatenate([*parts, others]))

    def levelled(self, values: Floats) -> Floats:
        """The same value wherever nobody can say which dimension is which."""
        others = values[self.informed :]
        return np.concatenate([values[: self.informed], np.full(len(others), others.mean() if len(others) else 0.0)])


@dataclass(frozen=True)
class LeftOut:
    """Sums of squares over categories that were left out, for every dimension, and what they are sums of."""

    parts: Parts
    scatter: Floats  # of images around their category's mean
    freedom: int  # of that
    means: Floats  # of those means
    categories: int
    share: float  # of W that is in such a square: a mean of n images varies by W / n
    led: bool  # whether the projection had leading dimensions


def leave_out(
    features: Floats, labels: Labels, taught: Labels, out: Labels, axes_of: Callable[[Floats], Floats]
) -> LeftOut:
    """Project by the taught images, and sum up where those of the categories that were left out lie."""
    others, own = (np.unique(labels[part], return_inverse=True)[1] for part in (taught, out))
    some = features[taught]
    projected = fit_projection(some, others, axes_of(some))(features[out])
    centres, known = category_means(projected, own), int(others.max()) + 1
    return LeftOut(
        Parts.of(others, projected.shape[1]),
        np.square(projected - centres[own]).sum(axis=0),
        len(own) - len(centres),
        known / (known + 1) * np.square(centres).sum(axis=0),  # the origin is but a mean of so many
        len(centres),
        float((1 / np.bincount(own)).mean()),
        known > 1,
    )


def leave_half_out(features: Floats, labels: Labels, taught: Labels, dimensions: int) -> LeftOut:
    """The same for all categories of which no image was taught, with axes of the taught images' own."""
    out = np.flatnonzero(~np.isin(labels, labels[taught]))
    return leave_out(features, labels, taught, out, _axes_of(features[taught], dimensions))


def _in_turn(features: Floats, labels: Labels, axes_of: Callable[[Floats], Floats]) -> list[LeftOut]:
    """Leave out a part of the categories in turn."""
    folds = [labels % FOLDS == fold for fold in range(min(FOLDS, int(labels.max()) + 1))]
    return [
        leave_out(features, labels, np.flatnonzero(~out), np.flatnonzero(out), axes_of)
        for out in folds
        if (~out).sum() >= 2  # else there is nothing to measure by
    ]


def _pooled(measured: Sequence[LeftOut], parts: Parts) -> LeftOut:
    """All of them together, at the dimensions that correspond to theirs."""
    if not measured:
        return LeftOut(parts, np.zeros(parts.width), 0, np.zeros(parts.width), 0, 1.0, False)
    categories = [each.categories for each in measured]
    return LeftOut(
        parts,
        np.sum([parts.from_fewer(each.scatter, each.parts) for each in measured], axis=0),
        sum(each.freedom for each in measured),
        np.sum([parts.from_fewer(each.means, each.parts) for each in measured], axis=0),
        sum(categories),
        float(np.average([each.share for each in measured], weights=categories)),
        any(each.led for each in measured),
    )


def _within(left_out: LeftOut, parts: Parts, prior: Prior) -> Floats:
    believed = np.full(parts.width, prior.resting_within)
    believed[: parts.leading] = prior.leading_within
    measured = parts.smooth(left_out.scatter, SMOOTH / max(left_out.freedom, 1))
    freedom = np.full(parts.width, float(left_out.freedom))
    if not left_out.led:
        measured[: parts.leading] = freedom[: parts.leading] = 0
    return np.asarray((prior.within_weight * believed + measured) / (prior.within_weight + freedom))


def _between(left_out: LeftOut, within: Floats, parts: Parts, prior: Prior) -> Floats:
    """Measured, mixed with a belief: one level where known categories do not differ, a multiple of it where they do."""
    count, rest = left_out.categories, slice(parts.leading, None)
    measured = parts.smooth(left_out.means / max(count, 1), SMOOTH / max(count, 1)) - within * left_out.share
    level = prior.level
    if count and parts.leading < parts.width:
        found = max(float(measured[rest].mean() / within[rest].mean()), LEAST_LEVEL)
        level = (prior.level_weight * prior.level + count * found) / (prior.level_weight + count)
    believed, counts = level * within, np.full(parts.width, float(count))
    believed[: parts.leading] *= prior.leading
    if not left_out.led:
        counts[: parts.leading] = 0
    mixed = prior.shape_weight * believed + counts * np.maximum(measured, 0)
    return np.asarray(mixed / (prior.shape_weight + counts))


def _also_of_seen(within: Floats, projected: Floats, labels: Labels, parts: Parts) -> Floats:
    """W so that both fit in: images the projection was fitted on vary more than others where labels say nothing."""
    freedom = len(labels) - (labels.max() + 1)
    if not freedom:
        return within
    scatter = np.square(projected - category_means(projected, labels)[labels]).sum(axis=0)
    seen = parts.smooth(scatter / freedom, SMOOTH / freedom)
    return np.asarray(np.sqrt(within * np.maximum(within, seen)))


def _averaged(values: Floats, width: float) -> Floats:
    """Gaussian weights of that width; at the ends over those there are."""
    at = np.arange(len(values))
    weights = np.exp(-0.5 * np.square((at[:, None] - at) / width))
    return np.asarray(weights @ values / weights.sum(axis=1)) if len(values) else values
