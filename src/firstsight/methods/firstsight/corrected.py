"""A stream in which every answer is corrected at once: what a register that knows the truth so far would weigh.

No answer depends on an earlier one, so all of them come from a few products of matrices, and they change little where
the features do: nothing is decided.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstsight.methods.firstsight.discriminant import Floats, Labels
from firstsight.register.spread import Spread, halving

NEVER = -1e9  # log odds of a category that is not there yet


@dataclass(frozen=True)
class Corrected:
    """For every image the log odds of every category against a new one, but for the concentration, and the truth.

    Categories are in order: known ones, then new ones by arrival, then (the last column, 0) a new one.
    """

    log_odds: Floats  # (images, categories + 1)
    truth: Labels  # (images,): a column
    expected: float  # images that a new category has in all
    falls: Floats  # (images,): by how many nats a new category had become less probable by then


def corrected(spread: Spread, counts: Floats, sums: Floats, features: Floats, labels: Labels) -> Corrected:
    """The stream of these features for a register that starts with known categories of these counts and sums.

    `labels` below the number of known categories are those, and the others count up by arrival.
    """
    images, known = np.arange(len(features)), len(counts)
    columns = max(int(labels.max()) + 1, known)
    first = np.concatenate([counts, np.zeros(columns - known)])
    start = np.concatenate([sums, np.zeros((columns - known, features.shape[1]))])
    own = np.zeros((len(features), columns))
    own[images, labels] = 1
    taught = own * (np.cumsum(own, axis=0) - own + first < spread.enough)  # images that teach their category
    seen = np.cumsum(taught, axis=0) - taught + first  # (images, categories): what each has learned from by then
    log_odds = np.full((len(features), columns + 1), NEVER)
    log_odds[:, -1] = 0
    there, before = np.maximum(seen, 1), _own_before(features, start, taught, labels)
    for believed in range(1, int(spread.trusted) + 1):
        at = (seen == believed) if believed < spread.trusted else (seen >= believed)
        if at.any():
            found = _weighed(spread, float(believed), features, start, taught, before, there)
            log_odds[:, :-1][at] = found[at]
    truth = np.where(seen[images, labels] > 0, labels, columns)
    news = np.bincount(labels)[known:]
    lessons = taught.sum(axis=1)
    falls = np.log1p((np.cumsum(lessons) - lessons) / halving(known))
    return Corrected(log_odds, truth, float(news.mean()) if len(news) else 1.0, falls)


def _weighed(
    spread: Spread, believed: float, features: Floats, start: Floats, taught: Floats, before: Floats, counts: Floats
) -> Floats:
    """Log odds as if all means were believed as much: `StatisticsRegister.distances` for all images at once."""
    variance = 1 / (1 / spread.between + believed / spread.within)
    precision, shrink = 1 / (spread.within + variance), believed * variance / spread.within
    along = _sums_before(features * (precision * shrink), features, start, taught)  # each times each category's sum
    weight = precision * shrink**2
    squares = np.square(start) @ weight + _growth(features, weight, before, taught)
    total = spread.within + spread.between
    beside = 0.5 * (np.square(features) @ (1 / total - precision) + np.log(precision).sum() + np.log(total).sum())
    size = np.log(np.minimum(counts, spread.enough))
    return np.asarray(size + along / counts - 0.5 * squares / counts**2 + beside[:, None])


def _sums_before(weighted: Floats, features: Floats, start: Floats, taught: Floats) -> Floats:
    """The product of every weighted feature with every category's sum by then."""
    products = np.tril(weighted @ features.T, k=-1)
    return np.asarray(products @ taught + weighted @ start.T)


def _own_before(features: Floats, start: Floats, taught: Floats, labels: Labels) -> Floats:
    """For every feature the sum of its own category by then."""
    before = np.empty_like(features)
    for category in np.unique(labels):
        own = np.flatnonzero(labels == category)
        lessons = features[own] * taught[own, category][:, None]
        before[own] = start[category] + np.cumsum(lessons, axis=0) - lessons
    return before


def _growth(features: Floats, weight: Floats, before: Floats, taught: Floats) -> Floats:
    """By how much the weighted square of every category's sum has grown by then."""
    step = taught * ((features * (2 * before + features)) @ weight)[:, None]
    return np.asarray(np.cumsum(step, axis=0) - step)
