"""A category learns until it has enough: which answers were lessons is in the log, and people's word always is one."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstsight.errors import FirstsightError
from firstsight.protocols import Provenance
from firstsight.register.kinds import of_header
from firstsight.register.statistics import Spread, StatisticsRegister
from firstsight.store.store import Arrival, Store

MODEL = Provenance("f" * 64, 1, "cpu", "fp32")
SPREAD = Spread(np.ones(2), np.full(2, 25.0), concentration=0.0, enough=3)


def fresh(spread: Spread = SPREAD) -> StatisticsRegister:
    """One category of two rows at (0, 0), and one of five at (9, 0)."""
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


def test_registers_of_older_files_learn_on() -> None:
    header = fresh().header()
    assert of_header(header).header() == header
    del header["enough"]
    older = of_header(header)
    older.assign_many(np.tile(np.array([8, 0], dtype=np.float32), (40, 1)))
    assert isinstance(older, StatisticsRegister)
    assert older.counts.tolist() == [2, 45]


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


def test_an_answer_taken_back_and_brought_back_teaches_no_more_than_before(tmp_path: Path) -> None:
    with Store.create(tmp_path / "r.db", fresh(), MODEL) as store:
        answers = store.record([arrival(f"{i}.jpg", 8, i) for i in range(3)], MODEL)
        store.undo(answers[1].image)
        store.redo()
        assert len(store.catalogue.images("many")) == 3
        assert totals(store)["many"] == [5, 45, 0]


near = st.sampled_from([(0, 0), (9, 0), (0, 9), (-9, -9), (4, 4)])
operations = st.lists(
    st.one_of(
        st.tuples(st.just("record"), st.lists(near, min_size=1, max_size=6)),
        st.tuples(st.sampled_from(["confirm", "move", "merge", "split"]), st.integers(0, 50), st.integers(0, 50)),
        st.tuples(st.sampled_from(["undo", "redo"])),
    ),
    max_size=12,
)


@given(operations)
@settings(max_examples=60)
def test_a_file_opened_again_has_learned_the_same_to_the_bit(steps: list[tuple[object, ...]]) -> None:
    with TemporaryDirectory() as folder, Store.create(Path(folder) / "r.db", fresh(), MODEL) as store:
        for number, step in enumerate(steps):
            with suppress(FirstsightError):  # an edit of what is not there
                carry_out(store, number, *step)
            with Store.open(Path(folder) / "r.db", write=False) as again:
                assert totals(again) == totals(store)


def carry_out(store: Store, number: int, kind: object, first: object = None, second: object = None) -> None:
    if isinstance(first, list):
        store.record([arrival(f"{number}-{i}", *place) for i, place in enumerate(first)], MODEL)
        return
    images = list(store.catalogue.numbers)
    names = [category.id for category in store.catalogue.live()]
    if isinstance(first, int) and isinstance(second, int) and images:
        image, name = images[first % len(images)], names[second % len(names)]
        match kind:
            case "confirm":
                store.confirm([image])
            case "move":
                store.move([image], to=name)
            case "merge":
                store.merge(names[first % len(names)], into=name)
            case "split":
                store.split([image])
    elif kind == "undo":
        store.undo()
    elif kind == "redo":
        store.redo()
