"""The event log in a SQLite file. One writer, many readers, who never wait for each other.

Opening reads the header and nothing else. What a writer may replace is read at one moment: format, header and encoders
in one transaction, a snapshot by one statement. Events are read page by page: one long reading would keep the writer
from emptying its log of writes, and from closing, for as long.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any, Literal

from firstsight.core.errors import NotFound, ReadOnly
from firstsight.core.files import FileLock
from firstsight.core.protocols import Progress, Silent
from firstsight.store import forget, schema
from firstsight.store.chained import COLUMNS, PAGE, ChainedLog, Line, digest_of, lines_of
from firstsight.store.connection import Still, Sync, beside, connect, damaged, errors, locked
from firstsight.store.events import Event, Recorded
from firstsight.store.log import Grown, Snapshot, dated
from firstsight.store.making import check_vacant, new_database, vacant
from firstsight.store.pictures import Pictures


class SqliteLog(ChainedLog):
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
            db.executemany(f"INSERT INTO events ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", lines_of(recorded, crc))
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
            crc = self._crc(snapshot.number)
            entry = (snapshot.number, crc, digest_of(snapshot.number, crc, snapshot.body), snapshot.body)
            db.execute("DELETE FROM snapshots")
            db.execute("INSERT INTO snapshots VALUES (?, ?, ?, ?)", entry)

    def forget(self, images: Sequence[int], by: str) -> Recorded | None:
        """Remove what tells of images for good, and leave a mark; none where all were forgotten already."""
        found = forget.to_forget(self, images)
        left, mark = forget.left(found), None
        with errors(self.path):
            if left:
                with self._to_write() as db:
                    db.execute("PRAGMA secure_delete = ON")
                    (mark,) = dated([forget.mark_of(left, by)], self._end(db)[0], None)
                    schema.rewrite(db, *self._without(left, mark))
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
        self._check_events(progress)

    def _read_header(self) -> None:
        with _transaction(self._db, "DEFERRED"):
            schema.check(self._db, self.path)
            found = self._db.execute("SELECT value, crc FROM header WHERE key = 'header'").fetchone()
            self.encoders()
        self._take_header(found)

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

    def _crc_of(self, number: int) -> int | None:
        found = self._ask("SELECT crc FROM events WHERE number = ?", (number,))
        return int(found[0][0]) if found else None

    def _encoder_lines(self) -> list[Line]:
        return self._ask("SELECT id, description, crc FROM encoders")

    def _snapshot_line(self) -> Line | None:
        found = self._ask("SELECT number, crc, digest, body FROM snapshots")
        return found[0] if found else None

    def _page(self, after: int, upto: int) -> list[Line]:
        query = f"SELECT {COLUMNS} FROM events WHERE number > ? AND number <= ? ORDER BY number LIMIT {PAGE}"
        return self._ask(query, (after, upto))


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
