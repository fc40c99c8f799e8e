"""The store's promises one by one: answers kept, edits that outrank the rule, undo, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_store import BITS, MODEL, arrival, code, discover, fresh_register, new_store

from firstsight.cli.remedies import remedy
from firstsight.core.assignments import Assignment, Candidate
from firstsight.core.errors import SettingsError, StoreError
from firstsight.store import store as store_module
from firstsight.store.catalogue import Catalogue
from firstsight.store.events import Assigned, Created, Split
from firstsight.store.sqlite import SqliteLog
from firstsight.store.store import Arrival, Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


def categories(store: Store) -> dict[str, list[int]]:
    return {c.name: store.view().catalogue.images(c.id) for c in store.view().catalogue.live()}


def test_an_answer_is_the_registers_with_the_images_number(path: Path) -> None:
    with new_store(path) as store:
        known, founder, member = discover(store, 1, 0b1111, 0b1110)
    assert known == Assignment("ant", False, False, 1, 1, Candidate("bee", 7), image=1)
    assert founder == Assignment("new-1", True, True, 4, 1, Candidate("ant", 4), image=3)
    assert member == Assignment("new-1", True, False, 1, 1, Candidate("ant", 3), image=4)


def test_events_hold_all_it_takes_to_rebuild_another_register(path: Path) -> None:
    with new_store(path) as store:
        store.record([arrival(0b1111, "cam/7.jpg")], MODEL)
    with Store.open(path, write=False) as store:
        created, assigned = store.view().events()
        assert isinstance(created.event, Created)
        assert isinstance(assigned.event, Assigned)
        assert created.event.feature == assigned.event.feature == (15).to_bytes(8, "little")
        assert assigned.event.source == "cam/7.jpg"
        assert assigned.event.content == arrival(0, "cam/7.jpg").content
        assert store.view().encoders()[assigned.event.encoder] == MODEL._asdict()
        assert assigned.time.endswith("Z")


def test_a_reopened_store_goes_on_where_it_was_left(path: Path) -> None:
    with new_store(path) as store:
        discover(store, 0b1111, 0b1110000)
        store.rename("new-1", "moth")
    with Store.open(path) as store:
        assert categories(store) == {"ant": [], "bee": [], "moth": [2], "new-2": [4]}
        (answer,) = discover(store, 0b1100011)
        assert answer.category == "new-3"


def test_a_moved_image_stays_moved_and_the_same_image_follows_it(path: Path) -> None:
    with new_store(path) as store:
        store.record([arrival(1, "x.jpg")], MODEL)
        store.move([1], "bee")
        assert store.match(code(1), arrival(1, "x.jpg").content).category == "bee"
        again = store.record([arrival(1, "x.jpg"), arrival(1, "y.jpg")], MODEL)
        assert [(a.category, a.decided_by) for a in again] == [("bee", "person"), ("ant", "rule")]
        assert categories(store) == {"ant": [4], "bee": [1, 3]}


def test_a_merge_redirects_both_centres_from_then_on(path: Path) -> None:
    with new_store(path) as store:
        discover(store, 0b1111, 0b1110000)
        store.merge("new-1", into="new-2")
        first, second = discover(store, 0b1111, 0b1110000)
        assert (first.category, first.via) == ("new-2", "new-1")
        assert (second.category, second.via) == ("new-2", None)
        assert first.runner_up == Candidate("ant", 4)
        assert store.view().catalogue.find("new-1") is store.view().catalogue.find("new-2")


def test_undoing_a_merge_gives_each_its_images_back_also_those_that_came_since(path: Path) -> None:
    with new_store(path) as store:
        discover(store, 0b1111, 0b1110000)
        store.merge("new-1", into="ant")
        discover(store, 0b1110)
        assert categories(store)["ant"] == [2, 6]
        store.undo()
        assert categories(store) == {"ant": [], "bee": [], "new-1": [2, 6], "new-2": [4]}
        assert store.register.match(code(0b1111)).category == "new-1"


def test_merging_into_a_known_category_answers_as_known(path: Path) -> None:
    with new_store(path) as store:
        discover(store, 0b1111)
        store.merge("new-1", into="ant")
        (answer,) = discover(store, 0b1111)
        assert (answer.category, answer.is_new) == ("ant", False)
        assert not store.view().catalogue.categories["new-1"].known


def test_a_split_gives_the_images_a_centre_of_their_own(path: Path) -> None:
    with new_store(path, radius=2) as store:
        discover(store, 0b11110000, 0b11111000, 0b11111000)  # the first founds, the others lie one bit off
        event = store.split([3, 4], name="moth").event
        assert isinstance(event, Split)
        assert event.feature == (0b11111000).to_bytes(8, "little")
        assert categories(store) == {"ant": [], "bee": [], "new-1": [2], "moth": [3, 4]}
        assert discover(store, 0b11111100)[0].category == "new-2"
        assert discover(store, 0b11100000)[0].category == "new-1"
        assert discover(store, 0b11110000)[0].category == "new-1"


@pytest.mark.parametrize("rule", ["nearest", "first"])
def test_on_a_tie_the_centre_a_person_made_answers(path: Path, rule: Any) -> None:
    with new_store(path, rule=rule) as store:
        discover(store, 0b1111, 0b1111)
        store.split([3])
        assert discover(store, 0b1111)[0].category == "new-2"


def test_the_same_content_is_recognised_when_asked_to(path: Path) -> None:
    with new_store(path) as store:
        first, twin, other = store.record([arrival(15, "x"), arrival(15, "x"), arrival(0, "y")], MODEL, once=True)
        assert (first.image, first.created, first.decided_by) == (2, True, "rule")
        assert (twin.image, twin.created, twin.decided_by) == (2, False, "record")
        assert other.image == 3
        store.move([2], "bee")
        (later,) = store.record([arrival(15, "x")], MODEL, once=True)
        assert (later.image, later.category, later.distance) == (2, "bee", None)
        assert store.view().last == 4  # created, two assigned, moved
        (counted,) = store.record([arrival(0, "y")], MODEL)
        assert counted.image == 5


def test_names_are_unique_and_ids_stay(path: Path) -> None:
    with new_store(path) as store:
        discover(store, 0b1111)
        store.rename("new-1", "moth")
        assert store.view().catalogue.find("moth") is store.view().catalogue.find("new-1")
        for taken in ("ant", "moth", "  ", "two\nlines", "x" * 201):
            with pytest.raises(StoreError):
                store.rename("bee", taken) if taken != "moth" else store.rename("new-1", taken)
        with pytest.raises(StoreError, match="taken by category new-1"):
            store.rename("bee", "new-1")


def test_a_name_that_looks_like_an_id_is_passed_over(path: Path) -> None:
    with new_store(path) as store:
        store.rename("ant", "new-1")
        assert discover(store, 0b1111)[0].category == "new-2"


def test_an_undone_id_is_never_given_again(path: Path) -> None:
    with new_store(path) as store:
        (answer,) = discover(store, 0b1111)
        store.undo(answer.image or 0)  # the founder, and with it the category
        assert categories(store) == {"ant": [], "bee": []}
        assert store.match(code(0b1111), b"").category is None
        assert discover(store, 0b1111)[0].category == "new-2"
    with Store.open(path) as store:
        assert store.view().catalogue.find("new-1") is None
        store.undo(5)
        assert discover(store, 0b1111)[0].category == "new-3"


def test_an_undo_that_later_events_depend_on_names_them(path: Path) -> None:
    with new_store(path) as store:
        founder, *_ = discover(store, 0b1111, 0b1110, 0b1110000)  # events 1-2, 3, 4-5
        with pytest.raises(StoreError, match=r"event 2 \(Assigned\) cannot be undone.*3 \(Assigned\)"):
            store.undo(founder.image or 0)
        store.merge("new-1", "new-2")  # 6
        store.merge("new-2", "ant")  # 7
        with pytest.raises(StoreError, match=r"event 6 \(Merged\) cannot be undone.*7 \(Merged\)"):
            store.undo(6)
        store.move([3], "bee")  # 8
        store.confirm([3])  # 9
        with pytest.raises(StoreError, match=r"depend on it: 9 \(Confirmed\)"):
            store.undo(8)
        store.rename("bee", "wasp")  # 10
        store.rename("ant", "bug")  # 11
        store.rename("ant", "gnat")  # 12
        with pytest.raises(StoreError, match=r"depend on it: 12 \(Renamed\)"):
            store.undo(11)
        store.change_radius(2)  # 13
        store.change_radius(3)  # 14
        with pytest.raises(StoreError, match=r"depend on it: 14 \(RadiusChanged\)"):
            store.undo(13)
        for _ in range(9):
            store.undo()
        with pytest.raises(StoreError, match="nothing to undo"):
            store.undo()
        assert categories(store) == {"ant": [], "bee": [], "new-1": [2, 3], "new-2": [5]}
        for _ in range(9):
            store.redo()
        with pytest.raises(StoreError, match="nothing to redo"):
            store.redo()
        assert store.view().catalogue.radius == 3
        assert categories(store) == {"gnat": [2, 5], "wasp": [3]}


def test_undo_and_redo_go_back_and_forth_as_in_an_editor(path: Path) -> None:
    with new_store(path) as store:
        store.rename("ant", "a")  # 1
        store.rename("bee", "b")  # 2
        store.undo()
        store.undo()
        store.redo()  # 1 is back
        store.undo()  # which takes back 1, the last thing brought into force
        assert sorted(categories(store)) == ["ant", "bee"]
        store.rename("ant", "c")
        with pytest.raises(StoreError, match="since the last edit"):
            store.redo()  # a new edit leaves what was undone before behind
        store.redo(2)  # but not out of reach
        assert sorted(categories(store)) == ["b", "c"]
        with pytest.raises(StoreError, match="is a redo") as refused:
            store.undo(store.view().last)
        assert refused.value.remedy == "undo what it brought back: 2"


def test_a_category_others_were_moved_into_names_the_moves(path: Path) -> None:
    with new_store(path) as store:
        discover(store, 0b1111, 0, 0)
        store.move([3, 4], "new-1")
        with pytest.raises(StoreError) as refused:
            store.undo(2)
        assert refused.value.what.endswith("depend on it: 5 (Moved)")


def test_a_split_others_use_cannot_be_undone(path: Path) -> None:
    with new_store(path) as store:
        discover(store, 0b1111, 0b1110)
        split = store.split([3])
        discover(store, 0b1110)
        with pytest.raises(StoreError, match=r"5 \(Assigned\)"):
            store.undo(split.number)
        store.undo(5)
        store.undo(split.number)
        with pytest.raises(StoreError, match="undone already"):
            store.undo(split.number)


def test_what_came_in_between_can_forbid_a_redo(path: Path) -> None:
    with new_store(path) as store:
        discover(store, 0b1111, 0b1110)
        store.rename("new-1", "moth")
        store.undo()
        store.rename("bee", "moth")
        with pytest.raises(StoreError, match=r"cannot be brought back.*6 \(Renamed\)"):
            store.redo(4)
        split = store.split([3])
        store.move([2], "new-2")
        store.undo()
        store.undo(split.number)
        with pytest.raises(StoreError, match="category new-2 is undone"):
            store.redo(8)


@pytest.mark.parametrize(
    ("verb", "first", "second"),
    [
        ("rename", ("ant", "emmet"), ("ant", "bug")),
        ("change_radius", (2,), (3,)),
        ("move", ([1], "bee"), ([1], "new-1")),
    ],
)
def test_an_edit_that_replaced_another_does_not_come_back_without_it(
    path: Path, verb: str, first: Any, second: Any
) -> None:
    with new_store(path) as store:
        discover(store, 1, 0b1111)
        earlier, later = getattr(store, verb)(*first), getattr(store, verb)(*second)
        state = store.view().catalogue.state()
        store.undo()
        store.undo()
        with pytest.raises(StoreError, match="cannot be brought back"):
            store.redo(later.number)
        store.redo(earlier.number)
        store.redo(later.number)
        assert _without_history(store.view().catalogue.state()) == _without_history(state)


def _without_history(state: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name not in ("last", "undone", "edits")}


def test_two_edits_that_exclude_each_other_do_not_both_come_back(path: Path) -> None:
    with new_store(path) as store:
        store.merge("ant", "bee")  # 1
        store.undo(1)
        store.merge("bee", "ant")  # 3
        store.undo(3)
        store.rename("ant", "x")  # 5
        store.undo(5)
        store.rename("bee", "x")  # 7
        store.undo(7)
        store.redo(1)
        store.redo(5)
        for number, why in ((3, "bee is merged|ant is merged"), (7, "called 'x'")):
            with pytest.raises(StoreError, match=why):
                store.redo(number)
        state = store.view().catalogue.state()
    with Store.open(path) as store:
        assert store.view().catalogue.state() == state
        assert store.view().catalogue.resolve("ant") == "bee"


def test_an_edit_does_not_bring_back_an_image_that_was_undone(path: Path) -> None:
    for edit in ("confirm", "move", "split"):
        with new_store(path.with_name(f"{edit}.db")) as store:
            image = discover(store, 0)[0].image or 0
            made = getattr(store, edit)(*{"move": ([image], "bee")}.get(edit, ([image],)))
            store.undo()
            store.undo(image)
            with pytest.raises(StoreError, match=f"image {image} is undone"):
                store.redo(made.number)


@pytest.mark.parametrize("broken", ["append", "apply"])
def test_a_commit_broken_off_at_any_point_is_found_and_gone_on_from(path: Path, broken: str) -> None:
    """Ctrl-C after the disk has it, before or while memory follows."""
    with new_store(path) as store:
        discover(store, 0b1111)
        with pytest.MonkeyPatch.context() as patch:
            if broken == "append":
                real = SqliteLog.append

                def append(log: SqliteLog, *arguments: Any) -> Any:
                    real(log, *arguments)
                    raise KeyboardInterrupt

                patch.setattr(SqliteLog, "append", append)
            else:

                def put(catalogue: Catalogue, number: int, event: Assigned) -> None:
                    catalogue.numbers.append(number)
                    raise KeyboardInterrupt

                patch.setattr(Catalogue, "_put", put)
            with pytest.raises(KeyboardInterrupt):
                discover(store, 0b1110)
        assert discover(store, 0b1101)[0].image == 4
        assert store.view().catalogue.images("new-1") == [2, 3, 4]
        assert store.view().catalogue == store.replay()


def test_a_store_starts_from_a_fresh_register(path: Path) -> None:
    register = fresh_register()
    register.assign(code(0b1111))
    with pytest.raises(SettingsError, match="fresh register"):
        Store.create(path, register, MODEL)


def test_names_of_any_bytes_are_kept(path: Path) -> None:
    with new_store(path) as store:
        store.record([arrival(1, "ok.jpg"), Arrival("caf\udce9.jpg", b"x" * 32, code(1))], MODEL)
        assert store.view().with_source("caf\\udce9.jpg") == [(2, "caf\\udce9.jpg")]


def test_an_undone_split_frees_its_name(path: Path) -> None:
    with new_store(path) as store:
        discover(store, 0b1111, 0b1110)
        split = store.split([3], name="moth")
        store.undo()
        store.rename("bee", "moth")
        with pytest.raises(StoreError, match=r"6 \(Renamed\)"):
            store.redo(split.number)


def test_an_undone_move_no_longer_speaks_for_the_same_image(path: Path) -> None:
    with new_store(path) as store:
        store.record([arrival(1, "x.jpg")], MODEL)
        move = store.move([1], "bee")
        (second,) = store.record([arrival(1, "x.jpg")], MODEL)
        store.undo(move.number)
        (third,) = store.record([arrival(1, "x.jpg")], MODEL)
        assert (second.category, third.category) == ("bee", "ant")


def test_people_are_told_what_is_not_there(path: Path) -> None:
    with new_store(path) as store:
        discover(store, 0b1111)
        store.rename("new-1", "moth")
        with pytest.raises(StoreError, match="did you mean 'moth'"):
            store.merge("mooth", "ant")
        with pytest.raises(StoreError, match="no image 7"):
            store.move([7], "ant")
        with pytest.raises(StoreError, match="no image 1"):
            store.split([1])  # an event, but not of an image
        with pytest.raises(StoreError, match="into itself"):
            store.merge("new-1", "moth")
        with pytest.raises(SettingsError, match="0 to 8"):
            store.change_radius(BITS + 1)
        with pytest.raises(StoreError, match="has no event 9"):
            store.undo(9)
        assert store.view().last == 3


def test_another_model_or_image_path_is_refused_with_a_way_on(path: Path) -> None:
    with new_store(path) as store:
        for other, why in (
            (MODEL._replace(fingerprint="e" * 64), "another model"),
            (MODEL._replace(preprocess=2), "version 1"),
        ):
            with pytest.raises(StoreError, match=why) as refused:
                store.record([arrival(1)], other)
            assert "reencode" in remedy(refused.value)
        store.record([arrival(1)], MODEL._replace(device="cuda:0"))  # the device may change; the log says so
        assert {d["device"] for d in store.view().encoders().values()} == {"cuda:0"}


def test_a_reader_follows_the_writer(path: Path) -> None:
    with new_store(path) as writer, Store.open(path, write=False) as reader:
        discover(writer, 0b1111)
        assert reader.view().catalogue.last == 0
        assert reader.refresh() == 2
        assert reader.view().catalogue == writer.view().catalogue
        assert reader.register.match(code(0b1111)).category == "new-1"
        writer.merge("new-1", "ant")
        reader.refresh()
        assert reader.register.match(code(0b1111)).category == "ant"
        with pytest.raises(StoreError, match="opened for reading"):
            reader.rename("ant", "x")


def test_a_group_is_the_loop(path: Path, tmp_path: Path) -> None:
    values = np.random.default_rng(0).integers(0, 256, 60).tolist()
    with new_store(path) as one, new_store(tmp_path / "b.db") as many:
        for store in (one, many):
            discover(store, 0b1111)
            store.merge("new-1", "ant")
        loop = [one.record([arrival(v, f"{i}")], MODEL)[0] for i, v in enumerate(values)]
        assert many.record([arrival(v, f"{i}") for i, v in enumerate(values)], MODEL) == loop
        at_one_time = {"times": b""}  # as nothing else is another
        assert one.view().catalogue.state() | at_one_time == many.view().catalogue.state() | at_one_time


def test_opening_folds_only_what_came_after_the_snapshot(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "SNAPSHOT_EVERY", 5)
    with new_store(path) as store:
        for _ in range(9):
            discover(store, 0b1111, 0b1110000)
        assert store._snapshot_at >= 15
    with Store.open(path) as store:
        folded = []
        monkeypatch.setattr(Catalogue, "apply", lambda self, recorded, fetch: folded.append(recorded))
        again = Store(SqliteLog.open(path, write=False))
        assert folded == []
        assert again.view().catalogue == store.view().catalogue


def test_a_name_given_on_after_an_undo_survives_a_snapshot(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "SNAPSHOT_EVERY", 1)
    with new_store(path) as store:
        discover(store, 0b1111, 0b1110)
        store.split([3], name="moth")
        store.undo()
        store.rename("bee", "moth")
    with Store.open(path) as store:
        assert store._snapshot_at == store.view().last
        assert store.view().catalogue == store.replay()
        with pytest.raises(StoreError, match="taken by category bee"):
            store.rename("ant", "moth")
        store.rename("moth", "wasp")


def test_the_same_image_follows_its_category_out_of_a_merge(path: Path) -> None:
    with new_store(path) as store:
        discover(store, 0b1111)
        store.record([arrival(1, "x.jpg")], MODEL)
        store.move([3], "new-1")
        store.merge("new-1", "ant")
        (again,) = store.record([arrival(1, "x.jpg")], MODEL)
        assert (again.category, again.via, again.decided_by) == ("ant", "new-1", "person")
        store.undo()
        assert categories(store)["new-1"] == [2, 3, 6]


def test_the_register_of_a_fresh_store_is_the_one_it_was_made_with(path: Path) -> None:
    with new_store(path, radius=3, rule="first") as store:
        assert store.register.header() == fresh_register(3, "first").header()


def test_a_register_that_never_discovers_cannot_be_made_to(tmp_path: Path) -> None:
    with new_store(tmp_path / "r.db", radius=math.inf) as store:
        assert {answer.category for answer in discover(store, *range(256))} == {"ant", "bee"}
        with pytest.raises(SettingsError, match="never discover"):
            store.change_radius(1)
    with Store.open(tmp_path / "r.db") as store:
        assert store.view().radius == math.inf == store.assignment(1).radius
