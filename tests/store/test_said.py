"""What people say, in every kind of register: it takes effect, can be undone to the bit, and is there tomorrow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from every_kind import EVERY_KIND, arrival_at, feature_at, register_of
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_store import MODEL

from firstsight.core.errors import BadRequest, Conflict, FirstsightError, NotFound
from firstsight.core.protocols import Silent
from firstsight.register.statistics import StatisticsRegister
from firstsight.store import views
from firstsight.store.authors import HINDSIGHT, Author
from firstsight.store.events import Founded, Merged, Promoted, Undone
from firstsight.store.reconsider import apply, reconsider
from firstsight.store.store import Store
from firstsight.store.suggest import suggest

HERE, THERE, NEAR_ANT, ELSEWHERE = [3.0, 0, 0, 0], [0.0, 3, 0, 0], [0.1, 0, 2.9, 0], [3.0, 3, 0, 0]
GRID = [np.array([a, b, c, d]) for a in (0, 1.4, 3) for b in (0, 3) for c in (0, 1.6, 3) for d in (0, 3)]


@pytest.fixture(params=EVERY_KIND)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def filled(kind: str, store: Store | None = None) -> Store:
    """new-1 has three images here, new-2 two there, and ant one."""
    store = store or Store.in_memory(register_of(kind), MODEL)
    generator = np.random.default_rng(1)
    for i, place in enumerate([HERE, HERE, THERE, HERE, THERE, NEAR_ANT]):
        at = np.array(place) + 0.03 * generator.standard_normal(4)
        store.record([arrival_at(kind, at, f"{i}.jpg")], MODEL)
    assert [len(store.view().images(id)) for id in ("new-1", "new-2", "ant")] == [3, 2, 1]
    return store


def answers(store: Store, kind: str) -> list[Any]:
    return [store.match(feature_at(kind, place), b"nobody's") for place in GRID]


def everything(store: Store, kind: str) -> tuple[Any, ...]:
    """All that an edit could change, but for the history."""
    view = store.view()
    told = [list(views.images(view, None)), view.catalogue.live(), view.radius, dict(view.catalogue.sources)]
    return (*told, views.discarded(view), answers(store, kind), view.register.learned() if not kept(store) else None)


def edits_of(store: Store) -> list[int]:
    return [each.number for each in store.view().edits() if not isinstance(each.event, Undone)]


def kept(store: Store) -> bool:
    """Whether categories came and went, whose places what was learned keeps."""
    return any(category.gone for category in store.view().catalogue.categories.values())


# ---------------------------------------------------------------------- promote


def test_a_promoted_category_is_known_and_answers_as_it_did(kind: str) -> None:
    store = filled(kind)
    before = [answer.category for answer in answers(store, kind)]
    with pytest.raises(BadRequest, match="no name yet"):
        store.promote("new-1")
    assert store.promote("new-1", "Blue Morpho", by="Ann").kind == "Promoted"
    answer = store.match(feature_at(kind, HERE), b"nobody's")
    assert (answer.category, answer.name, answer.is_new) == ("new-1", "Blue Morpho", False)
    assert [each.category for each in answers(store, kind)] == before
    (summary,) = [each for each in views.summaries(store.view()) if each.id == "new-1"]
    assert summary.known
    assert not summary.tentative
    with pytest.raises(Conflict, match="known already"):
        store.promote("blue morpho")
    store.undo()  # name and promotion together
    assert store.match(feature_at(kind, HERE), b"nobody's").is_new
    assert store.view().name_of("new-1") == "new-1"


def test_two_known_categories_are_not_suggested_to_be_one() -> None:
    store = filled("statistics")
    store.change_radius(-30)
    store.record([arrival_at("statistics", HERE, "again.jpg")], MODEL)
    assert {(each.category, each.into) for each in suggest(store.view())} == {("new-3", "new-1")}
    store.promote("new-1", "Morpho")
    store.promote("new-3", "Emperor")
    assert suggest(store.view()) == []


# ---------------------------------------------------------------------- teach


def test_a_label_nobody_has_makes_a_known_category(kind: str) -> None:
    store = filled(kind)
    before = everything(store, kind)
    images = [arrival_at(kind, np.array(ELSEWHERE) + 0.01 * i, f"taught{i}.jpg") for i in range(3)]
    made = store.teach(images, ["Gnat", "gnat", "Gnat "], MODEL, by="Ann")
    assert isinstance(made[0].event, Founded)
    answer = store.match(feature_at(kind, ELSEWHERE), b"nobody's")
    assert (answer.name, answer.is_new) == ("Gnat", False)
    view = store.view()
    assert all(view.catalogue.author(number) == Author("person", "Ann") for number in view.images(answer.category))
    assert len(view.images(answer.category)) == 3
    assert store.recognise(images[0].content).decided_by == "record"  # type: ignore[union-attr]
    store.undo()
    assert everything(store, kind)[:-1] == before[:-1]
    with pytest.raises(NotFound):
        store.view().category("gnat")
    store.redo()
    assert store.match(feature_at(kind, ELSEWHERE), b"nobody's") == answer


def test_a_category_that_is_there_learns_what_it_did_not_reach(kind: str) -> None:
    store = filled(kind)
    before = everything(store, kind)
    assert store.match(feature_at(kind, ELSEWHERE), b"nobody's").category not in ("bee",)
    images = [arrival_at(kind, ELSEWHERE, f"taught{i}.jpg") for i in range(40)]
    if kind == "marks":
        with pytest.raises(Conflict, match="stay where they were founded"):
            store.teach(images, ["bee"] * 40, MODEL)
        assert everything(store, kind) == before
        return
    store.teach(images, ["BEE"] * 40, MODEL)
    assert len(store.view().images("bee")) == 40
    if kind in ("codes", "features", "statistics", "leaders", "windows", "niw"):  # the others move slowly
        assert store.match(feature_at(kind, ELSEWHERE), b"nobody's").category == "bee"
    store.undo()
    assert everything(store, kind)[:-1] == before[:-1]


def test_an_image_that_is_here_is_not_counted_twice(kind: str) -> None:
    store = filled(kind)
    first = store.view().images("new-1")[0]
    held = arrival_at(kind, HERE, "0.jpg")
    made = store.teach([held, held], ["new-2", "NEW-2"], MODEL)
    assert [each.kind for each in made] == ["Moved"]
    assert len(store.view().images()) == 6
    assert store.view().category_of(first) == "new-2"
    store.undo()
    store.teach([held], ["new-1"], MODEL)
    assert views.member(store.view(), first).author == "person"


def test_what_cannot_be_taught_is_refused_and_changes_nothing(kind: str) -> None:
    store = filled(kind)
    last = store.view().last
    images = [arrival_at(kind, HERE, "x.jpg"), arrival_at(kind, HERE, "y.jpg")]
    for labels in (["Gnat"], ["Gnat", ""], ["Gnat", "a\nb"]):
        with pytest.raises(BadRequest):
            store.teach(images, labels, MODEL)
    with pytest.raises(BadRequest):
        store.teach([], [], MODEL)
    with pytest.raises(BadRequest, match="cannot be a name"):
        store.teach(images, ["Gnat", "Gnat"], MODEL, by="x" * 300)
    assert store.view().last == last


# ---------------------------------------------------------------------- discard


def test_a_discarded_image_teaches_nothing_and_is_recognised(kind: str) -> None:
    store, never = filled(kind), Store.in_memory(register_of(kind), MODEL)
    before = everything(store, kind)
    junk = arrival_at(kind, THERE, "junk.jpg")
    (answer,) = store.record([junk], MODEL)
    store.discard([answer.image or 0], by="Ann")
    filled(kind, never)
    assert [each.category for each in answers(store, kind)] == [each.category for each in answers(never, kind)]
    last = store.view().last
    for again in (*store.record([junk], MODEL), *store.record([junk], MODEL, once=True), store.match(*junk_of(junk))):
        assert (again.decided_by, again.category, again.image) == ("discarded", None, answer.image)
    assert store.view().last == last
    assert [(each.image, each.author_name) for each in views.discarded(store.view())] == [(answer.image, "Ann")]
    store.undo()
    store.undo(answer.image or 0)
    assert everything(store, kind) == before


def junk_of(junk: Any) -> tuple[Any, bytes]:
    return junk.feature, junk.content


def test_a_founder_goes_and_those_who_joined_stay(kind: str) -> None:
    store = filled(kind)
    before = everything(store, kind)
    founder, *others = store.view().images("new-1")
    with pytest.raises(Conflict, match="later events depend on it") as refused:
        store.undo(founder)
    assert f"discard image {founder}" in refused.value.remedy
    assert "followers=True" in refused.value.remedy
    store.discard([founder])
    assert store.view().images("new-1") == others
    assert store.match(feature_at(kind, HERE), b"nobody's").category == "new-1"
    store.undo()
    assert everything(store, kind) == before
    store.undo(founder, followers=True)
    assert store.view().images() == [n for n in store.view().images() if n not in (founder, *others)]
    assert store.view().catalogue.find("new-1") is None
    store.redo()
    assert everything(store, kind) == before


def test_a_centre_that_junk_made_moves_to_the_images_left() -> None:
    store = Store.in_memory(register_of("features"), MODEL)
    for i, x in enumerate((3.0, 4.2, 4.3)):
        store.record([arrival_at("features", [x, 0, 0, 0], f"{i}.jpg")], MODEL)
    founder, *_ = store.view().images("new-1")
    assert store.match(feature_at("features", [5.5, 0, 0, 0]), b"").category is None
    store.discard([founder])
    assert store.match(feature_at("features", [5.5, 0, 0, 0]), b"").category == "new-1"
    assert [each.command for each in store.view().edits()] == [store.view().last - 1] * 2
    store.undo()
    assert store.match(feature_at("features", [5.5, 0, 0, 0]), b"").category is None


def test_a_category_of_nothing_goes_with_what_was_merged_into_it(kind: str) -> None:
    store = filled(kind)
    store.rename("new-2", "Moth")
    store.merge("new-2", "new-1")
    before = everything(store, kind)
    store.discard_category("NEW-1")
    assert [c.id for c in store.view().catalogue.live()] == ["ant", "bee"]
    assert {answer.category for answer in answers(store, kind)} <= {"ant", "bee", None}
    store.rename("ant", "Moth")  # whose name is free again
    with pytest.raises(Conflict, match="Renamed"):
        store.undo(store.view().last - 1)
    store.undo()
    store.undo()
    assert everything(store, kind) == before
    with pytest.raises(Conflict, match="taught to the model"):
        store.discard_category("ant")
    store.merge("ant", "new-1")
    with pytest.raises(Conflict, match="taught to the model"):
        store.discard_category("new-1")


def test_the_last_image_takes_its_category_along(kind: str) -> None:
    store = filled(kind)
    store.discard(store.view().images("new-2"))
    assert store.view().catalogue.find("new-2") is None
    assert store.match(feature_at(kind, THERE), b"nobody's").category != "new-2"
    store.discard(store.view().images("ant"))
    assert store.view().catalogue.find("ant") is not None


# ---------------------------------------------------------------------- authors and commands


def test_hindsight_is_no_person(kind: str) -> None:
    store = filled(kind)
    image = store.view().images("new-2")[0]
    content = store.view().assigned(image).content
    store.move([image], "new-1", by=HINDSIGHT)
    member = views.member(store.view(), image)
    assert (member.category, member.author, member.by_person) == ("new-1", "hindsight", False)
    assert store.view().assignment(image).decided_by == "hindsight"
    assert store.view().placed_before(content) is None
    assert views.line(store.view(), store.view().event(store.view().last))["author"] == "hindsight"
    store.confirm([image], by="Ann Lee")
    member = views.member(store.view(), image)
    assert (member.author, member.author_name) == ("person", "Ann Lee")
    store.undo(by="Bob")
    assert views.member(store.view(), image).author == "hindsight"
    assert store.view().event(store.view().last).event.by == "person Bob"


def test_what_is_reconsidered_is_by_hindsight() -> None:
    store = filled("statistics")
    image = store.view().images("new-2")[0]
    store.move([image], "new-1", by=HINDSIGHT)
    (found,) = reconsider(store.view(), Silent())
    (made,) = apply(store, [found])
    assert (found.image, found.now, made.event.by) == (image, "new-2", "hindsight")
    assert not store.view().catalogue.placed_images


def test_one_command_is_one_undo_and_one_redo(kind: str) -> None:
    store = filled(kind)
    before = everything(store, kind)
    made = store.edit(lambda draft: [draft.merge(each, "ant") for each in ("new-1", "new-2")], by="Ann")
    assert [each.command for each in made] == [made[0].number] * 2
    after = everything(store, kind)
    undone = store.undo(made[0].number)
    assert isinstance(undone.event, Undone)
    assert undone.event.events == (made[1].number, made[0].number)
    assert everything(store, kind) == before
    store.redo(made[1].number)
    assert everything(store, kind) == after


# ---------------------------------------------------------------------- names


def test_names_are_found_whatever_their_capitals() -> None:
    store = filled("statistics")
    store.rename("NEW-1", "Straße")
    for typed in ("straße", "STRASSE", " Strasse", "new-1", "New-1"):
        assert store.view().category(typed).id == "new-1"
    with pytest.raises(NotFound, match="did you mean 'Straße'"):
        store.view().category("STRASE")
    with pytest.raises(Conflict, match="taken by category ant"):
        store.rename("bee", "ANT")
    store.rename("new-1", "STRASSE")  # its own, in capitals
    store.merge("Strasse", "ANT")
    assert store.view().category("strasse").id == "ant"


def test_names_that_capitals_tell_apart_are_asked_for() -> None:
    spread = register_of("statistics").header()
    register = StatisticsRegister.of({**spread, "known": ["Ruff", "RUFF"]})
    store = Store.in_memory(register, MODEL)
    assert store.view().category("Ruff").id == "Ruff"
    with pytest.raises(Conflict, match="may be 'RUFF' or 'Ruff'"):
        store.view().category("ruff")


# ---------------------------------------------------------------------- everything, in any order

VERBS: dict[str, Callable[[Store, str, int, str], object]] = {
    "rename": lambda store, id, image, kind: store.rename(id, f"name {image}"),
    "promote": lambda store, id, image, kind: store.promote(id, f"known {image}", by="Ann"),
    "merge": lambda store, id, image, kind: store.merge(id, store.view().category_of(image)),
    "split": lambda store, id, image, kind: store.split([image]),
    "move": lambda store, id, image, kind: store.move([image], id, by="Bob"),
    "hindsight": lambda store, id, image, kind: store.move([image], id, by=HINDSIGHT),
    "confirm": lambda store, id, image, kind: store.confirm([image]),
    "discard": lambda store, id, image, kind: store.discard([image], by="Ann"),
    "discard_category": lambda store, id, image, kind: store.discard_category(id),
    "relocate": lambda store, id, image, kind: store.relocate({image: f"/there/{image}.jpg"}),
    "teach": lambda store, id, image, kind: store.teach(
        [arrival_at(kind, ELSEWHERE, f"t{store.view().last}.jpg"), arrival_at(kind, HERE, f"u{store.view().last}.jpg")],
        [id, f"label {image}"],
        MODEL,
    ),
}


@pytest.mark.parametrize("kind", EVERY_KIND)
@given(data=st.data(), verbs=st.lists(st.sampled_from(sorted(VERBS)), min_size=1, max_size=7))
@settings(max_examples=12)
def test_whatever_is_said_is_there_tomorrow_and_can_all_be_taken_back(
    kind: str, data: st.DataObject, verbs: list[str]
) -> None:
    store = filled(kind)
    before = everything(store, kind)
    for verb in verbs:
        ids = [each.id for each in store.view().catalogue.live()]
        chosen = data.draw(st.sampled_from(ids)), data.draw(st.sampled_from(store.view().images() or [1]))
        said = everything(store, kind)
        try:
            VERBS[verb](store, *chosen, kind)
        except FirstsightError:
            assert everything(store, kind) == said
    again = Store(store._log)  # opened anew, from the first event
    assert everything(again, kind) == everything(store, kind)
    while any(not store.view().is_undone(number) for number in edits_of(store)):
        store.undo()
    with pytest.raises(Conflict, match="nothing to undo"):
        store.undo()
    assert everything(store, kind)[:-1] == before[:-1]
    assert everything(Store(store._log), kind) == everything(store, kind)


def test_a_file_holds_what_was_said(tmp_path: Path) -> None:
    """Events of every kind there is, written and read, with a snapshot between."""
    with Store.create(tmp_path / "a.db", register_of("statistics"), MODEL) as store:
        filled("statistics", store)
        for verb in VERBS.values():
            verb(store, "new-1", store.view().images("new-2")[-1], "statistics")
            if "new-1" not in {c.id for c in store.view().catalogue.live()} or not store.view().images("new-2"):
                store.undo()
        said, kinds = everything(store, "statistics"), {each.kind for each in store.view().events()}
        assert {"Founded", "Promoted", "Discarded", "Relocated", "Undone"} <= kinds
        store.verify()
    with Store.open(tmp_path / "a.db") as again:
        assert everything(again, "statistics") == said
        assert any(isinstance(each.event, Promoted) and each.event.by == "person Ann" for each in again.view().edits())
        assert not any(isinstance(each.event, Merged) and each.command != each.number for each in again.view().edits())
