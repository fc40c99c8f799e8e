"""The precisions that categories are believed with: few, however many categories there are."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]


class Precisions:
    """One line for every number of features' worth that some mean is believed, in the order they were met."""

    def __init__(self, width: int) -> None:
        self.lines = np.zeros((0, width))
        self._at: dict[float, int] = {}

    def copy(self) -> Precisions:
        other = Precisions(0)
        other.lines, other._at = self.lines, dict(self._at)
        return other

    def of(self, believed: float, precision: Floats) -> int:
        """Which line that is; a new one where none is believed so yet."""
        if believed not in self._at:
            self._at[believed] = len(self._at)
            self.lines = np.concatenate([self.lines, precision[None]])
        return self._at[believed]

    def halves(self, squares: Floats) -> Floats:
        """What the squares of a feature take from its log density, for each line.

        Each is summed up for itself: the last digits of a product depend on the order in which lines were met.
        """
        return 0.5 * np.asarray((self.lines * squares).sum(axis=1))
