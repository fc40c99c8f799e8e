"""A linear map of features that a decision finds on the support set; and how it is applied, to each by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firstsight.core.protocols import Features


def projected(features: Features, origin: Features, basis: Features) -> Features:
    """(x - origin) basis of every feature: one product each, so that none depends on what it comes with."""
    off = np.asarray(features, dtype=np.float32) - origin
    return np.matmul(off[:, None], basis)[:, 0] if len(off) else np.zeros((0, basis.shape[1]), dtype=np.float32)


def principal(features: NDArray[np.float64], dimensions: int) -> NDArray[np.float64]:
    """The directions features vary most in, one per column, each with its largest entry positive.

    Few features vary in fewer directions than that. The others are then drawn, always the same, at right angles to
    those: left to the decomposition, they would be rounding.
    """
    width, telling = features.shape[1], min(dimensions, len(features) - 1)
    _, directions = np.linalg.eigh(np.cov(features.T, bias=True))
    kept = directions[:, ::-1][:, :telling]
    missing = min(dimensions, width) - kept.shape[1]
    if missing > 0:
        drawn = np.random.default_rng(0).standard_normal((width, missing))
        kept = np.concatenate([kept, np.linalg.qr(drawn - kept @ (kept.T @ drawn))[0]], axis=1)
    largest = np.abs(kept).argmax(axis=0)
    return np.asarray(kept * np.sign(kept[largest, np.arange(kept.shape[1])]))


def single(values: NDArray[Any]) -> Features:
    """As decisions keep what they compare with."""
    return np.ascontiguousarray(values, dtype=np.float32)
