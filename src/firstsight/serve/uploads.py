"""What clients send, as images and features: limited in size and number, told by content, and never by a name."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firstsight.core.errors import BadRequest
from firstsight.store.pictures import UPLOAD

LONGEST = 255  # characters of a name
WIDEST = 65_536  # values of a feature


@dataclass(frozen=True)
class Upload:
    """An image as it came. Its name is for people: no file is ever called so."""

    name: str
    content: bytes

    def read_bytes(self) -> bytes:
        return self.content

    def __str__(self) -> str:
        return f"{UPLOAD}{self.name}"


def plain(name: str | None) -> str:
    """A name that can be shown: one line, no controls, not too long.

    >>> plain("../moth\\x1b[31m.jpg"), plain(None)
    ('../moth[31m.jpg', 'image')
    """
    shown = "".join(c for c in name or "" if unicodedata.category(c)[0] != "C").strip()
    return shown[:LONGEST] or "image"


def features_of(values: Sequence[Sequence[float]]) -> list[NDArray[np.float32]]:
    """Features from JSON; each may be wrong by itself, which is said in its place."""
    return [np.asarray(each, dtype=np.float32) for each in values]


def features_from(content: bytes) -> list[NDArray[np.float32]]:
    """Features from the file of an array (.npy): one line each; nothing in it is run."""
    try:
        found = np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError, OSError, SyntaxError, MemoryError, OverflowError, TypeError, KeyError) as error:
        raise BadRequest(f"the body is no array: {error}", "send what numpy.save writes") from None
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "fiu":
        raise BadRequest("the body is no array of numbers", "send what numpy.save writes of float32 values")
    if found.ndim not in (1, 2) or found.shape[-1] > WIDEST:
        raise BadRequest(f"the array has the shape {found.shape}", "send one feature per line")
    with np.errstate(over="ignore"):
        return list(np.atleast_2d(found).astype(np.float32))
