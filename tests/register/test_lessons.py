"""A category learns until it has enough: which answers were lessons is in the log, and people's word always is one."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import replace
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstsight.core.errors import FirstsightError
from firstsight.core.protocols import Provenance
from firstsight.register.kinds import of_header
from firstsight.register.spread import Spread
from firstsight.register.statistics import StatisticsRegister
from firstsight.store import store as store_module
from firstsight.store.store import Arrival, Store

MODEL = Provenance("f" * 64, 1, "cpu", "fp32")
SPREAD = Spread(np.ones(2), np.full(2, 25.0), concentration=0.0, enough=3, decline=0.5)


def fresh(spread: Spread = SPREAD) -> StatisticsRegister:
    """One category of two features at (0, 0), and one of five at (9, 0)."""
    return StatisticsRegister(spread, ["few", "many"], np.array([2, 5]), np.array([[0.0, 0], [45, 0]]))


def arrival(name: str, *values: float) -> Arrival:
    return Arrival(name, hashlib.sha256(name.encode()).digest(), np.array(values, dtype=np.float32))


def totals(store: Store) -> dict[str, list[float]]:
    register = store.register
    assert isinstance(register, StatisticsRegister)
    return {name: [n, *s] for name, n, s in zip(register.names, register.counts, register.sums.tolist(), strict=True)}


def test_answers_teach_until_there_are_enough() -> None:
    register = fresh()
    answers = register.assign_many(np.array([[1, 0], [1, 0], [8, 0], [0, 9], [0, 9], [0, 9], [0, 9]], dtype=np.float32))
    assert [a.category for a in answers] == ["few", "few", "many", *["new-1"] * 4]
    assert [a.lesson for a in answers] == [True, False, False, True, True, True, False]
    assert register.counts.tolist() == [3, 5, 3]
    assert register.sums.tolist() == [[1, 0], [45, 0], [0, 27]]


def test_a_size_counts_up_to_enough() -> None:
    alone = Spread(np.ones(1), np.full(1, 3.0), 0.0, trusted=2, enough=4)
    distances = [
        StatisticsRegister(alone, ["ant"], np.array([n]), np.array([[float(n)]])).match(np.ones(1)).distance or 0
        for n in (2, 4, 8)
    ]
    assert distances[0] - distances[1] == pytest.approx(log(4 / 2))
    assert distances[1] == pytest.approx(distances[2])


def test_a_register_without_a_limit_learns_on() -> None:
    header = fresh(replace(SPREAD, enough=np.inf)).header()
    again = of_header(json.loads(json.dumps(header, allow_nan=False)))
    assert again.header() == header
    again.assign_many(np.tile(np.array([8, 0], dtype=np.float32), (40, 1)))
    assert isinstance(again, StatisticsRegister)
    assert again.counts.tolist() == [2, 45]


def test_what_people_say_is_learned_however_much_there_is(tmp_path: Path) -> None:
    with Store.create(tmp_path / "r.db", fresh(), MODEL) as store:
        answers = store.record([arrival(f"{i}.jpg", 8, i) for i in range(3)], MODEL)
        assert totals(store)["many"] == [5, 45, 0]
        store.confirm([answers[2].image or 0])
        assert totals(store)["many"] == [6, 53, 2]
        store.move([answers[1].image or 0], to="few")
        assert totals(store)["few"] == [3, 8, 1]
        store.undo()
        store.undo()
        assert totals(store) == {"few": [2, 0, 0], "many": [5, 45, 0]}


def test_a_merge_adds_up_what_both_have_learned(tmp_path: Path) -> None:
    with Store.create(tmp_path / "r.db", fresh(), MODEL) as store:
        store.record([arrival(f"{i}.jpg", 0, 9 if i % 2 else -9) for i in range(10)], MODEL)
        assert totals(store)["new-1"] == [3, 0, -27]
        store.merge("new-2", into="new-1")
        assert totals(store)["new-1"] == [6, 0, 0]


def test_where_a_known_category_answers_for_another_that_one_learns(tmp_path: Path) -> None:
    with Store.create(tmp_path / "r.db", fresh(), MODEL) as store:
        store.merge("many", into="few")
        answers = store.record([arrival(f"{i}.jpg", 8, 0) for i in range(2)], MODEL)
        assert [(a.category, a.via, a.lesson) for a in answers] == [("few", "many", True), ("few", "many", False)]
        assert totals(store) == {"few": [3, 8, 0], "many": [5, 45, 0]}


def test_an_answer_taken_back_and_brought_back_teaches_no_more_than_before(tmp_path: Path) -> None:
    with Store.create(tmp_path / "r.db", fresh(), MODEL) as store:
        answers = store.record([arrival(f"{i}.jpg", 8, i) for i in range(3)], MODEL)
        store.undo(answers[1].image or 0)
        store.redo()
        assert len(store.view().catalogue.images("many")) == 3
        assert totals(store)["many"] == [5, 45, 0]


def test_a_category_whose_lessons_were_taken_away_goes_on_from_the_first_image_left(tmp_path: Path) -> None:
    with Store.create(tmp_path / "r.db", fresh(), MODEL) as store:
        images = [answer.image or 0 for answer in store.record([arrival(f"{i}", i / 8, 9) for i in range(6)], MODEL)]
        store.move(images[:3], to="few")
        assert totals(store)["new-1"] == [1, 3 / 8, 9]
        assert [store.assignment(image).lesson for image in images[3:]] == [True, False, False]
        again = store.record([arrival(f"again-{i}", 0, 9) for i in range(3)], MODEL)
        assert [(answer.category, answer.lesson) for answer in again] == [("new-1", i < 2) for i in range(3)]
        with Store.open(tmp_path / "r.db", write=False) as reader:
            assert totals(reader) == totals(store)
        store.undo()
        assert totals(store)["new-1"] == [5, 3 / 8, 45]


def test_the_first_image_is_the_first_of_all_that_were_merged(tmp_path: Path) -> None:
    with Store.create(tmp_path / "r.db", fresh(), MODEL) as store:
        founder, *_ = store.record([arrival("0", 0, 9), *(arrival(f"{i}", 0, -9) for i in range(1, 5))], MODEL)
        store.move([founder.image or 0], to="few")
        store.merge("new-2", into="new-1")
        (answer,) = store.record([arrival("5", 0, -9)], MODEL)
        assert (answer.category, answer.lesson) == ("new-1", False)
        assert totals(store)["new-1"] == [3, 0, -27]
        with Store.open(tmp_path / "r.db", write=False) as reader:
            assert totals(reader) == totals(store)


def test_what_people_said_of_an_image_that_was_no_lesson_is_in_the_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "SNAPSHOT_EVERY", 1)
    with Store.create(tmp_path / "r.db", fresh(), MODEL) as store:
        answers = store.record([arrival(f"{i}.jpg", 8, i) for i in range(3)], MODEL)
        assert not answers[2].lesson
        store.move([answers[2].image or 0], to="few")
    with Store.open(tmp_path / "r.db") as store:
        assert store._log.snapshot() is not None
        assert store.view().catalogue == store.replay()
        (again,) = store.record([arrival("2.jpg", 8, 2)], MODEL)
        assert (again.category, again.decided_by, again.lesson) == ("few", "person", True)
        assert totals(store)["few"] == [4, 16, 4]


near = st.sampled_from([(0, 0), (9, 0), (0, 9), (-9, -9), (4, 4)])
numbers = st.integers(0, 50)
operations = st.lists(
    st.one_of(
        st.tuples(st.just("record"), st.lists(near, min_size=1, max_size=6)),
        st.tuples(st.sampled_from(["confirm", "move", "merge", "split", "undo"]), numbers, numbers),
        st.tuples(st.sampled_from(["undo", "redo"])),
    ),
    max_size=15,
)


@given(operations)
@settings(max_examples=40)
def test_a_file_opened_again_has_learned_the_same_to_the_bit(steps: list[tuple[object, ...]]) -> None:
    feature = np.array([4, 1], dtype=np.float32)
    with TemporaryDirectory() as folder, Store.create(Path(folder) / "r.db", fresh(), MODEL) as store:
        for number, step in enumerate(steps):
            with suppress(FirstsightError):  # an edit of what is not there
                carry_out(store, number, *step)
            with Store.open(Path(folder) / "r.db", write=False) as again:
                assert totals(again) == totals(store)
                assert again.register.match(feature) == store.register.match(feature)
            learned = totals(store)
            assert all(learned[c.id][0] for c in store.view().catalogue.live() if store.view().catalogue.images(c.id))


def carry_out(store: Store, number: int, kind: object, first: object = None, second: object = None) -> None:
    if isinstance(first, list):
        store.record([arrival(f"{number}-{i}", *place) for i, place in enumerate(first)], MODEL)
        return
    images = store.view().images()
    names = [category.id for category in store.view().catalogue.live()]
    if isinstance(first, int) and isinstance(second, int) and images:
        start, name = first % len(images), names[second % len(names)]
        some = images[start : start + 1 + second % 4]
        match kind:
            case "confirm":
                store.confirm(some)
            case "move":
                store.move(some, to=name)
            case "merge":
                store.merge(names[first % len(names)], into=name)
            case "split":
                store.split(some)
            case "undo":
                store.undo(images[start])
    elif kind == "undo":
        store.undo()
    elif kind == "redo":
        store.redo()
