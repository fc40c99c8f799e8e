"""Features whose categories are known to the digit: Gaussian clouds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def clouds(
    categories: int, images: int, width: int = 12, apart: float = 4.0, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Categories with means `apart` away in every dimension, images around them with variance 1."""
    generator = np.random.default_rng(seed)
    labels = np.repeat(np.arange(categories), images)
    means = apart * generator.standard_normal((categories, width))
    return means[labels] + generator.standard_normal((len(labels), width)), labels
