"""The writer's place of a shared register: held by an advisory lock, shown by signs of life, and fenced by a term."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, RLock, Thread
from typing import Any

import psycopg
from psycopg import Connection

from firstsight.core.errors import Locked, ReadOnly
from firstsight.store.server import LOCK, Address, connect

LEASE = 10.0  # seconds without a sign of life after which a writer has lost its place
SIGNS = LEASE / 5  # seconds between two signs
EVERY = 0.2  # seconds between two tries


class Place:
    """Taken when this is made, or an error that says who has it; `leave` it for the next."""

    def __init__(self, address: Address, wait: float, holder: str, said: str = "") -> None:
        self.address, self.said = address, said  # what others are told of where to find whoever writes
        self._turn = RLock()
        self._over = Event()
        self._gone = False
        self._db, self._sign = connect(address), connect(address)  # a long write gives signs of life, too
        try:
            self._take(wait)
            found = self._db.execute(
                "UPDATE writer SET term = term + 1, holder = %s, address = %s, seen = now() RETURNING term",
                (holder, said),
            ).fetchone()
            assert found is not None
            self.term = int(found[0])
        except BaseException:
            self._db.close()
            self._sign.close()
            raise
        self._signs = Thread(target=self._show, name="signs of life", daemon=True)
        self._signs.start()

    def say(self, address: str) -> None:
        """Tell others where whoever writes can be reached."""
        self.said = address
        with self.connection() as db:
            db.execute("UPDATE writer SET address = %s WHERE term = %s", (address, self.term))

    @property
    def lost(self) -> bool:
        """Whether the session that held the lock has ended, or another writes by now."""
        return self._gone or self._db.broken or self._db.closed

    @contextmanager
    def connection(self) -> Iterator[Connection[Any]]:
        """The session that holds the lock; one thread at a time."""
        with self._turn:
            if self.lost:
                raise self._lost()
            yield self._db

    def check(self, db: Connection[Any]) -> None:
        """Inside a transaction: this is the writer still, and stays it until the transaction ends."""
        found = db.execute("SELECT term FROM writer FOR SHARE").fetchone()
        if found != (self.term,):
            self._gone = True
            raise self._lost()

    def leave(self) -> None:
        self._over.set()
        with self._turn, suppress(psycopg.Error):
            self._db.execute("UPDATE writer SET seen = 'epoch', address = '' WHERE term = %s", (self.term,))
        self._db.close()
        self._signs.join()
        self._sign.close()

    def _take(self, wait: float) -> None:
        until = time.monotonic() + wait
        while True:
            if self._db.execute("SELECT pg_try_advisory_lock(%s, %s)", (LOCK, self.address.lock)).fetchone() == (True,):
                return
            self._end_one_that_stalls()
            if time.monotonic() >= until:
                raise self._held(wait)
            time.sleep(EVERY)

    def _end_one_that_stalls(self) -> None:
        """A session whose holder gave no sign of life for long is ended, which frees the lock."""
        with suppress(psycopg.errors.InsufficientPrivilege):  # then it is waited for
            self._db.execute(
                """SELECT pg_terminate_backend(pid) FROM pg_locks, writer
                WHERE locktype = 'advisory' AND classid::bigint = %s AND objid::bigint = (%s::bigint & 4294967295)
                AND objsubid = 2
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                AND granted AND pid <> pg_backend_pid() AND seen < now() - %s * interval '1 second'
                AND (SELECT state_change FROM pg_stat_activity a WHERE a.pid = pg_locks.pid)
                    < now() - %s * interval '1 second'""",
                (LOCK, self.address.lock, LEASE, LEASE),
            )

    def _held(self, wait: float) -> Locked:
        found = self._db.execute("SELECT holder, address FROM writer").fetchone() or ("", "")
        still = f"still, after {wait:g} s, " if wait else ""
        if found[1]:
            what = f"{self.address} is {still}being written by firstsight serve at {found[1]} ({found[0]})"
            return Locked(what, "make the edit there; reading is possible here meanwhile", address=found[1])
        what = f"{self.address} is {still}being written by another ({found[0] or 'which does not say its name'})"
        return Locked(what, "wait for it to end; reading is possible meanwhile", hint="wait")

    def _lost(self) -> ReadOnly:
        return ReadOnly(
            f"{self.address}: this process is no longer its writer, as the server or another ended that",
            "open it again; what was acknowledged is there",
        )

    def _show(self) -> None:
        while not self._over.wait(SIGNS) and not self._sign.broken:
            with suppress(psycopg.Error):
                self._sign.execute("UPDATE writer SET seen = now() WHERE term = %s", (self.term,))
