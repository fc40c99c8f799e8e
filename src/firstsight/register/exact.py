"""Sums that do not depend on the order: features as whole numbers of a small step, added up in integers.

What was added can be taken away again and leaves nothing behind, so a register that learned and unlearned for years
and one that was opened a second ago agree to the bit.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from firstsight.core.errors import ModelError

Whole: TypeAlias = NDArray[np.int64]

FRACTION = 36  # bits below the scale of a dimension: a step is 1.5e-11 of it
WIDEST = 2.0**20  # times its scale that a value may be
FULL = 2.0 ** (62 - FRACTION)  # times its scale that a sum may be: a million images eight times as far out as usual


class Steps:
    """One step per dimension, a power of two, from how far the values of a dimension are spread."""

    def __init__(self, scale: NDArray[np.float64]) -> None:
        self.scale = 2.0 ** np.floor(np.log2(scale))
        self.step = self.scale * 2.0**-FRACTION
        self._widest, self._full = WIDEST * self.scale, FULL * self.scale

    def whole(self, values: NDArray[np.float64]) -> Whole:
        """The nearest whole number of steps; ModelError where a value is beyond all measure."""
        if (np.abs(values) > self._widest).any():
            raise ModelError(
                f"a feature holds a value more than {WIDEST:,.0f} times as large as the categories are spread",
                "it was made by another encoder, or the model was fitted on other features",
            )
        return self._rounded(values)

    def sums(self, values: NDArray[np.float64]) -> Whole:
        """Sums as whole numbers of steps; ModelError where one is too large to be kept exactly."""
        if (np.abs(values) > self._full).any():
            raise ModelError("the sum of a category's features is too large to be kept", "fit the model again")
        return self._rounded(values)

    def _rounded(self, values: NDArray[np.float64]) -> Whole:
        whole: Whole = np.rint(values / self.step).astype(np.int64)
        return whole

    def values(self, whole: Any) -> NDArray[np.float64]:
        """Whole numbers of steps as values."""
        return np.asarray(whole * self.step, dtype=np.float64)

    def check(self, whole: Whole) -> Whole:
        """A sum with one feature more; ModelError before it can overflow."""
        if (np.abs(whole) > 2.0**62).any():
            raise ModelError("the sum of a category's features is full", "split it, or fit the model again")
        return whole
