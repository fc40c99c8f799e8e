"""The writer's place of a shared register: held by an advisory lock, shown by signs of life, and fenced by a term."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import inf
from threading import Event, RLock, Thread
from typing import Any, Self

import psycopg
from psycopg import Connection
from psycopg.errors import LockNotAvailable, QueryCanceled

from firstsight.core.errors import Locked, ReadOnly
from firstsight.store.server import LOCK, Address, connect
from firstsight.store.sharing import NOWHERE, Said

LEASE = 10.0  # seconds without a sign of life after which a writer has lost its place
SIGNS = LEASE / 5  # seconds between two signs
QUEUE = """FROM pg_locks WHERE locktype = 'advisory' AND classid::bigint = %s
    AND objid::bigint = (%s::bigint & 4294967295) AND objsubid = 2
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""  # who has the lock, or waits
CANCEL = 5.0  # seconds for the server to end a waiting
EVERY = 1.0  # seconds in the queue before it is seen whether whoever writes stalls


class Place:
    """`take` it, or be told who has it; `leave` it for the next.

    Those who wait stand in a queue of the server, which wakes the first the moment the place is free.
    """

    def __init__(self, address: Address, holder: str, said: Said = NOWHERE) -> None:
        self.address, self.said = address, said  # what others are told of where to find whoever writes
        self._holder = holder
        self._turn = RLock()
        self._over = Event()
        self._gone = False
        self._db, self._sign = connect(address), connect(address)  # a long write gives signs of life, too
        self._signs = Thread(target=self._show, name="signs of life", daemon=True)

    def take(self, wait: float) -> Self:
        """Within so many seconds; Locked where another has it still."""
        try:
            self._take(wait)
            found = self._db.execute(
                "UPDATE writer SET term = term + 1, holder = %s, address = %s, seal = %s, seen = now() RETURNING term",
                (self._holder, *self.said),
            ).fetchone()
            assert found is not None
            self.term = int(found[0])
        except BaseException:
            self._db.close()
            self._sign.close()
            raise
        self._signs.start()
        return self

    def wait_no_more(self) -> None:
        """End the waiting of another thread."""
        self._over.set()
        with suppress(psycopg.Error):
            self._db.cancel_safe(timeout=CANCEL)

    def say(self, said: Said) -> None:
        """Tell others where whoever writes can be reached."""
        self.said = said
        with self.connection() as db:
            db.execute("UPDATE writer SET address = %s, seal = %s WHERE term = %s", (*said, self.term))

    def wanted(self) -> bool:
        """Whether others stand in the queue for it."""
        with self.connection() as db:
            found = db.execute(f"SELECT count(*) {QUEUE} AND NOT granted".encode(), (LOCK, self.address.lock))
            return found.fetchone() != (0,)

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
            self._db.execute("UPDATE writer SET seen = 'epoch', address = '', seal = '' WHERE term = %s", (self.term,))
        self._db.close()
        self._signs.join()
        self._sign.close()

    def _take(self, wait: float) -> None:
        until = time.monotonic() + wait
        while not self._over.is_set():
            left = until - time.monotonic()
            if self._free() if left <= 0 else self._next(min(EVERY, left)):
                return
            self._end_one_that_stalls()
            if left <= 0:
                break
        raise self._held(wait)

    def _free(self) -> bool:
        found = self._db.execute("SELECT pg_try_advisory_lock(%s, %s)", (LOCK, self.address.lock))
        return found.fetchone() == (True,)

    def _next(self, seconds: float) -> bool:
        """Stand in the queue for so long; whether the place was free meanwhile."""
        self._db.execute("SELECT set_config('lock_timeout', %s, false)", (f"{max(1, round(1000 * seconds))}ms",))
        try:
            self._db.execute("SELECT pg_advisory_lock(%s, %s)", (LOCK, self.address.lock))
            return True
        except (LockNotAvailable, QueryCanceled):
            return False
        finally:
            if not self._db.broken:
                self._db.execute("RESET lock_timeout")

    def _end_one_that_stalls(self) -> None:
        """A session whose holder gave no sign of life for long is ended, which frees the lock."""
        with suppress(psycopg.errors.InsufficientPrivilege):  # then it is waited for
            self._db.execute(
                f"""SELECT pg_terminate_backend(pid) {QUEUE}
                AND granted AND pid <> pg_backend_pid()
                AND (SELECT seen FROM writer) < now() - %s * interval '1 second'
                AND (SELECT state_change FROM pg_stat_activity a WHERE a.pid = pg_locks.pid)
                    < now() - %s * interval '1 second'""".encode(),
                (LOCK, self.address.lock, LEASE, LEASE),
            )

    def _held(self, wait: float) -> Locked:
        found = self._db.execute("SELECT holder, address FROM writer").fetchone() or ("", "")
        still = f"still, after {wait:g} s, " if 0 < wait < inf else ""
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
        """Signs of life until it is left; one that nobody takes any more says that the place is lost."""
        while not self._over.wait(SIGNS):
            try:
                seen = self._sign.execute("UPDATE writer SET seen = now() WHERE term = %s", (self.term,))
                self._gone = self._gone or seen.rowcount == 0
            except psycopg.Error:
                self._gone = self._gone or self._sign.broken
            if self._gone:
                return
