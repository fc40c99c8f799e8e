"""A folder that is watched for image files."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from firstsight.data.folder import walk

EVERY = 2.0  # seconds between two looks


def watched(folder: Path, pause: Callable[[float], object] = time.sleep) -> Iterator[list[Path]]:
    """The image files that come into a folder, as they come, those that are there first; it does not end by itself.

    A file is given when it has stayed the same from one look to the next, so that none is read half written, and
    again when it is changed. `pause` may end it: by a true answer, as that of an event that was set.
    """
    before: dict[Path, tuple[int, int]] = {}
    given: dict[Path, tuple[int, int]] = {}
    while True:
        there = {path: state for path in walk(folder) if (state := _state(path)) is not None}
        old = time.time_ns() - EVERY * 1e9
        ready = [path for path, state in there.items() if state == before.get(path) or state[1] < old]
        fresh = [path for path in ready if given.get(path) != there[path]]
        given = {path: state for path, state in given.items() if path in there} | {path: there[path] for path in fresh}
        if fresh:
            yield fresh
        before = there
        if pause(EVERY):
            return


def _state(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:  # gone since it was listed
        return None
    return found.st_size, found.st_mtime_ns
