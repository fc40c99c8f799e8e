"""NMI, ARI and the course of a stream, by hand."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstsight.evaluate.metrics import course, growth, mutual_information, rand_index


def test_agreement_by_hand() -> None:
    truth, same, lump, other = [*"aabb"], [1, 1, 2, 2], [1, 1, 1, 1], [1, 2, 1, 2]
    assert mutual_information(truth, same) == pytest.approx(1)
    assert rand_index(truth, same) == pytest.approx(1)
    assert mutual_information(truth, lump) == pytest.approx(0)
    assert rand_index(truth, lump) == pytest.approx(0)
    assert mutual_information(truth, other) == pytest.approx(0)
    assert rand_index(truth, other) == pytest.approx(-0.5)  # of 6 pairs none together in both; 4/6 expected, 2 at most
    assert mutual_information([*"aaaa"], [*"bbbb"]) == pytest.approx(1)


def test_mutual_information_is_over_the_mean_entropy() -> None:
    """Two halves, one of them found in two quarters: log 2 is shared, of entropies log 2 and 1.5 log 2."""
    shared, mean = log(2), (log(2) + 1.5 * log(2)) / 2
    assert mutual_information([*"aabb"], [1, 1, 2, 3]) == pytest.approx(shared / mean)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40))
def test_names_of_categories_do_not_matter(pairs: list[tuple[int, int]]) -> None:
    truth, answers = [a for a, _ in pairs], [b for _, b in pairs]
    others = [f"category {9 - b}" for b in answers]
    assert mutual_information(truth, others) == pytest.approx(mutual_information(truth, answers))
    assert rand_index(truth, others) == pytest.approx(rand_index(truth, answers))
    assert -1e-9 <= mutual_information(truth, answers) <= 1 + 1e-9
    assert -1 <= rand_index(truth, answers) <= 1 + 1e-9


def test_the_course_of_a_stream() -> None:
    assert course([*"aabb"] * 10, [1, 1, 1, 2] * 10)[:4] == [1.0, 0.75, 5 / 6, 0.75]  # two images a step
    assert growth([*"abac"] + [*"aaaa"] * 4) == [1, 2, 2, *[3] * 17]


def test_a_short_stream_has_twenty_steps_too() -> None:
    assert course([*"ab"], [1, 1]) == [1.0] * 19 + [0.5]  # the cluster is matched to the first of two as good
    assert growth([7]) == [1.0] * 20


def test_nearly_as_many_clusters_as_images_can_be_scored() -> None:
    """As many images as the largest benchmark's stream: no table of all pairs is made."""
    rng = np.random.default_rng(0)
    truth, answers = rng.integers(0, 101, 56_625), rng.integers(0, 50_000, 56_625)
    assert 0 <= mutual_information(truth, answers) <= 1
    assert rand_index(truth, answers) == pytest.approx(0, abs=0.01)
