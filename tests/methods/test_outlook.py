"""What a fit says beforehand: near what then happens where categories are clear, and a warning where they are not."""

from __future__ import annotations

import numpy as np
import pytest

from clouds import clouds
from firstsight.core.number import estimate
from firstsight.core.protocols import SupportFeatures
from firstsight.methods.firstsight.decision import Firstsight
from firstsight.methods.firstsight.outlook import UNTRIED, Likely, Outlook
from firstsight.methods.firstsight.settings import FirstsightSettings


def fitted(features: np.ndarray, labels: np.ndarray) -> Firstsight:
    names = tuple(str(i) for i in range(int(labels.max()) + 1))
    return Firstsight.fit(SupportFeatures(features.astype(np.float32), labels, names), FirstsightSettings())


def outlook_of(decision: Firstsight) -> Outlook:
    found = Outlook.from_values(decision.outlook)
    assert found is not None
    return found


def test_clear_categories_promise_much_and_keep_it() -> None:
    features, labels = clouds(24, 12, apart=3.0)
    decision = fitted(features[labels < 12], labels[labels < 12])
    outlook = outlook_of(decision)
    assert outlook.named.mean > 0.9
    assert outlook.apart.mean > 0.7
    assert not any(line.startswith("warning") for line in outlook.lines())
    category = decision.register().assign_many(decision.transform(features.astype(np.float32))).category
    assert (category == labels)[labels < 12].mean() >= outlook.named.low
    sizes = np.bincount(category, minlength=24)
    told = estimate(decision.register(), sizes[12:].tolist(), 12, int(sizes[:12].sum()))
    assert told.low is not None
    assert told.high is not None
    assert told.low <= 12 <= told.high


def test_labels_that_mean_nothing_are_warned_of() -> None:
    generator = np.random.default_rng(0)
    features, labels = generator.normal(size=(120, 12)), np.repeat(np.arange(12), 10)
    report = fitted(features, labels).report(features.astype(np.float32), labels)
    assert report["simulated_known_named"] < 0.5
    assert any(line.startswith("warning: known categories are named too seldom") for line in report["lines"])


def test_two_categories_cannot_be_tried_out() -> None:
    features, labels = clouds(2, 5)
    decision = fitted(features, labels)
    assert decision.report(features.astype(np.float32), labels)["lines"] == [UNTRIED]
    told = estimate(decision.register(), [5, 1], 2, 10)
    assert (told.more, told.low) == (1, None)


def test_an_interval_is_as_wide_as_streams_differ() -> None:
    """Three streams of 0.7, 0.8 and 0.9: deviation 0.1, t of two degrees 2.92, and a third more for the next one."""
    likely = Likely.of(np.array([0.7, 0.8, 0.9]), 0.0)
    assert likely.mean == pytest.approx(0.8)
    assert likely.high - likely.mean == pytest.approx(2.92 * 0.1 * (4 / 3) ** 0.5, rel=1e-3)
    further = Likely.of(np.array([0.7, 0.8, 0.9]), 0.0, further=-0.2)
    assert further.mean == pytest.approx(0.6)
    assert further.high - further.low > likely.high - likely.low
