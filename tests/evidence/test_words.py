"""What is said of an answer: the decision, how near it was, and what speaks for or against it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from firstsight.core.assignments import Assignment
from firstsight.evidence.evidence import Given, Near, Sum
from firstsight.evidence.words import asked_again, given_sentence, sentence

ANT, BEE = Near("ant", False, 3, within=False), Near("bee", False, 3, within=False)
MOTH = Near("new-1", True, 1, within=True)


def answered(category: str | None, is_new: bool = False, distance: float = 0, radius: float = 2) -> Assignment:
    return Assignment(category, is_new, False, distance, radius, None)


def of_codes(answer: Assignment, *near: Near, sums: tuple[Sum, ...] = (), discovers: bool = True) -> str:
    return sentence(answer, near, sums, "prototypes", 3, 12, discovers)


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


@pytest.mark.parametrize(("confidence", "said"), [(0.994, "99%"), (0.996, "over 99%"), (1.0, "over 99%"), (0.5, "50%")])
def test_nothing_is_certain(confidence: float, said: str) -> None:
    answer = Assignment("ant", False, False, -2.5, 0.0, None, confidence=confidence)
    assert sentence(answer, (), (), "support images", 3, None, discovers=True) == f"ant: {said} sure."


@pytest.mark.parametrize(("there", "doubted"), [(1, False), (2, True), (10, True)])
def test_a_category_is_doubted_for_what_it_has_and_not_for_what_it_lacks(there: int, doubted: bool) -> None:
    """One of the five most alike is its own: all there is of it, or half, or one of ten."""
    answer = Assignment("ant", False, False, -2.5, 0.0, None, confidence=0.93)
    sums = (Sum("bee", 4, 2.0), Sum("ant", 1, 0.9))
    assert ("doubt it" in sentence(answer, (), sums, "support images", there, None, discovers=True)) is doubted


def test_a_promoted_category_is_not_doubted_for_support_images_it_cannot_have() -> None:
    answer = Assignment("ant", False, False, -2.5, 0.0, None, confidence=0.93)
    said = sentence(answer, (), (Sum("bee", 5, 2.0),), "support images", 0, None, discovers=True)
    assert said == "ant: 93% sure. All five support images it is most like are of bee."


def test_a_code_inside_a_ball() -> None:
    assert of_codes(answered("ant")) == "ant: it has the very code of that category's centre."
    assert of_codes(answered("ant", distance=1)) == "ant: 1 bit from its centre, inside its ball of radius 2."
    closed = "ant: the nearest known category, 5 bits away; this model never answers with a new one."
    assert of_codes(answered("ant", distance=5), discovers=False) == closed


def test_a_category_discovered_earlier_is_compared_with_known_ones() -> None:
    said = of_codes(answered("new-1", True, 1), MOTH, ANT)
    assert said == (
        "new-1 (discovered earlier): 1 bit from its centre, inside its ball of radius 2. "
        "Of the known ones ant is nearest, 3 bits away."
    )


def test_new_says_what_is_nearest() -> None:
    new = answered(None, True, 3)
    assert of_codes(new) == "New: there is no category yet."
    assert of_codes(new, ANT) == "New: nearest is ant (3 bits away), and it is outside that ball of radius 2."
    two = "New: as close to two known categories, ant (3 bits away) and bee (3 bits away), and inside neither ball"
    assert of_codes(new, ANT, BEE) == f"{two} (radius 2)."
    third = Near("new-1", True, 3, within=False)
    assert "as close to several categories, " in of_codes(new, ANT, BEE, third)
    assert of_codes(answered(None, True, 3, 0), ANT).startswith("New: no category has its code; nearest is ant")


def test_distances_that_are_no_bits_may_be_nearly_the_same() -> None:
    near = (Near("ant", False, 1.0, within=False), Near("bee", False, 1.05, within=False))
    said = sentence(answered(None, True, 1.0, 0.5), near, (), "support images", 3, None, discovers=True)
    assert said.startswith("New: as close to two known categories, ant (1 away) and bee (1.05 away)")


def test_what_an_image_is_like_is_summed_up() -> None:
    all_own, some = (Sum("ant", 5, 4.5),), (Sum("ant", 3, 2.5), Sum("bee", 2, 1.5))
    assert of_codes(answered("ant"), sums=all_own).endswith(
        "All five prototypes it is most like are that category's own."
    )
    assert "Of the five prototypes it is most like, three are that" in of_codes(answered("ant"), sums=some)
    assert of_codes(answered(None, True), ANT, sums=some).endswith(
        "The five prototypes it is most like are of ant and bee."
    )
    five = tuple(Sum(name, 1, 0.5) for name in "abcde")
    assert of_codes(answered(None, True), ANT, sums=five).endswith("are of a, b, c and 2 more.")


def test_a_person_comes_before_any_rule() -> None:
    placed = Assignment("ant", False, False, 0, 2, None, decided_by="person", name="wood ant")
    assert of_codes(placed) == "wood ant: a person placed this very image there, and that comes before any rule."


GIVEN = Given(12, "2026-06-05T14:02:09Z", "moth", True, False, 0.75, False, "ant", "moth", True, False)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "Image 12 came on 5 June 2026 and was answered moth, 75% sure; ant came next."),
        ({"founded": True}, "Image 12 came on 5 June 2026 and founded moth, 75% sure; ant came next."),
        ({"time": "", "confidence": None, "runner_up": None}, "Image 12 came and was answered moth."),
        (
            {"by_person": True},
            "Image 12 came on 5 June 2026 and was answered moth, as a person had placed the same picture before.",
        ),
        (
            {"now": "bee"},
            "Image 12 came on 5 June 2026 and was answered moth, 75% sure; ant came next. "
            "Since then it was put into bee.",
        ),
    ],
)
def test_the_answer_that_was_given_is_told_as_it_was(changed: dict[str, Any], said: str) -> None:
    assert given_sentence(replace(GIVEN, **changed)) == said


def test_today_leaves_out_what_an_image_taught_itself() -> None:
    answer, taught = answered("ant"), replace(GIVEN, taught=True)
    assert asked_again(GIVEN, answer) == "Asked again today:"
    assert asked_again(taught, answer) == "Asked again today, without what it taught itself:"
    assert asked_again(taught, replace(answer, decided_by="person")) == "Asked again today:"
