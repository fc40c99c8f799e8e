"""One simulated stream of the support set, in a space that has seen only what teaches."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from firstsight.core.accuracy import matched
from firstsight.methods.firstsight.answers import answers, decided
from firstsight.methods.firstsight.corrected import Corrected, corrected
from firstsight.methods.firstsight.discriminant import Floats, Labels, category_sums
from firstsight.methods.firstsight.prior import PRIOR, Prior
from firstsight.methods.firstsight.space import LeftOut, fit_space
from firstsight.methods.simulation import Simulated
from firstsight.register.spread import Birth, Spread
from firstsight.register.statistics import StatisticsRegister


class Trial:
    """One simulated stream, in a space that has seen only what teaches."""

    def __init__(
        self,
        features: Floats,
        labels: Labels,
        dimensions: int,
        stream: Simulated,
        prior: Prior = PRIOR,
        measured: Sequence[LeftOut] = (),
    ) -> None:
        """`measured` says how new categories are spread, where something else than the taught ones tells."""
        taught, own = np.unique(labels[stream.teaching], return_inverse=True)
        space = fit_space(features[stream.teaching], own, dimensions, prior, measured)
        self.spread = Spread(space.within, space.between, prior.concentration_in(len(space.within)))
        self.counts, self.sums = np.bincount(own), category_sums(space.own, own)
        self.arriving = space.projection(features[stream.arriving])
        self.truth, self.known = labels[stream.arriving], stream.known
        self._taught = taught
        self._answered: tuple[Birth, NDArray[np.int32]] | None = None  # the whole stream, as it was last asked
        at = {category: i for i, category in enumerate(taught.tolist())}
        self.own = np.array([at.get(category, -1) for category in self.truth.tolist()])  # among those taught, else -1

    def shuffled(self, generator: np.random.Generator) -> Trial:
        """The same images in another order."""
        other, order = copy.copy(self), generator.permutation(len(self.truth))
        other.arriving, other.truth = self.arriving[order], self.truth[order]
        other.known, other.own, other._answered = self.known[order], self.own[order], None
        return other

    def corrected(self) -> Corrected:
        """What is weighed where every answer is corrected at once."""
        at = {category: i for i, category in enumerate(self._taught.tolist())}
        labels = np.array([at.setdefault(category, len(at)) for category in self.truth.tolist()])
        return corrected(self.spread, self.counts.astype(np.float64), self.sums, self.arriving, labels)

    def register(self, birth: Birth) -> StatisticsRegister:
        names = [str(i) for i in range(len(self.counts))]
        return StatisticsRegister(self._spread(birth), names, self.counts, self.sums)

    def answers(self, birth: Birth, images: Labels | None = None) -> NDArray[np.int32]:
        """Which category answers the stream, or some of its images by position, in turn; known ones come first."""
        if images is not None:
            return answers(self._spread(birth), self.counts, self.sums, self.arriving[images])
        if self._answered is None or self._answered[0] != birth:
            self._answered = birth, answers(self._spread(birth), self.counts, self.sums, self.arriving)
        return self._answered[1]

    def forecast(self, birth: Birth) -> tuple[list[Floats], NDArray[np.bool_]]:
        """For every image, how much less probable each other answer was than the one given; and which were right."""
        behind, category = [], np.empty(len(self.arriving), dtype=np.int32)
        for i, (at, odds, new) in enumerate(decided(self._spread(birth), self.counts, self.sums, self.arriving)):
            every = np.append(odds, new)
            behind.append(every.max() - every)
            category[i] = at
        self._answered = birth, category
        return behind, matched(self.truth, self._answered[1])

    def _spread(self, birth: Birth) -> Spread:
        return replace(self.spread, **birth._asdict())

    def part(self, share: float, most: float, known_share: float, generator: np.random.Generator) -> Labels:
        """Positions of a part of the stream, in random order: a share of the new categories, at least one of them,
        with so many images each at most, and a share of the known categories' images."""
        new = np.unique(self.truth[~self.known])
        coming = generator.permutation(new)[: max(1, round(share * len(new)))]
        order = generator.permutation(len(self.truth))
        own, turn = self.truth[order], np.zeros(len(order))
        for category in coming:
            here = own == category
            turn[here] = np.arange(here.sum())
        of_known = self.known[order] & (generator.random(len(order)) < known_share)
        return np.asarray(order[of_known | (np.isin(own, coming) & (turn < most))])
