"""Second thoughts: images that would be answered otherwise by now.

The first images of a category were answered before it was known what it is; some of them founded one of their own, or
went to a neighbour. Answers stay as given until a person has them moved. What a person placed is settled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from firstsight.core.assignments import Assignment
from firstsight.core.protocols import Progress
from firstsight.core.threads import one_thread
from firstsight.store.draft import Draft
from firstsight.store.events import Recorded
from firstsight.store.store import Store
from firstsight.store.view import View


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


@one_thread()
def reconsider(view: View, progress: Progress) -> list[Reconsidered]:
    """All of them: the surest first or, where the rule cannot tell, the nearest. Nobody has to wait meanwhile."""
    found, catalogue = [], view.catalogue
    with progress.task("asking again", len(catalogue.numbers)) as advance:
        for number, content in view.features():
            advance()
            if catalogue.has_image(number) and not catalogue.placed(number):
                category = catalogue.category_of(number)
                taught = category if catalogue.lesson(number) else None  # what it taught itself does not count
                answer = view.register.match(view.register.feature_from(content), without=taught)
                if answer.category not in (None, category):
                    found.append(_other(view, number, category, answer))
    return sorted(found, key=lambda each: (-(each.confidence or 0), each.distance or 0, each.image))


def apply(store: Store, found: Sequence[Reconsidered]) -> list[Recorded]:
    """Move them, all at once: an edit for each category they go to."""
    targets = dict.fromkeys(each.now for each in found)

    def move(draft: Draft) -> None:
        for to in targets:
            draft.move([each.image for each in found if each.now == to], to)

    return store.edit(move)


def _other(view: View, number: int, category: str, answer: Assignment) -> Reconsidered:
    measured = answer.distance, answer.radius, answer.confidence
    return Reconsidered(number, view.assigned(number).source, category, str(answer.category), *measured)
