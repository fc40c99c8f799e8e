"""How far an encoder should learn, told by others that were trained without half of the categories."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstsight.core.protocols import HeldOut, SupportFeatures
from firstsight.methods.firstsight.calibration import TEACHING, Tried
from firstsight.methods.firstsight.crossfit import CrossFit, as_far_as_it_pays, cross_fit, halves
from firstsight.methods.firstsight.decision import Firstsight
from firstsight.methods.firstsight.prior import PRIOR
from firstsight.methods.settings import settings
from firstsight.register.spread import Birth


def clouds(categories: int, images: int, apart: float, seed: int = 0) -> tuple[Any, Any]:
    """Features of so many categories, their means so many deviations apart."""
    generator = np.random.default_rng(seed)
    labels = np.repeat(np.arange(categories), images)
    means = generator.normal(0, apart, (categories, 24))
    return means[labels] + generator.normal(0, 1, (len(labels), 24)), labels


class Stream:
    """Stands for a trial: only its truth is asked for."""

    def __init__(self, truth: list[int]) -> None:
        self.truth = np.array(truth)


def answered(right: list[int], truth: list[int]) -> CrossFit:
    trials: Any = [Stream(truth)]
    return CrossFit((), Tried(trials, Birth(0.0), [([], np.array(right, dtype=bool))], PRIOR))


@given(
    st.lists(st.integers(0, 9), min_size=12, max_size=60).filter(lambda some: len(set(some)) >= 2), st.integers(0, 99)
)
def test_each_half_learns_most_images_of_its_own_categories(labels: list[int], seed: int) -> None:
    given_labels = np.array(labels)
    one, other = halves(given_labels, seed)
    assert not set(given_labels[one]) & set(given_labels[other])
    assert set(given_labels[one]) | set(given_labels[other]) == set(labels)
    for taught in (one, other):
        for category in set(given_labels[taught]):
            images = int((given_labels == category).sum())
            assert int((given_labels[taught] == category).sum()) == np.ceil(TEACHING * images)


def test_a_gain_and_its_error_by_hand() -> None:
    """Three images gained of one category and one lost of another, of eight: 2 / 8, and the root of 3² + 1² over 8."""
    truth = [0, 0, 0, 0, 1, 1, 1, 1]
    stronger, milder = answered([1, 1, 1, 1, 0, 1, 1, 1], truth), answered([0, 0, 0, 1, 1, 1, 1, 1], truth)
    assert stronger.accuracy == 7 / 8
    assert stronger.gain_over(milder) == pytest.approx((2 / 8, np.sqrt(10) / 8))


def test_half_way_is_gone_for_any_gain_and_further_for_a_sure_one() -> None:
    truth = list(range(16))
    as_it_came = answered([0] * 12 + [1] * 4, truth)
    one_more, all_right = answered([0] * 11 + [1] * 5, truth), answered([1] * 16, truth)
    two_more = answered([0] * 10 + [1] * 6, truth)
    assert as_far_as_it_pays({0.0: as_it_came, 0.5: as_it_came, 1.0: one_more}) == 0.0  # one image is chance
    assert as_far_as_it_pays({0.0: as_it_came, 0.5: one_more, 1.0: two_more}) == 0.5
    assert as_far_as_it_pays({0.0: as_it_came, 0.5: one_more, 1.0: all_right}) == 1.0
    assert as_far_as_it_pays({0.5: all_right, 1.0: one_more}) == 0.5


def test_encoders_that_tell_categories_apart_are_told_from_those_that_do_not() -> None:
    """Features as they came say little, those of the trained ones much, of categories they never saw too."""
    (weak, labels), (strong, _) = clouds(12, 10, apart=0.4), clouds(12, 10, apart=3.0)
    taught = halves(labels, 0)
    tried = {
        strength: cross_fit([features] * 2, taught, labels, 16, seed=0)
        for strength, features in ((0.0, weak), (0.5, weak), (1.0, strong))
    }
    assert tried[1.0].accuracy > 0.8 > tried[0.0].accuracy
    assert tried[0.5].gain_over(tried[0.0]) == (0.0, 0.0)  # the same streams, so nothing but the features counts
    assert as_far_as_it_pays(tried) == 1.0


def test_a_decision_learns_of_new_categories_from_what_was_held_out() -> None:
    """An encoder that learned these images has drawn them together; how far new ones spread, others say."""
    fresh, labels = clouds(12, 10, apart=3.0)
    means = np.array([fresh[labels == category].mean(axis=0) for category in range(12)])
    learned = means[labels] + 0.05 * (fresh - means[labels])
    names = tuple(str(i) for i in range(12))
    held_out = tuple(HeldOut(fresh, taught) for taught in halves(labels, 0))
    told, alone = (
        Firstsight.fit(
            SupportFeatures(learned.astype(np.float32), labels, names, held_out=some), settings("firstsight")
        )
        for some in (held_out, ())
    )
    arriving = told.transform(clouds(12, 4, apart=3.0)[0].astype(np.float32))
    assert np.median(told.within / told.between) != pytest.approx(np.median(alone.within / alone.between), rel=0.1)
    assert len(told.register().assign_many(arriving).category) == len(arriving)
