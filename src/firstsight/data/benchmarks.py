"""The benchmarks by name: how each is read, which of its categories are known, and how many images that must give."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from firstsight.data.folder import LabelledImages, read_folder
from firstsight.data.official import (
    read_aircraft,
    read_cars,
    read_cifar,
    read_cub,
    read_food,
    read_inaturalist,
    read_listed,
    read_pets,
)
from firstsight.data.pack import read_pack
from firstsight.data.splits import Split, known_share, split, unknown_of
from firstsight.errors import DataError, SettingsError


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


def benchmark(name: str) -> Benchmark:
    """A benchmark by its name."""
    if name not in BENCHMARKS:
        raise SettingsError(f"there is no benchmark {name!r}; allowed: {', '.join(BENCHMARKS)}", "or give a folder")
    return BENCHMARKS[name]


def read(of: Benchmark, root: Path) -> LabelledImages:
    """A benchmark from its official download, or from a pack of it."""
    data = read_pack(root) if root.suffix == ".tar" else of.read(root)
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
    if share == 50 and not stratified and of.support is not None and len(made.support) != of.support:
        raise DataError(f"{of.title}: {len(made.support)} support images came out, not {of.support}", "report this")
    return made


def own_list(name: str, title: str, root: Path, wanted: Path, known: Path | None) -> tuple[Benchmark, LabelledImages]:
    """A data set whose categories a user lists in a file, one per line, and the known ones in another (or half)."""
    categories = _lines(wanted)
    data = read_listed(root, categories, title)
    position = {each: i for i, each in enumerate(categories)}
    listed = _lines(known) if known is not None else categories[: len(categories) // 2]
    if strange := [each for each in listed if each not in position]:
        raise DataError(f"{known} names {strange[0]!r}, which {wanted} does not")
    ids = [position[each] for each in listed]
    others = unknown_of(ids, len(categories))
    return Benchmark(name, title, read_folder, len(categories), tuple(ids), tuple(others)), data


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        raise DataError(f"{path} does not exist", "a file with one category per line")
    return [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


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


def _inaturalist(group: str, known: int, categories: int) -> Benchmark:
    reader = partial(read_inaturalist, group=group)
    return _range(group.casefold(), f"iNaturalist 2017, {group}", reader, known, categories)


def _all() -> Sequence[Benchmark]:
    return (
        _ssb("cub", "CUB-200-2011", read_cub, 5_994, 1_498),
        _ssb("scars", "Stanford Cars", read_cars, 8_144, 2_000),
        _ssb("aircraft", "FGVC-Aircraft", read_aircraft, 6_667, None),
        _range("pets", "Oxford-IIIT Pet", read_pets, 19, 37, 3_680, 942),
        _range("food101", "Food-101", read_food, 51, 101, 75_750, 19_125),
        _inaturalist("Fungi", 61, 121),
        _inaturalist("Arachnida", 28, 56),
        _inaturalist("Animalia", 39, 77),
        _inaturalist("Mollusca", 47, 93),
        _range("cifar10", "CIFAR-10", partial(read_cifar, categories=10), 5, 10, 50_000, 12_500),
        _range("cifar100", "CIFAR-100", partial(read_cifar, categories=100), 80, 100, 50_000, 20_000),
    )


BENCHMARKS = {each.name: each for each in _all()}
