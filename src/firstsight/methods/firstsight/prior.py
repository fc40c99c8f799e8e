"""What is believed of categories before a support set says more. Ships with the package, since few images say little.

Everything is in units free of backbone and scale: variances are ratios to the variance within categories, which the
projection made 1, and log odds are for every dimension. Where the values come from, and how well those found on one
data set do on another: docs/firstsight.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from firstsight.register.spread import Birth


@dataclass(frozen=True)
class Prior:
    """Beliefs, and how many observations each is worth."""

    leading_within: float = 2.5  # W where known categories differ, for categories that the projection has not seen
    resting_within: float = 1.1  # W in all other dimensions
    within_weight: float = 10.0  # images that those two are worth
    level: float = 0.9  # B / W where known categories do not differ
    level_weight: float = 3.0  # categories that is worth
    leading: float = 5.0  # how many times as large B / W is where they do
    shape_weight: float = 8.0  # categories' worth of belief that B / W is the same throughout either part
    concentration: float = 15 / 192  # at first, for every dimension, as all log odds are sums over them
    concentration_spread: float = 3 / 192
    independent_dimensions: float = 29.0  # as many as say something of their own: log odds count all
    sharpness_spread: float = 0.5  # of its logarithm
    slope_spread: float = 0.5  # of its logarithm: posteriors are believed as they are, more or less
    shift_spread: float = 0.5
    independent_images: float = 0.2  # share of a stream's answers that are right or wrong for reasons of their own

    def concentration_in(self, dimensions: int) -> float:
        return self.concentration * dimensions

    def birth_in(self, dimensions: int) -> Birth:
        return Birth(self.concentration_in(dimensions), 1 / self.sharpness_in(dimensions))

    def sharpness_in(self, dimensions: int) -> float:
        return min(1.0, self.independent_dimensions / dimensions)


PRIOR = Prior()
