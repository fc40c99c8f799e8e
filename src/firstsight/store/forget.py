"""Forgetting an image: the one thing that changes a log, and the one thing that cannot be undone.

The events of the images lose all that told of them. Every event keeps its number, the checksums are continued anew from
there, and a mark is appended. What an encoder made of an image stays: categories rest on it, and it shows nothing.

SQLite leaves old bytes in free pages and in its log of writes. Both are rid of them before this is acknowledged.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Container, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firstsight.core.errors import BadRequest, Locked, NotFound
from firstsight.core.sightings import KEPT, NOTHING
from firstsight.store.events import Assigned, Forgotten, FoundEmpty, Recorded, Relocated, from_columns, to_columns
from firstsight.store.log import Log

if TYPE_CHECKING:
    from firstsight.store.view import View


def emptied(event: Assigned | FoundEmpty) -> Assigned | FoundEmpty:
    """The event of an image, or of an empty frame, without anything that tells of it."""
    nothing: dict[str, Any] = {"source": "", "content": b"", **{name: getattr(NOTHING, name) for name in KEPT}}
    return replace(event, **nothing, key="") if isinstance(event, Assigned) else replace(event, **nothing)


def without_places(event: Relocated, images: Container[int]) -> Relocated:
    """What was said of where files are, without those of some images."""
    sources, old = (
        tuple("" if image in images else path for image, path in zip(event.images, paths, strict=True))
        for paths in (event.sources, event.old)
    )
    return replace(event, sources=sources, old=old)


def to_forget(log: Log, images: Sequence[int]) -> list[Recorded]:
    """The events of these images, also of those that were undone, or forgotten already; NotFound where one is none."""
    found = [log.event(number) for number in dict.fromkeys(images)]
    if not found:
        raise BadRequest("name at least one image")
    if others := [each.number for each in found if not isinstance(each.event, Assigned | FoundEmpty)]:
        raise NotFound(f"event {others[0]} is not an image", hint="show")
    return found


def told_less(kind: str, body: str, number: int, images: Container[int]) -> tuple[str, bool]:
    """The body of an event without what it tells of images, and whether it is one of them."""
    if number in images:
        event = from_columns(kind, body, b"" if kind == Assigned.__name__ else None, b"")
        assert isinstance(event, Assigned | FoundEmpty)
        return to_columns(emptied(event))[1], True
    if kind == Relocated.__name__:
        moved = from_columns(kind, body, None, None)
        assert isinstance(moved, Relocated)
        return to_columns(without_places(moved, images))[1], False
    return body, False


def scrub(db: sqlite3.Connection, path: Path) -> None:
    """Write the file anew without what was deleted, and empty the log of writes; Locked where a reader holds it."""
    db.execute("VACUUM")
    busy, *_ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise Locked(
            f"{path}: the image is forgotten, but another program reads the file, whose old bytes stay until then",
            "close that program, then forget the image once more",
        )


def mark_of(images: Sequence[Recorded], by: str) -> Forgotten:
    return Forgotten(tuple(each.number for each in images), by=by)


def left(images: Sequence[Recorded]) -> list[Recorded]:
    """Those that are not forgotten yet."""
    return [each for each in images if isinstance(each.event, Assigned | FoundEmpty) and not each.event.forgotten]


def unshared(view: View, images: Sequence[Recorded]) -> set[bytes]:
    """The contents of these images that no other image has, also none that was undone or discarded."""
    found: dict[bytes, set[int]] = {}
    for each in images:
        assert isinstance(each.event, Assigned | FoundEmpty)
        same = view.catalogue.contents.candidates(each.event.content, view.last)
        found.setdefault(each.event.content, {n for n in same if view.seen(n).content == each.event.content})
        found[each.event.content] -= {each.number}
    return {content for content, others in found.items() if content and not others}


def of_the_same_file(view: View, images: Container[int]) -> list[int]:
    """Other images of these images' files, or of their content: parts of one frame, or what came twice."""
    told: dict[int, set[str | bytes]] = {}
    for number in view.catalogue.numbers.values().tolist():
        each = view.seen(number)
        if not each.forgotten:
            files = [each.source] if os.path.isabs(each.source) else []  # noqa: PTH117 - it may be of another system
            told[number] = {each.content, *files}
    theirs = {what for number, some in told.items() if number in images for what in some}
    return [number for number, some in told.items() if number not in images and not theirs.isdisjoint(some)]
