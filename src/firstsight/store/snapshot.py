"""A catalogue, and what a register has learned, as bytes: what lets a long log be opened without reading it."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from firstsight.store.catalogue import Catalogue
from firstsight.store.holdings import COLUMNS


def pack(catalogue: Catalogue, learned: bytes | None) -> bytes:
    """One line of JSON that ends the header, then the columns, little-endian, then what the register has learned."""
    state = catalogue.state()
    columns = [state.pop(name) for name in COLUMNS]
    if state["radius"] == math.inf:
        state["radius"] = None
    header = {**state, "images": len(catalogue.numbers), "learned": learned is not None}
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    return b"".join([text, b"\n", *columns, learned or b""])


def unpack(content: bytes) -> tuple[Catalogue, bytes | None]:
    """The catalogue again, and what the register had learned, if that was kept. The columns are not copied."""
    start = content.index(b"\n") + 1
    state: dict[str, Any] = json.loads(content[: start - 1])
    if state["radius"] is None:
        state["radius"] = math.inf
    count, learned = state.pop("images"), state.pop("learned")
    for name, kind in COLUMNS.items():
        size = count * np.dtype(kind).itemsize
        state[name] = memoryview(content)[start : start + size]
        start += size
    return Catalogue.of(state), content[start:] if learned else None
