"""A tiny world for stores: images are nothing but a number of eight bits and a name.

A register of codes sees the bits, one of statistics a corner of a cube. Logs are files, or lists in memory.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from firstsight.core.assignments import Assignment
from firstsight.core.codes import Words, unpack
from firstsight.core.protocols import Provenance, Register
from firstsight.register.codes import CodeRegister
from firstsight.register.prototypes import LeaderRegister
from firstsight.register.spread import Spread
from firstsight.register.statistics import StatisticsRegister
from firstsight.store.store import Arrival, Store

Kind = Literal["codes", "statistics", "leaders"]
KINDS: tuple[Kind, ...] = ("codes", "statistics")  # the paper's and the default one
LOCAL = ("file", "memory")

BITS = 8
MODEL = Provenance("f" * 64, 1, "cpu", "fp32")
SPREAD = Spread(
    np.ones(BITS), np.full(BITS, 9.0), concentration=0.0, enough=3, decline=0.1
)  # so that answers end to be lessons


def code(value: int) -> Words:
    return np.array([value], dtype=np.uint64)


def feature(value: int, kind: Kind = "codes") -> NDArray[Any]:
    """An image as a register of this kind sees it."""
    return code(value) if kind == "codes" else np.float32(2.5) * unpack(code(value)[None], BITS)[0].astype(np.float32)


def arrival(value: int, source: str | None = None, kind: Kind = "codes") -> Arrival:
    """An image of this value; images of one source have one content."""
    name = f"{value}.jpg" if source is None else source
    return Arrival(name, hashlib.sha256(name.encode()).digest(), feature(value, kind))


def fresh_register(radius: float = 1, rule: Any = "nearest") -> CodeRegister:
    """Two known categories: ant at 00000000, bee at 11111111."""
    return CodeRegister(BITS, radius, ["ant", "bee"], np.stack([code(0), code(0b11111111)]), rule)


def fresh(kind: Kind) -> Register:
    """The same two, for either kind."""
    if kind == "codes":
        return fresh_register()
    sums = np.stack([feature(value, kind) for value in (0, 0b11111111)])
    if kind == "leaders":
        return LeaderRegister(["ant", "bee"], sums, np.full(2, 0.9), np.ones(2), typical=0.9, radius=0.2)
    return StatisticsRegister(SPREAD, ["ant", "bee"], np.ones(2), sums)


def new_store(path: Path, **options: Any) -> Store:
    return Store.create(path, fresh_register(**options), MODEL)


def discover(store: Store, *values: int, once: bool = False, kind: Kind = "codes") -> list[Assignment]:
    """Images of these values arrive, each of a source of its own unless it is asked for once."""
    start = store.view().last
    return store.record(
        [arrival(v, None if once else f"{start + i}-{v}.jpg", kind) for i, v in enumerate(values)], MODEL, once
    )
