"""Packs: a data set as one tar of images and a JSON index beside it, which moves easily and needs no unpacking.

The index has `classes`, and `files` with their `labels` in the official order. Images are read straight from the tar.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from firstsight.core.errors import BadImages, DataError, ImageError
from firstsight.core.files import new_file, read_json, write_file
from firstsight.core.protocols import Progress
from firstsight.data.ahead import ahead, or_error
from firstsight.data.folder import LabelledImages
from firstsight.data.images import decoded, fitted

QUALITY = 90  # of the WebP images a pack holds


@dataclass(frozen=True)
class PackedImage:
    """An image inside a tar: read when it is asked for."""

    pack: Path
    name: str
    offset: int
    size: int

    def read_bytes(self) -> bytes:
        with self.pack.open("rb") as file:
            file.seek(self.offset)
            return file.read(self.size)

    def __str__(self) -> str:
        return f"{self.pack}:{self.name}"


def read_pack(path: Path | str) -> LabelledImages:
    """The images of PACK.tar in the order of PACK.json."""
    path = Path(path)
    index = _index(path)
    images = _images(path, index["files"])
    return LabelledImages(tuple(index["classes"]), images, tuple(index["labels"]), tuple(index["files"]))


def packed_images(path: Path) -> tuple[PackedImage, ...]:
    """The images of a pack alone."""
    return _images(path, _index(path)["files"])


def write_pack(data: LabelledImages, path: Path, side: int, progress: Progress) -> None:
    """Pack a data set: every image upright, in RGB, its shorter side at most `side`, as WebP.

    All images that cannot be read are reported in one error, and no pack is made.
    """
    files = [f"images/{Path(name).with_suffix('.webp').as_posix().removeprefix('images/')}" for name in data.names]
    if len(set(files)) < len(files):  # two that differ in their suffix only
        files = [f"images/{name.removeprefix('images/')}.webp" for name in data.names]
    bad: list[ImageError] = []
    with new_file(path) as temporary, tarfile.open(temporary, "w") as tar:
        with progress.task("packing", len(files)) as advance:
            packed = ahead(or_error(lambda image: _small(image, side)), data.images, window=32)
            for name, content in zip(files, packed, strict=True):
                advance()
                if isinstance(content, ImageError):
                    bad.append(content)
                elif not bad:
                    member = tarfile.TarInfo(name)
                    member.size = len(content)
                    tar.addfile(member, io.BytesIO(content))
        if bad:
            raise BadImages(bad)
    index = {"classes": list(data.categories), "files": files, "labels": list(data.labels)}
    write_file(path.with_suffix(".json"), json.dumps(index, ensure_ascii=False).encode())


def _small(image: Any, side: int) -> bytes:
    """An image as a pack keeps it."""
    with decoded(image) as picture:
        if min(picture.size) > side:
            picture = picture.resize(fitted(picture.size, side), Image.Resampling.BICUBIC)
    buffer = io.BytesIO()
    picture.save(buffer, "WEBP", quality=QUALITY, method=4)
    return buffer.getvalue()


def _index(path: Path) -> Mapping[str, Any]:
    beside = path.with_suffix(".json")
    if not path.is_file():
        raise DataError(f"{path} does not exist")
    try:
        index = read_json(beside.read_bytes())
        wrong = _wrong(index["classes"], index["files"], index["labels"])
    except FileNotFoundError:
        raise DataError(
            f"{path} has no index: {beside.name} is missing", "a pack is a .tar with a .json beside it"
        ) from None
    except (ValueError, KeyError, TypeError):
        wrong = "it lacks classes, files or labels"
    if wrong:
        raise DataError(
            f"{beside} is no index of a pack: {wrong}",
            "expected the names of classes, the names of files, and for every file the position of its class",
        )
    return dict(index)


def _wrong(classes: Any, files: Any, labels: Any) -> str:
    """What an index says that none can, in words."""
    for what, names in (("class", classes), ("file", files)):
        if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
            return f"the name of every {what} is text, and there is at least one"
        name, times = Counter(names).most_common(1)[0]
        if times > 1:
            return f"{what} {name!r} is there {times} times"
    if not isinstance(labels, list) or len(labels) != len(files):
        return "there is not a label for every file"
    if strange := [label for label in labels if type(label) is not int or not 0 <= label < len(classes)]:
        return f"label {strange[0]!r} is no position among {len(classes)} classes"
    return ""


def _images(path: Path, files: list[str]) -> tuple[PackedImage, ...]:
    members = _members(path)
    if missing := [name for name in files if name not in members]:
        raise DataError(f"{path} lacks {len(missing)} images its index names, such as {missing[0]}", "pack it again")
    return tuple(PackedImage(path, name, *members[name]) for name in files)


def _members(path: Path) -> dict[str, tuple[int, int]]:
    """Where each file lies in the tar: offset and size."""
    try:
        with tarfile.open(path, "r:") as tar:
            return {member.name: (member.offset_data, member.size) for member in tar if member.isfile()}
    except tarfile.TarError as error:
        raise DataError(f"{path} is no plain tar: {error}", "a pack is not compressed; pack it again") from None
