"""A folder of features: parts of so many images each, as Parquet, and a page that says what they are of.

A part is written whole or not at all, and says of every image its name, the digest of its content, its feature or what
was wrong with it. Which images are in a part hangs on the list of images alone, whoever makes it.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from firstsight.core.errors import Conflict, DataError, ImageError, SettingsError
from firstsight.core.files import read_json, write_file
from firstsight.data.features import Feature

FORMAT = 1
ABOUT = "encoding.json"


@dataclass(frozen=True)
class About:
    """What a folder of features is of: enough to go on with it, and to refuse to go on with something else."""

    encoder: str  # the fingerprint of what made them
    preprocess: int
    exact: bool
    images: int
    listed: str  # the digest of the list of images
    part: int  # images in each part
    format: int = FORMAT

    @property
    def parts(self) -> int:
        return -(-self.images // self.part)


@dataclass(frozen=True)
class Encoded:
    """One image of a part: a feature, or what was wrong."""

    image: str
    digest: bytes
    feature: np.ndarray[Any, Any] | None
    problem: str | None = None


def digest_of(names: Sequence[str]) -> str:
    """What tells one list of images from another."""
    seal = hashlib.sha256()
    for name in names:
        seal.update(name.encode(errors="surrogateescape") + b"\n")
    return seal.hexdigest()


def begin(folder: Path, about: About) -> list[int]:
    """Make the folder, or go on with it; the parts that are missing. Conflict where it is of something else."""
    page = folder / ABOUT
    if page.exists():
        before = read_about(folder)
        if before != about:
            raise Conflict(
                f"{folder} is of {_difference(before, about)}", "name a new folder, or encode the same again"
            )
    else:
        if folder.exists() and any(folder.iterdir()):
            raise Conflict(f"{folder} holds something else", "name a new folder")
        folder.mkdir(parents=True, exist_ok=True)
        write_file(page, json.dumps(asdict(about), indent=2).encode())
    return [number for number in range(about.parts) if not part_of(folder, number).exists()]


def read_about(folder: Path) -> About:
    """What a folder says it is; DataError where it is no folder of features."""
    try:
        return About(**read_json((folder / ABOUT).read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise DataError(f"{folder} is no folder of features: {error}", "make one with: firstsight encode") from None


def is_encoded(folder: Path) -> bool:
    """Whether a folder is one of features, as far as a look tells."""
    return (folder / ABOUT).is_file()


def part_of(folder: Path, number: int) -> Path:
    return folder / f"part-{number:05d}.parquet"


def write_part(path: Path, encoded: Sequence[Encoded], about: About) -> None:
    """Write a part, whole or not at all."""
    arrow, parquet = _arrow()
    columns = {
        "image": arrow.array([each.image for each in encoded], arrow.string()),
        "digest": arrow.array([each.digest or None for each in encoded], arrow.binary()),
        "feature": arrow.array([each.feature for each in encoded], arrow.list_(arrow.float32())),
        "problem": arrow.array([each.problem for each in encoded], arrow.string()),
    }
    table = arrow.table(columns).replace_schema_metadata({"firstsight": json.dumps(asdict(about))})
    buffer = io.BytesIO()
    parquet.write_table(table, buffer, compression="none")  # features do not compress, and the same bits come out
    write_file(path, buffer.getvalue())


def read_part(path: Path) -> list[Encoded]:
    """The images of a part, in order; DataError where it is none."""
    arrow, parquet = _arrow()
    try:
        columns = parquet.read_table(path).to_pydict()
        return [
            Encoded(image, digest or b"", None if feature is None else np.asarray(feature, dtype=np.float32), problem)
            for image, digest, feature, problem in zip(
                *(columns[name] for name in ("image", "digest", "feature", "problem")), strict=True
            )
        ]
    except (OSError, KeyError, ValueError, arrow.ArrowException) as error:
        raise DataError(f"{path} is no part of a folder of features: {error}", "remove it and encode again") from None


def features_in(folder: Path) -> Iterator[Feature | ImageError]:
    """Everything that was encoded, in order, to be answered; DataError where a part is missing."""
    about = read_about(folder)
    for number in range(about.parts):
        if not (path := part_of(folder, number)).exists():
            raise DataError(f"{path} is missing", "run the same firstsight encode again: it goes on where it was")
        for each in read_part(path):
            if each.feature is None:
                yield ImageError(each.image, each.problem or "was not encoded")
            else:
                yield Feature(each.feature, each.digest, each.image)


def _difference(before: About, about: About) -> str:
    """What a folder is of, in words, where that is not what it should be."""
    said = {"encoder": "another model", "part": "parts of another size", "exact": "another precision"}
    one, other = asdict(before), asdict(about)
    return next(said.get(name, "other images") for name in one if one[name] != other[name])


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise SettingsError("Parquet needs pyarrow, which is missing", "pip install 'firstsight[scale]'") from None
    return pyarrow, pyarrow.parquet
