"""Strict accuracy against brute force, and its variants by hand."""

from __future__ import annotations

from itertools import permutations
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstsight.core.accuracy import Accuracy, separate_accuracy, strict_accuracy


def brute_force(truth: list[int], answers: list[int]) -> float:
    """The best share over every way to give clusters different categories."""
    categories, clusters = sorted(set(truth)), sorted(set(answers))
    padded = categories + [-1 - i for i in range(max(0, len(clusters) - len(categories)))]
    return max(
        float(np.mean([dict(zip(clusters, chosen, strict=True))[a] == t for t, a in zip(truth, answers, strict=True)]))
        for chosen in permutations(padded, len(clusters))
    )


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=25))
def test_all_agrees_with_brute_force(pairs: list[tuple[int, int]]) -> None:
    truth, answers = [t for t, _ in pairs], [a for _, a in pairs]
    assert strict_accuracy(truth, answers, [True] * len(truth)).all == pytest.approx(brute_force(truth, answers))


def test_old_and_new_share_one_matching() -> None:
    # cluster x holds two of a and one of n: it is matched to a, so n is wrong
    accuracy = strict_accuracy(["a", "a", "a", "n"], ["x", "x", "y", "x"], [True, True, True, False])
    assert (accuracy.all, accuracy.old, accuracy.new) == (0.5, 2 / 3, 0.0)


def test_surplus_clusters_count_as_wrong() -> None:
    assert strict_accuracy(["a"] * 4, ["1", "2", "3", "3"], [True] * 4).all == 0.5


def test_the_papers_text_keeps_only_the_largest_clusters() -> None:
    truth, answers = ["a", "a", "a", "b", "b", "c"], [1, 1, 1, 2, 2, 3]
    assert strict_accuracy(truth, answers, [True] * 6).all == 1.0
    assert strict_accuracy(truth, answers, [True] * 6, keep_largest=2).all == pytest.approx(5 / 6)


def test_without_new_images_new_is_not_a_number() -> None:
    assert isnan(strict_accuracy(["a"], ["x"], [True]).new)


def test_lists_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in number"):
        strict_accuracy(["a"], ["x", "y"], [True])


def test_many_clusters_are_no_obstacle() -> None:
    truth = np.random.default_rng(0).integers(0, 101, 56_625).tolist()
    answers = list(range(50_000)) + truth[50_000:]
    accuracy = strict_accuracy(truth, answers, [True] * len(truth))
    assert 0 < accuracy.all < 0.2


def test_matching_old_and_new_apart_is_never_lower() -> None:
    truth, answers, known = [*"aaabbb"], [*"xxxxxx"], [True] * 3 + [False] * 3
    assert strict_accuracy(truth, answers, known).all == 0.5  # one cluster is one category
    assert separate_accuracy(truth, answers, known) == Accuracy(1.0, 1.0, 1.0)  # unless it is matched twice


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=60))
def test_separate_is_at_least_strict(pairs: list[tuple[int, int]]) -> None:
    truth, answers = [a for a, _ in pairs], [b for _, b in pairs]
    known = [a < 2 for a in truth]
    assert separate_accuracy(truth, answers, known).all >= strict_accuracy(truth, answers, known).all - 1e-12


def test_many_clusters_are_scored_in_moments() -> None:
    """As many images as the largest benchmark's stream, nearly every one a cluster of its own."""
    rng = np.random.default_rng(0)
    truth, answers = rng.integers(0, 101, 56_625), rng.integers(0, 50_000, 56_625)
    accuracy = strict_accuracy(truth, answers, truth < 51)
    assert 0 < accuracy.all < 0.05
