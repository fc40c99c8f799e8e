"""What is known of categories before any is seen: how they are spread, and how readily one is born.

The register of statistics weighs features by it (`statistics.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, inf, isfinite, isnan, log, log1p
from typing import NamedTuple

import numpy as np

from firstsight.core.errors import ModelError
from firstsight.register.learning import Floats
from firstsight.register.shortlist import Places, Shortlist

ENOUGH = 16.0  # features a category learns from, before it knows what it is
SURE = 1e-9  # no answer is surer, one way or the other
HALVING = 4.0  # lessons for each known category


class Birth(NamedTuple):
    """How readily a category is born: at the start of a stream, and how that falls with what is learned there.

    What there is to discover shows early. So the chance that the next image is the first of its category falls as in a
    Chinese restaurant process, as 1 / (1 + n / m): n features have been learned, and m grows with the known categories,
    which say how many new ones to expect. Features that teach nothing do not count: where all categories know what they
    are, it falls no further. Log odds are not sharp, so a nat of that chance is `decline` of theirs.
    """

    concentration: float  # log of the weight of a new category
    decline: float = 0.0

    def after(self, lessons: float, known: int) -> float:
        """The concentration, once so many features have been learned where so many categories were known."""
        return self.concentration - self.decline * log1p(lessons / halving(known))


def halving(known: int) -> float:
    """After how many lessons a new category is half as probable as at first, where so many are known."""
    return HALVING * max(known, 1)


@dataclass(frozen=True)
class Spread:
    """What is known of categories before any is seen.

    `trusted` is how many features' worth the mean of a category is believed at most: images of one category come in
    groups that differ (poses, plumages), so its mean is never as certain as so many independent features would make it.
    `enough` is how many features a category learns from: it then knows what it is, and would only drift towards its
    neighbours by answers that are wrong. What people say of an image is learned always. `sharpness` turns log odds
    into a posterior that is honest on the whole, and `slope` and `shift` its log odds into those of being right.
    """

    within: Floats  # W, one entry per dimension
    between: Floats  # B
    concentration: float  # log of it
    trusted: float = 3.0
    sharpness: float = 1.0
    enough: float = ENOUGH
    slope: float = 1.0
    shift: float = 0.0
    decline: float = 0.0  # of the concentration (`Birth`)

    def __post_init__(self) -> None:
        """ModelError where a file says what no spread can be; NaN is none either."""
        variances = all(np.all(np.isfinite(each) & (each > 0)) for each in (self.within, self.between))
        dials = min(self.trusted, self.sharpness, self.enough, self.slope) > 0 and isfinite(self.shift)
        born = not isnan(self.concentration) and 0 <= self.decline < inf
        if not (variances and dials and born):
            raise ModelError("the spread of its categories is not made of numbers above 0", "fit the model again")

    @property
    def birth(self) -> Birth:
        return Birth(self.concentration, self.decline)

    def chance(self, posterior: float) -> float:
        """How probably an answer of this posterior probability is right, as far as streams like these have told."""
        posterior = min(max(posterior, SURE), 1 - SURE)
        return 1 / (1 + exp(-self.shift - self.slope * log(posterior / (1 - posterior))))

    def reach(self, categories: int, error: float) -> float:
        """How much farther than the answer categories are that together change its chance by `error` at most.

        With odds a against it the chance is 1 / (1 + exp(-shift) a^slope). Where a grows by e, that falls by
        exp(-shift) e^slope at most if the slope is up to 1, else by slope exp(-shift / slope) e.
        """
        gentle = self.slope <= 1
        most = (log(error) + self.shift) / self.slope if gentle else log(error / self.slope) + self.shift / self.slope
        return (log(categories) - most) / self.sharpness

    def shortlist(self) -> Shortlist:
        """An empty one, for categories spread like this."""
        believed = np.full(1, self.trusted)
        _, variance = self.posterior(believed, np.zeros((1, len(self.within))))
        shrunk = variance[0] * self.trusted / self.within / (variance[0] + self.within)
        weight = shrunk * np.sqrt(self.between + self.within / self.trusted)  # how large those of a category are
        value = np.sqrt(self.within + self.between)
        return Shortlist(np.sqrt(value / weight), weight * value)

    def posterior(self, counts: Floats, sums: Floats) -> tuple[Floats, Floats]:
        """Expectation and variance of the means of categories with so many features (K,) of these sums (K, D)."""
        counts, sums = self.believed(counts, sums)
        variance = 1 / (1 / self.between + counts[:, None] / self.within)
        return variance * sums / self.within, variance

    def believed(self, counts: Floats, sums: Floats) -> tuple[Floats, Floats]:
        """Counts and sums as if no category had more features than are trusted, with the same mean."""
        share = np.minimum(1, self.trusted / np.maximum(counts, 1))
        return np.minimum(counts, self.trusted), sums * share[:, None]

    def evidence(self, counts: Floats, sums: Floats) -> Floats:
        """Log marginal likelihood of the features of each category, less what it has in all categories."""
        gain = counts[:, None] * self.between / self.within
        terms = sums**2 * self.between / self.within**2 / (1 + gain) - np.log1p(gain)
        return 0.5 * np.asarray(terms.sum(axis=1))

    def two_or_one(self, counts: Floats, sums: Floats) -> float:
        """The log Bayes factor of two categories, with so many features (2,) of these sums (2, D), against one.

        A half is believed up to what a category learns from. The halves were chosen among all there are, so each is
        as improbable as they are many. It ranks and is no probability: that did not carry over from data to data.
        How often splits were right in rehearsal is said beside it.
        """
        spread, ways = replace(self, trusted=ENOUGH), min(float(counts.sum()), 2 * ENOUGH) - 1
        counts, sums = spread.believed(counts, sums)
        together = spread.evidence(counts.sum(keepdims=True), sums.sum(axis=0, keepdims=True))
        return float(spread.evidence(counts, sums).sum() - together[0] - ways * log(2))

    def evidence_of_pairs(self, counts: Floats, sums: Floats, some: Places, others: Places) -> Floats:
        """The evidence of every pair put together: for those of the same count one product of matrices."""
        result = np.empty((len(some), len(others)))
        for one in np.unique(counts[some]):
            for other in np.unique(counts[others]):
                features, columns = np.flatnonzero(counts[some] == one), np.flatnonzero(counts[others] == other)
                gain = (one + other) * self.between / self.within
                weight = self.between / self.within**2 / (1 + gain)
                left, right = sums[some[features]], sums[others[columns]]
                squares = (left**2 @ weight)[:, None] + right**2 @ weight + 2 * (left * weight) @ right.T
                result[np.ix_(features, columns)] = 0.5 * (squares - np.log1p(gain).sum())
        return result
