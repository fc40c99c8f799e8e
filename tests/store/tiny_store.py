"""A tiny world for stores: codes of a few bits, images that are nothing but a code and a name."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from firstsight.core.codes import Words
from firstsight.core.protocols import Assignment, Provenance
from firstsight.register.codes import CodeRegister
from firstsight.store.store import Arrival, Store

BITS = 8
MODEL = Provenance("f" * 64, 1, "cpu", "fp32")


def code(value: int) -> Words:
    return np.array([value], dtype=np.uint64)


def arrival(value: int, source: str | None = None) -> Arrival:
    """An image whose code is the value; images of one source have one content."""
    name = f"{value}.jpg" if source is None else source
    return Arrival(name, hashlib.sha256(name.encode()).digest(), code(value))


def fresh_register(radius: int = 1, rule: Any = "nearest") -> CodeRegister:
    """Two known categories: ant at 00000000, bee at 11111111."""
    return CodeRegister(BITS, radius, ["ant", "bee"], np.stack([code(0), code(0b11111111)]), rule)


def new_store(path: Path, **options: Any) -> Store:
    return Store.create(path, fresh_register(**options), MODEL)


def discover(store: Store, *values: int, once: bool = False) -> list[Assignment]:
    """Images of these codes arrive, each of a source of its own unless it is asked for once."""
    start = store.log.length
    return store.record(
        [arrival(v, None if once else f"{start + i}-{v}.jpg") for i, v in enumerate(values)], MODEL, once
    )
