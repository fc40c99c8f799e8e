"""Which images teach and which arrive later.

A split names every image, so that anyone can have the very same one. Names leave out the suffix and a leading images/,
so that a pack and the official download have the same split.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from firstsight.core.errors import DataError, SettingsError
from firstsight.core.files import read_json, write_file
from firstsight.data.folder import LabelledImages

SHARES = (25, 50, 75)  # per cent of the categories that are known


@dataclass(frozen=True)
class Split:
    """Known categories, support images and the query stream, by name; the stream in its fixed order."""

    data: str
    known: tuple[str, ...]
    support: tuple[str, ...]
    query: tuple[str, ...]

    def apply(self, data: LabelledImages) -> tuple[LabelledImages, LabelledImages]:
        """The support set, with the known categories only, and the query stream."""
        position = {name: i for i, name in enumerate(_distinct(data.names))}
        missing = [name for name in (*self.support, *self.query) if name not in position]
        if missing:
            raise DataError(
                f"the split of {self.data} names {len(missing)} images that are not there, such as {missing[0]}",
                "read the data set the split was made for, whole",
            )
        labels = {name: i for i, name in enumerate(data.categories)}
        if strange := [name for name in self.known if name not in labels]:
            raise DataError(
                f"the split of {self.data} knows {len(strange)} categories that are not there, such as {strange[0]!r}",
                "read the data set the split was made for, whole",
            )
        known = {labels[name] for name in self.known}
        if of_new := [name for name in self.support if data.labels[position[name]] not in known]:
            raise DataError(
                f"the split of {self.data} teaches {of_new[0]}, whose category is not among the known ones",
                "every support image is of a known category",
            )
        support, query = ([position[name] for name in part] for part in (self.support, self.query))
        return data.select(support, [labels[name] for name in self.known]), data.select(query)

    def save(self, path: Path) -> None:
        write_file(path, (json.dumps(asdict(self), indent=0, ensure_ascii=False) + "\n").encode())

    @classmethod
    def load(cls, path: Path | str) -> Split:
        """A split from a file."""
        try:
            return cls._of(Path(path).read_text(encoding="utf-8"), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}") from None

    @classmethod
    def shipped(cls, name: str) -> Split:
        """The split of a benchmark as it ships with Firstsight: cub or pets."""
        return cls._of(files("firstsight.data").joinpath(f"{name}.split.json").read_text(encoding="utf-8"), name)

    @classmethod
    def _of(cls, text: str, where: str) -> Split:
        try:
            values = read_json(text)
            data, *parts = (values[part] for part in ("data", "known", "support", "query"))
            sound = isinstance(data, str) and all(isinstance(part, list) for part in parts)
        except (ValueError, KeyError, TypeError):
            sound = False
        if not sound or not all(isinstance(name, str) for part in parts for name in part):
            raise DataError(f"{where} is no split", "expected data, and lists of names: known, support and query")
        known, support, query = parts
        for names in (known, support + query):
            name, times = Counter(names).most_common(1)[0] if names else ("", 0)
            if times > 1:
                raise DataError(f"{where} names {name!r} {times} times", "each category and each image is named once")
        return cls(data, *map(tuple, parts))


def split(name: str, data: LabelledImages, known: Sequence[int], seed: int = 0, stratified: bool = False) -> Split:
    """Half of the images of known categories teach; the other half and all others arrive, in the data set's order."""
    labels = np.asarray(data.labels)
    of_known = np.flatnonzero(np.isin(labels, known))
    teaches = np.zeros(len(labels), dtype=bool)
    teaches[of_known[draw_support(labels[of_known], seed=seed, stratified=stratified)]] = True
    names = _distinct(data.names)
    return Split(
        data=name,
        known=tuple(data.categories[i] for i in known),
        support=tuple(names[i] for i in np.flatnonzero(teaches)),
        query=tuple(names[i] for i in np.flatnonzero(~teaches)),
    )


def known_share(known: Sequence[int], unknown: Sequence[int], share: int) -> list[int]:
    """The categories known when that share of all is: the benchmark's own at 50 per cent.

    25: the first half of those; 75: those and the first half of the others. Ours: the paper names no categories.
    """
    if share not in SHARES:
        raise SettingsError(f"the share of known categories is {share}; allowed: {', '.join(map(str, SHARES))}")
    more = unknown[: len(unknown) // 2] if share == 75 else ()
    return [*(known[: len(known) // 2] if share == 25 else known), *more]


def held_out(data: LabelledImages, fold: int, folds: int = 3) -> tuple[LabelledImages, LabelledImages]:
    """A support set and a query stream made of a support set alone: settings are chosen here, not on the real stream.

    Every third category plays a new one; two thirds of the other categories' images teach, the rest arrives.
    """
    labels = np.asarray(data.labels)
    categories = np.arange(len(data.categories))
    known = categories[categories % folds != fold]
    of_known = np.flatnonzero(np.isin(labels, known))
    teaches = np.zeros(len(labels), dtype=bool)
    teaches[of_known[draw_support(labels[of_known], share=2 / 3, seed=fold, stratified=True)]] = True
    return data.select(np.flatnonzero(teaches), known.tolist()), data.select(np.flatnonzero(~teaches))


def draw_support(
    labels: Sequence[int] | NDArray[np.int64], share: float = 0.5, seed: int = 0, stratified: bool = False
) -> NDArray[np.bool_]:
    """Mark the images that become support: `share` of them, without replacement.

    Pooled over all categories as the released code draws it (NumPy's legacy generator, seed 0), so that a category
    may get more or fewer; `stratified` takes the share of each category (deviation 18).
    """
    labels = np.asarray(labels)
    generator = np.random.RandomState(seed)
    support = np.zeros(len(labels), dtype=bool)
    pools = [np.flatnonzero(labels == label) for label in np.unique(labels)] if stratified else [np.arange(len(labels))]
    for pool in pools:
        size = max(int(share * len(pool)), stratified)  # of each category at least one
        support[generator.choice(pool, size=size, replace=False)] = True
    return support


def canonical(name: str) -> str:
    """What an image is called whether it lies in the official download or in a pack."""
    return PurePosixPath(name.removeprefix("images/")).with_suffix("").as_posix()


def _distinct(names: Sequence[str]) -> list[str]:
    """Canonical names; where suffixes alone tell images apart they stay, as a pack of such images has it."""
    short = [canonical(name) for name in names]
    return short if len(set(short)) == len(short) else [name.removeprefix("images/") for name in names]


def unknown_of(known: Iterable[int], count: int) -> list[int]:
    """All other categories, in order."""
    return sorted(set(range(count)) - set(known))
