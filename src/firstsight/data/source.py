"""Where images come from, as people name it: a folder per category, a pack, single files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from firstsight.data.folder import LabelledImages, read_folder, walk
from firstsight.data.pack import PackedImage, packed_images, read_pack

PACK = ".tar"


def read_images(source: Path | str) -> LabelledImages:
    """Labelled images from a folder with one folder per category, or from a pack."""
    return read_pack(source) if is_pack(source) else read_folder(source)


def find_images(sources: Iterable[Path | str]) -> Iterator[Path | PackedImage]:
    """Files as they are named; folders walked in name order, one listing at a time; packs in their order."""
    for source in map(Path, sources):
        if source.is_dir():
            yield from walk(source)
        elif is_pack(source):
            yield from packed_images(source)
        else:
            yield source


def is_pack(source: Path | str) -> bool:
    return Path(source).suffix.lower() == PACK and not Path(source).is_dir()
