"""The event log in a PostgreSQL database, which many machines share: one writer, any number of readers.

A register is a schema of its own. Whoever writes holds an advisory lock, which the server lets go of when its session
ends, however that is. A writer that stalls shows no sign of life and loses its place to the next. A number, the term,
is counted on then; every append checks it, so that one that comes back cannot write. Readers are told by NOTIFY.
"""

from __future__ import annotations

import json
import os
import socket
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, LiteralString

from psycopg import Connection, OperationalError, sql
from psycopg.errors import LockNotAvailable

from firstsight.core.errors import Locked, NotFound, ReadOnly
from firstsight.core.protocols import Progress, Silent
from firstsight.store import forget
from firstsight.store.chained import PAGE, ChainedLog, Line, digest_of, lines_of
from firstsight.store.copying import copy_events
from firstsight.store.events import Event, Recorded
from firstsight.store.log import Grown, Snapshot, dated
from firstsight.store.pictures import Pictures
from firstsight.store.server import Address, connect, errors, exists, make, rewrite
from firstsight.store.sharing import NOWHERE, Holder, Said, SharedLog
from firstsight.store.sqlite import SqliteLog
from firstsight.store.writing import Place

COLUMNS: LiteralString = "number, kind, at, body, feature, content, crc"


class PostgresLog(ChainedLog, SharedLog):
    """A register of a database. Use `create` or `open`; a writer holds it until `close` or `step_down`."""

    def __init__(self, address: Address, reader: Connection[Any], place: Place | None = None) -> None:
        self.address = address
        self.name = str(address)
        self.pictures = Pictures(address.pictures)
        self.header: dict[str, Any] = {}
        self._db, self._place = reader, place
        self._listener: Connection[Any] | None = None
        self._standing: Place | None = None  # which is waited for
        self._waits = True
        self._reading, self._taking = RLock(), RLock()  # a connection serves one thread at a time
        self._take_header(self._one("SELECT value, crc FROM header WHERE key = 'header'"))

    @classmethod
    def create(
        cls, address: Address, header: Mapping[str, Any], wait: float = 0.0, or_open: bool = False
    ) -> PostgresLog:
        """Make a new register and hold it for writing; with `or_open`, one that is there is opened instead."""
        cls.make(address, header, or_open)
        return cls.open(address, wait=wait)

    @staticmethod
    def make(address: Address, header: Mapping[str, Any], or_open: bool = False) -> None:
        """Make a new register, and hold nothing; with `or_open`, one that is there stays as it is."""
        text = json.dumps(header, ensure_ascii=False, allow_nan=False)
        with errors(address), connect(address) as db:
            make(db, address, text, zlib.crc32(text.encode()), or_open)

    @classmethod
    def open(cls, address: Address, write: bool = True, wait: float = 0.0) -> PostgresLog:
        """Open a register that is there, check its header, and hold it if it is to be written."""
        with errors(address):
            reader = connect(address)
            try:
                if not exists(reader, address):
                    raise NotFound(f"{address}: there is no such register", hint="make")
                place = Place(address, _who()).take(wait) if write else None
                return cls(address, reader, place)
            except BaseException:
                reader.close()
                raise

    @property
    def writable(self) -> bool:
        return self._place is not None

    def say(self, address: str) -> None:
        self.tell(Said(address, ""))

    def close(self) -> None:
        with self._reading:
            self._db.close()
            if self._listener is not None:
                self._listener.close()
        if self._place is not None:
            self._place.leave()

    # ------------------------------------------------------------------ taking turns

    @property
    def secret(self) -> str:
        found = self._one("SELECT secret FROM writer")
        return str(found[0]) if found else ""

    @property
    def lost(self) -> bool:
        place = self._place
        return place is not None and place.lost

    def take(self, wait: float) -> bool:
        with errors(self.address):
            self._standing = place = Place(self.address, _who())
            if not self._waits:
                place.wait_no_more()
            try:
                self._place = place.take(wait)
            except Locked:
                return False
            finally:
                self._standing = None
        return True

    def wait_no_more(self) -> None:
        self._waits = False
        if (standing := self._standing) is not None:
            standing.wait_no_more()
        self._ask("SELECT pg_notify(%s, '')", (self.address.channel,))  # whoever listens looks, and finds nothing

    def step_down(self) -> None:
        with self._taking:
            place, self._place = self._place, None
        if place is not None:
            place.leave()

    def wanted(self) -> bool:
        with errors(self.address):
            return self._writer.wanted()

    def holder(self) -> Holder:
        found = self._one("SELECT term, holder, address, seal FROM writer")
        return Holder(0, "", NOWHERE) if found is None else Holder(found[0], found[1], Said(found[2], found[3]))

    def tell(self, said: Said) -> None:
        with errors(self.address):
            self._writer.say(said)

    # ------------------------------------------------------------------ writing

    def append(self, events: Sequence[Event], after: int, times: Sequence[int] | None = None) -> list[Recorded]:
        """Add events, all or none, as of now or of these times; the server has them for good when this returns."""
        recorded = dated(events, after, times)
        with self._to_write() as db:
            last, crc = self._end(db)
            if last != after:
                raise Grown(f"{self.name} has been written by another process", "try again")
            with db.cursor().copy(f"COPY events ({COLUMNS}) FROM STDIN") as lines:
                for line in lines_of(recorded, crc):
                    lines.write_row(line)
            db.execute("SELECT pg_notify(%s, %s)", (self.address.channel, str(after + len(recorded))))
        return recorded

    def encoder(self, description: Mapping[str, Any]) -> int:
        text = json.dumps(description, sort_keys=True)
        with self._to_write() as db:
            found = db.execute("SELECT id FROM encoders WHERE description = %s", (text,)).fetchone()
            if found is None:
                found = db.execute("SELECT coalesce(max(id), 0) + 1 FROM encoders").fetchone()
                assert found is not None
                crc = zlib.crc32(text.encode(), found[0])
                db.execute("INSERT INTO encoders VALUES (%s, %s, %s)", (found[0], text, crc))
        return int(found[0])

    def keep_snapshot(self, snapshot: Snapshot) -> None:
        with self._to_write() as db:
            crc = self._crc(snapshot.number)
            entry = (snapshot.number, crc, digest_of(snapshot.number, crc, snapshot.body), snapshot.body)
            db.execute("DELETE FROM snapshots")
            db.execute("INSERT INTO snapshots VALUES (%s, %s, %s, %s)", entry)

    def forget(self, images: Sequence[int], by: str) -> Recorded | None:
        """Remove what tells of images for good, and leave a mark; none where all were forgotten already.

        The table is written anew without what was deleted. What the server keeps elsewhere, as its log of writes and
        its backups, is its administrator's to let go of.
        """
        left, mark = forget.left(forget.to_forget(self, images)), None
        if left:
            with self._to_write() as db:
                (mark,) = dated([forget.mark_of(left, by)], self._end(db)[0], None)
                rewrite(db, *self._without(left, mark))
        with errors(self.address), self._writer.connection() as db:
            db.execute("SET lock_timeout = '5s'")
            try:
                db.execute("VACUUM FULL events")
            except LockNotAvailable:
                raise Locked(
                    f"{self.name}: the image is forgotten, but others read it, and old bytes stay until then",
                    "forget the image once more",
                ) from None
            finally:
                db.execute("RESET lock_timeout")
        return mark

    @property
    def _writer(self) -> Place:
        place = self._place
        if place is not None and place.lost:  # the server was away, or ended it: whoever comes first has it
            with self._taking:
                place = self._place
                if place is not None and place.lost:
                    place.leave()
                    place = self._place = Place(self.address, _who(), place.said).take(0.0)
        if place is None:
            raise ReadOnly(f"{self.name} was opened for reading", "open it for writing")
        return place

    @contextmanager
    def _to_write(self) -> Iterator[Connection[Any]]:
        """A transaction of whoever holds the register, and of nobody who did."""
        with errors(self.address):
            place = self._writer
            with place.connection() as db, db.transaction():
                place.check(db)
                yield db

    # ------------------------------------------------------------------ reading

    def last(self) -> int:
        found = self._one("SELECT coalesce(max(number), 0) FROM events")
        return int(found[0]) if found else 0

    def wait(self, after: int, seconds: float) -> bool:
        """Whether there are events after one; told by the server, and waiting for it no longer than this."""
        if self.last() > after:
            return True
        with errors(self.address):
            if self._listener is None or self._listener.closed:
                self._listener = connect(self.address)
                self._listener.execute(sql.SQL("LISTEN {}").format(sql.Identifier(self.address.channel)))
                if self.last() > after:  # what came before it listened
                    return True
            for _ in self._listener.notifies(timeout=seconds if self._waits else 0, stop_after=1):
                pass
        return self.last() > after

    def with_source(self, source: str, upto: int) -> list[int]:
        query = """SELECT number FROM events WHERE kind IN ('Assigned', 'FoundEmpty') AND number <= %(last)s AND
            (body::json ->> 'source' = %(source)s OR right(body::json ->> 'source', %(size)s) = %(end)s)
            ORDER BY number"""
        end = f"/{source}"
        found = self._ask(query, {"last": upto, "source": source, "end": end, "size": len(end)})
        return [number for (number,) in found]

    def keyed(self, key: str) -> int | None:
        query = "SELECT number FROM events WHERE kind = 'Assigned' AND body::json ->> 'key' = %s LIMIT 1"
        found = self._one(query, (key,))
        return None if found is None else int(found[0])

    def verify(self, progress: Progress) -> None:
        self._check_events(progress)

    def back_up(self, path: Path, progress: Progress | None = None) -> None:
        """A copy as of now in a new file, event for event, whoever is writing."""
        copy = SqliteLog.create(path, self.header)
        try:
            copy_events(self, copy, progress)
            copy.verify(progress or Silent())
        finally:
            copy.close()

    # ------------------------------------------------------------------ inside

    def _page(self, after: int, upto: int) -> list[Line]:
        query: LiteralString = (
            f"SELECT {COLUMNS} FROM events WHERE number > %s AND number <= %s ORDER BY number LIMIT %s"
        )
        return self._ask(query, (after, upto, PAGE))

    def _crc_of(self, number: int) -> int | None:
        found = self._one("SELECT crc FROM events WHERE number = %s", (number,))
        return None if found is None else int(found[0])

    def _encoder_lines(self) -> list[Line]:
        return self._ask("SELECT id, description, crc FROM encoders")

    def _snapshot_line(self) -> Line | None:
        return self._one("SELECT number, crc, digest, body FROM snapshots")

    def _end(self, db: Connection[Any]) -> tuple[int, int]:
        """The last event's number, and its checksum."""
        found = db.execute("SELECT number, crc FROM events ORDER BY number DESC LIMIT 1").fetchone()
        return (0, self._header_crc) if found is None else (int(found[0]), int(found[1]))

    def _one(self, query: LiteralString, values: Any = ()) -> Line | None:
        found = self._ask(query, values)
        return found[0] if found else None

    def _ask(self, query: LiteralString, values: Any = ()) -> list[Line]:
        with errors(self.address), self._reading:
            try:
                return self._db.execute(query, values).fetchall()
            except OperationalError:
                if not self._db.broken:
                    raise
                self._db.close()
                self._db = connect(self.address)  # the server went away, and may be back
                return self._db.execute(query, values).fetchall()


def _who() -> str:
    return f"process {os.getpid()} on {socket.gethostname()}"
