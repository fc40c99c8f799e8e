"""Forgetting an image: the one thing that changes a log, and the one thing that cannot be undone.

The events of the images lose all that told of them. Every event keeps its number, the checksums are continued anew from
there, and a mark is appended. What an encoder made of an image stays: categories rest on it, and it shows nothing.

SQLite leaves old bytes in free pages and in its log of writes. Both are rid of them before this is acknowledged.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firstsight.core.errors import BadRequest, Locked, NotFound
from firstsight.core.sightings import KEPT, NOTHING
from firstsight.store.events import Assigned, Forgotten, FoundEmpty, Recorded, Relocated, from_columns, to_columns
from firstsight.store.log import Log

if TYPE_CHECKING:
    from firstsight.store.view import View

TRIGGER = "events_are_never_changed"

Checksum = Callable[..., int]


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


def rewrite(db: sqlite3.Connection, images: Sequence[Recorded], mark: Recorded, checksum: Checksum, start: int) -> None:
    """Empty the events of images and append the mark, inside the caller's transaction.

    `start` is the checksum that everything begins with.
    """
    (guard,) = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (TRIGGER,)).fetchone()
    db.execute(f"DROP TRIGGER {TRIGGER}")
    for each in images:
        assert isinstance(each.event, Assigned | FoundEmpty)
        _, body, _, content = to_columns(emptied(each.event))
        db.execute("UPDATE events SET body = ?, content = ? WHERE number = ?", (body, content, each.number))
    gone = {each.number for each in images}
    for number, kind, text in db.execute("SELECT number, kind, body FROM events WHERE kind = 'Relocated'").fetchall():
        event = from_columns(kind, text, None, None)
        assert isinstance(event, Relocated)
        if not gone.isdisjoint(event.images):
            body = to_columns(without_places(event, gone))[1]
            db.execute("UPDATE events SET body = ? WHERE number = ?", (body, number))
    first = min(each.number for each in images)
    before = db.execute("SELECT crc FROM events WHERE number = ?", (first - 1,)).fetchone()
    crc = start if before is None else int(before[0])
    changed = []
    query = "SELECT number, at, kind, body, feature, content FROM events WHERE number >= ? ORDER BY number"
    for number, *rest in db.execute(query, (first,)):
        crc = checksum(crc, number, *rest)
        changed.append((crc, number))
    db.executemany("UPDATE events SET crc = ? WHERE number = ?", changed)
    kind, body, _, _ = to_columns(mark.event)
    crc = checksum(crc, mark.number, mark.at, kind, body, None, None)
    line = (mark.number, kind, mark.at, body, crc)
    db.execute("INSERT INTO events (number, kind, at, body, crc) VALUES (?, ?, ?, ?, ?)", line)
    db.execute("DELETE FROM snapshots")  # which hold the first bytes of every content
    db.execute(guard)


def scrub(db: sqlite3.Connection, path: Path) -> None:
    """Write the file anew without what was deleted, and empty the log of writes; Locked where a reader holds it."""
    db.execute("VACUUM")
    busy, *_ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise Locked(
            f"{path}: the image is forgotten, but another program reads the file, whose old bytes stay until then",
            "close that program, then forget the image once more",
        )


def mark_of(images: Sequence[Recorded]) -> Forgotten:
    return Forgotten(tuple(each.number for each in images))


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
