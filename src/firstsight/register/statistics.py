"""The register of sufficient statistics: a category is how many features it has and their sum.

In the space of the features a category's images lie around its mean with variance W, and means lie around the origin
with variance B, each dimension for itself (probabilistic linear discriminant analysis). With n features of sum s the
mean is Gaussian: precision 1/B + n/W, expectation (s/W) / (1/B + n/W). A feature is weighed by its density under every
category, times how many features that has up to a limit, against its density under a category nothing is known of,
times the concentration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firstsight.core.errors import ModelError
from firstsight.core.protocols import Halves
from firstsight.core.rehearsed import Rehearsed
from firstsight.register.exact import Steps
from firstsight.register.halves import two_means
from firstsight.register.learning import Floats, posterior
from firstsight.register.number import NumberModel
from firstsight.register.numbers import as_json, as_text, from_json, from_text
from firstsight.register.precisions import Precisions
from firstsight.register.shortlist import Places, Shortlist
from firstsight.register.spread import Spread
from firstsight.register.stack import Stack
from firstsight.register.weighing import WeighingRegister

BLOCK = 512  # categories compared with all others at once
PAGE = 1024  # features asked about at once
ROOM = 64  # categories there is room for at first; doubled as needed


class StatisticsRegister(WeighingRegister):
    """Categories as counts and sums of features; the most probable one answers, or a new one.

    A distance is the log odds of a new category against this one, so 0 is where both are as probable and the radius
    is the dial between splitting (below 0) and merging (above). Sums are exact; a merge is an addition.

    >>> spread = Spread(within=np.ones(2), between=np.full(2, 25.0), concentration=0.0)
    >>> means = np.array([[0, 0], [9, 0]])
    >>> register = StatisticsRegister(spread, ["ant", "bee"], counts=np.array([4, 4]), sums=4 * means)
    >>> register.assign(np.array([8, 1], dtype=np.float32)).category
    'bee'
    >>> register.assign(np.array([0, 9], dtype=np.float32)).category
    'new-1'
    """

    kind = "statistics"
    confident = True
    spread: Spread

    def __init__(
        self,
        spread: Spread,
        names: Sequence[str],
        counts: NDArray[Any],
        sums: NDArray[Any],
        radius: float = 0.0,
        counting: NumberModel | None = None,
        splitting: Sequence[int] = (),
    ) -> None:
        """`splitting` is how many splits proposed in rehearsal were right, and how many there were."""
        self.spread = spread
        self.counting = counting
        self.rehearsed_splits = _rehearsed(splitting)
        self._first = np.asarray(counts, dtype=np.float64), np.asarray(sums, dtype=np.float64)
        shapes = (len(names),), (len(names), len(spread.within))
        if tuple(each.shape for each in self._first) != shapes or not np.all(self._first[0] >= 0):
            raise ModelError("its categories are not so many counts and sums of features", "fit the model again")
        self._steps = Steps(np.sqrt(spread.within + spread.between))
        centres = self._first[1] / np.maximum(self._first[0], 1)[:, None]
        super().__init__(names, centres, radius)

    def header(self) -> dict[str, Any]:
        spread = self.spread
        return {
            "kind": self.kind,
            "radius": as_json(self.radius),
            "known": self.names[: self.known],
            "within": as_text(spread.within),
            "between": as_text(spread.between),
            "concentration": spread.concentration,
            "trusted": spread.trusted,
            "sharpness": spread.sharpness,
            "enough": as_json(spread.enough),
            "slope": spread.slope,
            "shift": spread.shift,
            "decline": spread.decline,
            "counts": as_text(self._first[0]),
            "sums": as_text(self._first[1]),
            "counting": [] if self.counting is None else self.counting.values(),
            "splitting": [] if (made := self.rehearsed_splits) is None else [made.right, made.of],
        }

    @classmethod
    def of(cls, header: Mapping[str, Any]) -> StatisticsRegister:
        """The register a header describes, holding its known categories."""
        within, between = from_text(header["within"]), from_text(header["between"])
        dials = [header[name] for name in ("concentration", "trusted", "sharpness")]
        dials += [from_json(header["enough"]), header["slope"], header["shift"], header.get("decline", 0.0)]
        spread = Spread(within, between, *dials)
        counts, sums = from_text(header["counts"]), from_text(header["sums"]).reshape(-1, len(within))
        counting = NumberModel.from_values(header["counting"])
        radius, splitting = from_json(header["radius"]), header["splitting"]
        return cls(spread, header["known"], counts, sums, radius, counting, splitting)

    @property
    def counts(self) -> Floats:
        """How many features every category has learned from, in order of `names`."""
        return self._counts[: len(self.names)]

    @property
    def sums(self) -> Floats:
        """The sum of those features."""
        return self._steps.values(np.array(self._sums)).reshape(len(self.names), -1)

    def number_of(self, sizes: Sequence[int], certain_images: int) -> tuple[float, float, float] | None:
        """About how many categories those found are, and an interval; None where that was not learned."""
        return None if self.counting is None else self.counting(sizes, certain_images)

    def alike(self) -> Iterator[tuple[str, str, float]]:
        """Pairs of categories that are rather one than two, not both known, with the log of that Bayes factor."""
        counts, sums = self.spread.believed(self.counts, self.sums)
        alone = self.spread.evidence(counts, sums)
        here = np.array([i for i in np.flatnonzero(self.counts) if self.names[i] not in self._merged], dtype=np.intp)
        for start in range(0, len(here), BLOCK):
            news = here[start : start + BLOCK]
            news = news[news >= self.known]
            factors = self.spread.evidence_of_pairs(counts, sums, news, here) - alone[news][:, None] - alone[here]
            for new, other in zip(*np.nonzero((factors > 0) & (here < news[:, None])), strict=True):
                yield self.names[here[other]], self.names[news[new]], float(factors[new, other])

    def halves(self, features: NDArray[Any]) -> Halves | None:
        """The two parts where features fall apart best, if they are rather two categories than one."""
        given = self._checked(features)
        second = two_means(given / np.sqrt(self.spread.within))
        if second is None:
            return None
        parts = [given[second], given[~second]]
        sums = np.stack([part.sum(axis=0) for part in parts])
        factor = self.spread.two_or_one(np.array([float(len(part)) for part in parts]), sums)
        if factor <= 0:
            return None
        return Halves(second, factor, "two groups lie farther apart than images of one category do")

    def points(self, features: Floats) -> Floats:
        """Two features' product here is how much more probable it makes one category of them than two, as a log."""
        within, between = self.spread.within, self.spread.between
        return np.asarray(features * np.sqrt(between / (within * (within + 2 * between))))

    def _learns_on(self, position: int) -> bool:
        return bool(self._counts[position] < self.spread.enough)

    # ------------------------------------------------------------------ deciding

    def _begin(self) -> None:
        counts, sums = self._first
        total = self.spread.within + self.spread.between
        self._new_precision = 1 / total
        self._new_offset = 0.5 * np.log(total).sum()
        self._begin_sums(sums)
        self._counts, self._offsets, self._kind = np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.intp)
        self._weights, self._kinds = Stack(len(total)), Precisions(len(total))
        self._shortlist = None
        self._make_room(len(counts))
        for first in range(0, len(counts), PAGE):
            self._renew(list(range(first, min(first + PAGE, len(counts)))))

    def distances(self, feature: Floats) -> Floats:
        """Log odds of a new category against each: one product of a matrix with the feature."""
        count, squares = len(self.names), feature * feature
        known = self._weights.product(feature, count) + self._offsets[:count]
        known -= self._kinds.halves(squares)[self._kind[:count]]
        return np.asarray(self._new(squares) - known)

    def _distances_at(self, feature: Floats, which: Places) -> Floats:
        """The same to some categories, to the bit."""
        squares = feature * feature
        known = self._weights.product_at(feature, which) + self._offsets[which]
        known -= self._kinds.halves(squares)[self._kind[which]]
        return np.asarray(self._new(squares) - known)

    def answer_again(self, features: NDArray[Any]) -> NDArray[np.int32]:
        """Hindsight, a page of features at a time: one product of matrices each."""
        count, again = len(self.names), np.full(len(features), -1, dtype=np.int32)
        for first in range(0, len(features) if count else 0, PAGE):
            some = self._checked(features[first : first + PAGE])
            squares = some * some
            known = self._weights.products(some, count) + self._offsets[:count]
            known -= 0.5 * (squares @ self._kinds.lines.T)[:, self._kind[:count]]
            new = self._concentration() - 0.5 * squares @ self._new_precision - self._new_offset
            likely = new - known.max(axis=1) <= self.radius
            again[first : first + PAGE][likely] = known.argmax(axis=1)[likely]
        return again

    def _distances(self, feature: Floats, without: str | None) -> Floats:
        distances = self.distances(feature)
        if without is not None:
            at = self._position[without]
            whole = self._sums[at] - self._steps.whole(feature)
            weights, offset, precision = self._density(self._counts[at : at + 1] - 1, self._steps.values(whole)[None])
            squares = feature * feature
            known = weights[0] @ feature + offset[0] - 0.5 * (precision[0] * squares).sum()
            distances[at] = self._new(squares) - known
            distances += self._concentration(self._lessons - 1) - self._concentration()  # which it had not learned
        return distances

    def _constants(self, feature: Floats) -> Floats:
        """What a feature adds to a distance, for each kind."""
        squares = feature * feature
        return self._new(squares) + self._kinds.halves(squares)

    def _nearly(self, feature: Floats, constants: Floats, which: Places) -> Floats:
        return np.asarray(constants[self._kind[which]] - self._offsets[which] - self._weights.at(which) @ feature)

    def _new_shortlist(self) -> Shortlist:
        shortlist = self.spread.shortlist()
        there = np.flatnonzero(np.isfinite(self._offsets[: len(self.names)]))
        for first in range(0, len(there), PAGE):
            some = there[first : first + PAGE]
            shortlist.put(some, self._weights.at(some), self._offsets[some], self._kind[some])
        return shortlist

    def _new(self, squares: Floats) -> float:
        return float(self._concentration() - 0.5 * squares @ self._new_precision - self._new_offset)

    def _concentration(self, lessons: int | None = None) -> float:
        return self.spread.birth.after(self._lessons if lessons is None else lessons, self.known)

    def _confidence(self, distances: Floats, chosen: int) -> float:
        """How probably the answer is right, by its posterior among all categories and a new one."""
        return self.spread.chance(posterior(distances, self.radius, chosen, self.spread.sharpness))

    def _density(self, counts: Floats, sums: Floats) -> tuple[Floats, Floats, Floats]:
        """The log density of a feature is a polynomial of its values: its coefficients, for some categories.

        Those of the squares are the same for all categories whose means are believed alike.
        """
        mean, variance = self.spread.posterior(counts, sums)
        precision = 1 / (variance + self.spread.within)
        with np.errstate(divide="ignore"):  # a category without features cannot answer
            size = np.log(np.minimum(counts, self.spread.enough))
        return precision * mean, size - 0.5 * (precision * mean**2 - np.log(precision)).sum(axis=1), precision

    def _renew(self, which: list[int]) -> None:
        counts = np.array([self._taught[at] + (self._first[0][at] if at < self.known else 0.0) for at in which])
        sums = self._steps.values(np.array([self._sums[at] for at in which]))
        weights, self._offsets[which], precision = self._density(counts, sums)
        self._counts[which] = counts
        believed = np.minimum(counts, self.spread.trusted).tolist()
        self._kind[which] = [self._kinds.of(*each) for each in zip(believed, precision, strict=True)]
        for at, line in zip(which, weights, strict=True):
            self._weights.put(at, line)
        if self._shortlist is not None:
            self._shortlist.put(np.array(which), weights, self._offsets[which], self._kind[which])
            self._changed.update(which)

    def _make_room(self, count: int) -> None:
        self._weights.make_room(count)
        missing = count - len(self._counts)
        if missing > 0:
            more = max(missing, len(self._counts), ROOM)
            self._counts = np.concatenate([self._counts, np.zeros(more)])
            self._offsets = np.concatenate([self._offsets, np.full(more, -np.inf)])
            self._kind = np.concatenate([self._kind, np.zeros(more, dtype=np.intp)])


def _rehearsed(splitting: Sequence[int]) -> Rehearsed | None:
    """What came of splits proposed in rehearsal; ModelError where a file says what cannot have been counted."""
    if not splitting:
        return None
    counted = [number for number in splitting if type(number) is int]
    if len(counted) != 2 or len(splitting) != 2 or not 0 <= counted[0] <= counted[1]:
        raise ModelError("its rehearsed splits are no two counts, the right ones and all", "fit the model again")
    return Rehearsed.counted(*counted)
