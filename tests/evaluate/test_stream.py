"""Orders of a stream, and what one pass over it is measured by."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstsight.core.accuracy import Accuracy
from firstsight.evaluate.orders import bursty_orders, random_orders
from firstsight.evaluate.stream import measure
from firstsight.register.codes import CodeRegister


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


def test_one_pass_by_hand() -> None:
    """Known ant at 0000 and bee at 1111, radius 0: an ant that founds, an ant right, a bee right, two of a new kind."""
    register = CodeRegister(4, 0, ["ant", "bee"], np.array([[0], [15]], dtype=np.uint64))
    codes = np.array([[1], [0], [15], [6], [6]], dtype=np.uint64)
    measured = measure(register, codes, ["ant", "ant", "bee", "fly", "fly"], np.arange(5))
    assert measured.accuracy == Accuracy(4 / 5, 2 / 3, 1.0)
    assert measured.categories == 4
    assert measured.by_name == pytest.approx(2 / 3)
    assert measured.false_births == pytest.approx(1 / 3)
    assert measured.largest == Accuracy(4 / 5, 2 / 3, 1.0)
    assert measured.separate == measured.accuracy
    assert 0.5 < measured.rand_index < 1
    assert 0.5 < measured.mutual_information < 1
