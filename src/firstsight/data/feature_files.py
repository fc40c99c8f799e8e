"""Files of features that people have already: .npz and .npy of NumPy, .parquet and .csv tables.

Whoever brings a file is not trusted: nothing in it is run, what it says of its size is checked before that is read,
and what is wrong is said with its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firstsight.core.errors import DataError
from firstsight.data.features import Feature, read_feature

SUFFIXES = (".npz", ".npy", ".parquet", ".csv")


@dataclass(frozen=True)
class FeatureFile:
    """What a file holds: features (N, D), what each is called, and its category where the file says that."""

    path: Path
    features: NDArray[np.float32]
    names: tuple[str, ...]
    found: Found

    def __iter__(self) -> Iterator[Feature]:
        """Features to be answered, by their names."""
        for values, name in zip(self.features, self.names, strict=True):
            yield read_feature(values)._replace(name=name)

    @property
    def truth(self) -> tuple[str, ...]:
        """Which category each is of; DataError where the file does not say that, which only a stream need not."""
        labels, where = self.found.labels, self.found.where
        if labels is None:
            missing = "an array labels" if self.path.suffix.lower() in (".npz", ".npy") else "a column label"
            raise DataError(
                f"{self.path} does not say which category a feature is of",
                f"add {missing}, or name the one that does with --label",
            )
        return tuple(_text(self.path, where(i), "label", label) for i, label in enumerate(labels))


def is_feature_file(path: Path) -> bool:
    """Whether a path is a file of features, by its name."""
    return path.suffix.lower() in SUFFIXES and not path.is_dir()


def read_features(path: Path | str, label: str | None = None) -> FeatureFile:
    """The features of a file; DataError where it cannot be used.

    `docs/embeddings.md` says which arrays and columns are taken for what. `label` names the one of categories instead.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if not path.is_file():
        raise DataError(f"{path} does not exist", "name a file of features that is there")
    if suffix in (".npz", ".npy"):
        from firstsight.data.feature_arrays import read_arrays

        read: Callable[[Path, str | None], Found] = read_arrays
    elif suffix == ".parquet":
        from firstsight.data.feature_parquet import read_parquet

        read = read_parquet
    else:
        from firstsight.data.feature_csv import read_csv

        read = read_csv
    try:
        return checked(path, read(path, label))
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None


@dataclass(frozen=True)
class Found:
    """What a file says, before it is believed. `where` words the place of a feature, for errors."""

    features: NDArray[Any]
    names: Sequence[Any] | None = None
    labels: Sequence[Any] | None = None
    where: Callable[[int], str] = "feature {}".format


def checked(path: Path, found: Found) -> FeatureFile:
    """What was found, in the form everybody takes; DataError where that is not to be had."""
    features = _numbers(path, found)
    for what, given in (("names", found.names), ("labels", found.labels)):
        if given is not None and len(given) != len(features):
            raise DataError(
                f"{path} holds {len(features)} features and {len(given)} {what}", "give one for each feature"
            )
    names = [f"{path.name}:{i + 1}" for i in range(len(features))]
    if found.names is not None:
        names = [_text(path, found.where(i), "name", name) for i, name in enumerate(found.names)]
    seen: dict[str, int] = {}
    for i, name in enumerate(names):
        if (first := seen.setdefault(name, i)) != i:
            raise DataError(
                f"{path}: {found.where(first)} and {found.where(i)} are both called {name!r}",
                "give every one its own name",
            )
    return FeatureFile(path, features, tuple(names), found)


def _numbers(path: Path, found: Found) -> NDArray[np.float32]:
    given = found.features
    if given.dtype.kind not in "biuf":
        raise DataError(f"{path}: features are of type {given.dtype}", "give numbers, as float32")
    if given.ndim != 2 or not given.shape[1]:
        raise DataError(f"{path}: features have shape {given.shape}", "give one feature per line, (N, D)")
    if not len(given):
        raise DataError(f"{path} holds no features", "give it one at least")
    with np.errstate(over="ignore"):  # which is found below
        features = np.ascontiguousarray(given, dtype=np.float32)
    if not (good := np.isfinite(features)).all():
        i, j = np.argwhere(~good)[0].tolist()
        raise DataError(
            f"{path}: {found.where(i)} holds {given[i, j]} as value {j + 1}, which is no finite number of float32",
            "leave it out, or make the feature again",
        )
    return features


def _text(path: Path, where: str, what: str, given: Any) -> str:
    """A name or a label as text, whole numbers without a point."""
    if isinstance(given, bytes):
        given = given.decode("utf-8", "replace")
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    text = "" if given is None or given != given else str(given).strip()
    if not text or not text.isprintable() or len(text) > LONGEST:
        said = "has no" if not text else f"has {text[:40]!r} as its"
        raise DataError(f"{path}: {where} {said} {what}", f"give text that can be shown, {LONGEST} characters at most")
    return text


LONGEST = 1000  # characters of a name


def refuse_bomb(path: Path, unpacked: int) -> None:
    """DataError where a small file says that it unpacks to very much."""
    size = path.stat().st_size
    if unpacked > ALLOWED + EXPANDS * size:
        raise DataError(
            f"{path} has {size:,} bytes and says it unpacks to {unpacked:,}", "save it again without compression"
        )


ALLOWED = 1 << 28  # bytes, whatever the size of the file
EXPANDS = 64  # times its size: features hardly compress
