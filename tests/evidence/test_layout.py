"""Images in the plane: like ones near each other, each placed by itself, spread over categories, the same again."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from firstsight.core.codes import pack
from firstsight.evidence.layout import FINEST, Floats, Layout, fit, points_of, sample
from firstsight.register.codes import CodeRegister
from firstsight.register.spread import Spread
from firstsight.register.statistics import StatisticsRegister

CATEGORIES, EACH, WIDTH = 6, 20, 80


def world(seed: int, each: int = EACH) -> tuple[Floats, NDArray[Any]]:
    """Points of six categories that lie well apart, and which each is of."""
    centres = 20 * np.random.default_rng(0).standard_normal((CATEGORIES, WIDTH))
    labels = np.repeat(np.arange(CATEGORIES), each)
    return centres[labels] + np.random.default_rng(seed).standard_normal((len(labels), WIDTH)), labels


@cache
def laid_out() -> Layout:
    points, _ = world(1)
    return fit(10 * np.arange(1, len(points) + 1), points)


def nearest_are_alike(
    places: NDArray[Any], labels: NDArray[Any], others: NDArray[Any], their_labels: NDArray[Any]
) -> float:
    apart = np.square(places[:, None].astype(float) - others[None]).sum(axis=-1)
    return float((their_labels[apart.argmin(axis=1)] == labels).mean())


def test_images_that_are_alike_lie_together() -> None:
    layout, (points, labels) = laid_out(), world(1)
    new, new_labels = world(2)
    own = layout.place(layout.numbers, points)
    others = layout.place(np.arange(10_001, 10_001 + len(new)), new)
    # of six categories; not all, since spots are pushed apart until groups touch, and one may land across a border
    assert nearest_are_alike(others, new_labels, own, labels) > 0.9
    assert own.min() >= 0.02 * FINEST
    assert own.max() <= 0.98 * FINEST


@settings(max_examples=20)
@given(st.lists(st.integers(0, CATEGORIES * EACH - 1), min_size=1, max_size=30), st.integers(1, 2**40))
def test_where_an_image_is_depends_on_no_other(which: list[int], number: int) -> None:
    layout, (points, _) = laid_out(), world(3)
    some, numbers = points[which], number + np.arange(len(which))
    together = layout.place(numbers, some)
    alone = [layout.place(numbers[i : i + 1], some[i : i + 1])[0] for i in range(len(which))]
    assert together.tolist() == np.array(alone).tolist()


def test_the_same_image_many_times_is_no_stack() -> None:
    layout, (points, _) = laid_out(), world(1)
    places = layout.place(np.arange(1, 51), np.repeat(points[:1], 50, axis=0) + 0.5)
    assert len(np.unique(places, axis=0)) > 45


def test_the_same_again() -> None:
    points, _ = world(1)
    assert fit(10 * np.arange(1, len(points) + 1), points).id == laid_out().id


@pytest.mark.parametrize("count", [1, 2, 3, 7, 9])
def test_few_images_or_all_alike(count: int) -> None:
    numbers, rng = np.arange(1, count + 1), np.random.default_rng(0)
    for points in (rng.standard_normal((count, 3)), np.ones((count, 3)), rng.standard_normal((count, 1))):
        layout = fit(numbers, points)
        assert np.isfinite(layout.spots).all()
        places = layout.place(np.arange(100, 120), rng.standard_normal((20, points.shape[1])))
        assert places.shape == (20, 2)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=12), st.integers(1, 80))
def test_a_sample_has_of_large_categories_more_but_not_only(sizes: list[int], most: int) -> None:
    owners = np.random.default_rng(0).permutation(np.repeat(np.arange(len(sizes)), sizes))
    chosen = sample(owners, most)
    assert len(chosen) == min(most, len(owners)) == len(set(chosen.tolist()))
    assert (np.diff(chosen) > 0).all()
    taken = np.bincount(owners[chosen], minlength=len(sizes))
    if most >= 4 * sum(np.sqrt(sizes)):  # room for all: none is left out
        assert (taken > 0).all()


def test_a_sample_is_spread_over_categories() -> None:
    owners = np.concatenate([np.zeros(9_000, dtype=int), 1 + np.arange(1_000) // 10])
    taken = np.bincount(owners[sample(owners, 500)], minlength=101)
    assert taken[0] < 250  # nine tenths of the images, and less than half of the sample
    assert (taken[1:] > 0).all()


def test_points_are_what_registers_compare() -> None:
    bits = np.array([[1, 0, 1, 1], [0, 0, 1, 1]], dtype=np.int8)
    codes = CodeRegister(4, 1)
    one, other = points_of(codes, [codes.feature_bytes(each) for each in pack(bits)])
    assert np.count_nonzero(one != other) == 1

    spread = Spread(np.array([1.0, 1.0]), np.array([9.0, 0.001]), 0.0)
    register = StatisticsRegister(spread, [], np.zeros(0), np.zeros((0, 2)))
    features = np.array([[0, 0], [1, 0], [0, 1]], dtype=np.float32)
    points = points_of(register, [register.feature_bytes(each) for each in features])
    tells, tells_nothing = (float(np.linalg.norm(points[0] - points[i])) for i in (1, 2))
    assert tells > 10 * tells_nothing  # in the second dimension categories do not differ
