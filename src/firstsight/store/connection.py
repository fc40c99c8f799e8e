"""Opening a SQLite file: for one writer or many readers, with its complaints as errors for people."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from firstsight.core.errors import Damaged, DiskError, Locked, ReadOnly
from firstsight.core.files import FileLock, disk_errors

Sync = Literal["full", "normal"]
DISK = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
)


class Still(sqlite3.Connection):
    """Of a file nobody writes, in a folder that cannot be written from here: it sees no change that comes later."""


def connect(path: Path, mode: str, sync: Sync) -> sqlite3.Connection:
    """A connection that commits only when told to; reading works on read-only media too."""

    def attempt(options: str, kind: type[sqlite3.Connection] = sqlite3.Connection) -> sqlite3.Connection:
        return sqlite3.connect(
            f"{path.resolve().as_uri()}?{options}",
            uri=True,
            isolation_level=None,
            timeout=10,
            check_same_thread=False,
            factory=kind,
        )

    if mode != "ro":
        connection = attempt(f"mode={mode}")
        connection.execute(f"PRAGMA synchronous = {sync.upper()}")
        return connection
    try:
        connection = attempt("mode=ro")
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise
        if (wal := beside(path, "-wal")).exists() and wal.stat().st_size:
            raise Locked(
                f"{path} cannot be read: its last events are in {wal.name}, which needs a folder that can be written",
                "close whatever writes it, or copy both files to a folder of yours",
            ) from None
        connection = attempt("mode=ro&immutable=1", Still)
    return connection


def locked(path: Path, wait: float) -> FileLock:
    lock = FileLock(beside(path, "-lock"))
    if not lock.acquire(wait):
        still = f"still, after {wait:g} s, " if wait else ""
        process, address = lock.holder()
        if address:
            what = f"{path} is {still}being written by firstsight serve at {address} ({process})"
            raise Locked(what, "make the edit there; reading is possible here meanwhile", address=address)
        raise Locked(
            f"{path} is {still}being written by another process ({process or 'which does not say its name'})",
            "wait for it to end; reading is possible meanwhile",
            hint="wait",
        )
    return lock


def beside(path: Path, ending: str) -> Path:
    """A file that belongs to this one, wherever the name leads and whatever the folder we are in by then."""
    real = path.resolve()
    return real.with_name(real.name + ending)


def damaged(path: Path | str, what: str) -> Damaged:
    return Damaged(f"{path} is damaged: {what}", "restore it from a backup", hint="damaged", log=path)


@contextmanager
def sound(path: Path | str) -> Iterator[None]:
    """What a file says in good order but cannot be, such as an image in a category that is not there, as an error."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise damaged(path, f"what it says cannot be: {error!r}") from error


@contextmanager
def errors(path: Path) -> Iterator[None]:
    """SQLite's complaints as errors for people."""
    try:
        with disk_errors(path):
            yield
    except sqlite3.OperationalError as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF  # the rest says which I/O error
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise Locked(f"{path} is locked by another program", "close that, then try again") from None
        if code not in DISK:
            raise damaged(path, str(error)) from None
        raise DiskError(
            f"{path} could not be written: {error}",
            "free some space or make the file writable, then go on: everything acknowledged so far is there",
        ) from None
    except sqlite3.ProgrammingError as error:  # not the file's fault: it was closed, or is used by two threads at once
        raise ReadOnly(f"{path}: {error}", "open it again") from None
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
            what = f"{path} is not a register of Firstsight, or its first bytes are damaged"
            raise Damaged(what, "restore it from a backup", hint="damaged", log=path) from None
        raise damaged(path, str(error)) from None
