"""How many new categories there are, from how many images each found one has.

A rule finds too many where features are weak, and in a short stream it is not sure of any. What is found is told by a
few signs that do not depend on how long the stream is; how they relate to the truth is learned where a method is
fitted, on streams simulated on the support set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

from firstsight.core.protocols import CONFIRMED
from firstsight.register.learning import Floats

NONE_YET = 0.5  # stands for a count of 0 under a logarithm
REACH = 1.645  # deviations to either side: 90 per cent
OTHERWISE = 0.3  # deviation, in logarithms, by which real streams differ from all simulated ones
WIDER = 1.5  # times the deviation of simulated streams: other known categories, other weak spots
DEVIATIONS = (0.1, 1.0)


@dataclass(frozen=True)
class Signs:
    """What tells the number: `confirmed` categories, and how they and their sizes relate, in logarithms."""

    confirmed: float
    shape: Floats  # (6,)
    unsure: Floats  # (4,)

    @classmethod
    def of(cls, sizes: Sequence[int] | Floats, certain_images: int) -> Signs:
        """Of found categories of these sizes, at least one; `certain_images` are in categories that are certain."""
        sizes = np.asarray(sizes, dtype=np.float64)
        images, found = sizes.sum(), float(len(sizes))
        share = sizes / images
        confirmed = (sizes >= CONFIRMED).sum() + NONE_YET
        spread_out, large = np.exp(-(share * np.log(share)).sum()), 1 / np.square(share).sum()  # Hill's numbers
        others = log((certain_images + 1) / images)
        shape = [1.0, log(images / found), others, log(found / confirmed), log(spread_out / large)]
        unsure = [1.0, log(confirmed), log(images / large), others]
        return cls(float(confirmed), np.array([*shape, log(large / confirmed)]), np.array(unsure))


@dataclass(frozen=True)
class NumberModel:
    """How the signs relate to the truth: weights for the number per confirmed category, and for the deviation."""

    weights: Floats  # (6,)
    deviation: Floats  # (4,)

    def __call__(self, sizes: Sequence[int], certain_images: int) -> tuple[float, float, float]:
        """About how many categories there are, and from how many to how many; nobody saw more than images."""
        if not sizes:
            return 0.0, 0.0, 0.0
        signs = Signs.of(sizes, certain_images)
        images = float(sum(sizes))
        most = images + certain_images
        about = min(signs.confirmed * exp(float(self.weights @ signs.shape)), images)
        simulated = float(np.clip(exp(float(self.deviation @ signs.unsure)), *DEVIATIONS))
        factor = exp(REACH * sqrt((WIDER * simulated) ** 2 + OTHERWISE**2))
        return about, about / factor, min(about * factor, most)

    def values(self) -> list[float]:
        """For a header."""
        return [*self.weights.tolist(), *self.deviation.tolist()]

    @classmethod
    def from_values(cls, values: Sequence[float] | Floats) -> NumberModel | None:
        """What was kept; None where nothing was learned."""
        kept = np.asarray(values, dtype=np.float64)
        return cls(kept[:6], kept[6:]) if len(kept) else None
