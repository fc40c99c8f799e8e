"""A feature that somebody has already, and that comes instead of an image."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from firstsight.core.errors import ImageError


class Feature(NamedTuple):
    """A feature that came instead of an image: its values, the SHA-256 of them, and how to call it."""

    values: NDArray[np.float32]
    content: bytes
    name: str

    def __str__(self) -> str:
        return self.name


def is_feature(given: Any) -> bool:
    """Whether this is a feature, not an image: an array of one dimension, or one that says whose it is."""
    return isinstance(given, Feature) or (isinstance(given, np.ndarray) and given.ndim == 1)


def read_feature(given: Any) -> Feature:
    """A feature as it is compared; it is called by its content, as it has no file. ImageError where it is none."""
    whose = given if isinstance(given, Feature) else None
    try:
        with np.errstate(over="ignore"):  # which is found below
            values = np.ascontiguousarray(given if whose is None else whose.values, dtype=np.float32)
    except (TypeError, ValueError):
        raise ImageError("<feature>", "is not made of numbers") from None
    if not np.isfinite(values).all():
        raise ImageError("<feature>", "holds values that are not finite numbers", "leave it out")
    if whose is not None:
        return whose._replace(values=values)
    content = hashlib.sha256(values.tobytes()).digest()
    return Feature(values, content, f"feature {content.hex()[:12]}")
