"""How many categories there are: an interval around what the sizes say, and a plain rule where nothing was learned."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstsight.core.number import Number, estimate
from firstsight.register.kinds import of_header
from firstsight.register.number import NumberModel, Signs
from firstsight.register.spread import Spread
from firstsight.register.statistics import StatisticsRegister

PLAIN = NumberModel(np.zeros(6), np.array([np.log(0.2), 0, 0, 0]))  # as many as are confirmed, give or take


def register(counting: NumberModel | None) -> StatisticsRegister:
    spread = Spread(np.ones(1), np.full(1, 25.0), 0.0)
    return StatisticsRegister(spread, ["ant", "bee"], np.array([4, 4]), np.array([[0.0], [36.0]]), counting=counting)


def test_without_a_model_what_is_more_than_a_guess_is_counted() -> None:
    told = estimate(register(None), [7, 3, 2, 1, 0], certain=2, certain_images=20)
    assert told == Number(2, 2)
    assert told.as_json() == {"estimate": 4, "low": None, "high": None, "certain": 2}
    assert "3 images" in str(told)


def test_a_model_says_how_sure_it_is() -> None:
    told = estimate(register(PLAIN), [9, 8, 3, 1], certain=2, certain_images=20)
    assert told.more == 4  # 3.5 confirmed: half a one that may be yet
    assert told.low is not None
    assert told.high is not None
    assert told.low < told.more < told.high
    assert str(told) == f"about 6 categories (90 %: {2 + told.low} to {2 + told.high})"


def test_where_nothing_was_found_there_is_nothing_to_estimate() -> None:
    assert estimate(register(PLAIN), [0, 0], certain=2, certain_images=20) == Number(2, 0, 0, 0)


@given(st.lists(st.integers(1, 200), min_size=1, max_size=40), st.integers(0, 10_000))
def test_nobody_saw_more_categories_than_images(sizes: list[int], others: int) -> None:
    wild = NumberModel(np.full(6, 3.0), np.full(4, 2.0))
    about, low, high = wild(sizes, others)
    assert 0 <= low <= about <= sum(sizes)
    assert about <= high <= sum(sizes) + others


@given(st.lists(st.integers(3, 50), min_size=1, max_size=20), st.integers(2, 5))
def test_the_same_again_and_again_is_that_many_times_as_much(sizes: list[int], times: int) -> None:
    """The signs do not depend on how long a stream is; half a category for those to come is all that differs."""
    one, more = Signs.of(sizes, 10 * len(sizes)), Signs.of(sizes * times, 10 * len(sizes) * times)
    assert more.confirmed - 0.5 == times * (one.confirmed - 0.5)
    assert more.shape[1] == pytest.approx(one.shape[1])
    assert more.shape[4] == pytest.approx(one.shape[4])


def test_it_is_kept_with_the_register() -> None:
    made = register(PLAIN)
    assert of_header(made.header()).number_of([5, 5], 3) == made.number_of([5, 5], 3)  # type: ignore[attr-defined]
    assert made.copy().number_of([5, 5], 3) == made.number_of([5, 5], 3)
