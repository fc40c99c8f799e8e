"""In which form features are compared: the same whatever unit they are in, narrow ones wherever they lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clouds import clouds
from firstsight.discoverer import Discoverer
from firstsight.methods.firstsight.forms import FARTHEST, NARROW, even
from firstsight.train.features import fit_features


def answers(features: Any, labels: Any) -> list[str | None]:
    """What comes of a stream where the first half of the categories is known."""
    taught = (labels < 4) & (np.arange(len(labels)) % 2 == 0)
    model = fit_features(features[taught], [f"c{label}" for label in labels[taught]])
    return [answer.category for answer in Discoverer(model).discover_many(list(features[~taught]))]


@pytest.mark.parametrize("scale", [2.0**-100, 2.0**-27, 2.0**27, 2.0**100])
@pytest.mark.parametrize("width", [1, 2, 4, NARROW, 40])
def test_the_unit_of_features_does_not_matter(width: int, scale: float) -> None:
    features, labels = clouds(7, 10, width=width, apart=8.0)
    assert answers(features * scale, labels) == answers(features, labels)


def test_where_the_zero_of_narrow_features_is_does_not_matter() -> None:
    features, labels = clouds(7, 10, width=3, apart=8.0)
    found = answers(features, labels)
    assert answers(features + 1000, labels) == found
    assert len(set(found)) > 4


def test_the_sizes_of_a_few_values_tell_categories_apart() -> None:
    """All in one direction: at length 1 they would be the same."""
    features = np.array([[size * (1 + step), size] for size in (1, 10, 100) for step in (0.0, 0.1, 0.2)])
    model = fit_features(features, np.repeat(["small", "middling", "large"], 3))
    told = [model.closed_set().match(each).category for each in model.transform(features.astype(np.float32))]
    assert told == ["small"] * 3 + ["middling"] * 3 + ["large"] * 3


@pytest.mark.parametrize("width", [2, 20])
@pytest.mark.filterwarnings("error")
def test_constant_values_and_outliers_are_borne(width: int) -> None:
    features, labels = clouds(5, 8, width=width, apart=8.0)
    features[:, 1] = 1e8
    model = fit_features(features, labels)
    for far in (3e38, -3e38, 1e-38, 0.0):
        placed = model.transform(np.full((1, width), far, dtype=np.float32))
        assert np.isfinite(placed).all()
        assert width >= NARROW or np.abs(placed).max() <= FARTHEST
        model.register().assign(placed[0])


def test_the_smallest_and_the_largest_features_have_length_1() -> None:
    for scale in (1e-44, 1e-20, 1.0, 1e38):
        lengths = np.linalg.norm(even(np.full((2, 2000), scale, dtype=np.float32)), axis=1)
        assert lengths == pytest.approx(1, rel=1e-5)
    assert not even(np.zeros((1, 20), dtype=np.float32)).any()
