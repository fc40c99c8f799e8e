"""Categories as counts and sums: the odds by hand, what edits do to them, and that the log says it all."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from math import log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from firstsight.cli.main import app
from firstsight.core.errors import ModelError, SettingsError
from firstsight.core.protocols import Centre, Provenance
from firstsight.register.kinds import of_header
from firstsight.register.spread import Birth, Spread
from firstsight.register.statistics import StatisticsRegister
from firstsight.store.store import Arrival, Store
from firstsight.store.suggest import suggest
from firstsight.store.views import summaries

MODEL = Provenance("f" * 64, 1, "cpu", "fp32")


def fresh(
    concentration: float = 0.0, radius: float = 0.0, trusted: float = 3.0, decline: float = 0.0
) -> StatisticsRegister:
    """Two known categories of four features each, around (0, 0) and (9, 0); W is 1, B is 25."""
    spread = Spread(np.ones(2), np.full(2, 25.0), concentration, trusted, decline=decline)
    sums = 4 * np.array([[0.0, 0], [9, 0]])
    return StatisticsRegister(spread, ["ant", "bee"], np.array([4, 4]), sums, radius)


def feature(*values: float) -> NDArray[np.float32]:
    return np.array(values, dtype=np.float32)


def test_the_odds_by_hand() -> None:
    """W = 1, B = 3, one feature at 2: the mean is 1.5 with variance 0.75, a new mean 0 with variance 3."""
    spread = Spread(np.ones(1), np.full(1, 3.0), concentration=log(5), trusted=10)
    register = StatisticsRegister(spread, ["ant"], np.array([1]), np.array([[2.0]]))
    at_one = -(0.5**2) / (2 * 1.75) - 0.5 * log(1.75)
    new = log(5) - 1 / (2 * 4) - 0.5 * log(4)
    answer = register.match(feature(1.0))
    assert answer.distance == pytest.approx(new - at_one)
    assert answer.category is None
    assert answer.runner_up is not None
    assert answer.runner_up.category == "ant"
    assert answer.confidence == pytest.approx(1 / (1 + np.exp(at_one - new)))


def test_a_category_is_born_less_readily_the_more_was_learned() -> None:
    """Two known categories, so 8 lessons halve the chance of a new one, and 24 leave a quarter."""
    birth = Birth(5.0, decline=3.0)
    after = [birth.after(lessons, known=2) for lessons in (0, 8, 24)]
    assert after == pytest.approx([5, 5 - 3 * log(2), 5 - 3 * log(4)])
    register, at = fresh(decline=3.0), feature(3, 3)
    first = register.match(at).distance or 0
    taught = np.tile(feature(9, 1), (8, 1))
    for each in taught:
        register.learn(each, "bee")
    assert (register.match(at).distance or 0) == pytest.approx(first - 3 * log(2))  # as far from "ant" as before
    for each in taught[:4]:
        register.unlearn(each, "bee")
    assert (register.match(at).distance or 0) == pytest.approx(first - 3 * log(1.5))


def test_a_category_asked_as_if_it_had_not_learned_a_feature_had_one_lesson_less() -> None:
    register, expected, at = fresh(decline=3.0), fresh(decline=3.0), feature(5, 1)
    register.learn(at, "bee")
    assert register.match(at, without="bee").distance == pytest.approx(expected.match(at).distance)


def test_images_that_teach_nothing_make_nothing_less_probable() -> None:
    register = fresh(decline=3.0)
    register.assign_many(np.tile(feature(9, 0), (40, 1)))
    assert register.counts[1] == 16
    before = register.match(feature(0, 9)).distance
    register.assign_many(np.tile(feature(9, 0), (400, 1)))
    assert register.match(feature(0, 9)).distance == before


def test_a_header_of_before_births_declined_means_that_they_do_not() -> None:
    header = fresh().header()
    del header["decline"]
    assert of_header(header).header() == fresh().header()


def test_counts_speak_and_are_trusted_up_to_a_limit() -> None:
    spread = Spread(np.ones(1), np.full(1, 3.0), 0.0, trusted=2)
    many = StatisticsRegister(spread, ["ant"], np.array([8]), np.array([[8.0]]))
    few = StatisticsRegister(spread, ["ant"], np.array([2]), np.array([[2.0]]))
    apart = (few.match(feature(1.0)).distance or 0) - (many.match(feature(1.0)).distance or 0)
    assert apart == pytest.approx(log(8 / 2))  # the mean is believed alike, the size counts as it is


def test_features_join_what_they_are_near_and_found_what_they_are_not() -> None:
    register = fresh()
    answers = register.assign_many(np.stack([feature(8, 1), feature(0, 9), feature(0, 8), feature(1, 0)]))
    assert [answer.category for answer in answers] == ["bee", "new-1", "new-1", "ant"]
    assert [answer.created for answer in answers] == [False, True, False, False]
    assert register.counts.tolist() == [5, 5, 2]
    assert register.sums[2].tolist() == [0, 17]


def test_the_dial_goes_from_splitting_to_merging() -> None:
    between = feature(3, 3)
    assert fresh(radius=-50).match(between).category is None
    assert fresh(radius=50).match(between).category == "ant"
    with pytest.raises(SettingsError, match="any number"):
        fresh(radius=-np.inf)


def test_features_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(ModelError, match="not a finite number"):
        fresh().match(feature(np.nan, 0))
    with pytest.raises(ModelError, match="another length"):
        fresh().match(feature(1, 2, 3))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("radius", [np.inf, 1e308, -1e308])
def test_however_far_the_dial_is_turned_an_answer_is_a_probability(radius: float) -> None:
    register = fresh(radius=radius)
    register.spread = replace(register.spread, sharpness=2.0)
    assert register.match(feature(3, 3)).confidence == pytest.approx(1, abs=0.2)


points = st.lists(st.tuples(*[st.floats(-20, 20, width=32)] * 2), min_size=1, max_size=40)


@given(points)
def test_many_are_one_by_one_and_the_header_starts_the_same(values: list[tuple[float, float]]) -> None:
    given_features = np.array(values, dtype=np.float32)
    one, many = fresh(), of_header(json.loads(json.dumps(fresh().header())))
    loop = [one.assign(each) for each in given_features]
    assert list(many.assign_many(given_features)) == loop
    assert [a.category for a in loop if a.created] == [f"new-{i + 1}" for i in range(sum(a.created for a in loop))]
    assert all(0 < (a.confidence or 0) <= 1 for a in loop)


@given(points)
def test_the_order_of_arrival_does_not_change_what_the_same_members_make(values: list[tuple[float, float]]) -> None:
    given_features = np.array(values, dtype=np.float32)
    live, rebuilt, shuffled = fresh(), fresh(), fresh()
    answers = [live.assign(each) for each in given_features]
    members = [(each, str(a.category)) for each, a in zip(given_features, answers, strict=True) if a.lesson]
    rebuilt.rebuild(rebuilt.known_centres(), (), members)
    assert np.array_equal(live.sums, rebuilt.sums)
    assert live.next_name() == rebuilt.next_name() or not live.names[2:]
    shuffled.rebuild(shuffled.known_centres(), (), members[::-1])
    order = [shuffled.names.index(name) for name in live.names]
    assert np.allclose(shuffled.sums[order], live.sums, rtol=0, atol=1e-9)


def test_built_again_a_register_weighs_features_the_same_to_the_bit() -> None:
    """Counts of 47, where 47 * (3 / 47) is not 3, of 2 and of 1, which are met in another order than they came."""
    generator = np.random.default_rng(0)
    spread = Spread(np.linspace(1, 2, 64), np.linspace(9, 5, 64), 0.0, enough=100)
    means = np.array([[9.0], [0], [-9]]) * np.ones(64)
    features = means[[0] * 46 + [1] * 2 + [2]] + 0.1 * generator.standard_normal((49, 64))
    live, rebuilt = (StatisticsRegister(spread, ["ant"], np.ones(1), means[:1]) for _ in range(2))
    answers = live.assign_many(features)
    assert live.counts.tolist() == [47, 2, 1]
    rebuilt.rebuild(rebuilt.known_centres(), (), [(r, str(a.category)) for r, a in zip(features, answers, strict=True)])
    for each in 9 * generator.standard_normal((50, 64)):
        assert np.array_equal(live.distances(each), rebuilt.distances(each))


def test_what_has_no_features_is_like_nothing() -> None:
    """Of 64 known categories, all there is room for, one answers for a category without a feature, and is runner-up."""
    names, sums = [str(i) for i in range(64)], np.arange(128.0).reshape(64, 2)
    register = StatisticsRegister(fresh().spread, names, np.ones(64), sums)
    centres = [Centre(c.feature, "new-1" if c.home == "1" else c.category, c.home) for c in register.known_centres()]
    register.rebuild(centres)
    answer = register.assign(feature(0, 1))
    assert answer.runner_up is not None
    assert answer.runner_up.category == "new-1"
    assert list(register.alike()) == []


def arrival(name: str, *values: float) -> Arrival:
    return Arrival(name, hashlib.sha256(name.encode()).digest(), feature(*values))


def discovered(path: Path) -> Store:
    """Two new categories above and below, three images each."""
    store = Store.create(path, fresh(), MODEL)
    features = [(0, 9), (0, -9), (1, 9), (1, -9), (0, 10), (0, -10)]
    store.record([arrival(f"{i}.jpg", *each) for i, each in enumerate(features)], MODEL)
    return store


def register_of(store: Store) -> StatisticsRegister:
    assert isinstance(store.register, StatisticsRegister)
    return store.register


def totals(store: Store) -> dict[str, list[float]]:
    register = register_of(store)
    return {name: [n, *s] for name, n, s in zip(register.names, register.counts, register.sums.tolist(), strict=True)}


def test_a_store_starts_from_a_register_that_has_learned_nothing(tmp_path: Path) -> None:
    answered, taught, rebuilt, asked = fresh(), fresh(), fresh(), fresh()
    assert answered.assign(feature(8, 1)).category == "bee"  # nothing is discovered: ids are as they were
    taught.learn(feature(1, 0), "ant")
    rebuilt.rebuild(rebuilt.known_centres(), (), [(feature(1, 0), "ant")])
    for register in (answered, taught, rebuilt):
        with pytest.raises(SettingsError, match="fresh register"):
            Store.create(tmp_path / "r.db", register, MODEL)
    assert not (tmp_path / "r.db").exists()
    asked.match(feature(8, 1))
    rebuilt.rebuild(rebuilt.known_centres())
    Store.create(tmp_path / "asked.db", asked, MODEL).close()
    Store.create(tmp_path / "anew.db", rebuilt, MODEL).close()


def test_a_merge_is_an_addition_and_undo_takes_it_back(tmp_path: Path) -> None:
    with discovered(tmp_path / "r.db") as store:
        before = totals(store)
        store.merge("new-2", into="new-1")
        assert totals(store)["new-1"] == [6, 2, 0]
        assert totals(store)["new-2"] == [0, 0, 0]
        store.undo()
        assert totals(store) == before


def test_a_store_opened_again_has_the_same_statistics_to_the_bit(tmp_path: Path) -> None:
    with discovered(tmp_path / "r.db") as store:
        before = totals(store)
    with Store.open(tmp_path / "r.db") as again, Store.open(tmp_path / "r.db", write=False) as reader:
        assert totals(again) == before == totals(reader)
        again.record([arrival("more.jpg", 0, 9.5)], MODEL)
        reader.refresh()
        assert totals(reader) == totals(again) != before


def test_what_people_move_and_split_teaches(tmp_path: Path) -> None:
    with discovered(tmp_path / "r.db") as store:
        store.move([store.view().catalogue.images("new-2")[0]], to="ant")
        assert totals(store)["ant"] == [5, 0, -9]
        store.split(store.view().catalogue.images("new-1")[:2], "owl")
        assert totals(store)["new-1"] == [1, 0, 10]
        assert totals(store)["new-3"] == [2, 1, 18]
        store.undo()
        store.undo()
        assert totals(store)["ant"] == [4, 0, 0]


def test_a_known_category_that_was_merged_answers_for_the_other(tmp_path: Path) -> None:
    with discovered(tmp_path / "r.db") as store:
        store.merge("bee", into="ant")
        before = store.match(feature(9, 0), b"")
        assert (before.category, before.via, before.is_new) == ("ant", "bee", False)
        store.record([arrival("b.jpg", 9, 0.5)], MODEL)
        live = totals(store)
        assert live["ant"] == [5, 9, 0.5]
        with Store.open(tmp_path / "r.db", write=False) as reader:
            assert totals(reader) == live
        store.undo()
        assert totals(store)["bee"] == [5, 45, 0.5]  # what came by way of it goes back with it
        assert store.match(feature(9, 0), b"").category == "bee"


def test_an_image_a_person_placed_is_a_lesson_when_it_comes_again(tmp_path: Path) -> None:
    with discovered(tmp_path / "r.db") as store:
        store.move([store.view().catalogue.images("new-2")[0]], to="ant")
        again, next_one = store.record([arrival("1.jpg", 0, -9), arrival("n.jpg", 0, -9)], MODEL)
        assert (again.category, again.decided_by) == ("ant", "person")
        assert next_one.decided_by == "rule"
        assert totals(store)["ant"][0] == 6
    with Store.open(tmp_path / "r.db") as reopened:
        assert totals(reopened)["ant"][0] == 6


def test_a_category_left_without_images_does_not_answer(tmp_path: Path) -> None:
    with discovered(tmp_path / "r.db") as store:
        store.move(store.view().catalogue.images("new-2"), to="new-1")
        assert totals(store)["new-2"] == [0, 0, 0]
        answer = store.record([arrival("far.jpg", 15, -15)], MODEL)[0]
        assert answer.category == "new-3"


def test_what_is_rather_one_category_than_two_is_suggested(tmp_path: Path) -> None:
    with Store.create(tmp_path / "r.db", fresh(radius=-30), MODEL) as store:
        store.record([arrival("a.jpg", 0, 9), arrival("b.jpg", 0.5, 9), arrival("c.jpg", -9, -9)], MODEL)
        assert [c.id for c in summaries(store.view()) if c.tentative] == ["new-1", "new-2", "new-3"]
        (found,) = suggest(store.view())
        assert {found.category, found.into} == {"new-1", "new-2"}
        assert "as one category than as two" in found.reason
        store.merge(found.category, into=found.into)
        store.undo()
        assert suggest(store.view()) == []  # a person parted them


def test_the_list_says_which_categories_are_tentative(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with discovered(tmp_path / "r.db") as store:
        store.record([arrival("far.jpg", 15, -15)], MODEL)
    app(["categories", str(tmp_path / "r.db")], standalone_mode=False)
    lines = capsys.readouterr().out.splitlines()
    assert ["tentative" in line for line in lines if "new-" in line] == [False, False, True]


@given(st.floats(0, 20), st.floats(0.5, 20), st.integers(2, 40))
def test_two_are_the_rather_in_one_the_farther_apart_they_lie(near: float, further: float, images: int) -> None:
    """Halves of as many images, around the origin: the Bayes factor grows with what is between them."""
    spread = fresh().spread
    counts = np.full(2, float(images))
    factors = [
        spread.two_or_one(counts, images * np.array([[-apart, 0], [apart, 0]])) for apart in (near, near + further)
    ]
    assert factors[0] < factors[1]


def test_halves_are_believed_up_to_what_a_category_learns_from() -> None:
    """A thousand images of two poses say no more of two categories than sixteen of each."""
    spread, means = fresh().spread, np.array([[-2.0, 0], [2, 0]])
    few, enough, many = (spread.two_or_one(np.full(2, count), count * means) for count in (8.0, 16.0, 1000.0))
    assert few < enough
    assert many == pytest.approx(enough)
