"""What is sent again under its key counts once: in the same group, later, after a kill, and whatever was done since."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from every_log import LOGS, new_log
from hypothesis import given
from hypothesis import strategies as st
from tiny_store import KINDS, MODEL, Kind, arrival, discover, fresh

from firstsight.core.errors import BadRequest
from firstsight.store import schema
from firstsight.store.connection import connect
from firstsight.store.events import to_columns
from firstsight.store.groups import Arrival
from firstsight.store.memory import MemoryLog
from firstsight.store.sqlite import SqliteLog
from firstsight.store.store import Store, header_of


@pytest.fixture(params=LOGS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with Store(new_log(tmp_path / "a.db", "codes", request.param)) as store:
        yield store


def keyed(value: int, key: str, kind: Kind = "codes", burst: int | None = None) -> Arrival:
    return replace(arrival(value, f"{key}-{value}.jpg", kind), key=key, burst=burst)


def test_what_is_sent_again_is_answered_from_the_log(store: Store) -> None:
    (first,) = store.record([keyed(0b0111, "a")], MODEL)
    last = store.view().last
    (again, other) = store.record([keyed(0b0111, "a"), keyed(0b0111, "b")], MODEL)
    assert first.created
    assert (again.category, again.image, again.created, again.decided_by) == ("new-1", first.image, False, "record")
    assert other.image == last + 1
    assert store.view().keyed("a") == first.image
    assert store.view().keyed("c") is None
    assert store.view().keyed("") is None


def test_a_key_says_what_is_meant_whatever_came_with_it(store: Store) -> None:
    (first,) = store.record([keyed(0b0111, "a")], MODEL)
    (again,) = store.record([keyed(0b11111111, "a")], MODEL)
    assert (again.category, again.image) == (first.category, first.image)


def test_twice_in_one_group_is_once(store: Store) -> None:
    first, other, again = store.record([keyed(0b0111, "a"), keyed(0, "b"), keyed(0b0111, "a")], MODEL)
    assert (again.image, again.decided_by, again.created) == (first.image, "record", False)
    assert store.view().images() == [first.image, other.image]


def test_images_without_a_key_all_count(store: Store) -> None:
    answers = store.record([keyed(0b0111, ""), keyed(0b0111, "")], MODEL)
    assert len({each.image for each in answers}) == 2


def test_the_answer_is_as_the_log_has_it_by_now(store: Store) -> None:
    (first,) = store.record([keyed(0b0111, "a")], MODEL)
    assert first.image is not None
    store.rename("new-1", "moth")
    assert store.record([keyed(0b0111, "a")], MODEL)[0].name == "moth"
    store.move([first.image], "bee")
    assert store.record([keyed(0b0111, "a")], MODEL)[0].category == "bee"
    store.discard([first.image])
    (again,) = store.record([keyed(0b0111, "a")], MODEL)
    assert (again.decided_by, again.category, again.image) == ("discarded", None, first.image)
    store.undo()
    store.undo()
    store.undo(first.image, followers=True)
    last = store.view().last
    (again,) = store.record([keyed(0b0111, "a")], MODEL)
    assert (again.category, again.image, again.decided_by) == ("new-1", first.image, "record")
    assert store.view().last == last


def test_a_forgotten_image_has_no_key_any_more(store: Store, tmp_path: Path) -> None:
    (first,) = store.record([keyed(0b0111, "annas-diary")], MODEL)
    assert first.image is not None
    store.forget([first.image])
    assert store.view().keyed("annas-diary") is None
    assert not any(b"annas-diary" in each.read_bytes() for each in tmp_path.glob("a.db*"))
    store.verify()


def test_a_view_knows_no_key_that_came_after_it(store: Store) -> None:
    before = store.view()
    discover(store, 0)
    store.record([keyed(0b0111, "a")], MODEL)
    assert before.keyed("a") is None
    assert store.view().keyed("a") is not None


def test_two_who_write_one_log_count_it_once(tmp_path: Path) -> None:
    log = new_log(tmp_path / "a.db", "codes", "memory")
    one, other = Store(log), Store(log)
    (first,) = one.record([keyed(0b0111, "a")], MODEL)
    again, fresh_one = other.record([keyed(0b0111, "a"), keyed(0b0111, "b")], MODEL)
    assert again.image == first.image != fresh_one.image


@pytest.mark.parametrize("key", ["x" * 201, "a\nb", "a\0b", "\udce9"])
def test_what_cannot_be_a_key(key: str) -> None:
    with pytest.raises(BadRequest, match="cannot be a key"):
        replace(arrival(0), key=key)


def test_keys_are_found_again_in_the_file_without_reading_it(tmp_path: Path) -> None:
    """As after a kill between the commit and the answer. No event is looked through for it."""
    path = tmp_path / "a.db"
    with Store(new_log(path, "codes", "file")) as store:
        (first,) = store.record([keyed(0b0111, 'Käse \'n "x"')], MODEL)
    with Store.open(path) as store:
        assert store.record([keyed(0b0111, 'Käse \'n "x"')], MODEL)[0].image == first.image
    with closing(connect(path, "ro", "full")) as db:
        asked = f"EXPLAIN QUERY PLAN SELECT number FROM events WHERE {schema.KEYED} AND {schema.KEY} = 'a'"
        assert "INDEX keys" in str(db.execute(asked).fetchall())


def test_a_copy_of_the_log_knows_the_keys(store: Store, tmp_path: Path) -> None:
    store.record([keyed(0b0111, "a")], MODEL)
    store.back_up(tmp_path / "copy.db")
    log = SqliteLog.open(tmp_path / "copy.db", write=False)
    assert log.keyed("a") == store.view().keyed("a")
    log.close()


sendings = st.lists(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 255), st.none() | st.integers(0, 1)), min_size=1, max_size=5),
    max_size=6,
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("once", [False, True])
@given(groups=sendings)
def test_retries_leave_the_log_as_it_is_without_them(
    kind: Kind, once: bool, groups: list[list[tuple[int, int, int | None]]]
) -> None:
    """Whatever is sent again, in whichever group, and whatever burst the retry is said to be of."""
    header = header_of(fresh(kind), MODEL)
    retried, plain = Store(MemoryLog(header)), Store(MemoryLog(header))
    firsts: dict[str, int | None] = {}
    for group in groups:
        arrivals = [keyed(value, str(key), kind, burst) for key, value, burst in group]
        answers = retried.record(arrivals, MODEL, once)
        unsent: dict[str, Arrival] = {}
        for each in arrivals:
            if each.key not in firsts:
                unsent.setdefault(each.key, each)
        if unsent:
            plain.record(list(unsent.values()), MODEL, once)
        for each, answer in zip(arrivals, answers, strict=True):
            assert answer.image == firsts.setdefault(each.key, answer.image)
    assert [to_columns(each.event) for each in retried.view().events()] == [
        to_columns(each.event) for each in plain.view().events()
    ]
