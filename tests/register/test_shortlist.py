"""Of very many categories only those that can matter are weighed: the answers are those of weighing all.

What is very many is made few here, so that tiles fill up, and every rule is met.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from firstsight.core.assignments import Assignment
from firstsight.core.errors import ModelError
from firstsight.register import shortlist, weighing
from firstsight.register.spread import Spread
from firstsight.register.statistics import StatisticsRegister

WIDTH = 5
WITHIN = np.array([1.0, 0.3, 2.0, 1.0, 0.5])


@contextmanager
def many_from(count: int) -> Iterator[None]:
    with mock.patch.object(weighing, "MANY", count):
        yield


@pytest.fixture(autouse=True)
def _small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortlist, "TILE", 8)
    monkeypatch.setattr(shortlist, "CONTENDERS", 6)


def empty(ratio: float = 9.0, sharpness: float = 1.0, slope: float = 1.0, radius: float = 0.0) -> StatisticsRegister:
    """One known category at the origin; B is that many times W, less in every further dimension."""
    between = WITHIN * ratio / np.arange(1, WIDTH + 1)
    spread = Spread(WITHIN, between, 0.0, sharpness=sharpness, slope=slope, shift=0.2, decline=0.5)
    return StatisticsRegister(spread, ["ant"], np.array([2]), np.zeros((1, WIDTH)), radius)


def check(register: StatisticsRegister, feature: NDArray[Any]) -> Assignment:
    """The answer by a shortlist; it is that of the full product."""
    with many_from(10**9):
        full = register.match(feature)
    with many_from(1):
        near = register.match(feature)
        reach = register.spread.reach(len(register.names), weighing.ERROR / 2)
    assert (near.category, near.distance, near.is_new, near.via) == (
        full.category,
        full.distance,
        full.is_new,
        full.via,
    )
    assert near.confidence == pytest.approx(full.confidence, abs=weighing.ERROR)
    if full.runner_up is not None and full.runner_up.distance <= min(full.distance or 0, register.radius) + reach:
        assert near.runner_up == full.runner_up
    elif full.category is not None:
        assert near.runner_up is None  # nobody would take it for the answer
    return near


def as_features(values: Any) -> NDArray[np.float32]:
    return np.array(values, dtype=np.float32).reshape(-1, WIDTH)


places = st.tuples(*[st.sampled_from([-300.0, -9, -8.5, -1, 0, 0.5, 1, 7, 8, 9, 1e5])] * WIDTH)
names = st.integers(0, 30)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("comes"), places, names),
        st.tuples(st.just("learn"), places, names),
        st.tuples(st.just("unlearn"), places, names),
        st.tuples(st.just("merge"), names, names),
        st.tuples(st.just("undo"), names, names),
    ),
    max_size=30,
)


@given(
    steps=steps,
    start=st.lists(places, max_size=25),
    ratio=st.sampled_from([0.2, 9.0, 1e4]),
    sharpness=st.sampled_from([0.25, 1.0, 3.0]),
    slope=st.sampled_from([0.6, 1.0, 2.0]),
    radius=st.sampled_from([-50.0, 0.0, 40.0, np.inf]),
)
def test_whatever_comes_and_is_corrected_the_answers_are_those_of_the_full_product(
    steps: Any, start: Any, ratio: float, sharpness: float, slope: float, radius: float
) -> None:
    register = empty(ratio, sharpness, slope, radius)
    register.rebuild(register.known_centres(), members=[(as_features(p)[0], f"new-{i}") for i, p in enumerate(start)])
    lessons: list[tuple[NDArray[np.float32], str]] = []
    with many_from(1):
        for what, place, which in steps:
            name = register.names[which % len(register.names)]
            if what == "comes":
                feature = as_features(place)[0]
                expected = check(register, feature)
                answer = register.assign(feature)
                assert (answer.distance, answer.confidence) == (expected.distance, expected.confidence)
                assert answer.created == (expected.category is None)
            elif what == "learn":
                lessons.append((as_features(place)[0], name))
                register.learn(*lessons[-1])
            elif what == "unlearn" and lessons:
                register.unlearn(*lessons.pop(which % len(lessons)))
            elif what == "merge" and name not in register._merged:
                other = register.names[place % len(register.names)]
                if other not in register._merged and name not in register._merged.values():
                    register.redirect(name, other)
            elif what == "undo":
                register.redirect(name, name)
    for feature in as_features([*start[:3], (0.1, 0.2, 0.3, 0.4, 0.5), (7, 7, 7, 7, 7)]):
        check(register, feature)


def grown(ratio: float, count: int = 200, images: int = 3) -> tuple[StatisticsRegister, NDArray[np.float32]]:
    """A register of drawn categories, each with some images, and one feature of each more."""
    generator = np.random.default_rng(0)
    register = empty(ratio)
    means = np.sqrt(register.spread.between) * generator.standard_normal((count, WIDTH))
    drawn = means[:, None] + np.sqrt(WITHIN) * generator.standard_normal((count, images + 1, WIDTH))
    learned = drawn[:, :images].reshape(-1, WIDTH).astype(np.float32)
    members = [(feature, f"new-{i // images}") for i, feature in enumerate(learned)]
    register.rebuild(register.known_centres(), members=members)
    return register, drawn[:, -1].astype(np.float32)


def test_where_categories_lie_apart_most_are_never_compared() -> None:
    register, features = grown(1e3)
    before = register.comparisons
    with many_from(1), mock.patch.object(StatisticsRegister, "distances", side_effect=AssertionError):
        for i in range(0, 200, 10):
            assert register.match(features[i]).category == f"new-{i}"
    assert register.comparisons - before < 20 * 200 / 4


def test_where_they_do_not_all_are_and_the_sum_of_their_odds_is_told() -> None:
    register, features = grown(0.5)
    answers = [check(register, feature) for feature in features[:20]]
    assert any((answer.confidence or 0) < 0.5 for answer in answers)


def test_all_the_same_is_decided_by_the_full_product_and_the_oldest_answers() -> None:
    register = empty(radius=np.inf)
    register.rebuild(register.known_centres(), members=[(np.ones(WIDTH), f"new-{i}") for i in range(40)])
    answer = check(register, np.ones(WIDTH, dtype=np.float32))
    assert answer.category == "new-0"
    assert answer.runner_up is not None
    assert answer.runner_up.category == "new-1"


@pytest.mark.parametrize("scale", [1e-12, 1e12, 1e19])
def test_numbers_too_large_or_too_small_for_a_bound_are_left_to_the_full_product(scale: float) -> None:
    spread = Spread(WITHIN * scale**2, WITHIN * 9 * scale**2, 0.0)
    points = scale * np.random.default_rng(0).normal(0, 3, (30, WIDTH))
    register = StatisticsRegister(spread, [str(i) for i in range(30)], np.ones(30), points)
    for point in points:
        check(register, point)


def test_a_register_without_an_image_knows_nothing() -> None:
    spread = Spread(WITHIN, WITHIN, 0.0)
    register = StatisticsRegister(spread, ["ant"], np.zeros(1), np.zeros((1, WIDTH)))
    answer = check(register, np.ones(WIDTH, dtype=np.float32))
    assert (answer.category, answer.distance) == (None, None)


def test_built_again_or_copied_it_answers_to_the_bit_and_goes_its_own_way() -> None:
    register, features = grown(9.0)
    with many_from(1):
        expected = [register.match(feature) for feature in features]
        copy, again = register.copy(), empty(9.0)
        again.rebuild(again.known_centres(), order=register.names, learned=register.learned())
        assert [again.match(feature) for feature in features] == expected
        copy.assign_many(features)
        copy.redirect("new-7", "new-3")
        assert [register.match(feature) for feature in features] == expected
        for feature in features:
            check(copy, feature)


@given(st.lists(places, min_size=2, max_size=40), st.sampled_from([0.2, 9.0, 1e4]), st.sampled_from([2, 5, 64]))
def test_together_features_are_answered_as_one_by_one(values: Any, ratio: float, together: int) -> None:
    """By products of matrices, whose last digits are others, so a confidence is the same within its error."""
    features = as_features(values)
    with many_from(4), mock.patch.object(weighing, "TOGETHER", together):
        many, one = empty(ratio), empty(ratio)
        for answer, feature in zip(many.assign_many(features), features, strict=True):
            expected = one.assign(feature)
            assert replace(answer, confidence=None) == replace(expected, confidence=None)
            assert answer.confidence == pytest.approx(expected.confidence, abs=weighing.ERROR)
    assert many.learned() == one.learned()


def test_what_cannot_be_compared_is_refused_when_its_turn_comes() -> None:
    register, features = grown(9.0)
    bad = features[:4].copy()
    bad[2] = np.nan
    before = register.counts.sum()
    with many_from(1), pytest.raises(ModelError, match="not a finite number"):
        register.assign_many(bad)
    assert register.counts.sum() == before + 2


def test_below_ten_thousand_nothing_is_left_out() -> None:
    register, features = grown(9.0)
    with mock.patch.object(StatisticsRegister, "_look_near", side_effect=AssertionError):
        register.assign_many(features)
    assert register._shortlist is None


@given(
    slope=st.floats(0.2, 5),
    shift=st.floats(-3, 3),
    sharpness=st.floats(0.05, 4),
    nearer=st.lists(st.floats(0, 100), max_size=5),
)
def test_what_is_out_of_reach_hardly_changes_a_chance(
    slope: float, shift: float, sharpness: float, nearer: list[float]
) -> None:
    spread = Spread(WITHIN, WITHIN, 0.0, sharpness=sharpness, slope=slope, shift=shift)
    reach = spread.reach(1000, 5e-4)
    odds = 1 + np.exp(-sharpness * np.array(nearer)).sum()
    with_rest = odds + 999 * np.exp(-sharpness * reach)
    assert abs(spread.chance(1 / odds) - spread.chance(1 / with_rest)) <= 5e-4 + 1e-7
