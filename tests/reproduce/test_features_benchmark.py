"""Methods compared on features: the same rows as on images, and nothing of the stream known beforehand."""

from __future__ import annotations

import numpy as np
import pytest

from clouds import clouds
from firstsight.core.errors import DataError, ModelError
from firstsight.reproduce.features import benchmark_features


def test_every_method_has_its_orders_and_what_stands_beside_it() -> None:
    features, labels = clouds(8, 12, apart=12.0)
    support = (labels < 4) & (np.arange(len(labels)) % 2 == 0)
    found = benchmark_features(features[support], labels[support], features[~support], labels[~support], orders=2)
    assert list(found) == ["firstsight", "ncm"]
    for result in found.values():
        assert [row.name for row in result.rows] == [
            "random x 2",
            "fixed",
            "bursty x 2",
            "closed-set",
            "offline k-means",
        ]
        assert (result.images, result.true_categories) == (int((~support).sum()), 8)
        assert result.known_images == int((~support & (labels < 4)).sum())
    assert found["firstsight"].rows[0].accuracy.all > 0.95  # eight clouds far apart


def test_what_cannot_be_compared_is_refused() -> None:
    labels = ["a", "a", "b", "b"]
    with pytest.raises(DataError, match="width"):
        benchmark_features(np.eye(4), labels, np.ones((2, 3)), ["a", "c"])
    with pytest.raises(ModelError, match="trains an encoder"):
        benchmark_features(np.eye(4), labels, np.eye(4), labels, methods=["phe"])
