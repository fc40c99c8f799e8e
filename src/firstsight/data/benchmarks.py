"""The benchmarks by name: how each is read, which of its categories are known, and how many images that must give."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from firstsight.core.errors import DataError, SettingsError
from firstsight.data.folder import LabelledImages
from firstsight.data.listed import Listed, known_positions
from firstsight.data.official import (
    read_aircraft,
    read_cars,
    read_cifar,
    read_cub,
    read_food,
    read_inaturalist,
    read_pets,
)
from firstsight.data.pack import read_pack
from firstsight.data.source import is_pack
from firstsight.data.splits import Split, known_share, split, unknown_of


@dataclass(frozen=True)
class Benchmark:
    """A data set of the literature. `known` are label positions; `unknown` the others, the hardest first if graded."""

    name: str
    title: str
    read: Callable[[Path], LabelledImages]
    categories: int
    known: tuple[int, ...]
    unknown: tuple[int, ...]
    images: int | None = None  # of the official training part
    support: int | None = None  # of them, pooled draw at 50 per cent known

    @property
    def sizes(self) -> tuple[int, int] | None:
        """Support and query images as published, where they are."""
        return None if self.images is None or self.support is None else (self.support, self.images - self.support)


def open_data(
    name: str, root: Path, classes: Path | None = None, known: Path | None = None
) -> tuple[Benchmark, LabelledImages]:
    """Any data set by its name, from its download or a pack of it, with lists of its categories where it has none."""
    group = _group(name)
    if name in BENCHMARKS or group in PAPER_GROUPS:
        of = BENCHMARKS[name if name in BENCHMARKS else group.casefold()]
        _refuse_lists(of.title, classes, known)
        return of, read(of, root)
    if group:
        _refuse_lists(f"iNaturalist 2017, {group}", classes, known)
        data = read_pack(root) if is_pack(root) else read_inaturalist(root, group)
        count = len(data.categories)
        return _inaturalist(group, (count + 1) // 2, count, f"inat-{group.casefold()}"), data
    listed = next((each for each in LISTED if name.casefold() in (each.name, each.title.casefold())), None)
    if listed is None:
        forms = [*BENCHMARKS, *(each.name for each in LISTED), f"{INAT}:<SuperCategory>"]
        raise SettingsError(
            f"there is no benchmark {name!r}; allowed: {', '.join(forms)}",
            f"any folder of categories or pack can be read as {FOLDER.name}, a part of iNaturalist 2017 as {INAT}:Aves",
        )
    data = listed.read(root, classes)
    ids = known_positions(data, known, classes or root)
    count = len(data.categories)
    reader = partial(listed.read, classes=classes)
    name, title = (_named_by(root), root.resolve().name) if listed is FOLDER else (listed.name, listed.title)
    return Benchmark(name, title, reader, count, tuple(ids), tuple(unknown_of(ids, count))), data


def benchmark(name: str) -> Benchmark:
    """A benchmark by its name."""
    if name not in BENCHMARKS:
        raise SettingsError(f"there is no benchmark {name!r}; allowed: {', '.join(BENCHMARKS)}", "or give a folder")
    return BENCHMARKS[name]


def read(of: Benchmark, root: Path) -> LabelledImages:
    """A benchmark from its official download, or from a pack of it."""
    data = read_pack(root) if is_pack(root) else of.read(root)
    if len(data.categories) != of.categories or (of.images is not None and len(data.images) != of.images):
        expected = f"{of.images:,} images of " if of.images else ""
        raise DataError(
            f"{root} has {len(data.images):,} images of {len(data.categories)} categories; "
            f"{of.title} has {expected}{of.categories}",
            "unpack the whole archive again; only its training part is read",
        )
    return data


def split_of(of: Benchmark, data: LabelledImages, share: int = 50, stratified: bool = False, seed: int = 0) -> Split:
    """Who teaches and who arrives, with the sizes the literature reports checked where there are any."""
    made = split(of.name, data, known_share(of.known, of.unknown, share), seed, stratified)
    sizes = len(made.support), len(made.query)
    if share == 50 and not stratified and of.sizes is not None and sizes != of.sizes:
        raise DataError(
            f"{of.title}: {sizes[0]:,} support and {sizes[1]:,} query images came out, "
            f"not {of.sizes[0]:,} and {of.sizes[1]:,}",
            "the labels are not those of the official download; get it again, and report this if that does not help",
        )
    return made


def _named_by(root: Path) -> str:
    """What a folder's or a pack's results go by: its name in small letters, and no name that another data set has."""
    plain = re.sub(r"[^\w-]+", "-", root.resolve().name.removesuffix(".tar").casefold()).strip("-")
    taken = {*BENCHMARKS, *(each.name for each in LISTED)}
    return f"{FOLDER.name}-{plain}" if not plain or plain in taken or plain.startswith(INAT) else plain


def _group(name: str) -> str:
    """The super-category in a name such as inat:Aves, as iNaturalist writes it; nothing in any other name."""
    form, _, group = name.partition(":")
    return group.capitalize() if form.casefold() == INAT and group.isalpha() else ""


def _refuse_lists(title: str, classes: Path | None, known: Path | None) -> None:
    if given := classes or known:
        raise SettingsError(
            f"{title} has its own list of categories and known ones; {given} cannot change it",
            f"leave the file out, or read the folder of categories, or a pack, as {FOLDER.name}",
        )


@cache
def _shift() -> dict[str, Any]:
    """The Semantic Shift Benchmark's categories, as published: known, and unknown by difficulty."""
    content: dict[str, Any] = json.loads(files("firstsight.data").joinpath("ssb.json").read_text(encoding="utf-8"))
    return content


def _ssb(name: str, title: str, read: Callable[[Path], LabelledImages], images: int, support: int | None) -> Benchmark:
    lists = _shift()[name]
    unknown = [i for level in ("Hard", "Medium", "Easy") for i in lists["unknown_classes"][level]]
    known = lists["known_classes"]
    return Benchmark(name, title, read, len(known) + len(unknown), tuple(known), tuple(unknown), images, support)


def _range(
    name: str, title: str, read: Callable[[Path], LabelledImages], known: int, categories: int, *sizes: int
) -> Benchmark:
    """The first categories are known, as the paper's class ranges have it."""
    images, support = (*sizes, None, None)[:2]
    return Benchmark(
        name, title, read, categories, tuple(range(known)), tuple(range(known, categories)), images, support
    )


def _inaturalist(group: str, known: int, categories: int, name: str | None = None) -> Benchmark:
    reader = partial(read_inaturalist, group=group)
    return _range(name or group.casefold(), f"iNaturalist 2017, {group}", reader, known, categories)


INAT = "inat"
PAPER_GROUPS = {"Fungi": (61, 121), "Arachnida": (28, 56), "Animalia": (39, 77), "Mollusca": (47, 93)}
FOLDER = Listed("folder", "Folder")
LISTED = (
    Listed(
        "imagenet100",
        "ImageNet-100",
        ("ILSVRC/Data/CLS-LOC/train", "train"),
        100,
        "a WordNet id such as n01440764",
    ),
    Listed("herbarium19", "Herbarium 19", ("small-train",), 683, "a number such as 42"),
    FOLDER,
)


def _all() -> Sequence[Benchmark]:
    return (
        _ssb("cub", "CUB-200-2011", read_cub, 5_994, 1_498),
        _ssb("scars", "Stanford Cars", read_cars, 8_144, 2_000),
        _ssb("aircraft", "FGVC-Aircraft", read_aircraft, 6_667, None),
        _range("pets", "Oxford-IIIT Pet", read_pets, 19, 37, 3_680, 942),
        _range("food101", "Food-101", read_food, 51, 101, 75_750, 19_125),
        *(_inaturalist(group, *counts) for group, counts in PAPER_GROUPS.items()),
        _range("cifar10", "CIFAR-10", partial(read_cifar, categories=10), 5, 10, 50_000, 12_500),
        _range("cifar100", "CIFAR-100", partial(read_cifar, categories=100), 80, 100, 50_000, 20_000),
    )


BENCHMARKS = {each.name: each for each in _all()}
