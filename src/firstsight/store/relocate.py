"""Files that moved: found again by their content, wherever they are below a folder and whatever they are called."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from firstsight.core.errors import DataError, ImageError
from firstsight.core.protocols import Progress
from firstsight.data.crops import Crop, picture_of
from firstsight.data.folder import walk
from firstsight.data.images import read
from firstsight.data.source import PACK
from firstsight.store.events import Assigned, FoundEmpty
from firstsight.store.pictures import UPLOAD, Pictures, file_name
from firstsight.store.view import View


class Search(NamedTuple):
    """What came of looking for files."""

    found: dict[int, str]  # where images are, by number
    missing: list[str]  # files that are neither where they were nor below the folder


def find(view: View, folder: Path, progress: Progress) -> Search:
    """Look below a folder for the files of images that are not where they were."""
    if not folder.is_dir():
        raise DataError(f"{folder} is not a folder", "name the one the files are in now")
    every: list[int] = view.catalogue.numbers.values().tolist()  # what is discarded or undone may come back
    lost = {n: event for n in every if not _is_there(event := view.seen(n), view.pictures)}
    files = list(walk(folder.absolute())) if lost else []
    here = Files()
    with progress.task("looking at files", len(files)) as advance:
        for path in files:
            here.add(path)
            advance()
    found = {n: place for n, event in lost.items() if (place := here.place(event))}
    return Search(found, sorted({e.source for n, e in lost.items() if n not in found}))


class Files:
    """The files there are, by content."""

    def __init__(self) -> None:
        self._places: dict[bytes, dict[str, str]] = {}  # by content and name of the file
        self._called: dict[str, set[bytes]] = {}  # contents by name
        self._frames: dict[str, set[bytes]] = {}  # by where a frame was, what it may be, if anything

    def add(self, path: Path) -> None:
        try:
            content = read(path)[1]
        except ImageError:  # no image that anybody could have offered
            return
        self._places.setdefault(content, {}).setdefault(path.name, str(path))
        self._called.setdefault(path.name, set()).add(content)

    def place(self, image: Assigned | FoundEmpty) -> str | None:
        """Where an image is, or the frame it is a part of: of several files that of the same name, or the first."""
        content = image.content if not image.box else self._frame(image)
        places = self._places.get(content or b"", {})
        return places.get(file_name(image.source), next(iter(places.values()), None))

    def _frame(self, part: Assigned | FoundEmpty) -> bytes | None:
        """The content of a frame. A part tells it only by trying: those of the same name, then once all there are."""
        crop = picture_of(part.source, part.box)
        near = self._called.get(file_name(part.source), set()) | self._frames.get(part.source, set())
        if (found := _holding(crop, near, part.content)) is None and part.source not in self._frames:
            found = _holding(crop, self._places, part.content)
            self._frames[part.source] = set() if found is None else {found}
        return found


def _holding(crop: Crop, frames: Iterable[bytes], content: bytes) -> bytes | None:
    return next((frame for frame in frames if crop.content(frame) == content), None)


def _is_there(image: Assigned | FoundEmpty, pictures: Pictures) -> bool:
    """Whether a file is where it was, or the pack that it is in, or it is kept; what never was a file is."""
    source = image.source
    if source.startswith(UPLOAD):
        return pictures.path(image.content) is not None
    if not os.path.isabs(source):  # noqa: PTH117 - it may be of another system
        return True
    pack, mark, _ = source.partition(f"{PACK}:")
    return Path(source).is_file() or (bool(mark) and Path(f"{pack}{PACK}").is_file())
