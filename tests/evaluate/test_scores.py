"""What is measured of one pass, and means over several."""

from __future__ import annotations

from dataclasses import replace
from math import isnan, nan

import numpy as np
import pytest

from firstsight.core.accuracy import Accuracy
from firstsight.evaluate.scores import Answers, Measures, mean_row, measures, without_nan


def answers(known: list[bool], category: list[int], again: list[int] | None = None) -> Answers:
    """Of images of the categories 0, 0, 1, 1, 1, 1."""
    found = np.array(category, dtype=np.int32)
    later = found if again is None else np.array(again, dtype=np.int32)
    return Answers(np.array([0, 0, 1, 1, 1, 1]), np.array(known), found, later)


KNOWN = [True] * 2 + [False] * 4


def test_everything_about_a_pass_by_hand() -> None:
    measured = measures(answers(KNOWN, [5, 6, 7, 7, 7, 8], again=[5, 5, 7, 7, 7, 7]))
    assert measured.accuracy == Accuracy(4 / 6, 1 / 2, 3 / 4)  # 5 or 6 is category 0, 7 is category 1
    assert measured.largest == measured.accuracy  # the two largest of four are 7 and 5
    assert measured.hindsight == Accuracy(1, 1, 1)
    assert (measured.categories, measured.confirmed) == (4, 1)  # three images are more than a guess
    assert measured.growth[-1] == 4
    assert isnan(measured.by_name)
    assert isnan(measured.false_births)


def test_names_and_births_are_of_known_images() -> None:
    given = answers(KNOWN, [0, 1, 1, 1, 1, 1])
    marks = np.array([True, False, True, True, True, True])
    measured = measures(replace(given, named=marks, founded=~marks))
    assert measured.by_name == 0.5
    assert measured.false_births == 0.5


def test_without_known_images_nothing_is_said_of_them() -> None:
    measured = measures(replace(answers([False] * 6, [0] * 6), named=np.zeros(6, bool), founded=np.zeros(6, bool)))
    assert isnan(measured.accuracy.old)
    assert isnan(measured.by_name)


def two_passes() -> list[Measures]:
    first, second = measures(answers(KNOWN, [0, 0, 1, 1, 1, 1])), measures(answers(KNOWN, [0, 0, 1, 1, 1, 2]))
    return [first, second]


def test_means_and_deviations_are_over_passes() -> None:
    row = mean_row("random x 2", two_passes())
    assert row.accuracy.new == pytest.approx((1 + 3 / 4) / 2)
    assert row.deviation is not None
    assert row.deviation.new == pytest.approx(1 / 8)  # of the population
    assert row.categories == 2.5
    assert row.growth[-1] == 2.5
    assert row.cells() == ["91.7 ± 8.3", "100.0 ± 0.0", "87.5 ± 12.5"]
    assert row.more()[:2] == ["-", "-"]


def test_one_pass_has_no_deviation() -> None:
    row = mean_row("fixed", two_passes()[:1])
    assert row.deviation is None
    assert row.cells() == ["100.0", "100.0", "100.0"]


def test_what_is_not_a_number_is_null_in_json() -> None:
    assert without_nan({"a": nan, "b": [1.5, nan], "c": (nan, "x")}) == {"a": None, "b": [1.5, None], "c": [None, "x"]}
