"""What clients send, as images and features: limited in size and number, told by content, and never by a name."""

from __future__ import annotations

import io
import math
import unicodedata
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from firstsight.core.errors import BadRequest
from firstsight.serve.schemas import FeaturesIn
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


def features_of(content: bytes) -> list[NDArray[np.float32]]:
    """Features from JSON; each may be wrong by itself, which is said in its place."""
    try:
        found = FeaturesIn.model_validate_json(content)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, wrong["loc"])) or "the body"
        raise BadRequest(f"{where}: {wrong['msg']}", 'send {"features": [[0.1, 0.2], [0.3, 0.4]]}') from None
    with np.errstate(over="ignore"):  # which is found when it is read
        return [np.asarray(each, dtype=np.float32) for each in found.features]


def features_from(content: bytes) -> list[NDArray[np.float32]]:
    """Features from the file of an array (.npy): one line each; nothing in it is run."""
    try:
        found = _array(io.BytesIO(content), len(content))
    except Exception as error:  # readers of files raise whatever they come upon
        raise BadRequest(f"the body is no array: {error}"[:500], "send what numpy.save writes of float32") from None
    if found.ndim not in (1, 2) or not 0 < found.shape[-1] <= WIDEST:
        raise BadRequest(f"the array has the shape {found.shape}", "send one feature per line")
    with np.errstate(over="ignore"):
        return list(np.atleast_2d(found).astype(np.float32))


def _array(file: io.BytesIO, size: int) -> NDArray[Any]:
    """An array of numbers; ValueError where it says to be larger than it is, before memory is taken for it."""
    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
    shape, _, dtype = read(file)
    if dtype.kind not in "fiu":
        raise ValueError(f"it holds {dtype}, not numbers")
    if any(side < 0 for side in shape) or math.prod(shape) * dtype.itemsize != size - file.tell():
        raise ValueError(f"it is not of the shape {shape} that it says")
    file.seek(0)
    found: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return found
