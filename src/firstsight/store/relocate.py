"""Files that moved: found again by their content, wherever they are below a folder and whatever they are called."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from firstsight.core.errors import DataError, ImageError
from firstsight.core.protocols import Progress
from firstsight.data.folder import walk
from firstsight.data.images import read
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
    lost = {n: event for n in every if not _is_there((event := view.assigned(n)).source)}
    contents = {event.content for event in lost.values()}
    places: dict[bytes, dict[str, str]] = {}  # by content and name of the file
    files = list(walk(folder.absolute())) if lost else []
    with progress.task("looking at files", len(files)) as advance:
        for path in files:
            content = _content(path)
            if content in contents:
                places.setdefault(content, {}).setdefault(path.name, str(path))
            advance()
    found = {n: _of_name(places[e.content], e.source) for n, e in lost.items() if e.content in places}
    return Search(found, sorted({e.source for n, e in lost.items() if n not in found}))


def _is_there(source: str) -> bool:
    """Whether a file is where it was; what never was a file is."""
    return not os.path.isabs(source) or Path(source).is_file()  # noqa: PTH117 - it may be of another system


def _content(path: Path) -> bytes:
    try:
        return read(path)[1]
    except ImageError:  # no image that anybody could have offered
        return b""


def _of_name(places: Mapping[str, str], source: str) -> str:
    """Of several files of one content, that of the same name or else the first."""
    return places.get(Path(source).name, next(iter(places.values())))
