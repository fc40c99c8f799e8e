"""What is said of answers that come with a probability: how sure, and no bits or balls."""

from __future__ import annotations

import pytest

from firstsight.core.protocols import Assignment
from firstsight.evidence.evidence import Near, Sum
from firstsight.evidence.words import sentence


@pytest.mark.parametrize(
    ("category", "is_new", "expected"),
    [
        ("ant", False, "ant: 93% sure."),
        ("new-1", True, "new-1 (discovered earlier): 93% sure."),
        (None, True, "New, 93% sure; the nearest category is ant."),
    ],
)
def test_a_posterior_says_how_sure_it_is(category: str | None, is_new: bool, expected: str) -> None:
    answer = Assignment(category, is_new, False, -2.5, 0.0, None, confidence=0.93)
    near = (Near("ant", False, -2.5, within=True),)
    assert sentence(answer, near, (), "support images", 3, None, discovers=True) == expected


@pytest.mark.parametrize(("there", "doubted"), [(1, False), (2, True), (10, True)])
def test_a_category_is_doubted_for_what_it_has_and_not_for_what_it_lacks(there: int, doubted: bool) -> None:
    """One of the five most alike is its own: all there is of it, or half, or one of ten."""
    answer = Assignment("ant", False, False, -2.5, 0.0, None, confidence=0.93)
    sums = (Sum("bee", 4, 2.0), Sum("ant", 1, 0.9))
    assert ("doubt it" in sentence(answer, (), sums, "support images", there, None, discovers=True)) is doubted
