"""In which form features are compared: wide ones by their direction, narrow ones as points.

An encoder's feature has many values, and its length says little: which values are large tells categories apart. A few
measurements, such as a length and a weight, lose most of what they say without their size. Either form is the same
whatever unit the values are in.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firstsight.core.protocols import Features

NARROW = 12  # values; a feature of fewer is a point
TINY = 1e-12  # under a root, whose slope at 0 is a number then
USUAL = 2.0**-10, 2.0**60  # largest values whose roots and lengths float32 holds well
SAME = 1e-6  # of a value: by so little, float32 cannot tell values apart
FARTHEST = 2.0**12  # deviations within categories that a point is from their middle at most: an outlier is still a sum


def is_narrow(width: int) -> bool:
    return width < NARROW


def even(features: Features) -> Features:
    """Square roots of the values, with their signs, at length 1: no value outweighs the others."""
    features = _usual(np.asarray(features, dtype=np.float32))
    roots = np.sign(features) * np.sqrt(np.abs(features) + np.float32(TINY))
    lengths = np.sqrt(np.square(roots).sum(axis=-1, keepdims=True))
    return np.asarray(roots / np.maximum(lengths, np.float32(TINY)))


def standard(features: Features) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Narrow features by deviations from their mean, and those two; what float32 cannot tell apart is left as it is."""
    given = np.asarray(features, dtype=np.float64)
    mean, deviation = given.mean(axis=0), given.std(axis=0)
    deviation = np.where(deviation > SAME * np.abs(mean), deviation, 1.0)
    return (given - mean) / deviation, mean, deviation


def placed(features: Features, origin: Features, basis: Features) -> Features:
    """Narrow features where a register compares them, each by itself."""
    off = np.asarray(features, dtype=np.float64) - origin  # float64, as an outlier may be at the end of float32
    turned = (off[:, :, None] * basis).sum(axis=1)
    return np.asarray(np.clip(turned, -FARTHEST, FARTHEST), dtype=np.float32)


def _usual(features: Features) -> Features:
    """Features that are very small or very large, by a power of two so that they are neither; others as they are."""
    largest = np.abs(features).max(axis=-1, keepdims=True, initial=0)
    unusual = (largest > 0) & ((largest < USUAL[0]) | (largest > USUAL[1]))
    if not unusual.any():
        return features
    return np.ldexp(features, np.where(unusual, -np.frexp(largest)[1], 0))
