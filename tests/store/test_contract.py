"""What holds for every kind of register and every log: threads, interruptions, transactions, and others who write."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from math import inf
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from every_log import LOGS, new_log
from tiny_store import BITS, KINDS, MODEL, Kind, arrival, discover, feature

from firstsight.core.errors import Conflict, FirstsightError, NotFound, StoreError
from firstsight.core.protocols import Silent
from firstsight.store import store as store_module
from firstsight.store import views
from firstsight.store.draft import Draft
from firstsight.store.memory import MemoryLog
from firstsight.store.postgres import PostgresLog
from firstsight.store.reconsider import apply, reconsider
from firstsight.store.sqlite import SqliteLog
from firstsight.store.store import Store
from firstsight.store.suggest import suggest
from firstsight.store.view import View

PATIENCE = 20  # seconds, for what takes none unless it waits for ever


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(params=LOGS)
def store(request: pytest.FixtureRequest, kind: Kind, tmp_path: Path) -> Iterator[Store]:
    with Store(new_log(tmp_path / "a.db", kind, request.param)) as store:
        yield store


def look_at_everything(view: View, kind: Kind, value: int) -> None:
    """Whatever a page or a command may ask of a view, which must agree with itself."""
    asked = feature(value, kind)
    answer = view.match(asked, b"nobody's")
    near = view.register.neighbours(asked, inf, 1000)
    assert answer.distance == (min(each.distance for each in near) if near else None)
    assert {each.category for each in near} <= {view.catalogue.resolve(id) for id in view.catalogue.categories}
    assert sum(each.images for each in views.summaries(view)) == len(view.images())
    for number in view.images()[-2:]:
        assert view.assignment(number).category == view.category_of(number)
    suggest(view)
    if view.confident:
        views.unsure(view, 0.9, 5)


def test_readers_in_threads_see_one_moment_while_one_records_and_edits(store: Store, kind: Kind) -> None:
    stop = Event()

    def look() -> int:
        looked = 0
        while not stop.is_set() or looked == 0:
            look_at_everything(store.view(), kind, looked % 256)
            looked += 1
        return looked

    generator = np.random.default_rng(0)
    with ThreadPoolExecutor(3) as pool:
        looking = [pool.submit(look) for _ in range(3)]
        try:
            for step in range(60):
                discover(store, *generator.integers(0, 256, 4).tolist(), kind=kind)
                with suppress(FirstsightError):
                    edit(store, generator, step)
        finally:
            stop.set()
        assert all(each.result(PATIENCE) > 0 for each in looking)
    assert store.replay() == store.view().catalogue
    assert agree(store.register, store._build(store.view().catalogue), kind)


def edit(store: Store, generator: np.random.Generator, step: int) -> None:
    images = store.view().images()
    some = generator.choice(images, 2, replace=False).tolist()
    ids = [each.id for each in views.summaries(store.view())]
    one, other = generator.choice(ids, 2, replace=False).tolist()
    verbs: list[Callable[[], Any]] = [
        lambda: store.merge(one, other),
        lambda: store.move(some, one),
        store.undo,
        lambda: store.split(some),
        lambda: store.confirm(some),
        lambda: store.undo(some[0]),
    ]
    verbs[step % len(verbs)]()


def agree(one: Any, other: Any, kind: Kind) -> bool:
    asked = [feature(value, kind) for value in range(0, 1 << BITS, 3)]
    return [one.match(each) for each in asked] == [other.match(each) for each in asked]


def test_nobody_who_looks_waits_for_a_writer(store: Store, kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also not while the log takes its time to keep what is written."""
    discover(store, 0b1111, 0b1110, 0b1110000, kind=kind)
    writing, go_on, append = Event(), Event(), store._log.append

    def slow(*arguments: Any) -> Any:
        writing.set()
        assert go_on.wait(PATIENCE)
        return append(*arguments)

    monkeypatch.setattr(store._log, "append", slow)
    with ThreadPoolExecutor(2) as pool:
        edited = pool.submit(store.rename, "ant", "emmet")
        try:
            assert writing.wait(PATIENCE)
            pool.submit(look_at_everything, store.view(), kind, 7).result(PATIENCE)
            pool.submit(reconsider, store.view(), Silent()).result(PATIENCE)
            assert store.view().name_of("ant") == "ant"
        finally:
            go_on.set()
        edited.result(PATIENCE)
    assert store.view().name_of("ant") == "emmet"


@pytest.mark.parametrize("what", ["record", "edit"])
def test_interrupted_anywhere_the_store_goes_on_from_the_log(store: Store, kind: Kind, what: str) -> None:
    """Ctrl-C after ever more lines of a record or an edit, until one gets through."""
    discover(store, 0b1111, kind=kind)

    def work(number: int) -> None:
        if what == "record":
            discover(store, (0b1111 ^ number) % 256, kind=kind)
        else:
            store.move([2], "ant" if store.view().category_of(2) == "bee" else "bee")

    lines = 0
    while interrupted(partial(work, lines), after=lines):
        lines += 7
        assert store.replay() == store.view().catalogue
        assert agree(store.register, store._build(store.view().catalogue), kind)
    assert lines > 60


def interrupted(work: Any, after: int) -> bool:
    """Run something with Ctrl-C after so many lines of our code; whether that came before it was done."""
    count = 0

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        if "firstsight/store" not in frame.f_code.co_filename:
            return None
        if event == "line":
            count += 1
            if count > after:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    except KeyboardInterrupt:
        return True
    except StoreError:
        return False
    finally:
        sys.settrace(before)
    return False


def test_several_edits_are_one_transaction(store: Store, kind: Kind) -> None:
    discover(store, 0b1111, 0b11110000, 0b10101010, kind=kind)
    before = store.view().catalogue.state()

    def impossible(draft: Draft) -> None:
        draft.merge("new-1", "ant")
        draft.rename("new-1", "moth")  # which is ant by now
        draft.merge("new-2", "nowhere")

    with pytest.raises(NotFound):
        store.edit(impossible)
    assert store.view().catalogue.state() == before
    made = store.edit(lambda draft: [draft.merge(each, "ant") for each in ("new-1", "new-2")])
    assert [each.event.into for each in made] == ["ant", "ant"]  # type: ignore[union-attr]
    assert len(store.view().images("ant")) == 2
    with pytest.raises(Conflict):
        store.edit(lambda draft: [draft.undo(made[0].number), draft.undo(made[0].number)])
    store.undo()  # which takes back what was done as one
    assert store.view().images("ant") == []
    assert agree(store.register, store._build(store.view().catalogue), kind)


def test_what_is_reconsidered_is_moved_at_once(store: Store, kind: Kind) -> None:
    discover(store, *range(0, 256, 7), kind=kind)
    last, found = store.view().last, reconsider(store.view(), Silent())
    made = apply(store, found)
    assert store.view().last == last + len({each.now for each in found}) == last + len(made)
    assert all(store.view().category_of(each.image) == each.now for each in found)


def test_two_who_write_one_log_follow_each_other(kind: Kind, tmp_path: Path) -> None:
    log = new_log(tmp_path / "a.db", kind, "memory")
    one, other = Store(log), Store(log)
    for step in range(30):
        writer, reader = (one, other) if step % 3 else (other, one)
        discover(writer, 5 * step, 255 - step, kind=kind)
        if step % 4 == 3:
            writer.move([writer.view().images()[0]], "bee" if step % 8 == 3 else "ant")
        before = reader.view().last
        assert reader.refresh() == writer.view().last - before or reader is one
        assert reader.view().catalogue == writer.view().catalogue
        assert agree(reader.register, writer.register, kind)


def test_a_log_in_memory_can_be_kept_as_a_file(kind: Kind, tmp_path: Path) -> None:
    store = Store(new_log(tmp_path / "a.db", kind, "memory"))
    discover(store, 0b1111, 0b1110, kind=kind)
    store.rename("new-1", "moth")
    store.back_up(tmp_path / "kept.db")
    with Store.open(tmp_path / "kept.db") as kept:
        kept.verify()
        assert kept.view().catalogue == store.view().catalogue
        assert agree(kept.register, store.register, kind)
        assert list(kept.view().events()) == list(store.view().events())


@pytest.mark.parametrize("where", LOGS)
def test_opening_reads_no_event_that_a_snapshot_has(
    kind: Kind, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "SNAPSHOT_EVERY", 1)
    log = new_log(tmp_path / "a.db", kind, where)
    with Store(log) as store:
        discover(store, *range(0, 256, 9), kind=kind)
        store.merge("new-1", "ant")
        store.record([arrival(3, "again", kind)], MODEL)
        before, register = store.view().catalogue, store.register
    log = SqliteLog.open(tmp_path / "a.db") if where == "file" else log
    log = PostgresLog.open(log.address) if isinstance(log, PostgresLog) else log
    read: list[int] = []
    for name in ("read", "features", "newest", "event"):
        real = getattr(log, name)
        monkeypatch.setattr(log, name, lambda *arguments, real=real: _noted(read, real(*arguments)))
    with Store(log) as again:
        assert again.view().catalogue == before
        assert agree(again.register, register, kind)
        assert read == []
        assert again.recognise(arrival(3, "again", kind).content) is not None
        assert read == [before.last] * len(read) != []


def _noted(read: list[int], found: Any) -> Any:
    if not hasattr(found, "__next__"):
        read.append(found.number)
        return found
    return iter([read.append(getattr(each, "number", 0)) or each for each in found])  # type: ignore[func-returns-value]


def test_a_log_that_always_grows_is_given_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Store(store._log)
    append = store._log.append

    def late(*arguments: Any) -> Any:
        monkeypatch.setattr(store._log, "append", append)
        name = other.view().name_of("bee")
        other.rename("bee", "wasp" if name == "bee" else "bee")
        monkeypatch.setattr(store._log, "append", late)
        return append(*arguments)

    monkeypatch.setattr(store._log, "append", late)
    with pytest.raises(Conflict, match="all the time"):
        store.rename("ant", "emmet")
    monkeypatch.undo()
    assert store.rename("ant", "emmet").number == store.view().last
    assert isinstance(store._log, MemoryLog | SqliteLog | PostgresLog)
