"""Forgetting an image: what told of it is gone from every byte of the file, and everything else is as it was."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from every_log import LOGS, new_log
from tiny_store import MODEL, Kind, arrival, discover, new_store

from firstsight.core.errors import Conflict, Locked, NotFound, ReadOnly
from firstsight.core.sightings import Sighting
from firstsight.store import forget, schema
from firstsight.store.events import Assigned
from firstsight.store.groups import Arrival
from firstsight.store.sqlite import SqliteLog
from firstsight.store.store import Store
from firstsight.store.views import images, line

TOLD = Sighting(
    taken="1999-12-31T23:59:59", latitude=51.123456, longitude=-3.654321, camera="Secretcam", serial="S77-Secret"
)
TRACES = (b"diary-of-anna", b"51.123456", b"3.654321", b"Secretcam", b"S77-Secret", b"1999-12-31")


def private(value: int, kind: Kind = "codes") -> Arrival:
    plain = arrival(value, "/home/anna/diary-of-anna.jpg", kind)
    return Arrival(plain.source, plain.content, plain.feature, TOLD)


def bytes_of(path: Path) -> bytes:
    """Everything that lies there under the register's name."""
    return b"".join(each.read_bytes() for each in sorted(path.parent.glob(f"{path.name}*")))


@pytest.mark.parametrize("kind", ["codes", "statistics"])
@pytest.mark.parametrize("where", LOGS)
def test_all_that_told_of_it_goes_and_all_else_stays(tmp_path: Path, kind: Kind, where: str) -> None:
    with Store(new_log(tmp_path / "r.db", kind, where)) as store:
        discover(store, 0b0111, kind=kind)
        (answer,) = store.record([private(0b0110, kind)], MODEL)
        discover(store, 0b0111, 0b11100000, kind=kind)
        before, number = store.view(), answer.image
        assert number is not None
        homes = [(image.image, image.category) for image in images(before)]
        mark = store.forget([number])
        assert mark is not None
        assert mark.number == before.last + 1
        event = store.view().assigned(number)
        assert (event.source, event.content, event.sighting) == ("", b"", Sighting())
        assert event.forgotten
        assert [(image.image, image.category) for image in images(store.view())] == homes
        assert [store.register.match(private(v, kind).feature) for v in range(16)] == [
            before.register.match(private(v, kind).feature) for v in range(16)
        ]
        assert "forgotten" in str(line(store.view(), store.view().event(number))["what"])
        assert "image" in str(line(store.view(), mark)["what"])
        store.verify()
        assert store.forget([number]) is None  # which is done
        assert store.view().last == mark.number


def test_no_byte_of_it_is_left_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    with new_store(path) as store:
        discover(store, *range(40))
        (answer,) = store.record([private(0b0111)], MODEL)
        discover(store, *range(40))
        store._snapshot_at = -(10**9)  # as after many events
        store._keep_snapshot_when_due()
        content = private(0b0111).content
        assert all(trace in bytes_of(path) for trace in (*TRACES, content, content[:8]))
        assert answer.image is not None
        store.forget([answer.image])
        for trace in (*TRACES, content, content[:8]):
            assert trace not in bytes_of(path), trace
        store._snapshot_at = -(10**9)
        store._keep_snapshot_when_due()
        assert content[:8] not in bytes_of(path)
    with Store.open(path) as store:
        store.verify()
        assert store.view().recognise(content) is None  # nobody knows it any more
        assert store.view().match(private(0b0111).feature, b"").decided_by == "rule"


def test_it_cannot_be_undone_and_undo_passes_it_over(tmp_path: Path) -> None:
    with new_store(tmp_path / "r.db") as store:
        (answer,) = store.record([private(0b0111)], MODEL)
        assert answer.image is not None
        store.rename("new-1", "moth")
        mark = store.forget([answer.image])
        assert mark is not None
        with pytest.raises(Conflict, match="cannot be undone"):
            store.undo(mark.number)
        store.undo()
        assert store.view().name_of("new-1") == "new-1"


def test_what_was_undone_can_be_forgotten(tmp_path: Path) -> None:
    with new_store(tmp_path / "r.db") as store:
        (answer,) = store.record([private(0b0111)], MODEL)
        assert answer.image is not None
        store.undo(answer.image)
        store.forget([answer.image])
        assert b"diary" not in bytes_of(tmp_path / "r.db")
        store.redo()
        assert store.view().assigned(answer.image).forgotten


def test_only_images_are_forgotten_and_only_by_a_writer(tmp_path: Path) -> None:
    with new_store(tmp_path / "r.db") as store:
        discover(store, 0b0111)
        with pytest.raises(NotFound, match="not an image"):
            store.forget([1])
        with pytest.raises(NotFound, match="no event 99"):
            store.forget([99])
        with Store.open(tmp_path / "r.db", write=False) as reader, pytest.raises(ReadOnly):
            reader.forget([2])
        assert not store.view().assigned(2).forgotten


def test_a_reader_follows(tmp_path: Path) -> None:
    with new_store(tmp_path / "r.db") as store:
        (answer,) = store.record([private(0b0111)], MODEL)
        assert answer.image is not None
        with Store.open(tmp_path / "r.db", write=False) as reader:
            assert reader.view().recognise(private(0b0111).content) is not None
            store.forget([answer.image])
            reader.refresh()
            assert reader.view().recognise(private(0b0111).content) is None
            assert reader.replay() == reader.view().catalogue == store.view().catalogue


def test_what_an_image_tells_is_kept_and_read_again(tmp_path: Path) -> None:
    with new_store(tmp_path / "r.db") as store:
        part = Arrival("frame.jpg", b"c" * 32, arrival(1).feature, Sighting(box=(0.1, 0.2, 0.3, 0.4), detected=0.8))
        store.record([private(0b0111), part], MODEL)
    with Store.open(tmp_path / "r.db") as store:
        first, second = images(store.view())
        event = store.view().assigned(first.image)
        assert isinstance(event, Assigned)
        assert event.sighting == TOLD
        assert (first.latitude, first.camera, first.box) == (51.123456, "Secretcam", ())
        assert (second.box, second.detected) == ((0.1, 0.2, 0.3, 0.4), 0.8)


def test_what_is_broken_off_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault after the events were emptied: all of it is taken back, and events are guarded as before."""
    path, rewrite = tmp_path / "r.db", schema.rewrite
    with new_store(path) as store:
        (answer,) = store.record([private(0b0111)], MODEL)
        assert answer.image is not None

        def broken_off(*arguments: Any) -> None:
            rewrite(*arguments)
            raise ZeroDivisionError

        monkeypatch.setattr(schema, "rewrite", broken_off)
        with pytest.raises(ZeroDivisionError):
            store.forget([answer.image])
        monkeypatch.undo()
        assert store.view().assigned(answer.image).source == "/home/anna/diary-of-anna.jpg"
        store.verify()
        with closing(sqlite3.connect(path)) as db, pytest.raises(sqlite3.IntegrityError, match="append-only"):
            db.execute("UPDATE events SET body = '{}'")
        assert store.forget([answer.image]) is not None
        with closing(sqlite3.connect(path)) as db, pytest.raises(sqlite3.IntegrityError, match="append-only"):
            db.execute("UPDATE events SET body = '{}'")


def test_a_reader_that_holds_old_bytes_is_said_and_the_rest_is_done_later(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    with new_store(path) as store:
        (answer,) = store.record([private(0b0111)], MODEL)
        assert answer.image is not None
        assert isinstance(store._log, SqliteLog)
        assert store._log._writer is not None
        store._log._writer.execute("PRAGMA busy_timeout = 20")
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM events").fetchone()
            with pytest.raises(Locked, match="forget the image once more"):
                store.forget([answer.image])
        assert store.forget([answer.image]) is None
        assert store.view().assigned(answer.image).forgotten
        for trace in TRACES:
            assert trace not in bytes_of(path), trace


def test_what_was_discarded_and_forgotten_says_nothing_of_others_that_are_forgotten(tmp_path: Path) -> None:
    with new_store(tmp_path / "r.db") as store:
        junk, other = (answer.image for answer in discover(store, 0b0111, 0b11100000))
        assert junk is not None
        assert other is not None
        store.discard([junk])
        store.forget([junk, other])
        view = store.view()
        assert view.said_before(view.assigned(other).content) is None


def test_no_name_at_all_means_no_forgotten_image(tmp_path: Path) -> None:
    with new_store(tmp_path / "r.db") as store:
        (answer,) = store.record([private(0b0111)], MODEL)
        assert answer.image is not None
        store.forget([answer.image])
        assert store.view().with_source("") == []


def test_a_number_beyond_all_counting_is_no_event(tmp_path: Path) -> None:
    with new_store(tmp_path / "r.db") as store:
        discover(store, 0b0111)
        for number in (2**63, 10**30):
            with pytest.raises(NotFound, match="no event"):
                store.undo(number)


def test_other_images_of_the_same_file_are_found(tmp_path: Path) -> None:
    with new_store(tmp_path / "r.db") as store:
        discover(store, 0b0111)
        first = store.record([private(0b0111)], MODEL)[0].image
        twice = store.record([private(0b0111)], MODEL)[0].image
        part = Arrival(private(0).source, b"p" * 32, private(0b0110).feature)
        frame = store.record([part], MODEL)[0].image
        assert first is not None
        assert twice is not None
        store.discard([twice])  # which is told of all the same
        assert forget.of_the_same_file(store.view(), {first}) == [twice, frame]
        store.forget([twice])
        assert forget.of_the_same_file(store.view(), {first}) == [frame]


@pytest.mark.parametrize("kind", ["codes", "statistics"])
def test_the_file_of_a_forgotten_image_is_taught_as_one_nobody_has_seen(tmp_path: Path, kind: Kind) -> None:
    with Store(new_log(tmp_path / "r.db", kind, "file")) as store:
        (answer,) = store.record([private(0b0110, kind)], MODEL)
        assert answer.image is not None
        store.forget([answer.image])
        made = store.teach([private(0b0110, kind)], ["bee"], MODEL, by="Ann")
        (taught,) = [each.number for each in made if isinstance(each.event, Assigned)]
        view = store.view()
        assert (view.category_of(taught), view.category_of(answer.image)) == ("bee", answer.category)
        assert view.assigned(answer.image).forgotten
        assert store.match(private(0b0110, kind).feature, private(0b0110, kind).content).category == "bee"
        store.undo()
        assert not store.view().with_content(private(0b0110, kind).content)
        store.verify()
