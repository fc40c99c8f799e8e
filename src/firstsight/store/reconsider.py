"""Second thoughts: images that would be answered otherwise by now.

The first images of a category were answered before it was known what it is; some of them founded one of their own, or
went to a neighbour. Answers stay as given until a person has them moved. What a person placed is settled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from firstsight.core.protocols import Assignment, Progress
from firstsight.register.statistics import StatisticsRegister
from firstsight.store.events import Assigned, Recorded
from firstsight.store.store import Store


@dataclass(frozen=True)
class Reconsidered:
    """An image, the category it is in, and the one it would go to."""

    image: int
    source: str
    category: str
    now: str
    distance: int | float | None
    radius: int | float
    confidence: float | None


def reconsider(store: Store, progress: Progress) -> list[Reconsidered]:
    """All of them: the surest first or, where the rule cannot tell, the nearest."""
    found, catalogue = [], store.catalogue
    with store.lock, progress.task("asking again", len(catalogue.numbers)) as advance:
        for number, feature in store.log.features():
            advance()
            if catalogue.has_image(number) and not catalogue.placed(number):
                answer, category = _again(store, number, feature), catalogue.category_of(number)
                if answer.category not in (None, category):
                    found.append(_other(store, number, category, answer))
    return sorted(found, key=lambda each: (-(each.confidence or 0), each.distance or 0, each.image))


def apply(store: Store, found: Sequence[Reconsidered]) -> list[Recorded]:
    """Move them: an edit for each category they go to."""
    targets = dict.fromkeys(each.now for each in found)
    return [store.move([each.image for each in found if each.now == to], to) for to in targets]


def _again(store: Store, number: int, content: bytes) -> Assignment:
    """What an image would be if it came now; what it has taught its category itself does not count."""
    register = store.register
    feature = register.feature_from(content)
    if isinstance(register, StatisticsRegister) and store.catalogue.lesson(number):
        return register.match_without(feature, store.catalogue.category_of(number))
    return register.match(feature)


def _other(store: Store, number: int, category: str, answer: Assignment) -> Reconsidered:
    event = store.log.event(number).event
    assert isinstance(event, Assigned)
    measured = answer.distance, answer.radius, answer.confidence
    return Reconsidered(number, event.source, category, str(answer.category), *measured)
