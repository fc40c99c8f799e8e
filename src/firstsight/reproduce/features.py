"""Methods that train nothing compared on features that somebody has already, as `benchmark` does on images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firstsight.core.errors import DataError
from firstsight.evaluate.orders import RANDOM_ORDERS
from firstsight.evaluate.stream import Evaluation, score
from firstsight.train.features import Labels, checked, fit_features


def benchmark_features(
    taught: Any,
    labels: Labels,
    stream: Any,
    truth: Labels,
    methods: Sequence[str] = ("firstsight", "ncm"),
    orders: int = RANDOM_ORDERS,
) -> dict[str, Evaluation]:
    """Fit every method on the features taught, and score it on a stream of others in random, fixed and bursty orders.

    The closed set and k-means, which is told the number of categories, stand beside each. Nothing of the stream is
    known to fitting.

    >>> taught = [[0, 1], [0.1, 1], [1, 0], [1, 0.1]]
    >>> stream, truth = [[0.05, 1], [-1, -1], [1, 0.05], [-1, -1.05]], ["ant", "fly", "bee", "fly"]
    >>> found = benchmark_features(taught, ["ant", "ant", "bee", "bee"], stream, truth, orders=2)
    >>> {method: found[method].rows[0].cells()[0] for method in found}
    {'firstsight': '100.0 ± 0.0', 'ncm': '100.0 ± 0.0'}
    """
    arriving = checked(stream, truth)
    if arriving.features.shape[1] != checked(taught, labels).features.shape[1]:
        raise DataError("the features of the stream are not of the width of those taught", "make both the same way")
    names = [arriving.names[label] for label in arriving.labels]
    return {
        name: score(fit_features(taught, labels, method=name), arriving.features, names, orders=orders)
        for name in methods
    }
