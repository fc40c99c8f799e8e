"""The orders a stream arrives in."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from firstsight.evaluate.orders import bursty_orders, fixed_order, random_orders


@given(st.lists(st.integers(0, 4), max_size=80), st.integers(0, 99))
def test_a_bursty_order_has_every_image_once_and_comes_in_runs(truth: list[int], seed: int) -> None:
    (order,) = bursty_orders(truth, orders=1, seed=seed)
    assert sorted(order.tolist()) == list(range(len(truth)))
    labels = np.array(truth, dtype=int)[order]
    changes = int((labels[1:] != labels[:-1]).sum()) + 1 if truth else 0
    assert changes <= sum(-(-truth.count(label) // 10) for label in set(truth))  # never more runs than it takes


def test_a_long_category_is_cut_into_runs_of_ten() -> None:
    truth = [0] * 40 + [1] * 40
    runs = set()
    for order in bursty_orders(truth, orders=5):
        labels = np.array(truth)[order]
        edges = np.flatnonzero(np.r_[True, labels[1:] != labels[:-1], True])
        runs |= set(np.diff(edges).tolist())
    assert all(length % 10 == 0 for length in runs)
    assert 10 in runs


def test_random_orders_are_the_same_every_time_and_differ_among_each_other() -> None:
    first, again = random_orders(50, 3, seed=1), random_orders(50, 3, seed=1)
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    assert not (first[0] == first[1]).all()
    assert all(sorted(order.tolist()) == list(range(50)) for order in first)


def test_a_longer_list_of_orders_begins_with_the_shorter_one() -> None:
    """So that figures of three orders and of ten have three in common."""
    three, ten = random_orders(20, 3), random_orders(20, 10)
    assert all((a == b).all() for a, b in zip(three, ten, strict=False))


def test_the_fixed_order_is_as_listed() -> None:
    assert fixed_order(4).tolist() == [0, 1, 2, 3]
