"""A folder per category: the input format. Read recursively, in name order.

Finds files and says what is wrong with the layout; decoding is images.py's business.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from firstsight.core.errors import DataError
from firstsight.data.images import FORMATS, HEIF_EXTRA, SUFFIXES, ImageLike, readable


@dataclass(frozen=True)
class LabelledImages:
    """Images with the category each belongs to, as a position among the categories, and a name that stays."""

    categories: tuple[str, ...]
    images: tuple[ImageLike, ...]
    labels: tuple[int, ...]
    names: tuple[str, ...]
    left_out: tuple[str, ...] = ()  # what lay there and was not taken, in words

    def counts(self) -> list[int]:
        """How many images each category has."""
        counts = [0] * len(self.categories)
        for label in self.labels:
            counts[label] += 1
        return counts

    def select(self, indices: Iterable[int], categories: Sequence[int] | None = None) -> LabelledImages:
        """Some of the images, in this order; with `categories`, those are all there are, in that order."""
        taken, kept = list(indices), range(len(self.categories)) if categories is None else categories
        position = {label: i for i, label in enumerate(kept)}
        return LabelledImages(
            categories=tuple(self.categories[label] for label in kept),
            images=tuple(self.images[i] for i in taken),
            labels=tuple(position[self.labels[i]] for i in taken),
            names=tuple(self.names[i] for i in taken),
        )


def read_folder(folder: Path | str) -> LabelledImages:
    """The images below FOLDER/<category>/, however deep, in name order."""
    folder = Path(folder)
    _check_is_folder(folder)
    categories: list[str] = []
    paths: list[Path] = []
    labels: list[int] = []
    left_out: list[str] = []
    suffixes = readable()
    for entry in _listing(folder):
        if entry.name.startswith("."):
            continue
        if not entry.is_dir():
            if entry.suffix.lower() in SUFFIXES:
                left_out.append(f"{entry.name} lies beside the category folders and was left out")
            continue
        images = list(walk(entry, suffixes))
        others = sorted({path.suffix or "none" for path in entry.rglob("*") if _is_stray(path, suffixes)})
        if others or not images:
            why = f"files with suffix {', '.join(others)} were left out" if others else "holds no images"
            why += f"; for HEIC, {HEIF_EXTRA}" if {*map(str.lower, others)} & {*FORMATS["HEIF"]} else ""
            left_out.append(f"category {entry.name!r}: {why}")
        if images:
            labels += [len(categories)] * len(images)
            categories.append(entry.name)
            paths += images
    if not categories:
        loose = sum(1 for _ in walk(folder))
        raise DataError(
            f"{folder} has no folder with images in it" + (f", only {loose} loose images" if loose else ""),
            f"expected one folder per category: {folder}/<category>/<image>",
        )
    names = tuple(path.relative_to(folder).as_posix() for path in paths)
    return LabelledImages(tuple(categories), tuple(paths), tuple(labels), names, tuple(left_out))


def check_support(support: LabelledImages, folder: Path | str) -> list[str]:
    """Refuse what cannot be learnt from; return warnings about what can, badly."""
    if len(support.categories) < 2:
        raise DataError(
            f"{folder} has a single category, {support.categories[0]!r}; at least 2 are needed to learn a difference",
            "add another folder of labelled images",
        )
    return [
        *support.left_out,
        *(
            f"category {name!r} has 1 image: its place will be a guess"
            for name, count in zip(support.categories, support.counts(), strict=True)
            if count == 1
        ),
    ]


def walk(folder: Path, suffixes: Container[str] = SUFFIXES) -> Iterator[Path]:
    """The image files below a folder, in name order, hidden ones left out; those that are called so.

    A folder that cannot be listed stands for itself: whoever decodes it reports it and can go on. Linked folders
    are not entered: a link to a parent would have no end.
    """
    try:
        entries = _listing(folder)
    except OSError:
        yield folder
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir() and not entry.is_symlink():
            yield from walk(entry, suffixes)
        elif entry.suffix.lower() in suffixes:
            yield entry


def _is_stray(path: Path, suffixes: Container[str]) -> bool:
    return path.suffix.lower() not in suffixes and not path.name.startswith(".") and path.is_file()


def _listing(folder: Path) -> list[Path]:
    return sorted((Path(entry.path) for entry in os.scandir(folder)), key=lambda path: path.name)


def _check_is_folder(folder: Path) -> None:
    if not folder.exists():
        raise DataError(f"{folder} does not exist")
    if not folder.is_dir():
        raise DataError(f"{folder} is a file; expected a folder with one folder per category")
    if not os.access(folder, os.R_OK | os.X_OK):
        raise DataError(f"{folder} cannot be read: permission denied")
