"""The orders a stream can arrive in. A rule that learns as it goes may live on one of them, so all are reported."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from firstsight.core.accuracy import number

RANDOM_ORDERS = 10
RUN = 10  # images of one category in a row, in a bursty stream


def fixed_order(count: int) -> NDArray[np.int64]:
    """As the images are listed: the paper's fixed sequence where that is the official order."""
    return np.arange(count)


def random_orders(count: int, orders: int = RANDOM_ORDERS, seed: int = 0) -> list[NDArray[np.int64]]:
    """The headline: each order from a generator of its own."""
    return [np.random.default_rng([seed, i]).permutation(count) for i in range(orders)]


def bursty_orders(
    truth: Sequence[Hashable], orders: int = RANDOM_ORDERS, seed: int = 0, run: int = RUN
) -> list[NDArray[np.int64]]:
    """Runs of up to ten images of one category, as cameras see them, the runs in random order."""
    labels = number(truth)[1]
    return [_bursty(labels, run, np.random.default_rng([seed, i, run])) for i in range(orders)]


def _bursty(labels: NDArray[np.int64], run: int, generator: np.random.Generator) -> NDArray[np.int64]:
    shuffled = generator.permutation(len(labels))
    by_category = shuffled[np.argsort(labels[shuffled], kind="stable")]
    sorted_labels = labels[by_category]
    first = np.flatnonzero(np.r_[True, sorted_labels[1:] != sorted_labels[:-1]]) if len(labels) else np.zeros(0, int)
    place = np.arange(len(labels)) - np.repeat(first, np.diff(np.r_[first, len(labels)]))  # within its category
    run_of = np.cumsum(place % run == 0) - 1  # a new run every ten images, and with every category
    ranks = generator.permutation(run_of[-1] + 1 if len(labels) else 0)
    return by_category[np.argsort(ranks[run_of], kind="stable")]
