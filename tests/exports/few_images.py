"""A register of a few images whose codes are given: what they show does not matter here, what they tell does."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from firstsight.core.protocols import Provenance
from firstsight.core.sightings import Sighting
from firstsight.register.codes import CodeRegister
from firstsight.store.groups import Arrival
from firstsight.store.store import Store

MODEL = Provenance("f" * 64, 1, "cpu", "fp32")
ANT, BEE, OTHER = 0b00000000, 0b11111111, 0b00111100


def new_store(path: Path) -> Store:
    """Two known categories, ant and bee."""
    centres = np.array([[ANT], [BEE]], dtype=np.uint64)
    return Store.create(path, CodeRegister(8, 1, ["ant", "bee"], centres), MODEL)


def record(store: Store, *images: tuple[Path, int, Sighting]) -> None:
    """Images from these files, of these codes, that tell this of themselves."""
    arrivals = [
        Arrival(str(path), f"{i:02d}".encode() * 16, np.array([code], dtype=np.uint64), told)
        for i, (path, code, told) in enumerate(images, 1)
    ]
    store.record(arrivals, MODEL)
