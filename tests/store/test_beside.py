"""Readers beside a writer: they see a sound file, as of some moment, however fast it is written; and damage still."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_store import MODEL, discover, fresh_register, new_store

from firstsight.cli.main import app
from firstsight.cli.remedies import remedy
from firstsight.core.errors import Damaged, Locked, StoreError
from firstsight.core.protocols import Register
from firstsight.model import folder
from firstsight.model.folder import load_model
from firstsight.register.spread import Spread
from firstsight.register.statistics import StatisticsRegister
from firstsight.store import schema
from firstsight.store import sqlite as sqlite_module
from firstsight.store import store as store_module
from firstsight.store.sqlite import SqliteLog
from firstsight.store.store import Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


def statistics() -> StatisticsRegister:
    return StatisticsRegister(Spread(np.ones(1), np.full(1, 25.0), 0.0), ["ant"], np.array([4]), np.zeros((1, 1)))


@contextmanager
def busy_writer(path: Path) -> Iterator[None]:
    """Another process writes the file without a pause while the block runs."""
    command = [sys.executable, str(Path(__file__).with_name("busy_writer.py")), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            assert child.stdout.readline() == "writing\n"
            yield
        finally:
            child.kill()
    assert child.returncode in (0, -signal.SIGKILL), "the writer failed by itself"


def damage(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path, timeout=60)) as db:
        db.execute("DROP TRIGGER IF EXISTS events_are_never_changed")
        db.execute("DROP TRIGGER IF EXISTS events_are_never_deleted")
        db.execute(statement)
        db.commit()


@pytest.mark.parametrize("register", [fresh_register(), statistics()], ids=["codes", "statistics"])
def test_a_file_opened_beside_a_writer_at_full_speed_is_sound(path: Path, register: Register) -> None:
    Store.create(path, register, MODEL).close()
    with busy_writer(path), Store.open(path, write=False) as follower:
        seen = [follower.view().last]
        while len(seen) < 20 or seen[-1] < seen[0] + 1000:
            with Store.open(path, write=False) as reader:
                seen.append(reader.view().last)
            follower.refresh()
        assert seen == sorted(seen)
        assert follower.view().last >= seen[-1]
        assert follower.replay() == follower.view().catalogue


@pytest.mark.parametrize("start", [0, 7, 8])
def test_events_written_between_any_two_pages_are_no_damage(
    path: Path, start: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever a reader has read a page, the writer writes: more than a page at times, and a snapshot now and then."""
    monkeypatch.setattr(sqlite_module, "PAGE", 4)
    monkeypatch.setattr(store_module, "SNAPSHOT_EVERY", 5)
    read_page = SqliteLog._page
    with Store.create(path, fresh_register(), MODEL, sync="normal") as writer:
        discover(writer, *range(start))

        def page(log: SqliteLog, after: int, upto: int) -> list[tuple[Any, ...]]:
            found = read_page(log, after, upto)
            if not log.writable:
                discover(writer, *range(1 + writer.view().last % 6))
            return found

        monkeypatch.setattr(SqliteLog, "_page", page)
        with Store.open(path, write=False) as reader:
            assert reader.view().last >= start
            assert reader.replay() == reader.view().catalogue
            reader.refresh()
            assert reader.replay() == reader.view().catalogue


def test_damage_is_found_beside_a_writer_at_full_speed(path: Path) -> None:
    new_store(path).close()
    with busy_writer(path):
        for spoilt in ("(SELECT max(number) FROM events)", "3"):
            damage(path, f"UPDATE events SET at = at + 1 WHERE number = {spoilt}")
            for _ in range(3):  # on opening, or where a snapshot spares it that, when all is checked
                with pytest.raises(Damaged, match=r"event \d+ is missing or not as it was written"):
                    Store.open(path, write=False).verify()


@pytest.mark.parametrize("column", ["body = x'00'", "crc = crc + 1", "number = number + 1"])
def test_a_damaged_snapshot_is_found_while_the_file_is_written(
    path: Path, column: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with new_store(path) as writer:
        discover(writer, *range(20))
        monkeypatch.setattr(store_module, "SNAPSHOT_EVERY", 5)
        discover(writer, 1)
        monkeypatch.undo()
        damage(path, f"UPDATE snapshots SET {column}")
        discover(writer, 2, 3)
        with pytest.raises(StoreError, match=r"damaged: the snapshot at event \d+ is not as it was written"):
            Store.open(path, write=False)


@pytest.mark.parametrize("lost", ["= 9", "BETWEEN 5 AND 8", "BETWEEN 5 AND 14", "< 5"])
def test_events_missing_by_the_page_are_damage(path: Path, lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_module, "PAGE", 4)
    with new_store(path) as store:
        discover(store, *range(20))
    damage(path, f"DELETE FROM events WHERE number {lost}")
    with pytest.raises(StoreError, match=r"damaged: event \d+ is missing"):
        Store.open(path)


def test_a_file_migrated_under_a_reader_is_newer_not_damaged(path: Path) -> None:
    with new_store(path) as store:
        discover(store, 1)
    with Store.open(path, write=False) as reader:
        with closing(sqlite3.connect(path)) as db:
            db.execute(f"PRAGMA user_version = {schema.FORMAT + 1}")
        with pytest.raises(StoreError, match=f"has register format {schema.FORMAT + 1}"):
            reader.refresh()


def test_of_two_processes_that_make_a_file_at_once_one_does_and_the_other_goes_on_with_it(path: Path) -> None:
    script = (
        "import sys\n"
        "from tiny_store import MODEL, discover, fresh_register\n"
        "from firstsight.store.store import Store\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n"
        "with Store.create(sys.argv[1], fresh_register(), MODEL, wait=60, or_open=True) as store: discover(store, 15)\n"
    )
    start = partial(
        subprocess.Popen,
        [sys.executable, "-c", script, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
    )
    with start() as one, start() as other:
        for child in (one, other):
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
        for child in (one, other):
            assert child.stdin is not None
            child.stdin.close()
        assert (one.wait(), other.wait()) == (0, 0)
    with Store.open(path) as store:
        assert store.view().catalogue.images("new-1") == [2, 3]
    with pytest.raises(StoreError, match="exists already"):
        new_store(path)


def test_discover_goes_on_with_a_register_that_was_made_while_it_loaded_the_model(
    path: Path, model_folder: Path, moths: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(*arguments: Any) -> Any:
        model = load_model(*arguments)
        Store.create(path, model.register(), model.provenance).close()
        return model

    monkeypatch.setattr(folder, "load_model", load)
    stream = str(moths / "stream")
    app(["discover", str(model_folder), stream, "--register", str(path), "--radius", "3"], standalone_mode=False)
    with Store.open(path, write=False) as store:
        assert store.view().catalogue.radius == 3
        assert len(store.view().catalogue.numbers) == 24


def test_who_would_write_beside_a_service_is_told_where_to_edit(path: Path) -> None:
    with new_store(path) as store:
        discover(store, 0b0111)
        store.say("http://127.0.0.1:8000")
        with pytest.raises(Locked, match=r"by firstsight serve at http://127.0.0.1:8000 .process \d+") as refused:
            Store.open(path)
        assert refused.value.facts == {"address": "http://127.0.0.1:8000"}
        assert remedy(refused.value) == "make the edit there; reading is possible here meanwhile"  # as commands say it
        with pytest.raises(Locked, match="firstsight serve at"):
            app(["categories", str(path), "rename", "new-1", "moth"], standalone_mode=False)
        with Store.open(path, write=False) as reader:  # as ever
            assert reader.view().images() == [2]
    with Store.open(path) as store:  # the address went with who said it
        with pytest.raises(Locked, match="by another process"):
            Store.open(path)
        store.rename("new-1", "moth")
