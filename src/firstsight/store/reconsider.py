"""Second thoughts: images that would be answered otherwise by now.

The first images of a category were answered before it was known what it is; some of them founded one of their own, or
went to a neighbour. Answers stay as given until a person has them moved. What a person placed is settled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firstsight.core.assignments import Assignment
from firstsight.core.protocols import AnswersAgain, Progress
from firstsight.core.threads import one_thread
from firstsight.store.authors import HINDSIGHT
from firstsight.store.draft import Draft
from firstsight.store.events import Recorded
from firstsight.store.store import Store
from firstsight.store.view import View

PAGE = 1024  # images asked about at once


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
    found, kept, register = [], view.features(), view.register
    with progress.task("asking again", len(view.catalogue.numbers)) as advance:
        while page := list(islice(kept, PAGE)):
            features = np.stack([register.feature_from(content) for _, content in page])
            for number, feature in _doubtful(view, [number for number, _ in page], features):
                category = view.catalogue.category_of(number)
                taught = category if view.catalogue.lesson(number) else None  # what it taught itself does not count
                answer = register.match(feature, without=taught)
                if answer.category not in (None, category):
                    found.append(_other(view, number, category, answer))
            for _ in page:
                advance()
    return sorted(found, key=lambda each: (-(each.confidence or 0), each.distance or 0, each.image))


def _doubtful(view: View, numbers: Sequence[int], features: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Images that nobody placed, but for those that many asked at once are answered with the category they are in.

    Those that taught a category are not among the latter: of them that says nothing.
    """
    register, catalogue = view.register, view.catalogue
    again = register.answer_again(features) if isinstance(register, AnswersAgain) else None
    for i, number in enumerate(numbers):
        if not catalogue.has_image(number) or catalogue.placed(number):
            continue
        if (
            again is None
            or again[i] < 0
            or catalogue.lesson(number)
            or catalogue.resolve(register.names[again[i]]) != catalogue.category_of(number)
        ):
            yield number, features[i]


def apply(store: Store, found: Sequence[Reconsidered]) -> list[Recorded]:
    """Move them, all at once: an edit for each category they go to, by hindsight and not by a person."""
    targets = dict.fromkeys(each.now for each in found)

    def move(draft: Draft) -> None:
        for to in targets:
            draft.move([each.image for each in found if each.now == to], to)

    return store.edit(move, by=HINDSIGHT)


def _other(view: View, number: int, category: str, answer: Assignment) -> Reconsidered:
    measured = answer.distance, answer.radius, answer.confidence
    return Reconsidered(number, view.assigned(number).source, category, str(answer.category), *measured)
