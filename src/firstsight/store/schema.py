"""The file: its tables and its format version. A file of another format is refused, untouched."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from firstsight._version import __version__
from firstsight.core.errors import Damaged, Incompatible
from firstsight.store.chained import COLUMNS, Line

APPLICATION = 0x46535247  # "FSRG": tells a register's file from any other database
FORMAT = 4
TRIGGER = "events_are_never_changed"
KEY = "json_extract(body, '$.key')"  # of an image, and
KEYED = f"kind = 'Assigned' AND {KEY} IS NOT NULL"  # the images that have one

TABLES = f"""
CREATE TABLE header (key TEXT PRIMARY KEY, value TEXT NOT NULL, crc INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE encoders (id INTEGER PRIMARY KEY, description TEXT NOT NULL UNIQUE, crc INTEGER NOT NULL);
CREATE TABLE events (
    number INTEGER PRIMARY KEY,  -- 1, 2, 3, ... without a gap
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,         -- microseconds since 1970, UTC
    body TEXT NOT NULL,          -- JSON
    feature BLOB,                -- what the encoder made: code words or float32 values, little-endian
    content BLOB,                -- SHA-256 of the image
    crc INTEGER NOT NULL         -- CRC-32 of this event, continuing that of the one before
);
CREATE INDEX keys ON events ({KEY}) WHERE {KEYED};  -- it follows events by itself, also as they are forgotten
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


def check(connection: sqlite3.Connection, path: Path) -> None:
    """An error where a file is not ours, or not of this format; another release may replace it under a reader."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise Incompatible(f"{path} is a database, but not a register of Firstsight", "choose another file")
    if version < 1:
        raise Damaged(f"{path} is damaged: it says its format is {version}", hint="damaged", log=path)
    if version != FORMAT:
        raise Incompatible(
            f"{path} has register format {version}; firstsight {__version__} reads format {FORMAT}",
            "use the release that wrote it; the file has not been touched",
        )


def rewrite(connection: sqlite3.Connection, changes: Sequence[Line], mark: Line) -> None:
    """Change what events say, by their numbers, and append a mark, inside the caller's transaction.

    The one time that events change. Snapshots go, which hold the first bytes of every content.
    """
    (guard,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (TRIGGER,)).fetchone()
    connection.execute(f"DROP TRIGGER {TRIGGER}")
    told = [(body, content, crc, number) for number, body, content, crc in changes]
    connection.executemany("UPDATE events SET body = ?, content = ?, crc = ? WHERE number = ?", told)
    connection.execute(f"INSERT INTO events ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", mark)
    connection.execute("DELETE FROM snapshots")
    connection.execute(guard)


def _statements(script: str) -> list[str]:
    """The statements of a script; `executescript` would commit the transaction first."""
    found, statement = [], ""
    for line in script.strip().splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            found.append(statement)
            statement = ""
    return found
