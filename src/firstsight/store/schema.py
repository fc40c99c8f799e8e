"""The file: its tables, its format version, and how files of older formats become today's.

A file is migrated only after a backup lies beside it. A newer one is refused.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from firstsight._version import __version__
from firstsight.core.errors import StoreError
from firstsight.store.making import new_database

APPLICATION = 0x46535247  # "FSRG": tells a register's file from any other database
FORMAT = 1

# Each brings a file of this format to the next one, inside a transaction.
MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {}

TABLES = """
CREATE TABLE header (key TEXT PRIMARY KEY, value TEXT NOT NULL, crc INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE encoders (id INTEGER PRIMARY KEY, description TEXT NOT NULL UNIQUE, crc INTEGER NOT NULL);
CREATE TABLE events (
    number INTEGER PRIMARY KEY,  -- 1, 2, 3, ... without a gap
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,         -- microseconds since 1970, UTC
    body TEXT NOT NULL,          -- JSON
    feature BLOB,                -- what the encoder made: code words or float32 features, little-endian
    content BLOB,                -- SHA-256 of the image
    crc INTEGER NOT NULL         -- CRC-32 of this event, continuing that of the one before
);
CREATE TABLE snapshots (number INTEGER PRIMARY KEY, crc INTEGER NOT NULL, digest BLOB NOT NULL, body BLOB NOT NULL);
CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
"""


def create(connection: sqlite3.Connection) -> None:
    """Make an empty file ours, inside the caller's transaction."""
    for statement in _statements(TABLES):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def check(connection: sqlite3.Connection, path: Path) -> int:
    """The format of a file; an error where it is not ours or newer than this release."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise StoreError(f"{path} is a database, but not a register of Firstsight", "choose another file")
    if version < 1:
        raise StoreError(f"{path} is damaged: it says its format is {version}", "restore it from a backup")
    if version > FORMAT:
        raise StoreError(
            f"{path} has register format {version}; firstsight {__version__} reads up to {FORMAT}",
            "upgrade Firstsight; the file has not been touched",
        )
    return int(version)


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring a file to today's format, step by step, each in a transaction, after a backup."""
    version = check(connection, path)
    if version == FORMAT:
        return
    back_up(connection, path.with_name(f"{path.name}.format-{version}.bak"))
    for step in range(version, FORMAT):
        connection.execute("BEGIN IMMEDIATE")
        try:
            MIGRATIONS[step](connection)
            connection.execute(f"PRAGMA user_version = {step + 1}")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise


def back_up(connection: sqlite3.Connection, path: Path) -> None:
    """A copy of the whole file as of one moment, on the disk when this returns."""
    with new_database(path) as temporary, closing(sqlite3.connect(temporary)) as copy:
        connection.backup(copy)


def _statements(script: str) -> list[str]:
    """The statements of a script; `executescript` would commit the transaction first."""
    found, statement = [], ""
    for line in script.strip().splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            found.append(statement)
            statement = ""
    return found
