"""Which images teach and which arrive later: drawing the support half of labelled images."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def draw_support(
    labels: Sequence[int] | NDArray[np.int64], share: float = 0.5, seed: int = 0, stratified: bool = False
) -> NDArray[np.bool_]:
    """Mark the images that become support: `share` of them, without replacement.

    Pooled over all categories as the released code draws it (NumPy's legacy generator, seed 0), so that a category
    may get more or fewer; `stratified` takes the share of each category (deviation 18).
    """
    labels = np.asarray(labels)
    generator = np.random.RandomState(seed)
    support = np.zeros(len(labels), dtype=bool)
    pools = [np.flatnonzero(labels == label) for label in np.unique(labels)] if stratified else [np.arange(len(labels))]
    for pool in pools:
        support[generator.choice(pool, size=int(share * len(pool)), replace=False)] = True
    return support
