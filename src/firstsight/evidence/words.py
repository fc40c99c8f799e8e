"""An answer in plain words: what was decided, and what speaks for or against it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from firstsight.core.assignments import Assignment
from firstsight.evidence.evidence import Given, Kind, Near, Sum

FEW = {0: "none", 1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}
MUCH_ALIKE = 1.1  # distances other than bits that differ by no more than this factor count as equal


def sentence(
    answer: Assignment,
    near: Sequence[Near],
    sums: Sequence[Sum],
    kind: Kind,
    there: int,
    bits: int | None,
    discovers: bool,
) -> str:
    """What is decided and why.

    `there` is how many of `kind` the category that answers has, `bits` the length of a code, None where distances are
    not bits.
    """
    called = answer.name or answer.category
    if answer.decided_by == "person":
        return f"{called}: a person placed this very image there, and that comes before any rule."
    if answer.decided_by == "discarded":
        return "Discarded: a person said that this very image is of nothing, and that comes before any rule."
    if answer.category is None:
        return f"{_new(answer, near, bits)} {_divided(sums, kind)}".strip()
    if answer.is_new:
        known = "" if answer.confidence is not None else _not_known(near, bits)
        decided = f"{called} (discovered earlier): {_inside(answer, bits, discovers)} {known}".strip()
        return f"{decided} {_divided(sums, kind)}".strip()
    like = _own(str(called), sums, kind, there) if there else _divided(sums, kind)  # a promoted one was never fitted
    return f"{called}: {_inside(answer, bits, discovers)} {like}".strip()


def given_sentence(given: Given) -> str:
    """The answer an image was given when it came, and what people made of it since."""
    when = day(given.time)
    verb = "founded" if given.founded else "was answered"
    sure = "" if given.confidence is None else f", {how_sure(given.confidence)}"
    said = ", as a person had placed the same picture before" if given.by_person else sure
    other = f"; {given.runner_up} came next" if given.runner_up and not given.by_person else ""
    moved = "" if given.now == given.category else f" Since then it was put into {given.now}."
    moved += f" It was discarded {given.discarded}." if given.discarded else ""
    return f"Image {given.image} came{f' on {when}' if when else ''} and {verb} {given.category}{said}{other}.{moved}"


def briefly(confidence: float | None, by_person: bool, runner_up: str | None) -> str:
    """How sure an answer is and what came next, as far as there is something to be said.

    >>> briefly(0.75, False, "ant"), briefly(None, False, "ant"), briefly(None, True, "ant")
    ('75% sure, next ant', 'next ant', 'a person says so')
    """
    if by_person:
        return "a person says so"
    sure = [] if confidence is None else [how_sure(confidence)]
    return ", ".join([*sure, *([f"next {runner_up}"] if runner_up else [])])


def asked_again(given: Given, answer: Assignment) -> str:
    """What the answer of today is preceded by."""
    left_out = given.taught and answer.decided_by == "rule"
    return f"Asked again today{', without what it taught itself' if left_out else ''}:"


def day(time: str) -> str:
    """The day of a moment in ISO 8601, for people; nothing where there is none.

    >>> day("2026-06-05T14:02:09Z"), day("")
    ('5 June 2026', '')
    """
    moment = datetime.fromisoformat(time) if time else None
    return f"{moment.day} {moment:%B %Y}" if moment else ""


def _inside(answer: Assignment, bits: int | None, discovers: bool) -> str:
    distance = answer.distance or 0
    if answer.confidence is not None:
        return f"{how_sure(answer.confidence)}."
    if not discovers:
        return f"the nearest known category, {_amount(distance, bits)} away; this model never answers with a new one."
    if bits is not None and distance == 0:
        return "it has the very code of that category's centre."
    return f"{_amount(distance, bits)} from its centre, inside its ball of radius {answer.radius:.3g}."


def _not_known(near: Sequence[Near], bits: int | None) -> str:
    """How far the nearest known category is from an image of a new one."""
    known = [each for each in near if not each.is_new]
    return (
        f"Of the known ones {known[0].category} is nearest, {_amount(known[0].distance, bits)} away." if known else ""
    )


def _new(answer: Assignment, near: Sequence[Near], bits: int | None) -> str:
    if not near:
        return "New: there is no category yet."
    if answer.confidence is not None:
        return f"New, {how_sure(answer.confidence)}; the nearest category is {near[0].category}."
    close = [each for each in near if each.distance <= near[0].distance * (1 if bits is not None else MUCH_ALIKE)]
    names = _listed([f"{each.category} ({_amount(each.distance, bits)} away)" for each in close])
    if answer.radius == 0 and bits is not None:
        return f"New: no category has its code; nearest {'is' if len(close) == 1 else 'are'} {names}."
    if len(close) == 1:
        return f"New: nearest is {names}, and it is outside that ball of radius {answer.radius:.3g}."
    kinds = "categories" if any(each.is_new for each in close) else "known categories"
    count, balls = ("two", "neither ball") if len(close) == 2 else ("several", "none of their balls")
    return f"New: as close to {count} {kinds}, {names}, and inside {balls} (radius {answer.radius:.3g})."


def _own(called: str, sums: Sequence[Sum], kind: Kind, there: int) -> str:
    """Whether what the image is like is of the category that answers."""
    if not sums:
        return ""
    total = sum(each.count for each in sums)
    own = next((one for one in sums if one.category == called), Sum(called, 0, 0.0))
    others = _listed([one.category for one in sums if one.category != called][:3])
    if own.count == total:
        return f"All {FEW[total]} {kind} it is most like are that category's own."
    of_all = f"f the {FEW[total]} {kind} it is most like, {FEW[own.count]} {'are' if own.count > 1 else 'is'}"
    if 2 * own.count > min(there, total):
        return f"O{of_all} that category's own."
    return f"But o{of_all} that category's own; others are of {others}: doubt it."


def _divided(sums: Sequence[Sum], kind: Kind) -> str:
    """Which known categories an image of none of them is like."""
    if not sums:
        return ""
    total = sum(each.count for each in sums)
    if len(sums) == 1:
        return f"All {FEW[total]} {kind} it is most like are of {sums[0].category}."
    names = [each.category for each in sums[:3]]
    more = [f"{len(sums) - 3} more"] if len(sums) > 3 else []
    return f"The {FEW[total]} {kind} it is most like are of {_listed([*names, *more])}."


def how_sure(confidence: float) -> str:
    """In per cent, but never all of them: a rule that computes probabilities is not certain."""
    return "over 99% sure" if confidence > 0.995 else f"{confidence:.0%} sure"


def _amount(distance: int | float, bits: int | None) -> str:
    return f"{distance:.3g}" if bits is None else f"{distance} bit{'' if distance == 1 else 's'}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
