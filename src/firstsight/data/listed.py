"""Data sets whose categories a user lists in a file, one per line: a folder per category or a pack, in that order.

Which categories ImageNet-100 has differs between papers, and Herbarium 19's known ones are published as a pickle only,
which could run anything: neither list is ours to ship.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from firstsight.core.errors import DataError, SettingsError
from firstsight.data.folder import LabelledImages, read_folder, walk
from firstsight.data.pack import read_pack
from firstsight.data.source import is_pack


@dataclass(frozen=True)
class Listed:
    """A data set by list: the folders of its download that may hold the categories, and what a list must hold."""

    name: str
    title: str
    inside: tuple[str, ...] = ("train",)
    most: int | None = None  # categories; None: any number, and a list is not needed
    category: str = ""  # how a line of the list looks

    def read(self, root: Path, classes: Path | None) -> LabelledImages:
        """The listed categories in the order of the list; without one, all there are, as a pack or folder has them."""
        wanted = lines(classes) if classes is not None else None
        if is_pack(root):
            data = _from_pack(root, wanted, classes)
        elif wanted is not None:
            data = self._from_folders(root, wanted, classes)
        elif self.most is not None:
            raise SettingsError(f"{self.title} needs a list of its categories", self._what_to_list())
        else:
            data = read_folder(root)
        if self.most is not None and len(data.categories) > self.most:
            raise DataError(
                f"{classes or root} has {len(data.categories)} categories; {self.title} has {self.most}",
                self._what_to_list(),
            )
        return data

    def _from_folders(self, root: Path, wanted: Sequence[str], classes: Path | None) -> LabelledImages:
        """Only the folders that are listed are walked: ImageNet has ten times as many."""
        places = [root, *(root / part for part in self.inside)]
        there = {place: {each.name for each in place.iterdir() if each.is_dir()} for place in places if place.is_dir()}
        folder = next((place for place, names in there.items() if not names.isdisjoint(wanted)), None)
        if folder is None:
            where = f"has none of the {len(wanted)} categories" if root.is_dir() else "is no folder with the categories"
            raise DataError(
                f"{root} {where} that {classes} lists, such as {wanted[0]}",
                f"expected {' or '.join(f'{place}/{wanted[0]}' for place in places)}",
            )
        paths = [list(walk(folder / name)) if name in there[folder] else [] for name in wanted]
        _check_complete(folder, [name for name, found in zip(wanted, paths, strict=True) if not found], wanted, classes)
        every = tuple(path for found in paths for path in found)
        labels = tuple(label for label, found in enumerate(paths) for _ in found)
        return LabelledImages(tuple(wanted), every, labels, tuple(p.relative_to(folder).as_posix() for p in every))

    def _what_to_list(self) -> str:
        return (
            f"give --classes FILE, a text file with one category per line, {self.most} in all, the known half first: "
            f"{self.category}, the name of a folder under {' or '.join(self.inside)}; a pack made with it needs none"
        )


def known_positions(data: LabelledImages, known: Path | None, source: Path) -> list[int]:
    """The categories a file lists as known, in its order; without one the first half, rounded up as in the paper."""
    if known is None:
        return list(range((len(data.categories) + 1) // 2))
    position = {name: i for i, name in enumerate(data.categories)}
    listed = lines(known)
    if strange := [name for name in listed if name not in position]:
        raise DataError(
            f"{known} lists {strange[0]!r} as known, which is no category of {source}",
            f"it has {len(position)}, such as {data.categories[0]!r}; one per line",
        )
    return [position[name] for name in listed]


def lines(path: Path) -> list[str]:
    """The categories in a file, one per line; empty lines are nothing."""
    if not path.is_file():
        raise DataError(f"{path} is no file", "expected a text file with one category per line")
    try:
        text = path.read_text(encoding="utf-8-sig")  # editors on Windows put a mark in front
    except UnicodeDecodeError:
        raise DataError(f"{path} is no text in UTF-8", "expected one category per line") from None
    listed = [line.strip() for line in text.splitlines() if line.strip()]
    if not listed:
        raise DataError(f"{path} lists no category", "expected one per line")
    name, times = Counter(listed).most_common(1)[0]
    if times > 1:
        raise DataError(f"{path} lists {name!r} {times} times", "each category has one line")
    return listed


def _from_pack(path: Path, wanted: Sequence[str] | None, classes: Path | None) -> LabelledImages:
    data = read_pack(path)
    if wanted is None:
        return data
    labels = {name: i for i, (name, count) in enumerate(zip(data.categories, data.counts(), strict=True)) if count}
    _check_complete(path, [name for name in wanted if name not in labels], wanted, classes)
    kept = [labels[name] for name in wanted]
    position = {label: i for i, label in enumerate(kept)}
    taken = [i for i, label in enumerate(data.labels) if label in position]
    return data.select(sorted(taken, key=lambda i: position[data.labels[i]]), kept)


def _check_complete(source: Path, missing: Sequence[str], wanted: Sequence[str], classes: Path | None) -> None:
    if missing:
        raise DataError(
            f"{source} has no images of {len(missing)} of the {len(wanted)} categories that {classes} lists, "
            f"such as {missing[0]}",
            "unpack the whole archive again, or correct the list",
        )
