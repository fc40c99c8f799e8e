"""A catalogue as bytes: what lets a long log be opened without folding it from the start."""

from __future__ import annotations

import json
import sys
import zlib
from array import array
from typing import Any

from firstsight.store.catalogue import Catalogue

VERSION = 2  # of another version, a snapshot is passed over and the log folded from the start
ARRAYS = ("numbers", "homes", "flags")


def pack(catalogue: Catalogue) -> bytes:
    """One line of JSON that ends the header, then the arrays, little-endian; compressed."""
    state = catalogue.state()
    arrays: list[array[Any]] = [state.pop(name) for name in ARRAYS]
    header = {"version": VERSION, **state, "arrays": [[a.typecode, len(a)] for a in arrays]}
    body = b"".join(_little(a).tobytes() for a in arrays)
    return zlib.compress(json.dumps(header, separators=(",", ":")).encode() + b"\n" + body, level=1)


def unpack(content: bytes) -> Catalogue | None:
    """The catalogue again, if it was packed by this version."""
    header, _, body = zlib.decompress(content).partition(b"\n")
    state = json.loads(header)
    if state.pop("version", None) != VERSION:
        return None
    for name, (typecode, length) in zip(ARRAYS, state.pop("arrays"), strict=True):
        state[name] = array(typecode)
        size = length * state[name].itemsize
        state[name].frombytes(body[:size])
        state[name], body = _little(state[name]), body[size:]
    return Catalogue.of(state)


def _little(values: array[Any]) -> array[Any]:
    """The same numbers in the byte order of the file."""
    if sys.byteorder == "big":
        values = array(values.typecode, values)
        values.byteswap()
    return values
