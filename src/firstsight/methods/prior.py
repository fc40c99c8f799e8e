"""What is believed of categories before a support set says more. Ships with the package, since few images say little.

Everything is in units free of backbone and scale: variances are ratios to the variance within categories where the
projection made that 1, log odds are of 192 such dimensions. Where the values come from, and how well those found on one
data set do on another: docs/firstsight.md.
"""

from __future__ import annotations

from dataclasses import dataclass


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
    concentration: float = 9.0
    concentration_spread: float = 3.0
    sharpness: float = 0.15
    sharpness_spread: float = 0.5  # of its logarithm
    independent: float = 0.2  # share of a stream's images whose answers are right or wrong for reasons of their own


PRIOR = Prior()
