"""A register on a PostgreSQL server: its address, its tables, and the server's complaints as errors for people."""

from __future__ import annotations

import re
import secrets
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg import Connection, sql

from firstsight._version import __version__
from firstsight.core.errors import BadRequest, Conflict, DiskError, Incompatible, SettingsError, StoreError, Unreachable
from firstsight.store.chained import COLUMNS, Line
from firstsight.store.connection import damaged
from firstsight.store.schema import FORMAT

NAME = re.compile(r"[a-z][a-z0-9_]{0,50}")
PATIENCE: dict[str, Any] = {  # seconds, and milliseconds: a network that is gone is not waited for
    "connect_timeout": 10, "keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}  # fmt: skip
LOCK = 0x46535247  # "FSRG": the first half of the advisory lock of every register
TABLES = """
CREATE TABLE header (key TEXT PRIMARY KEY, value TEXT NOT NULL, crc BIGINT NOT NULL, format INTEGER NOT NULL);
CREATE TABLE encoders (id INTEGER PRIMARY KEY, description TEXT NOT NULL UNIQUE, crc BIGINT NOT NULL);
CREATE TABLE events (
    number BIGINT PRIMARY KEY,  -- 1, 2, 3, ... without a gap
    kind TEXT NOT NULL,
    at BIGINT NOT NULL,         -- microseconds since 1970, UTC
    body TEXT NOT NULL,         -- JSON
    feature BYTEA,              -- what the encoder made: code words or float32 values, little-endian
    content BYTEA,              -- SHA-256 of the image
    crc BIGINT NOT NULL         -- CRC-32 of this event, continuing that of the one before
);
CREATE INDEX keys ON events ((body::json ->> 'key')) WHERE kind = 'Assigned' AND body::json ->> 'key' IS NOT NULL;
CREATE TABLE snapshots (number BIGINT PRIMARY KEY, crc BIGINT NOT NULL, digest BYTEA NOT NULL, body BYTEA NOT NULL);
CREATE TABLE writer (
    term BIGINT NOT NULL,       -- counted on whenever another writes
    holder TEXT NOT NULL,       -- which, in words
    address TEXT NOT NULL,      -- of the service, where it is one
    seal TEXT NOT NULL,         -- by which other services know that one of them said so
    seen TIMESTAMPTZ NOT NULL,  -- its last sign of life
    secret TEXT NOT NULL        -- of services on one machine that have no tokens
);
CREATE FUNCTION never() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'events are append-only'; END $$;
CREATE TRIGGER events_are_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION never();
"""


@dataclass(frozen=True)
class Address:
    """Where a register is: `postgresql://user@host/database?register=moths`, and where pictures that are sent lie."""

    conninfo: str
    register: str = "firstsight"
    pictures: Path | None = None  # a folder that all who use it share

    @classmethod
    def of(cls, text: str) -> Address:
        """An address as people write it; SettingsError where it is none."""
        parts = urlsplit(text)
        options = dict(parse_qsl(parts.query))
        register, pictures = options.pop("register", "firstsight"), options.pop("pictures", None)
        if not NAME.fullmatch(register):
            raise SettingsError(f"register is {register!r}; allowed: small letters, digits and _, a letter first")
        rest = urlunsplit(("postgresql", parts.netloc, parts.path, urlencode(options), ""))
        return cls(rest, register, None if pictures is None else Path(pictures))

    @property
    def channel(self) -> str:
        """What readers listen to."""
        return f"firstsight_{self.register}"

    @property
    def lock(self) -> int:
        """The second half of its advisory lock, a signed number of 32 bits."""
        return zlib.crc32(self.register.encode()) - 2**31

    def __str__(self) -> str:
        """The same without a password."""
        parts = urlsplit(self.conninfo)
        place = parts.netloc.rpartition("@")
        user = place[0].partition(":")[0]
        return f"postgresql://{f'{user}@' if user else ''}{place[2]}{parts.path}?register={self.register}"


def connect(address: Address) -> Connection[Any]:
    """A session in the schema of the register; every statement is a transaction unless one is begun."""
    db = psycopg.connect(address.conninfo, autocommit=True, application_name="firstsight", **PATIENCE)
    db.execute("SELECT set_config('search_path', %s, false)", (address.register,))
    return db


def exists(db: Connection[Any], address: Address) -> bool:
    """Whether there is such a register; an error where it is of another format."""
    if db.execute("SELECT to_regclass('header')").fetchone() == (None,):
        return False
    found = db.execute("SELECT format FROM header").fetchone()
    if found is None:
        raise damaged(str(address), "it has no header")
    if found != (FORMAT,):
        raise Incompatible(
            f"{address} has register format {found[0]}; firstsight {__version__} reads format {FORMAT}",
            "use the release that wrote it; the register has not been touched",
        )
    return True


def make(db: Connection[Any], address: Address, header: str, crc: int, or_open: bool) -> None:
    """Make the tables, all or none; Conflict where they are there, unless that is as well."""
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s, %s)", (LOCK - 1, address.lock))  # of those who make it
        db.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(address.register)))
        if exists(db, address):
            if not or_open:
                raise Conflict(f"{address} exists already", "open it, or name a new one")
            return
        db.execute(TABLES)
        db.execute("INSERT INTO header VALUES ('header', %s, %s, %s)", (header, crc, FORMAT))
        db.execute("INSERT INTO writer VALUES (0, '', '', '', 'epoch', %s)", (secrets.token_hex(32),))


def rewrite(db: Connection[Any], changes: Sequence[Line], mark: Line) -> None:
    """Change what events say, by their numbers, and append a mark, inside the caller's transaction."""
    db.execute("ALTER TABLE events DISABLE TRIGGER events_are_never_changed")
    with db.cursor() as cursor:
        told = [(body, content, crc, number) for number, body, content, crc in changes]
        cursor.executemany("UPDATE events SET body = %s, content = %s, crc = %s WHERE number = %s", told)
        cursor.execute(f"INSERT INTO events ({COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s)".encode(), mark)
    db.execute("DELETE FROM snapshots")  # which hold the first bytes of every content
    db.execute("ALTER TABLE events ENABLE TRIGGER events_are_never_changed")


@contextmanager
def errors(address: Address) -> Iterator[None]:
    """The server's complaints as errors for people."""
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        raise StoreError(f"{address}: {_line(error)}", "ask its administrator for the right to do this") from None
    except (psycopg.errors.DiskFull, psycopg.errors.ReadOnlySqlTransaction) as error:
        raise DiskError(
            f"{address} could not be written: {_line(error)}",
            "go on when it can be: everything acknowledged so far is there",
        ) from None
    except psycopg.OperationalError as error:
        raise Unreachable(
            f"{address} cannot be reached: {_line(error)}",
            "see that the server runs and the address is right; everything acknowledged so far is there",
        ) from None
    except psycopg.errors.UntranslatableCharacter as error:
        raise BadRequest(f"{address}: {_line(error)}") from None
    except psycopg.Error as error:
        raise damaged(str(address), _line(error)) from None


def _line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
