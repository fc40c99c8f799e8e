"""Registers let loose on a stream: what a pass measures, which passes there are, and what stands beside them."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest

from firstsight.core.accuracy import Accuracy
from firstsight.core.protocols import AnswersAgain
from firstsight.evaluate.stream import measure, offline, passes
from firstsight.register.codes import CodeRegister
from firstsight.register.spread import Spread
from firstsight.register.statistics import StatisticsRegister

CODES = np.array([[1], [0], [15], [6], [6]], dtype=np.uint64)
TRUTH = ["ant", "ant", "bee", "fly", "fly"]


def of_codes() -> CodeRegister:
    """Known ant at 0000 and bee at 1111, radius 0."""
    return CodeRegister(4, 0, ["ant", "bee"], np.array([[0], [15]], dtype=np.uint64))


def of_statistics() -> StatisticsRegister:
    """Two known categories on a line, 36 apart, each a few units wide."""
    spread = Spread(np.ones(1), np.full(1, 25.0), concentration=-6.0)
    return StatisticsRegister(spread, ["ant", "bee"], np.array([4, 4]), np.array([[0.0], [36.0]]))


def test_one_pass_by_hand() -> None:
    """An ant that founds a category, an ant right, a bee right, two of a new kind."""
    measured = measure(of_codes(), CODES, TRUTH, np.arange(5))
    assert measured.accuracy == Accuracy(4 / 5, 2 / 3, 1.0)
    assert measured.categories == 4
    assert measured.by_name == pytest.approx(2 / 3)
    assert measured.false_births == pytest.approx(1 / 3)
    assert measured.largest == Accuracy(4 / 5, 2 / 3, 1.0)
    assert measured.separate == measured.accuracy
    assert 0.5 < measured.rand_index < 1
    assert 0.5 < measured.mutual_information < 1


def test_a_pass_is_scored_in_its_own_order() -> None:
    """The true categories go with their images, whatever the order."""
    backwards = measure(of_codes(), CODES, TRUTH, np.arange(5)[::-1])
    assert backwards.accuracy == Accuracy(4 / 5, 2 / 3, 1.0)
    assert backwards.course[0] == 1.0  # the flies come first now


def test_hindsight_is_asked_of_registers_that_can_answer_again() -> None:
    assert not isinstance(of_codes(), AnswersAgain)
    assert isinstance(of_statistics(), AnswersAgain)
    assert measure(of_codes(), CODES, TRUTH, np.arange(5)).hindsight == Accuracy(4 / 5, 2 / 3, 1.0)
    line = np.array([[0.0], [9.0], [90.0], [90.5]], dtype=np.float32)
    measured = measure(of_statistics(), line, ["ant", "bee", "fly", "fly"], np.arange(4))
    assert measured.hindsight == measured.accuracy == Accuracy(1, 1, 1)


def test_every_kind_of_order_begins_with_a_fresh_register() -> None:
    rows = passes(of_codes, CODES, TRUTH, orders=3)
    assert [row.name for row in rows] == ["random x 3", "fixed", "bursty x 3"]
    assert {row.categories for row in rows} == {4}
    assert [row.deviation is None for row in rows] == [False, True, False]


def test_k_means_is_told_the_number_and_names_nothing() -> None:
    features = np.array([[0.0], [0.1], [5.0], [5.1], [9.0]], dtype=np.float32)
    row = offline(features, ["ant", "ant", "fly", "fly", "wasp"], ["ant"])
    assert row.accuracy == Accuracy(1, 1, 1)
    assert row.categories == 3
    assert isnan(row.by_name)
    assert isnan(row.false_births)
