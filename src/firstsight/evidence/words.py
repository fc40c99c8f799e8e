"""An answer in one or two plain sentences: what was decided, and what speaks for or against it."""

from __future__ import annotations

from collections.abc import Sequence

from firstsight.evidence.evidence import Near, Sum
from firstsight.methods.examples import Kind
from firstsight.protocols import Assignment

FEW = {0: "none", 1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}
MUCH_ALIKE = 1.1  # distances that differ by no more than this factor, or by one bit, count as alike


def sentence(
    answer: Assignment, near: Sequence[Near], sums: Sequence[Sum], kind: Kind, bits: int | None, discovers: bool
) -> str:
    """What is decided and why; `bits` is the length of a code, None where distances are not bits."""
    called = answer.name or answer.category
    if answer.decided_by == "person":
        return f"{called}: a person placed this very image there, and that comes before any rule."
    if answer.category is None:
        return f"{_new(answer, near, bits)} {_divided(sums, kind)}".strip()
    far = _apart(answer.distance, bits)
    if not discovers:
        decided = f"{called}: the nearest known category, {far}. This model never answers with a new one."
    elif answer.radius == 0 and bits is not None:
        decided = f"{called}: its code is that category's very code."
    else:
        earlier = " (discovered earlier)" if answer.is_new else ""
        decided = f"{called}{earlier}: inside its ball, {far} where {_amount(answer.radius, bits)} may."
    return f"{decided} {_divided(sums, kind) if answer.is_new else _support(str(called), sums, kind)}".strip()


def _new(answer: Assignment, near: Sequence[Near], bits: int | None) -> str:
    if not near:
        return "New: there is no category yet."
    reach = near[0].distance + 1 if bits is not None else near[0].distance * MUCH_ALIKE
    close = [each for each in near if each.distance <= reach]
    if answer.radius == 0 and bits is not None:
        return f"New: no category has its code; nearest is {near[0].category}, {_apart(near[0].distance, bits)}."
    allowed = f"(at most {_amount(answer.radius, bits)} may)"
    if len(close) == 1:
        return f"New: outside every ball; nearest is {close[0].category}, {_apart(close[0].distance, bits)} {allowed}."
    kinds = "categories" if any(each.is_new for each in close) else "known categories"
    names = _listed([f"{each.category} ({_amount(each.distance, bits)})" for each in close])
    ball = "neither ball" if len(close) == 2 else "none of their balls"
    return f"New: about as close to {FEW[len(close)]} {kinds}, {names}, and inside {ball} {allowed}."


def _support(called: str, sums: Sequence[Sum], kind: Kind) -> str:
    """Whether what the image is like is of the category that answers."""
    if not sums:
        return ""
    total = sum(each.count for each in sums)
    own = next((each for each in sums if each.category == called), Sum(called, 0, 0.0))
    others = _listed([each.category for each in sums if each.category != called][:3])
    if own.count == total:
        return f"All {FEW[total]} {kind} it is most like are that category's own."
    of_all = f"f the {FEW[total]} {kind} it is most like, {FEW[own.count]} {'are' if own.count > 1 else 'is'}"
    if 2 * own.count > total:
        return f"O{of_all} that category's own."
    return f"But o{of_all} its own, and others are of {others}: doubt it."


def _divided(sums: Sequence[Sum], kind: Kind) -> str:
    """Which known categories an image of none of them is like."""
    if not sums:
        return ""
    total = sum(each.count for each in sums)
    if len(sums) == 1:
        return f"All {FEW[total]} {kind} it is most like are of {sums[0].category}, so it is much like that one."
    names = _listed([f"{each.category} ({each.similarity:.2f} in all)" for each in sums[:3]])
    more = f" and {len(sums) - 3} more" if len(sums) > 3 else ""
    return f"The {FEW[total]} {kind} it is most like are of {names}{more}."


def _apart(distance: int | float | None, bits: int | None) -> str:
    if distance is None:
        return "at no distance"
    if bits is None:
        return f"{distance:.3g} away"
    return f"{distance} of {bits} bits {'differs' if distance == 1 else 'differ'}"


def _amount(distance: int | float, bits: int | None) -> str:
    return f"{distance:.3g}" if bits is None else f"{distance} bit{'' if distance == 1 else 's'}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
