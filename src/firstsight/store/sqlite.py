"""The event log in a SQLite file: append, read, verify. One writer, many readers.

Every event carries a checksum that continues the one before, so that a changed, missing or misplaced event shows.
Knows events only as values; what they mean is the catalogue's business.

What a writer may replace is read at one moment: format, header and encoders in one transaction, a snapshot by one
statement. Events never change, so they are read page by page up to the last there was at the start: that says what
one long reading would, which would keep the writer from emptying its log of writes, and from closing, for as long.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
import zlib
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any, Literal, NamedTuple

from firstsight.core.errors import StoreError
from firstsight.core.files import FileLock
from firstsight.store import schema
from firstsight.store.connection import Still, Sync, connect, damaged, errors, locked
from firstsight.store.contents import Contents
from firstsight.store.events import BY_RULE, Assigned, Event, Recorded, from_columns, to_columns
from firstsight.store.making import check_vacant, new_database, vacant

COLUMNS = "number, kind, at, body, feature, content, crc"
PAGE = 1000  # events read at once


class Snapshot(NamedTuple):
    """What the events up to one come to, and the checksum they lead to."""

    number: int
    crc: int
    body: bytes


class SqliteLog:
    """An open file. Use `create` or `open`; a writer holds the file until `close`."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: FileLock | None) -> None:
        self.path = path
        self._file = path.resolve()  # whatever the folder we are in by then
        self.writable = lock is not None
        self._db = connection
        self._lock = lock
        self._turn = RLock()  # a connection must not be closed while another thread asks it
        self.header: dict[str, Any] = {}
        self.rewind()

    def rewind(self) -> None:
        """Forget what was read: `tail` begins with the first event again."""
        self.length = 0  # events read or written so far, and
        self._crc = self._header_crc if self.header else 0  # the checksum they lead to
        self._contents = Contents()  # of the images, and
        self._edits: list[int] = []  # the events by people; an index in the file could be damaged unnoticed

    @classmethod
    def create(
        cls, path: Path, header: Mapping[str, Any], sync: Sync = "full", wait: float = 0.0, or_open: bool = False
    ) -> SqliteLog:
        """Make a new file and hold it for writing; it appears under its name only when complete.

        With `or_open`, a file that is there by the time it can be held is opened instead.
        """
        lock = locked(path, wait)
        try:
            if not (or_open and path.exists()):
                cls._make(path, header, sync)
            return cls._open(path, lock, sync)
        except BaseException:
            lock.release()
            raise

    @staticmethod
    def _make(path: Path, header: Mapping[str, Any], sync: Sync) -> None:
        check_vacant(path)
        with new_database(path) as temporary, errors(path), closing(connect(temporary, "rwc", sync)) as db:
            text = json.dumps(header, ensure_ascii=False)
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("BEGIN")
            schema.create(db)
            db.execute("INSERT INTO header VALUES ('header', ?, ?)", (text, zlib.crc32(text.encode())))
            db.execute("COMMIT")

    @classmethod
    def open(cls, path: Path, write: bool = True, sync: Sync = "full", wait: float = 0.0) -> SqliteLog:
        """Open a file that is there, verify its structure and header, and hold it if it is to be written."""
        if path.is_dir():
            raise StoreError(f"{path} is a folder; a register is a file", "name a file, such as moths.db")
        if not path.is_file():
            raise StoreError(f"{path}: there is no such register", "make one with: firstsight discover --register")
        lock = locked(path, wait) if write else None
        try:
            return cls._open(path, lock, sync)
        except BaseException:
            if lock is not None:
                lock.release()
            raise

    @classmethod
    def _open(cls, path: Path, lock: FileLock | None, sync: Sync) -> SqliteLog:
        with errors(path):
            db = connect(path, "ro" if lock is None else "rw", sync)
            try:
                if lock is not None:
                    schema.migrate(db, path)
                log = cls(path, db, lock)
                with log._transaction("DEFERRED"):
                    log._check_format()
                    log._verify_structure()
                    log._read_header()
            except BaseException:
                db.close()
                raise
        return log

    def close(self) -> None:
        """Let go of the file; what the log of writes still holds goes into the file itself."""
        try:
            with self._turn:
                with suppress(sqlite3.Error):
                    if self.writable:
                        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                self._db.close()
        finally:
            if self._lock is not None:
                self._lock.release()

    # ------------------------------------------------------------------ writing

    def append(self, events: Sequence[Event], times: Sequence[int] | None = None) -> list[Recorded]:
        """Add events, all or none, as of now or of these times; they are on the disk when this returns."""
        if not self.writable:
            raise StoreError(f"{self.path} was opened for reading", "open it for writing")
        now, crc = time.time_ns() // 1000, self._crc
        recorded, features = [], []
        for i, event in enumerate(events):
            number, at = self.length + 1 + i, now if times is None else times[i]
            kind, body, feature, content = to_columns(event)
            crc = _checksum(crc, number, kind, at, body, feature, content)
            features.append((number, kind, at, body, feature, content, crc))
            recorded.append(Recorded(number, at, event))
        with errors(self.path), self._transaction():
            if self._last() != self.length:
                raise StoreError(f"{self.path} has been written by another process", "close it and open it again")
            self._db.executemany(f"INSERT INTO events ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", features)
        self.length, self._crc = self.length + len(features), crc
        for number, kind, *_, content, _ in features:
            self._note(number, kind, content)
        return recorded

    def is_current(self) -> bool:
        """Whether everything in the file has been read."""
        with errors(self.path), self._turn:
            return self._last() == self.length

    def _last(self) -> int:
        (last,) = self._db.execute("SELECT max(number) FROM events").fetchone()
        return int(last or 0)

    def encoder(self, description: Mapping[str, Any]) -> int:
        """The entry for what makes features: model, preprocess version, device, precision."""
        text = json.dumps(description, sort_keys=True)
        with errors(self.path), self._transaction():
            entry = (text, zlib.crc32(text.encode()))
            self._db.execute("INSERT OR IGNORE INTO encoders (description, crc) VALUES (?, ?)", entry)
            (found,) = self._db.execute("SELECT id FROM encoders WHERE description = ?", (text,)).fetchone()
        return int(found)

    def keep_snapshot(self, number: int, body: bytes) -> None:
        """Keep a snapshot of everything up to the last event, which must be this one, instead of the one before."""
        assert number == self.length, f"a snapshot at event {number} of a log at {self.length}"
        with errors(self.path), self._transaction():
            digest = hashlib.sha256(body).digest()
            self._db.execute("DELETE FROM snapshots")
            self._db.execute("INSERT INTO snapshots VALUES (?, ?, ?, ?)", (self.length, self._crc, digest, body))

    # ------------------------------------------------------------------ reading

    def snapshot(self) -> Snapshot | None:
        """The last snapshot, if there is one."""
        with errors(self.path), self._turn:
            found = self._db.execute("SELECT number, crc, digest, body FROM snapshots").fetchone()
        if found is None:
            return None
        number, crc, digest, body = found
        if hashlib.sha256(body).digest() != digest:
            raise self._damaged_snapshot(number)
        return Snapshot(number, crc, bytes(body))

    def skip(self, snapshot: Snapshot, number: int) -> None:
        """Go on after the event of a snapshot, whose body says this one; those before are verified, and no more."""
        for feature in self._features(0, number):
            self._take(feature)
        if not snapshot.number == number == self.length or snapshot.crc != self._crc:
            raise self._damaged_snapshot(snapshot.number)

    def tail(self) -> Iterator[Recorded]:
        """The events that were not read yet, verified, up to the last one there is when this begins."""
        with errors(self.path), self._turn:
            if isinstance(self._db, Still):
                self._connect_again()
            with self._transaction("DEFERRED"):
                self._check_format()
                last = self._last()
        for feature in self._features(self.length, last):
            self._take(feature)
            yield self._event(feature)

    def event(self, number: int) -> Recorded:
        """One event."""
        for feature in self._features(number - 1, number):
            return self._event(feature)
        raise StoreError(f"{self.path} has no event {number}", f"it has 1 to {self.length}")

    def events(self, after: int = 0) -> Iterator[Recorded]:
        """All events after a number that have been read."""
        return (self._event(feature) for feature in self._features(after, self.length))

    def features(self) -> Iterator[tuple[int, bytes]]:
        """Every image that has been read, by number, and its feature."""
        query = "SELECT number, feature FROM events WHERE number > ? AND number <= ? AND kind = ? ORDER BY number"
        for after in range(0, self.length, PAGE):
            with errors(self.path), self._turn:
                page = self._db.execute(query, (after, min(self.length, after + PAGE), Assigned.__name__)).fetchall()
            yield from page

    def newest(self) -> Iterator[Recorded]:
        """All events that have been read, the last one first."""
        for last in range(self.length, 0, -PAGE):
            yield from map(self._event, reversed(self._page(max(0, last - PAGE), last)))

    def edits(self) -> list[Recorded]:
        """The events by people."""
        return [self.event(number) for number in self._edits]

    def with_content(self, content: bytes, among: Container[int] | None = None) -> list[int]:
        """The images of this content, or those of them among some, oldest first."""
        found = self._contents.candidates(content)
        query = "SELECT content FROM events WHERE number = ?"
        with errors(self.path), self._turn:
            return [
                number
                for number in found
                if (among is None or number in among) and self._db.execute(query, (number,)).fetchone() == (content,)
            ]

    def with_source(self, source: str) -> list[tuple[int, str]]:
        """The images from this source or from a path that ends with it, and their whole sources, oldest first."""
        query = """SELECT number, source FROM
            (SELECT number, kind, json_extract(body, '$.source') AS source FROM events WHERE number <= :last)
            WHERE kind = 'Assigned' AND (source = :source OR substr(source, -:size) = :end) ORDER BY number"""
        end = f"/{source}"
        with errors(self.path), self._turn:
            found = self._db.execute(query, {"last": self.length, "source": source, "end": end, "size": len(end)})
            return found.fetchall()

    def confidences(self) -> list[tuple[int, float | None]]:
        """Every image that has been read and was answered by the rule, and how sure that was, where it is said."""
        query = """SELECT number, json_extract(body, '$.confidence') FROM events
            WHERE number <= ? AND kind = 'Assigned' AND json_extract(body, '$.decided_by') = 'rule'"""
        with errors(self.path), self._turn:
            return self._db.execute(query, (self.length,)).fetchall()

    def encoders(self) -> dict[int, dict[str, Any]]:
        """What made the features."""
        with errors(self.path), self._turn:
            entries = self._db.execute("SELECT id, description, crc FROM encoders").fetchall()
        for _, text, crc in entries:
            if not isinstance(text, str) or zlib.crc32(text.encode()) != crc:
                raise damaged(self.path, "what it says about its encoders is not as it was written")
        return {id: json.loads(text) for id, text, _ in entries}

    def back_up(self, path: Path) -> None:
        """A copy of the file as of now, whoever is writing it."""
        with errors(path), vacant(path), self._turn:
            schema.back_up(self._db, path)

    # ------------------------------------------------------------------ inside

    def _connect_again(self) -> None:
        """Whoever may write the file may have come since."""
        self._db.execute("SELECT 1")  # an error where it was closed
        again = connect(self._file, "ro", "full")
        self._db.close()
        self._db = again

    @contextmanager
    def _transaction(self, kind: Literal["DEFERRED", "IMMEDIATE"] = "IMMEDIATE") -> Iterator[None]:
        """To write; or, deferred, to read everything as of one moment."""
        with self._turn:
            if self._db.in_transaction:  # one that was broken off before it could be rolled back
                self._db.execute("ROLLBACK")
            try:
                self._db.execute(f"BEGIN {kind}")
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # SQLite may have rolled back by itself
                    self._db.execute("ROLLBACK")
                raise

    def _features(self, after: int, upto: int) -> Iterator[tuple[Any, ...]]:
        """Events page by page, so that no reading stays open between them."""
        while page := self._page(after, upto):
            yield from page
            after = page[-1][0]

    def _page(self, after: int, upto: int) -> list[tuple[Any, ...]]:
        query = f"SELECT {COLUMNS} FROM events WHERE number > ? AND number <= ? ORDER BY number LIMIT {PAGE}"
        with errors(self.path), self._turn:
            return self._db.execute(query, (after, upto)).fetchall()

    def _take(self, feature: tuple[Any, ...]) -> None:
        """The next event must be the next one, and lead on from the checksum before."""
        number, kind, at, body, code, content, crc = feature
        try:
            expected = _checksum(self._crc, self.length + 1, kind, at, body, code, content)
        except (TypeError, ValueError):  # text where bytes were, or the other way round
            expected = None
        if number != self.length + 1 or crc != expected:
            raise damaged(self.path, f"event {self.length + 1} is missing or not as it was written")
        self.length, self._crc = number, crc
        self._note(number, kind, content)

    def _damaged_snapshot(self, number: int) -> StoreError:
        return damaged(self.path, f"the snapshot at event {number} is not as it was written")

    def _note(self, number: int, kind: str, content: bytes | None) -> None:
        if content is not None:
            self._contents.add(number, content)
        if kind not in BY_RULE:
            self._edits.append(number)

    def _event(self, feature: tuple[Any, ...]) -> Recorded:
        number, kind, at, body, code, content, _ = feature
        try:
            return Recorded(number, at, from_columns(kind, body, code, content))
        except (KeyError, TypeError) as error:  # checksums hold: it is as it was written
            raise StoreError(
                f"{self.path}: event {number} says what this release does not know: {error}",
                "upgrade Firstsight; the file has not been touched",
            ) from None
        except ValueError as error:
            raise damaged(self.path, f"event {number} cannot be read: {error}") from None

    def _check_format(self) -> None:
        """The format is today's; while a reader follows, a newer release may migrate the file."""
        version = schema.check(self._db, self.path)
        if version < schema.FORMAT:
            raise StoreError(f"{self.path} has an older format, {version}", "open it once for writing to migrate it")

    def _verify_structure(self) -> None:
        """The tables are sound; what the events in them say, checksums tell."""
        (verdict,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise damaged(self.path, str(verdict))
        self.encoders()

    def _read_header(self) -> None:
        found = self._db.execute("SELECT value, crc FROM header WHERE key = 'header'").fetchone()
        if found is None or zlib.crc32(found[0].encode()) != found[1]:
            raise damaged(self.path, "its header is not as it was written")
        self.header = json.loads(found[0])
        self._crc = self._header_crc = int(found[1])


def _checksum(
    before: int, number: int, kind: str, at: int, body: str, feature: bytes | None, content: bytes | None
) -> int:
    return zlib.crc32(
        b"%d %b %d %b %b %b" % (number, kind.encode(), at, body.encode(), feature or b"", content or b""), before
    )
