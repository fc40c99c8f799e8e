"""Registers made by hand, in good order by their checksums: what cannot be is an error and not a fault."""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tiny_store import code, discover, new_store

from firstsight.core.errors import FirstsightError, StoreError
from firstsight.store.chained import checksum
from firstsight.store.events import Recorded, from_columns
from firstsight.store.store import Store


def forge(path: Path, header: dict[str, Any] | None = None, body: dict[str, Any] | None = None) -> None:
    """Change the header or the first event, and mend every checksum."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TRIGGER events_are_never_changed")
        (text,) = db.execute("SELECT value FROM header").fetchone()
        text = json.dumps({**json.loads(text), **(header or {})})
        crc = zlib.crc32(text.encode())
        db.execute("UPDATE header SET value = ?, crc = ?", (text, crc))
        for number, kind, at, said, feature, content in db.execute(
            "SELECT number, kind, at, body, feature, content FROM events ORDER BY number"
        ).fetchall():
            new = json.dumps({**json.loads(said), **(body or {})}) if number == 1 else said
            crc = checksum(crc, number, at, kind, new, feature, content)
            db.execute("UPDATE events SET body = ?, crc = ? WHERE number = ?", (new, crc, number))
        db.commit()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with new_store(tmp_path / "a.db") as store:
        discover(store, 0, 255, 0)
    return tmp_path / "a.db"


@pytest.mark.parametrize(
    "header",
    [
        {"model": None},
        {"model": {}},
        {"register": None},
        {"register": {"kind": "codes"}},
        {"register": {"kind": ["codes"]}},
        {"register": {"kind": "codes", "bits": 8, "radius": float("nan"), "rule": "nearest", "known": []}},
        {"register": {"kind": "statistics", "radius": 0, "known": ["a"], "within": "zz"}},
    ],
)
def test_headers_that_cannot_be(path: Path, header: dict[str, Any]) -> None:
    forge(path, header=header)
    with pytest.raises(FirstsightError), Store.open(path) as store:
        store.match(code(0), b"")


@pytest.mark.parametrize(
    "body", [{"category": "nowhere"}, {"category": []}, {"distance": "x"}, {"radius": "far"}, {"runner_up": {"a": 1}}]
)
def test_events_that_cannot_be(path: Path, body: dict[str, Any]) -> None:
    forge(path, body=body)
    with pytest.raises(StoreError, match=r"a\.db"):
        Store.open(path)


def test_a_sound_forgery_opens(path: Path) -> None:
    forge(path)
    with Store.open(path) as store:
        assert store.view().last == 3


def test_a_year_that_calendars_do_not_have_is_no_fault() -> None:
    event = from_columns("Undone", '{"events": [1]}', None, None)
    assert [Recorded(1, at, event).time for at in (0, 10**18, -(10**30))] == ["1970-01-01T00:00:00Z", "", ""]


def test_numbers_may_be_whole() -> None:
    event = from_columns("RadiusChanged", '{"old": 1, "new": 1.5}', None, None)
    assert (event.old, event.new) == (1, 1.5)  # type: ignore[union-attr]
