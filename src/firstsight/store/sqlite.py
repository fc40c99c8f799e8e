"""The event log in a SQLite file. One writer, many readers, who never wait for each other.

Every event carries a checksum that continues the one before, so that a changed, missing or misplaced event shows when
it is read. Opening reads the header and nothing else.

What a writer may replace is read at one moment: format, header and encoders in one transaction, a snapshot by one
statement. Events never change, so they are read page by page up to the last there was at the start: that says what
one long reading would, which would keep the writer from emptying its log of writes, and from closing, for as long.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any, Literal, TypeAlias

from firstsight.core.errors import Damaged, Incompatible, NotFound, ReadOnly
from firstsight.core.files import FileLock
from firstsight.core.protocols import Progress, Silent
from firstsight.store import forget, schema
from firstsight.store.connection import Still, Sync, beside, connect, damaged, errors, locked
from firstsight.store.events import Assigned, Event, Recorded, from_columns, to_columns
from firstsight.store.log import Grown, Snapshot, dated
from firstsight.store.making import check_vacant, new_database, vacant
from firstsight.store.pictures import Pictures

COLUMNS = "number, kind, at, body, feature, content, crc"
PAGE = 1000  # events read at once

Line: TypeAlias = tuple[Any, ...]  # an event in the table


class SqliteLog:
    """An open file. Use `create` or `open`; a writer holds the file until `close`."""

    def __init__(
        self,
        path: Path,
        reader: sqlite3.Connection,
        writer: sqlite3.Connection | None = None,
        lock: FileLock | None = None,
    ) -> None:
        self.path = path
        self.name = str(path)
        self.writable = writer is not None
        self.header: dict[str, Any] = {}
        self.pictures = Pictures(beside(path, "-images"))
        self._file = path.resolve()  # whatever the folder we are in by then
        self._db, self._writer = reader, writer
        self._lock = lock
        self._reading, self._writing = RLock(), RLock()  # a connection serves one thread at a time

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
            text = json.dumps(header, ensure_ascii=False, allow_nan=False)
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("BEGIN")
            schema.create(db)
            db.execute("INSERT INTO header VALUES ('header', ?, ?)", (text, zlib.crc32(text.encode())))
            db.execute("COMMIT")

    @classmethod
    def open(cls, path: Path, write: bool = True, sync: Sync = "full", wait: float = 0.0) -> SqliteLog:
        """Open a file that is there, check its header, and hold it if it is to be written."""
        if path.is_dir():
            raise NotFound(f"{path} is a folder; a register is a file", "name a file, such as moths.db")
        if not path.is_file():
            raise NotFound(f"{path}: there is no such register", hint="make")
        lock = locked(path, wait) if write else None
        try:
            return cls._open(path, lock, sync)
        except BaseException:
            if lock is not None:
                lock.release()
            raise

    @classmethod
    def _open(cls, path: Path, lock: FileLock | None, sync: Sync) -> SqliteLog:
        opened: list[sqlite3.Connection] = []
        try:
            with errors(path):
                if lock is not None:
                    opened.append(connect(path, "rw", sync))
                    schema.check(opened[0], path)
                opened.append(connect(path, "ro", sync))
                log = cls(path, opened[-1], opened[0] if lock is not None else None, lock)
                log._read_header()
        except BaseException:
            for db in opened:
                db.close()
            raise
        return log

    def say(self, address: str) -> None:
        if self._lock is not None:
            self._lock.say(address)

    def close(self) -> None:
        """Let go of the file; what the log of writes still holds goes into the file itself."""
        try:
            with self._writing, self._reading:
                self._db.close()
                if self._writer is not None:
                    with suppress(sqlite3.Error):
                        self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                    self._writer.close()
        finally:
            if self._lock is not None:
                self._lock.release()

    # ------------------------------------------------------------------ writing

    def append(self, events: Sequence[Event], after: int, times: Sequence[int] | None = None) -> list[Recorded]:
        """Add events, all or none, as of now or of these times; they are on the disk when this returns."""
        recorded = dated(events, after, times)
        with errors(self.path), self._to_write() as db:
            last, crc = self._end(db)
            if last != after:
                raise Grown(f"{self.path} has been written by another process", "try again")
            lines = []
            for each in recorded:
                columns = to_columns(each.event)
                crc = _checksum(crc, each.number, each.at, *columns)
                kind, *rest = columns
                lines.append((each.number, kind, each.at, *rest, crc))
            db.executemany(f"INSERT INTO events ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", lines)
        return recorded

    def encoder(self, description: Mapping[str, Any]) -> int:
        text = json.dumps(description, sort_keys=True)
        with errors(self.path), self._to_write() as db:
            found = db.execute("SELECT id FROM encoders WHERE description = ?", (text,)).fetchone()
            if found is None:
                found = db.execute("SELECT coalesce(max(id), 0) + 1 FROM encoders").fetchone()
                db.execute("INSERT INTO encoders VALUES (?, ?, ?)", (*found, text, zlib.crc32(text.encode(), found[0])))
        return int(found[0])

    def keep_snapshot(self, snapshot: Snapshot) -> None:
        """Keep a snapshot of everything up to an event, instead of the one before."""
        with errors(self.path), self._to_write() as db:
            crc = self._crc(snapshot.number, db)
            entry = (snapshot.number, crc, _digest(snapshot.number, crc, snapshot.body), snapshot.body)
            db.execute("DELETE FROM snapshots")
            db.execute("INSERT INTO snapshots VALUES (?, ?, ?, ?)", entry)

    def forget(self, images: Sequence[int]) -> Recorded | None:
        """Remove what tells of images for good, and leave a mark; none where all were forgotten already."""
        found = forget.to_forget(self, images)
        left, mark = forget.left(found), None
        with errors(self.path):
            if left:
                with self._to_write() as db:
                    db.execute("PRAGMA secure_delete = ON")
                    (mark,) = dated([forget.mark_of(left)], self._end(db)[0], None)
                    forget.rewrite(db, left, mark, _checksum, self._header_crc)
            if self._writer is None:
                raise ReadOnly(f"{self.path} was opened for reading", "open it for writing")
            with self._writing:
                forget.scrub(self._writer, self.path)
        return mark

    @contextmanager
    def _to_write(self) -> Iterator[sqlite3.Connection]:
        if self._writer is None:
            raise ReadOnly(f"{self.path} was opened for reading", "open it for writing")
        with self._writing, _transaction(self._writer, "IMMEDIATE"):
            yield self._writer

    # ------------------------------------------------------------------ reading

    def last(self) -> int:
        with errors(self.path), self._reading:
            if isinstance(self._db, Still):
                self._connect_again()
            with _transaction(self._db, "DEFERRED"):
                schema.check(self._db, self.path)
                return self._end(self._db)[0]

    def read(self, after: int = 0, upto: int | None = None) -> Iterator[Recorded]:
        return map(self._event, self._checked(after, self.last() if upto is None else upto))

    def newest(self, upto: int) -> Iterator[Recorded]:
        for last in range(upto, 0, -PAGE):
            yield from map(self._event, reversed(list(self._checked(max(0, last - PAGE), last))))

    def event(self, number: int) -> Recorded:
        lines = self._page(number - 2, number) if 0 < number < 2**63 else []  # SQLite counts no further
        if not lines or lines[-1][0] != number:
            last = self.last()
            if 1 <= number <= last:
                raise self._missing(number)
            raise NotFound(f"{self.path} has no event {number}", f"it has 1 to {last}")
        before = lines[0][-1] if len(lines) == 2 else self._header_crc if number == 1 else None
        if not self._leads_on(before, number, lines[-1]):
            raise self._missing(number)
        return self._event(lines[-1])

    def features(self, upto: int) -> Iterator[tuple[int, bytes]]:
        return ((line[0], line[4]) for line in self._checked(0, upto) if line[1] == Assigned.__name__)

    def with_source(self, source: str, upto: int) -> list[int]:
        query = """SELECT number FROM
            (SELECT number, kind, json_extract(body, '$.source') AS source FROM events WHERE number <= :last)
            WHERE kind IN ('Assigned', 'FoundEmpty')
            AND (source = :source OR substr(source, -:size) = :end) ORDER BY number"""
        end = f"/{source}"
        found = self._ask(query, {"last": upto, "source": source, "end": end, "size": len(end)})
        return [number for (number,) in found]

    def keyed(self, key: str) -> int | None:
        found = self._ask(f"SELECT number FROM events WHERE {schema.KEYED} AND {schema.KEY} = ? LIMIT 1", (key,))
        return found[0][0] if found else None

    def encoders(self) -> dict[int, dict[str, Any]]:
        entries = self._ask("SELECT id, description, crc FROM encoders")
        for id, text, crc in entries:
            if not isinstance(id, int) or not isinstance(text, str) or zlib.crc32(text.encode(), id) != crc:
                raise damaged(self.path, "what it says about its encoders is not as it was written")
        return {id: json.loads(text) for id, text, _ in entries}

    def snapshot(self) -> Snapshot | None:
        found = self._ask("SELECT number, crc, digest, body FROM snapshots")
        if not found:
            return None
        number, crc, digest, body = found[0]
        try:
            sound = digest == _digest(number, crc, body) and self._crc(number, self._db) == crc
        except (TypeError, Damaged):
            sound = False
        if not sound:
            raise damaged(self.path, f"the snapshot at event {number} is not as it was written")
        return Snapshot(number, body)

    def verify(self, progress: Progress) -> None:
        """Every page of the file and every event in it, by a connection of its own: others go on reading."""
        with errors(self.path), closing(connect(self._file, "ro", "full")) as db:
            SqliteLog(self.path, db)._verify(progress)

    def back_up(self, path: Path, progress: Progress | None = None) -> None:
        """A copy of the file as of now, whoever is writing it; it is on the disk and has been checked."""
        with errors(path), vacant(path), new_database(path) as temporary, closing(sqlite3.connect(temporary)) as copy:
            with closing(connect(self._file, "ro", "full")) as db:
                db.backup(copy)
            SqliteLog(self.path, copy)._verify(progress or Silent())

    # ------------------------------------------------------------------ inside

    def _verify(self, progress: Progress) -> None:
        ((verdict,),) = self._ask("PRAGMA quick_check(1)")
        if verdict != "ok":
            raise damaged(self.path, str(verdict))
        self._read_header()
        self.encoders()
        self.snapshot()
        last = self.last()
        with progress.task("checking events", last) as advance:
            for line in self._checked(0, last):
                self._event(line)
                advance()

    def _read_header(self) -> None:
        with _transaction(self._db, "DEFERRED"):
            schema.check(self._db, self.path)
            found = self._db.execute("SELECT value, crc FROM header WHERE key = 'header'").fetchone()
            self.encoders()
        if found is None or zlib.crc32(found[0].encode()) != found[1]:
            raise damaged(self.path, "its header is not as it was written")
        self.header = json.loads(found[0])
        self._header_crc = int(found[1])

    def _connect_again(self) -> None:
        """Whoever may write the file may have come since."""
        self._db.execute("SELECT 1")  # an error where it was closed
        again = connect(self._file, "ro", "full")
        self._db.close()
        self._db = again

    def _ask(self, query: str, values: Any = ()) -> list[Line]:
        with errors(self.path), self._reading:
            return self._db.execute(query, values).fetchall()

    def _end(self, db: sqlite3.Connection) -> tuple[int, int]:
        """The last event's number, and its checksum."""
        found = db.execute("SELECT number, crc FROM events ORDER BY number DESC LIMIT 1").fetchone()
        return (0, self._header_crc) if found is None else found

    def _crc(self, number: int, db: sqlite3.Connection) -> int:
        """The checksum that an event leads to."""
        if number == 0:
            return self._header_crc
        with errors(self.path), self._reading:
            found = db.execute("SELECT crc FROM events WHERE number = ?", (number,)).fetchone()
        if found is None:
            raise self._missing(number)
        return int(found[0])

    def _checked(self, after: int, upto: int) -> Iterator[Line]:
        """Events page by page, so that no reading stays open between them; each leads on from the one before."""
        crc = self._crc(after, self._db) if after < upto else 0
        while after < upto:
            page = self._page(after, upto)
            if not page:
                raise self._missing(after + 1)
            for line in page:
                if not self._leads_on(crc, after + 1, line):
                    raise self._missing(after + 1)
                yield line
                after, crc = line[0], line[-1]

    def _leads_on(self, before: int | None, number: int, line: Line) -> bool:
        """Whether this is the event of that number, as it was written after one of that checksum."""
        own, kind, at, body, feature, content, crc = line
        if own != number or before is None:
            return False
        try:
            return bool(_checksum(before, own, at, kind, body, feature, content) == crc)
        except (TypeError, ValueError, AttributeError):  # text where bytes were, or the other way round
            return False

    def _missing(self, number: int) -> Damaged:
        return damaged(self.path, f"event {number} is missing or not as it was written")

    def _page(self, after: int, upto: int) -> list[Line]:
        query = f"SELECT {COLUMNS} FROM events WHERE number > ? AND number <= ? ORDER BY number LIMIT {PAGE}"
        return self._ask(query, (after, upto))

    def _event(self, line: Line) -> Recorded:
        number, kind, at, body, feature, content, _ = line
        try:
            return Recorded(number, at, from_columns(kind, body, feature, content))
        except (KeyError, TypeError) as error:  # checksums hold: it is as it was written
            raise Incompatible(
                f"{self.path}: event {number} says what this release does not know: {error}",
                "upgrade Firstsight; the file has not been touched",
            ) from None
        except (ValueError, AttributeError) as error:
            raise damaged(self.path, f"event {number} cannot be read: {error}") from None


@contextmanager
def _transaction(db: sqlite3.Connection, kind: Literal["DEFERRED", "IMMEDIATE"]) -> Iterator[None]:
    """To write; or, deferred, to read everything as of one moment."""
    if db.in_transaction:  # one that was broken off before it could be rolled back
        db.execute("ROLLBACK")
    try:
        db.execute(f"BEGIN {kind}")
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # SQLite may have rolled back by itself
            db.execute("ROLLBACK")
        raise


def _checksum(
    before: int, number: int, at: int, kind: str, body: str, feature: bytes | None, content: bytes | None
) -> int:
    return zlib.crc32(
        b"%d %b %d %b %b %b" % (number, kind.encode(), at, body.encode(), feature or b"", content or b""), before
    )


def _digest(number: int, crc: int, body: bytes) -> bytes:
    return hashlib.sha256(b"%d %d " % (number, crc) + body).digest()
