"""The file: one writer, durable, refused when full or read-only; damage is found when it is read."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tiny_store import KINDS, MODEL, Kind, arrival, code, discover, fresh, fresh_register, new_store

from firstsight.core.errors import Damaged, DiskError, Incompatible, StoreError
from firstsight.core.files import FileLock
from firstsight.core.protocols import Silent
from firstsight.store import chained, schema
from firstsight.store import contents as contents_module
from firstsight.store import store as store_module
from firstsight.store.connection import beside
from firstsight.store.contents import Contents, key_of
from firstsight.store.events import Event, Recorded, to_columns
from firstsight.store.making import new_database
from firstsight.store.reencode import reencode
from firstsight.store.sqlite import SqliteLog
from firstsight.store.store import Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


def writer_of(store: Store) -> sqlite3.Connection:
    log = store._log
    assert isinstance(log, SqliteLog)
    assert log._writer is not None
    return log._writer


def test_every_commit_waits_for_the_disk(path: Path) -> None:
    with new_store(path) as store:
        assert writer_of(store).execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
        assert writer_of(store).execute("PRAGMA journal_mode").fetchone() == ("wal",)
    with Store.open(path, sync="normal") as store:
        assert writer_of(store).execute("PRAGMA synchronous").fetchone() == (1,)


def test_events_cannot_be_changed_or_deleted(path: Path) -> None:
    with new_store(path) as store:
        discover(store, 1)
    with closing(sqlite3.connect(path)) as db:
        for statement in ("UPDATE events SET body = '{}'", "DELETE FROM events"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                db.execute(statement)


def test_a_second_writer_is_refused_or_waits(path: Path) -> None:
    with new_store(path) as store:
        discover(store, 1)
        with pytest.raises(StoreError, match=f"being written by another process .process {os.getpid()}"):
            Store.open(path)
        began = time.monotonic()
        with pytest.raises(StoreError, match=r"still, after 0.3 s"):
            Store.open(path, wait=0.3)
        assert time.monotonic() - began >= 0.3
        script = (
            "import sys\nfrom firstsight.store.store import Store\n"
            "print('waiting', flush=True)\n"
            "with Store.open(sys.argv[1], wait=60) as store: store.rename('ant', 'emmet')\n"
        )
        child = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
    assert child.wait(60) == 0
    child.stdout.close()
    with Store.open(path) as store:
        assert store.view().catalogue.categories["ant"].name == "emmet"
    assert not path.with_name("a.db-lock").exists()


def test_a_lock_left_by_a_killed_process_does_not_hold(path: Path) -> None:
    path.with_name("a.db-lock").write_text("process 1\n")
    new_store(path).close()


def test_images_are_found_by_content_among_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents_module, "RECENT", 3)
    digests = [bytes([i % 5]) * 8 + bytes([i]) * 24 for i in range(40)] + [b"\xff" * 32]
    start = Contents(np.array([key_of(d) for d in digests[:9]], dtype=np.uint64), np.arange(9))
    for number, digest in enumerate(digests[9:], start=9):
        start.add(number, key_of(digest))
        if number % 3 == 0:
            assert start.candidates(digest, number)[-1] == number
    assert start.candidates(bytes([2]) * 32, 100) == [2, 7, 12, 17, 22, 27, 32, 37]
    assert start.candidates(bytes([2]) * 32, 22) == [2, 7, 12, 17, 22]
    assert start.candidates(b"\xff" * 32, 100) == [40]
    assert start.candidates(b"\x09" * 32, 100) == []


def test_another_name_for_it_is_the_same_file(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link.db").symlink_to(path)
    (tmp_path / "elsewhere").mkdir()
    store = new_store(Path("a.db"))
    for name in ("link.db", tmp_path / "a.db"):
        with pytest.raises(StoreError, match="another process"):
            Store.open(name)
    monkeypatch.chdir(tmp_path / "elsewhere")
    discover(store, 1)
    store.close()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.db", "elsewhere", "link.db"]


def test_a_new_file_does_not_take_over_what_a_killed_writer_left(path: Path, tmp_path: Path) -> None:
    path.with_name("a.db-wal").write_bytes(b"the last events of a file that is gone")
    encoder: Any = SimpleNamespace(register=fresh_register, provenance=MODEL)
    with new_store(tmp_path / "other.db") as other:
        for make in (new_store, other.back_up, lambda path: reencode(other, encoder, path, Silent())):
            with pytest.raises(StoreError, match=r"a\.db-wal of the register it was is left"):
                make(path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.db-wal", "other.db"]


def test_a_new_file_has_nothing_to_do_with_readers_of_one_that_is_gone(path: Path, tmp_path: Path) -> None:
    with new_store(path) as store:
        discover(store, *range(0, 250, 3))
        follower = Store.open(path, write=False)
    with follower:
        before = follower.view().catalogue.state()
        path.unlink()
        with new_store(path) as store:
            discover(store, 1)
            assert follower.refresh() == 0
            assert follower.replay().state() == before
        with Store.open(path) as store:
            assert store.view().last == 1


def test_a_file_that_could_not_be_written_whole_does_not_appear(path: Path) -> None:
    def half() -> None:
        with new_database(path) as temporary:
            temporary.touch()
            beside(temporary, "-wal").write_bytes(b"events for which the disk had no room when it was closed")

    with pytest.raises(DiskError, match="could not be written whole"):
        half()
    assert list(path.parent.iterdir()) == []


def test_a_lock_is_had_by_one_at_a_time(tmp_path: Path) -> None:
    one, two = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert one.acquire()
    assert not two.acquire()
    one.release()
    assert two.acquire()
    two.release()


def test_a_new_store_does_not_replace_a_file(path: Path) -> None:
    path.write_text("mine")
    with pytest.raises(StoreError, match="exists already"):
        new_store(path)
    assert path.read_text() == "mine"
    assert list(path.parent.iterdir()) == [path]


def test_what_someone_else_appends_is_followed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with new_store(path) as store:
        monkeypatch.setattr(FileLock, "acquire", lambda self, wait=0.0: True)  # as where there are no locks
        with Store.open(path) as other:
            discover(other, 0b1111)
            other.rename("bee", "wasp")
        assert store.rename("ant", "emmet").number == 4
        assert store.record([arrival(0b1110, "x")], MODEL)[0].category == "new-1"
        assert store.view().name_of("bee") == "wasp"
        assert store.replay() == store.view().catalogue


def test_a_full_disk_refuses_and_work_goes_on_when_there_is_room(path: Path) -> None:
    with new_store(path) as store:
        discover(store, 1, 0b1111)
        db = writer_of(store)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(DiskError, match="full") as full:
            store.record([arrival(0b0110, "x" * 5000)], MODEL)
        assert "everything acknowledged so far is there" in full.value.remedy
        assert store.view().last == 3
        assert store.register.match(code(0b0110)).category is None
        db.execute("PRAGMA max_page_count = 1000000")
        (answer,) = store.record([arrival(0b0110, "x" * 5000)], MODEL)
        assert (answer.category, answer.image) == ("new-2", 5)
        everything = store.view().catalogue.state()
    with Store.open(path) as store:
        assert store.view().catalogue.state() == everything


def test_a_failed_write_leaves_the_register_as_the_log_is(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with new_store(path) as store:
        real = store._log.append

        def fail(*arguments: Any) -> Any:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(store._log, "append", fail)
        with pytest.raises(OSError, match="No space"):
            discover(store, 0b1111)
        monkeypatch.setattr(store._log, "append", real)
        assert store.register.match(code(0b1111)).category is None
        assert discover(store, 0b1111)[0].category == "new-1"


def test_the_systems_refusal_is_an_error_for_people(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = new_store(path)
    monkeypatch.setattr(store._log, "_to_write", _refuse)
    with pytest.raises(DiskError, match=r"a\.db could not be written: No space left"):
        discover(store, 1)


def _refuse() -> Any:
    raise OSError(28, "No space left on device")


def test_a_read_only_file_is_read_and_not_written(path: Path) -> None:
    with new_store(path) as store:
        discover(store, 0b1111)
    with Store.open(path) as store:
        writer_of(store).execute("PRAGMA query_only = ON")  # what a read-only file answers, also to root
        with pytest.raises(DiskError, match="readonly"):
            store.rename("ant", "emmet")
        writer_of(store).execute("PRAGMA query_only = OFF")
        store.rename("ant", "emmet")
    with Store.open(path, write=False) as store:
        assert store.view().catalogue.categories["ant"].name == "emmet"


def flip(path: Path, offset: int) -> None:
    content = bytearray(path.read_bytes())
    content[offset] ^= 0xFF
    path.write_bytes(content)


def is_sound(path: Path, state: Any, events: list[Recorded]) -> bool:
    """Whether a file opens and is sound. If it opens it must say what it said, whatever else is damaged."""
    try:
        store = Store.open(path, write=False)
    except StoreError:
        return False
    with store:
        assert (store.view().catalogue.state(), store.view().encoders()) == state
        try:
            store.verify()
            return True
        except StoreError:
            for number in range(1, store.view().last + 1):  # what is read is as it was, or refused
                with suppress(StoreError):
                    assert store.view().event(number) == events[number - 1]
            return False


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_found_out_wherever_the_damage_is(
    path: Path, kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every hundredth byte of the file in turn: what is used is as it was, and `verify` finds the rest."""
    monkeypatch.setattr(store_module, "SNAPSHOT_EVERY", 1)
    with Store.create(path, fresh(kind), MODEL, sync="normal") as store:
        for i in range(20):
            discover(store, 0b1111 ^ (i * 13 % 256), kind=kind)
        store.rename("new-1", "moth")
        state = (store.view().catalogue.state(), store.view().encoders())
        events = list(store.view().events())
    intact = path.read_bytes()
    copy, refused = tmp_path / "copy.db", 0
    for offset in range(0, len(intact), 101):
        copy.write_bytes(intact)
        flip(copy, offset)
        refused += not is_sound(copy, state, events)
    assert refused > 20  # most bytes of a small file lie in pages not in use


@pytest.mark.parametrize("spoil", [lambda it: it[: len(it) // 2], lambda it: it[:16] + b"x" * 500, lambda _: b"no"])
def test_a_file_cut_short_or_of_something_else_is_refused(path: Path, spoil: Callable[[bytes], bytes]) -> None:
    with new_store(path) as store:
        discover(store, *range(0, 250, 3))
    path.write_bytes(spoil(path.read_bytes()))
    for write in (True, False):
        with pytest.raises(StoreError, match="damaged"):
            Store.open(path, write=write)


def _edit_by_hand(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TRIGGER events_are_never_changed")
        db.execute("DROP TRIGGER events_are_never_deleted")
        for statement in statements:
            db.execute(statement)
        db.commit()


OLDER = [
    "UPDATE events SET body = replace(body, 'ant', 'bee') WHERE number = 1",
    "UPDATE events SET feature = x'0000000000000000' WHERE number = 3",
    "UPDATE events SET at = at + 1 WHERE number = 2",
    "DELETE FROM events WHERE number = 2",
]
READ_ON_OPENING = [
    "UPDATE snapshots SET body = x'00'",
    "UPDATE snapshots SET number = 2",
    "DELETE FROM events WHERE number = 4",
    "UPDATE header SET value = replace(value, 'ant', 'ape')",
    "DELETE FROM header",
    "UPDATE encoders SET description = replace(description, 'cpu', 'gpu')",
]


def edited(path: Path, kind: Kind, monkeypatch: pytest.MonkeyPatch, statement: str, snapshot: bool) -> None:
    """A file of four events, with a snapshot of all of them or none, that other hands changed."""
    monkeypatch.setattr(store_module, "SNAPSHOT_EVERY", 1 if snapshot else 100)
    with Store.create(path, fresh(kind), MODEL) as store:
        discover(store, 0, 0b1111, 0, kind=kind)
    _edit_by_hand(path, statement)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("statement", READ_ON_OPENING)
def test_what_opening_reads_is_refused_where_other_hands_changed_it(
    path: Path, kind: Kind, statement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited(path, kind, monkeypatch, statement, snapshot=True)
    with pytest.raises(Damaged, match="damaged"):
        Store.open(path)
    assert not path.with_name("a.db-lock").exists()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("statement", OLDER)
def test_without_a_snapshot_opening_reads_every_event(
    path: Path, kind: Kind, statement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited(path, kind, monkeypatch, statement, snapshot=False)
    with pytest.raises(Damaged, match="damaged"):
        Store.open(path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("statement", OLDER)
def test_older_events_are_checked_when_they_are_read(
    path: Path, kind: Kind, statement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited(path, kind, monkeypatch, statement, snapshot=True)
    with Store.open(path) as store:
        assert discover(store, 0, kind=kind)[0].category == "ant"  # which needs none of them
        for read in (store.replay, store.verify, lambda: list(store.view().newest())):
            with pytest.raises(Damaged, match=r"event \d is missing or not as it was written"):
                read()
        with pytest.raises(Damaged):
            list(map(store.view().event, range(1, 5)))
        with pytest.raises(Damaged, match=r"a\.db is damaged"):
            store.back_up(path.with_name("copy.db"))
    assert not path.with_name("copy.db").exists()


def test_any_other_database_is_refused(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE photographs (name TEXT)")
    with pytest.raises(StoreError, match="not a register"):
        Store.open(path)


def test_a_format_that_never_was_is_damage(path: Path) -> None:
    new_store(path).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 0")
    with pytest.raises(StoreError, match="damaged"):
        Store.open(path)


@pytest.mark.parametrize("other", [schema.FORMAT - 1, schema.FORMAT + 1])
def test_another_format_is_refused_untouched(path: Path, other: int) -> None:
    new_store(path).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {other}")
    before = path.read_bytes()
    with pytest.raises(Incompatible, match=f"format {other}; .* reads format {schema.FORMAT}"):
        Store.open(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("kind", ["Assigned", "Dreamt"])
def test_an_event_of_a_newer_release_is_no_damage(path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def later(event: Event) -> tuple[str, str, bytes | None, bytes | None]:
        _, body, feature, content = to_columns(event)
        return kind, body.replace("{", '{"mood":1,', 1), feature, content

    with new_store(path) as store:
        monkeypatch.setattr(chained, "to_columns", later)
        discover(store, 1)
    with pytest.raises(StoreError, match="event 1 says what this release does not know") as refused:
        Store.open(path)
    assert "upgrade" in str(refused.value.remedy)


def test_reading_works_where_nothing_can_be_written(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with new_store(path) as store:
        discover(store, 0b1111)
    elsewhere = tmp_path / "media" / "a.db"
    elsewhere.parent.mkdir()
    shutil.copy(path, elsewhere)
    real = sqlite3.connect

    def no_shared_memory(target: str, **options: Any) -> Any:
        """A read-only folder, also for root: only an immutable file can be opened."""
        return real(target if "immutable" in target else "file:/nonexistent/a.db?mode=ro", **options)

    monkeypatch.setattr("firstsight.store.sqlite.sqlite3.connect", no_shared_memory)
    monkeypatch.chdir(elsewhere.parent)
    with Store.open("a.db", write=False) as store:
        assert store.view().catalogue.find("new-1") is not None
        with monkeypatch.context() as patch:
            patch.setattr("firstsight.store.sqlite.sqlite3.connect", real)
            with Store.open(elsewhere) as writer:  # who may write there
                discover(writer, 1)
        monkeypatch.chdir(tmp_path)
        assert store.refresh() == 1
    with pytest.raises(StoreError, match="closed"):
        store.refresh()
    elsewhere.with_name("a.db-wal").write_bytes(b"events nobody could see")
    with pytest.raises(StoreError, match=r"its last events are in a\.db-wal"):
        Store.open(elsewhere, write=False)


def test_a_backup_holds_what_was_there_while_the_writer_goes_on(path: Path, tmp_path: Path) -> None:
    with new_store(path) as store:
        discover(store, 0b1111)
        state = store.view().catalogue.state()
        with Store.open(path, write=False) as reader:
            reader.back_up(tmp_path / "copy.db")
            with pytest.raises(StoreError, match="exists already"):
                reader.back_up(tmp_path / "copy.db")
        discover(store, 0b1110000)
    with Store.open(tmp_path / "copy.db") as copy:
        assert copy.view().catalogue.state() == state


def test_a_closed_store_says_so_and_may_be_closed_again(path: Path) -> None:
    store = new_store(path)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.rename("ant", "emmet")


def test_a_store_needs_a_fresh_name_or_a_file_that_is_there(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such register"):
        Store.open(tmp_path / "none.db")
    assert not (tmp_path / "none.db-lock").exists()
    Store.create(tmp_path / "deep" / "er" / "a.db", fresh_register(), MODEL).close()
