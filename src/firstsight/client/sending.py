"""Images and features on their way to a service: as files, whatever they are here, a few at a time."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

import numpy as np

from firstsight.core.errors import ImageError, SettingsError
from firstsight.data.features import is_feature
from firstsight.data.images import Stored, decode, describe, read

GROUP = 32  # images of a request,
BYTES = 32_000_000  # or so many bytes


@dataclass(frozen=True)
class Sending:
    """One image or feature, ready to be sent."""

    kind: Literal["image", "feature"]
    name: str
    content: Any  # bytes, or an array


def ready(given: Any, name: str | None = None) -> Sending | ImageError:
    """What is to be sent of an image; its error where it cannot be read."""
    if is_feature(given):
        return Sending("feature", f"feature {len(given)}", np.asarray(given, dtype=np.float32))
    try:
        if isinstance(given, str | Path):
            called = Path(given).name.encode("utf-8", "replace").decode()  # a file's name may be any bytes
            return Sending("image", name or called, read(given)[0])
        if isinstance(given, bytes | bytearray):
            return Sending("image", name or "image", bytes(given))
        if isinstance(given, Stored):
            return Sending("image", name or Path(str(given)).name, given.read_bytes())
        buffer = io.BytesIO()
        decode(given).save(buffer, "PNG", compress_level=1)
        return Sending("image", name or describe(given), buffer.getvalue())
    except ImageError as error:
        return error


def requests(every: Iterable[Any]) -> Iterator[list[Sending | ImageError]]:
    """Images as they go together: all images or all features of one width, not too many, errors in their places."""
    group: list[Sending | ImageError] = []
    size = 0
    for each in (ready(given) for given in every):
        more = 0 if isinstance(each, ImageError) else len(each.content)
        if group and (len(group) >= GROUP or size + more > BYTES or not _alike(group, each)):
            yield group
            group, size = [], 0
        group.append(each)
        size += more
    if group:
        yield group


def several(images: Any, errors: str) -> Iterable[Any]:
    """Images as given; refused at once where they are one, or errors are dealt with so."""
    if errors not in ("raise", "yield"):
        raise SettingsError(f"errors is {errors!r}; allowed: raise, yield")
    if isinstance(images, str | bytes | os.PathLike):
        raise SettingsError("images are one, not a list", "give a list, or use predict_one or discover_one")
    found: Iterable[Any] = images
    return found


def files(group: Sequence[Sending]) -> dict[str, Any]:
    """The body of a request, as httpx takes it."""
    if group[0].kind == "image":
        kind = "application/octet-stream"
        return {"files": [("images", (each.name, each.content, kind)) for each in group]}
    file = io.BytesIO()
    np.save(file, np.stack([each.content for each in group]))
    return {"content": file.getvalue(), "headers": {"Content-Type": "application/octet-stream"}}


def _alike(group: Sequence[Sending | ImageError], each: Sending | ImageError) -> bool:
    kinds = {_kind(one) for one in (*group, each) if isinstance(one, Sending)}
    return len(list(groupby(sorted(kinds)))) <= 1


def _kind(one: Sending) -> tuple[str, int]:
    return one.kind, len(one.content) if one.kind == "feature" else 0
