"""What a fit knows beforehand: how well discovery went on the support set, where some categories played new ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from math import exp, inf, log, sqrt
from operator import attrgetter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from firstsight.core.accuracy import matched
from firstsight.methods.firstsight.discriminant import Floats, Labels
from firstsight.methods.firstsight.trial import Trial
from firstsight.register.spread import Birth

FEWER = 0.25  # of the new categories, in a second stream of each trial
OTHERWISE = 0.1  # deviation of a logarithm by which real streams differ from all simulated ones
NAMED_OTHERWISE = 0.03  # and that of the share of known images that get their name
FEWEST = 3  # streams that tell how much streams differ
LIKELY = 0.9  # of streams lie in the intervals
TRUSTED = 0.5  # of known images named right, or of new ones kept apart; below, a warning
TOO_MANY = 2.0  # times as many categories as there are; above, a warning
UNTRIED = (
    "too little to try it out: three categories or more, some of them of several images, would tell how well it does"
)


@dataclass(frozen=True)
class Likely:
    """A figure with the interval in which it lies for nine streams of ten."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Floats, chance: Floats | float, further: float = 0.0) -> Self:
        """Of what simulated streams came to: `chance` is the variance that each has by the images it got.

        `further` is what is added to it for a stream with more categories, and half of that is in doubt.
        """
        count, mean = len(values), float(values.mean()) + further
        variance = float(values.var(ddof=1) + np.mean(chance)) * (1 + 1 / count) + (further / 2) ** 2
        reach = float(stdtrit(count - 1, (1 + LIKELY) / 2)) * sqrt(variance)
        return cls(mean, mean - reach, mean + reach)

    def exp(self) -> Self:
        """Of a logarithm."""
        return type(self)(exp(self.mean), exp(self.low), exp(self.high))

    def share(self) -> Self:
        """Between 0 and 1."""
        return type(self)(*(min(max(value, 0.0), 1.0) for value in (self.mean, self.low, self.high)))


@dataclass(frozen=True)
class Outlook:
    """Shares and a ratio, each with its interval, for a stream with as many new categories as there are known ones."""

    named: Likely  # images of known categories answered with their name
    apart: Likely  # images of new categories in the one that stands for theirs
    found: Likely  # categories found for each true one
    streams: int

    @classmethod
    def of(cls, trials: Sequence[Trial], birth: Birth, known: int, generator: np.random.Generator) -> Outlook | None:
        """What discovery comes to where categories are born so readily, and so many are known.

        A simulated stream has a third of them as new ones. How much harder more make it is told by a part with fewer.
        None where no known category had an image left to arrive.
        """
        whole = [_Tried.of(trial, birth) for trial in trials]
        named = [each for each in whole if each.images]
        if len(named) < FEWEST:
            return None
        fewer = [_Tried.of(trial, birth, trial.part(FEWER, inf, 1.0, generator)) for trial in trials]
        times = [log(one.new / other.new) for one, other in zip(whole, fewer, strict=True)]
        more = log(known / np.mean([each.new for each in whole]))
        apart, found = (
            more * _slope([log(get(one) / get(other)) for one, other in zip(whole, fewer, strict=True)], times)
            for get in (attrgetter("apart"), attrgetter("found"))
        )
        return cls(
            Likely.of(np.array([each.named for each in named]), _chance(named) + NAMED_OTHERWISE**2).share(),
            Likely.of(np.log([each.apart for each in whole]), OTHERWISE**2, min(apart, 0.0)).exp().share(),
            Likely.of(np.log([each.found for each in whole]), OTHERWISE**2, max(found, 0.0)).exp(),
            len(trials),
        )

    def values(self) -> tuple[float, ...]:
        """As a decision keeps it."""
        return (*astuple(self.named), *astuple(self.apart), *astuple(self.found), float(self.streams))

    @classmethod
    def from_values(cls, values: Floats) -> Outlook | None:
        """What was kept; None where nothing could be tried."""
        if not len(values):
            return None
        kept = values.tolist()
        return cls(Likely(*kept[:3]), Likely(*kept[3:6]), Likely(*kept[6:9]), int(kept[9]))

    def lines(self) -> list[str]:
        """For people: what to expect, and a warning where that is little."""
        named, apart, found = self.named, self.apart, self.found
        lines = [
            f"expected of a stream with as many new categories as known ones, from {self.streams} simulated on its own "
            "images; 9 streams of 10 lie in the ranges:",
            f"{named.mean:.0%} of images of known categories get their name ({named.low:.0%} to {named.high:.0%})",
            f"{apart.mean:.0%} of images of new categories are kept together and apart from all others "
            f"({apart.low:.0%} to {apart.high:.0%})",
            f"{found.mean:.1f} categories are found for each that is there ({found.low:.1f} to {found.high:.1f}), "
            "more in a longer stream",
        ]
        if named.mean < TRUSTED:
            remedy = "teach it more images of each category, or take another backbone"
            lines.append(f"warning: known categories are named too seldom to trust it: {remedy}")
        if apart.mean < TRUSTED:
            lines.append("warning: new categories will often be mixed up: look closely at what it finds")
        if found.mean > TOO_MANY:
            lines.append("warning: it finds far too many categories: those of fewer than three images are often none")
        return lines

    def figures(self) -> dict[str, Any]:
        """For a report."""
        parts = {"known_named": self.named, "new_apart": self.apart, "found_per_category": self.found}
        ends = ("", "_low", "_high")
        return {
            f"simulated_{name}{end}": round(value, 4)
            for name, part in parts.items()
            for end, value in zip(ends, astuple(part), strict=True)
        }


@dataclass(frozen=True)
class _Tried:
    """What one simulated stream came to."""

    named: float
    apart: float
    found: float
    images: int  # of known categories
    new: int  # categories

    @classmethod
    def of(cls, trial: Trial, birth: Birth, images: Labels | None = None) -> Self:
        some = slice(None) if images is None else images
        category = trial.answers(birth, images)
        truth, known = trial.truth[some], trial.known[some]
        named, apart = category[known] == trial.own[some][known], matched(truth, category)[~known]
        found, new = len(np.unique(category)), len(np.unique(truth[~known]))
        return cls(_share(named), _share(apart), found / len(np.unique(truth)), int(known.sum()), new)


def _share(right: NDArray[np.bool_]) -> float:
    """None of few is not never, nor all of few always."""
    return float((right.sum() + 0.5) / (len(right) + 1))


def _chance(tried: Sequence[_Tried]) -> float:
    return float(np.mean([each.named * (1 - each.named) / each.images for each in tried]))


def _slope(rises: Sequence[float], times: Sequence[float]) -> float:
    """By how much a logarithm rises with that of the number of new categories."""
    return float(np.dot(rises, times) / np.dot(times, times)) if any(times) else 0.0
