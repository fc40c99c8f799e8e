"""What pages show: known values on a small register, and pages that make up the whole, whatever was done before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from every_log import LOGS, new_log
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_store import BITS, MODEL, arrival, code, fresh

from firstsight.core.errors import FirstsightError
from firstsight.register.codes import CodeRegister
from firstsight.store import browse, views
from firstsight.store.browse import Sort
from firstsight.store.events import Assigned, Created, Event
from firstsight.store.memory import MemoryLog
from firstsight.store.store import Store, header_of
from firstsight.store.table import KINDS, table
from firstsight.store.view import View

HOUR = 3_600_000_000
SORTS: tuple[Sort, ...] = get_args(Sort)


@pytest.fixture(params=LOGS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Two known categories and three new ones: of four images, of two and of one, within ten hours.

    Events 1 to 3 are known images; 4 founds new-1, 8 new-2, 11 new-3.
    """
    with Store(new_log(tmp_path / "a.db", "codes", request.param)) as store:
        came: list[tuple[str, float | None]] = [("bee", 0.9), ("ant", 0.4), ("bee", 0.3)]
        came += [("new-1", 0.6), ("new-1", 0.9), ("new-1", None), ("new-2", 0.2), ("new-2", 0.1), ("new-3", 0.7)]
        came += [("new-1", 0.95)]
        events, times, entry = list[Event](), list[int](), store.encoder(MODEL)
        for hour, (category, sure) in enumerate(came):
            if category.startswith("new") and category not in {e.category for e in events if isinstance(e, Created)}:
                events.append(Created(category, code(0b1111).tobytes()))
                times.append(hour * HOUR)
            shown = arrival(hour)
            told = (category, None, 1, 1, None, None, "rule", entry, shown.feature.tobytes(), shown.content, sure)
            events.append(Assigned(shown.source, *told))
            times.append(hour * HOUR)
        store.take_over(events, times)
        yield store


def test_a_page_of_categories(store: Store) -> None:
    page = browse.categories(store.view(), limit=2)
    assert (page.total, page.offset, page.more) == (5, 0, True)
    first, second = page.items
    assert (first.id, first.kind, first.images, first.placed, first.unsure) == ("new-1", "new", 4, 0, 0)
    assert (first.first_seen, first.last_seen) == ("1970-01-01T03:00:00Z", "1970-01-01T09:00:00Z")
    assert first.samples == (5, 13, 6, 7)  # its founder, the surest, and at last the one of which nobody can tell
    assert (second.id, second.unsure, second.share_unsure) == ("bee", 1, 0.5)


@pytest.mark.parametrize(
    ("sort", "ids"),
    [
        ("size", ["new-1", "bee", "new-2", "ant", "new-3"]),
        ("age", ["new-3", "new-2", "new-1", "bee", "ant"]),
        ("unsure", ["new-2", "ant", "bee", "new-3", "new-1"]),
        ("name", ["ant", "bee", "new-1", "new-2", "new-3"]),
        ("seen", ["new-1", "new-3", "new-2", "bee", "ant"]),
    ],
)
def test_orders(store: Store, sort: Sort, ids: list[str]) -> None:
    assert [each.id for each in browse.categories(store.view(), sort=sort).items] == ids


def test_kinds_and_searching(store: Store) -> None:
    def ids(**asked: Any) -> list[str]:
        return [each.id for each in browse.categories(store.view(), **asked).items]

    assert ids(kind="known") == ["bee", "ant"]
    assert ids(kind="new") == ["new-1"]
    assert ids(kind="tentative") == ["new-2", "new-3"]
    store.rename("new-2", "Silver Moth")
    assert ids(search=" MOTH ") == ids(search="new-2") == ["new-2"]
    assert ids(search="n", kind="known", sort="name") == ["ant"]
    assert ids(search="nothing") == []
    store.confirm([store.view().images("new-2")[0]])  # a person's word makes it more than a guess
    assert ids(kind="new") == ["new-1", "new-2"]


def test_images_a_page_at_a_time(store: Store) -> None:
    page = browse.images(store.view(), "new-1", limit=3)
    assert ([each.image for each in page.items], page.total, page.more) == ([13, 7, 6], 4, True)
    assert [each.image for each in browse.images(store.view(), newest=False, offset=8).items] == [12, 13]
    assert browse.images(store.view(), "new-1", offset=99).items == ()
    store.merge("new-3", "new-1")
    assert browse.images(store.view(), "new-3").total == browse.images(store.view(), "new-1").total == 5


def test_only_the_images_of_a_page_are_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    real = store._log.event
    monkeypatch.setattr(store._log, "event", lambda number: read.append(number) or real(number))  # type: ignore[func-returns-value]
    monkeypatch.setattr(store._log, "read", None)
    view = store.view()
    browse.images(view, offset=2, limit=2)
    assert read == [10, 9]
    read.clear()
    browse.categories(view)
    browse.births(view, 5)
    browse.counts(view)
    assert read == []


def test_the_newest_stay_the_same_while_others_come(store: Store) -> None:
    first = browse.arrivals(store.view(), limit=3)
    assert [each.image for each in first] == [13, 12, 10]
    store.record([arrival(200)], MODEL)
    after = browse.arrivals(store.view(), before=first[-1].image, limit=3)
    assert [each.image for each in after] == [9, 7, 6]
    assert browse.arrivals(store.view(), before=1) == ()


def test_counts(store: Store) -> None:
    store.confirm([1])
    store.discard([2])
    counts = browse.counts(store.view())
    assert (counts.images, counts.known, counts.new, counts.tentative) == (9, 2, 1, 2)
    assert (counts.placed, counts.unsure, counts.discarded, counts.categories) == (1, 3, 1, 5)


def test_births_over_time(store: Store) -> None:
    found = browse.births(store.view(), 3)
    assert [(each.images, each.new, each.births) for each in found] == [(3, 0, 0), (3, 3, 1), (4, 4, 2)]
    assert (found[0].start, found[0].end) == ("1970-01-01T00:00:00Z", "1970-01-01T03:00:00Z")
    assert found[-1].end == "1970-01-01T09:00:00Z"
    assert [each.share_new for each in found] == [0, 1, 1]
    store.promote("new-1", "moth")
    assert [(each.new, each.births) for each in browse.births(store.view(), 3)] == [(0, 0), (0, 1), (3, 2)]


def test_a_register_without_an_image(tmp_path: Path) -> None:
    view = Store(new_log(tmp_path / "a.db", "codes", "memory")).view()
    assert browse.births(view) == ()
    assert browse.arrivals(view) == browse.images(view).items == ()
    assert [(each.images, each.first_seen, each.samples) for each in browse.categories(view).items] == [
        (0, None, ())
    ] * 2
    assert browse.counts(view).images == 0


def test_all_images_of_one_moment_are_one_stretch(tmp_path: Path) -> None:
    store = Store(new_log(tmp_path / "a.db", "codes", "memory"))
    store.record([arrival(value) for value in (0, 0b1111)], MODEL)
    (only,) = browse.births(store.view())
    assert (only.images, only.new, only.births) == (2, 1, 1)


def test_the_history_of_a_category(store: Store) -> None:
    def numbers(category: str, **options: int) -> list[int]:
        return [each.number for each in browse.history(store.view(), category, **options)]

    assert numbers("new-1") == [4]
    assert numbers("ant") == []
    made = [store.rename("new-1", "moth"), store.confirm([5]), store.move([6], "ant"), store.rename("bee", "wasp")]
    assert numbers("new-1") == [made[2].number, made[1].number, made[0].number, 4]
    assert numbers("ant") == [made[2].number]
    earlier = store.view()
    undone = store.undo(made[2].number)
    merged = store.merge("new-2", "new-1")
    assert numbers("new-1") == numbers("new-2")
    assert numbers("new-1")[:2] == [merged.number, undone.number]
    assert numbers("new-1", limit=1) == [merged.number]
    assert [each.number for each in browse.history(earlier, "ant")] == [made[2].number]


def test_when_images_came_is_known_whatever_brought_them(tmp_path: Path) -> None:
    """Recorded, taught and taken from the log again: all say the time of the event."""
    with Store(new_log(tmp_path / "a.db", "codes", "file")) as store:
        store.record([arrival(0b1111)], MODEL)
        store.teach([arrival(3), arrival(5)], ["wasp", "ant"], MODEL)
        store.undo()
        store.redo()
        view = store.view()
        assert table(view).times.tolist() == [view.event(number).at for number in view.images()]
        store.verify()
    with Store.open(tmp_path / "a.db", write=False) as reader:
        assert table(reader.view()).times.tolist() == table(view).times.tolist()


@settings(max_examples=30)
@given(data=st.data(), values=st.lists(st.integers(0, 255), max_size=12), size=st.integers(1, 5))
def test_pages_make_up_the_whole(data: st.DataObject, values: list[int], size: int) -> None:
    """After any edits: the pages of every question, one after the other, are all there is, once, as others count it."""
    store = Store(MemoryLog(header_of(CodeRegister(BITS, 1, ["ant"], np.stack([code(0)])), MODEL)))
    for value in values:
        store.record([arrival(value, f"{store.view().last}.jpg")], MODEL)
    for _ in range(data.draw(st.integers(0, 3)) if values else 0):
        ids, numbers = st.sampled_from(list(store.view().catalogue.categories)), store.view().images() or [1]
        image = data.draw(st.sampled_from(numbers))
        one, other = data.draw(ids), data.draw(ids)
        verbs: list[Callable[[], object]] = [
            partial(store.merge, one, other),
            partial(store.discard, [image]),
            store.undo,
        ]
        with suppress(FirstsightError):
            data.draw(st.sampled_from(verbs))()
    view = store.view()
    check_categories(view, size)
    numbers = [each.image for at in range(0, 40, size) for each in browse.images(view, offset=at, limit=size).items]
    assert numbers == view.images()[::-1]
    walked, before = list[int](), None
    while some := browse.arrivals(view, before, size):
        walked += [each.image for each in some]
        before = walked[-1]
    assert walked == numbers
    assert sum(each.images for each in browse.births(view, size)) == len(numbers)
    assert sum(each.births for each in browse.births(view, size)) == (
        sum(each.founded > 0 for each in view.catalogue.live()) if numbers else 0
    )


def check_categories(view: View, size: int) -> None:
    summed = {each.id: (each.images, each.placed, each.known, each.tentative) for each in views.summaries(view)}
    for sort in SORTS:
        walked = [
            each
            for at in range(0, 40, size)
            for each in browse.categories(view, sort=sort, offset=at, limit=size).items
        ]
        found = {e.id: (e.images, e.placed, e.kind == "known", e.kind == "tentative") for e in walked}
        assert (len(walked), found) == (len(summed), summed)
        for each in walked:
            own = view.images(each.id)
            assert set(each.samples) <= set(own)
            assert len(each.samples) == min(len(own), browse.SAMPLES)
    by_kind = [browse.categories(view, kind=kind, limit=0).total for kind in KINDS]
    assert sum(by_kind) == len(summed)
    assert (browse.counts(view).known, browse.counts(view).new, browse.counts(view).tentative) == tuple(by_kind)


def test_the_columns_are_made_once_a_moment(tmp_path: Path) -> None:
    store = Store(MemoryLog(header_of(fresh("codes"), MODEL)))
    store.record([arrival(0b1111)], MODEL)
    assert table(store.view()) is table(store.view())
    before = table(store.view())
    store.record([arrival(7)], MODEL)
    assert table(store.view()) is not before
