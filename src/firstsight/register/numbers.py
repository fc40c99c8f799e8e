"""Numbers in a header, which is JSON: exactly, and an infinite radius as null, since JSON has no infinity."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_json(radius: float) -> float | None:
    """A radius for a header; null where nothing is ever new."""
    return None if radius == inf else radius


def from_json(radius: float | None) -> float:
    return inf if radius is None else radius


def as_text(values: NDArray[Any]) -> str:
    """Many numbers for a header, to the bit."""
    return np.ascontiguousarray(values, dtype="<f8").tobytes().hex()


def from_text(text: str) -> NDArray[np.float64]:
    return np.frombuffer(bytes.fromhex(text), dtype="<f8").astype(np.float64)
