"""Every kind of register there is, each with ant and bee, and features that all of them can compare.

A place has four values. A register of codes sees which of them are large, twice each so that places are two bits apart.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firstsight.core.codes import pack
from firstsight.core.protocols import Register
from firstsight.register.codes import CodeRegister
from firstsight.register.features import FeatureRegister
from firstsight.register.niw import NiwRegister, Prior
from firstsight.register.prototypes import GatedRegister, LeaderRegister, PrototypeRegister
from firstsight.register.spread import Spread
from firstsight.register.statistics import StatisticsRegister
from firstsight.register.windows import WindowRegister
from firstsight.store.store import Arrival

EVERY_KIND = ("codes", "features", "statistics", "niw", "marks", "gated", "leaders", "windows")
NAMES = ["ant", "bee"]
PLACES = np.array([[0, 0, 3, 0], [0, 0, 0, 3]], dtype=np.float64)  # where ant and bee are


def feature_at(kind: str, place: Any) -> NDArray[Any]:
    """A place as a register of this kind sees it."""
    at = np.asarray(place, dtype=np.float64)
    if kind == "codes":
        return np.asarray(pack(np.repeat(np.where(at > 1, 1.0, -1.0), 2))[0])
    point = at.astype(np.float32) * (4 if kind == "niw" else 1)  # which takes images to vary by 1
    return np.concatenate([point, np.zeros(2, np.float32)]) if kind == "windows" else point


def arrival_at(kind: str, place: Any, source: str) -> Arrival:
    return Arrival(source, hashlib.sha256(source.encode()).digest(), feature_at(kind, place))


def register_of(kind: str) -> Register:
    """A fresh one that takes places apart."""
    match kind:
        case "codes":
            return CodeRegister(8, 1, NAMES, np.stack([feature_at(kind, place) for place in PLACES]))
        case "features":
            return FeatureRegister("euclidean", 1.5, NAMES, PLACES.astype(np.float32))
        case "statistics":
            return StatisticsRegister(Spread(np.full(4, 0.1), np.full(4, 4.0), 0.0), NAMES, np.ones(2), PLACES)
        case "niw":
            return NiwRegister(Prior(0.1, 9.0, 0.0), NAMES, np.ones(2), 4 * PLACES, np.zeros((2, 1, 4)))
        case "marks":
            return PrototypeRegister(NAMES, PLACES, np.full(2, 0.8))
        case "gated":
            return GatedRegister(NAMES, PLACES, np.full(2, 0.8))
        case "leaders":
            return LeaderRegister(NAMES, PLACES, np.full(2, 0.9), np.ones(2), typical=0.9, radius=0.1)
        case _:
            windows = [np.repeat(place[None], 3, axis=0) for place in PLACES]
            return WindowRegister(NAMES, windows, 0.1 * np.eye(4), np.full(2, 2.0), 20.0)
