"""What only a register on a server can do: have its writer replaced, tell readers, survive the server, be copied."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from every_log import new_address
from tiny_store import KINDS, MODEL, Kind, discover, fresh

import postgres
from firstsight.core.errors import Conflict, Damaged, FirstsightError, Locked, NotFound, ReadOnly, SettingsError
from firstsight.store import writing
from firstsight.store.copying import copy_events
from firstsight.store.postgres import PostgresLog
from firstsight.store.server import Address, connect
from firstsight.store.sqlite import SqliteLog
from firstsight.store.store import Store, header_of
from programs import needs

pytestmark = needs("initdb")


def new(kind: Kind = "codes") -> tuple[Store, Address]:
    address = new_address()
    return Store(PostgresLog.create(address, header_of(fresh(kind), MODEL))), address


def test_an_address_says_where_and_hides_the_password() -> None:
    address = Address.of("postgresql://ann:secret@db.example:5433/field?register=moths&pictures=/srv/p&sslmode=require")
    assert (address.register, address.pictures) == ("moths", Path("/srv/p"))
    assert address.conninfo == "postgresql://ann:secret@db.example:5433/field?sslmode=require"
    assert str(address) == "postgresql://ann@db.example:5433/field?register=moths"


@pytest.mark.parametrize("register", ["Moths", "a-b", "1a", "a" * 60, "x; drop table events"])
def test_a_register_is_called_plainly(register: str) -> None:
    with pytest.raises(SettingsError, match="allowed"):
        Address.of(f"postgresql://host/db?register={register}")


def test_there_is_one_writer_and_others_are_told_who() -> None:
    store, address = new()
    with store:
        with pytest.raises(Locked, match=f"process {os.getpid()}"):
            PostgresLog.open(address)
        store.say("http://127.0.0.1:8000")
        with pytest.raises(Locked, match=r"firstsight serve at http://127.0.0.1:8000"):
            PostgresLog.open(address)
        discover(store, 1)
        with Store(PostgresLog.open(address, write=False)) as reader:
            assert reader.view().last == store.view().last
            with pytest.raises(ReadOnly):
                reader.rename("ant", "emmet")
    with Store(PostgresLog.open(address)) as next_one:
        next_one.rename("ant", "emmet")


def test_a_writer_that_stalled_and_comes_back_cannot_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "SIGNS", 3600)  # it gives no more signs of life
    store, address = new()
    discover(store, 1)
    monkeypatch.setattr(writing, "LEASE", 0.1)
    time.sleep(0.3)
    with Store(PostgresLog.open(address, wait=10)) as successor:
        for _ in range(2):
            with pytest.raises(FirstsightError):
                store.rename("ant", "emmet")
        with pytest.raises(Locked, match="being written by another"):
            store.rename("ant", "emmet")
        assert successor.rename("ant", "soldier ant").number == successor.view().last
        assert successor.replay() == successor.view().catalogue
    store.close()


def test_a_term_fences_even_one_whose_session_lives() -> None:
    store, address = new()
    with store:
        with connect(address) as db:
            db.execute("UPDATE writer SET term = term + 1")
        with pytest.raises(ReadOnly, match="no longer its writer"):
            discover(store, 1)
        assert store.view().last == 0
        discover(store, 1)  # the place was free, and is taken again
        assert store.view().last == 1


def test_a_writer_whose_session_ended_takes_its_place_again() -> None:
    store, address = new()
    with store:
        discover(store, 1)
        with connect(address) as db:
            db.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = 'firstsight' AND pid <> pg_backend_pid()"
            )
        with suppress(FirstsightError):
            discover(store, 200)
        discover(store, 201)
        store.verify()
        assert store.replay() == store.view().catalogue


def test_readers_are_told_of_what_is_appended() -> None:
    store, address = new()
    with store, Store(PostgresLog.open(address, write=False)) as reader, ThreadPoolExecutor(1) as pool:
        assert isinstance(reader._log, PostgresLog)
        assert not reader._log.wait(0, 0.01)
        told = pool.submit(reader._log.wait, 0, 30)
        discover(store, 1)
        assert told.result(30)
        reader.refresh()
        assert reader.view().last == store.view().last


@pytest.mark.parametrize("kind", KINDS)
def test_a_register_is_copied_either_way_event_for_event(kind: Kind, tmp_path: Path) -> None:
    with Store.create(tmp_path / "a.db", fresh(kind), MODEL) as store:
        discover(store, *range(0, 256, 7), kind=kind)
        store.merge("new-1", "ant")
        store.undo()
        there = PostgresLog.create(new_address(), store._log.header)
        copy_events(store._log, there)
        with Store(there) as copied:
            assert copied.view().catalogue == store.view().catalogue
            assert list(copied.view().events()) == list(store.view().events())
            copied.back_up(tmp_path / "b.db")
            with pytest.raises(Conflict, match="holds events"):
                copy_events(store._log, there)
    one, other = (SqliteLog.open(tmp_path / name, write=False) for name in ("a.db", "b.db"))
    assert list(one.read()) == list(other.read())
    assert one.encoders() == other.encoders()
    one.close()
    other.close()


def test_events_are_never_changed_and_damage_shows() -> None:
    store, address = new()
    with store, connect(address) as db:
        discover(store, 1, 2, 3)
        for change in ("UPDATE events SET body = '{}'", "DELETE FROM events", "TRUNCATE events"):
            with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
                db.execute(change.encode())
        db.execute("ALTER TABLE events DISABLE TRIGGER events_are_never_changed")
        db.execute("UPDATE events SET at = at + 1 WHERE number = 2")
        with pytest.raises(Damaged, match="event 2"):
            store.verify()


def test_what_is_not_there_is_said() -> None:
    with pytest.raises(NotFound, match="no such register"):
        PostgresLog.open(new_address())
    with pytest.raises(FirstsightError, match="cannot be reached"):
        PostgresLog.open(Address.of("postgresql://nobody@/x?host=/nowhere"))
    store, address = new()
    with store, pytest.raises(Conflict, match="exists already"):
        PostgresLog.create(address, store._log.header)


@pytest.mark.slow
def test_a_server_that_is_killed_loses_nothing_acknowledged() -> None:
    server = postgres.Server(durable=True)
    try:
        address = Address.of(server.address("moths"))
        store = Store(PostgresLog.create(address, header_of(fresh("codes"), MODEL)))
        for kill in range(3):
            discover(store, 3 * kill, 3 * kill + 1, 3 * kill + 2)
            acknowledged = store.view().catalogue
            server.kill()
            with suppress(FirstsightError):
                for number in range(1000):  # until the session is found to be gone
                    store.rename("ant", f"ant {kill} {number}")
                    acknowledged = store.view().catalogue
                raise AssertionError("the server is still there")
            store.close()
            server.start()
            store = Store(PostgresLog.open(address, wait=20))
            assert store.replay() == acknowledged == store.view().catalogue
            store.verify()
        store.close()
    finally:
        server.close()


@pytest.mark.slow
def test_a_writer_that_is_killed_loses_nothing_acknowledged() -> None:
    """More of the same: `python tests/store/crash.py 50 server`."""
    here = Path(__file__).parent
    command = [sys.executable, str(here / "crash.py"), "5", "server"]
    done = subprocess.run(command, text=True, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "all there" in done.stdout


def test_the_next_writer_takes_over_within_seconds_of_a_death() -> None:
    store, address = new()
    store.close()
    script = (
        "import sys, time; from firstsight.store.opening import open_log;"
        "log = open_log(sys.argv[1]); print('holds', flush=True); time.sleep(600)"
    )
    whole = f"{address.conninfo}&register={address.register}"
    with subprocess.Popen([sys.executable, "-c", script, whole], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "holds\n"
        with ThreadPoolExecutor(1) as pool:
            standby = pool.submit(PostgresLog.open, address, True, 60)
            writer.send_signal(signal.SIGKILL)
            standby.result(60).close()
