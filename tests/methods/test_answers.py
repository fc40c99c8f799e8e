"""Answers to a whole stream, without a register: the ones that a register gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from firstsight.methods.firstsight.answers import answers
from firstsight.register.spread import Birth, Spread
from firstsight.register.statistics import StatisticsRegister

births = st.builds(Birth, st.sampled_from([-4.0, 0.0, 3.0, 50.0]), st.sampled_from([0.0, 2.0]))


@given(st.integers(0, 1000), st.integers(1, 5), st.integers(0, 60), births)
@settings(max_examples=40)
def test_a_register_answers_the_same(seed: int, known: int, images: int, birth: Birth) -> None:
    """Drawn values come near no tie, so the last digits of a sum decide nothing."""
    generator = np.random.default_rng(seed)
    variances = generator.uniform(0.5, 2, 5), generator.uniform(0.5, 9, 5)
    spread = Spread(*variances, birth.concentration, enough=6.0, decline=birth.decline)
    counts, sums = generator.integers(1, 8, known), generator.standard_normal((known, 5)) * 9
    features = generator.standard_normal((images, 5)) * 4
    register = StatisticsRegister(spread, [f"c{i}" for i in range(known)], counts, sums)
    assert answers(spread, counts, sums, features).tolist() == register.assign_many(features).category.tolist()


def test_nothing_is_new_where_nothing_may_be_born() -> None:
    spread = replace(Spread(np.ones(2), np.ones(2), 0.0), concentration=-1e9)
    found = answers(spread, np.array([2]), np.zeros((1, 2)), np.array([[9.0, 9.0], [-9.0, 9.0]]))
    assert found.tolist() == [0, 0]
