"""What a register has of an image: the answer it was given, the register without it, and the images beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firstsight.core.errors import ImageError
from firstsight.core.protocols import Register
from firstsight.data.images import thumbnail
from firstsight.evidence.evidence import Fellow, Given
from firstsight.evidence.words import day
from firstsight.model.examples import SIDE
from firstsight.store.authors import Author
from firstsight.store.events import Assigned, Discarded
from firstsight.store.originals import NO_FILE, Originals
from firstsight.store.view import View

FELLOWS = 5  # images shown of a category
LOOKED_AT = 1000  # of the latest of a category, to find those most alike


def number_of(view: View, content: bytes, source: str = "") -> int | None:
    """The image of this content: the one from this source, one a person placed, or the last."""
    here = view.with_content(content)
    if not here and (thrown := view.discarded_before(content)) is not None:
        return thrown.image
    best = lambda n: (view.assigned(n).source == source, view.catalogue.placed(n), n)  # noqa: E731
    return max(here, key=best, default=None)


def given_to(view: View, number: int) -> Given:
    """The answer an image was given when it came."""
    recorded, event = view.event(number), view.assigned(number)
    catalogue, now = view.catalogue, view.category_of(number)
    began = catalogue.categories[event.category].founded  # 0 where it was taught
    answered, next_best = view.name_of(event.category), event.runner_up and view.name_of(event.runner_up)
    return Given(
        image=number,
        time=recorded.time,
        category=answered,
        is_new=not catalogue.categories[event.category].known,
        founded=began > 0 and began == number - 1,
        confidence=event.confidence,
        by_person=event.decided_by == "person",
        runner_up=None if next_best == answered else next_best,  # the same where they were merged since
        now=view.name_of(now),
        now_new=not catalogue.categories[now].known,
        taught=view.register.learns and bool(_lessons(view, number)),
        discarded=_discarded(view, number),
    )


def _discarded(view: View, number: int) -> str:
    """When, and by whom, an image was discarded; nothing where it is there."""
    if not view.catalogue.is_discarded(number):
        return ""
    events = (each for each in reversed(view.edits()) if not view.is_undone(each.number))
    by = next(each for each in events if isinstance(each.event, Discarded) and number in each.event.images)
    when = day(by.time)
    return f"{f'on {when} ' if when else ''}by {Author.of(by.event.by).in_words}"


def without(view: View, number: int) -> Register:
    """The register as if it had not learned from a picture, where it can forget one: else it is sure of itself."""
    register, lessons = view.register, _lessons(view, number)
    if not (register.learns and register.unlearns and lessons):
        return register
    other = register.copy()
    for each in lessons:
        other.unlearn(register.feature_from(view.assigned(each).feature), view.catalogue.home(each))
    return other


def _lessons(view: View, number: int) -> list[int]:
    """The times that the picture of an image came and its category learned from it."""
    same = {number, *view.with_content(view.assigned(number).content)}
    return sorted(each for each in same if view.catalogue.has_image(each) and view.catalogue.lesson(each))


def fellows(view: View, category: str, feature: NDArray[Any], but: int | None) -> tuple[Fellow, ...]:
    """Images of a category that are most like a feature, with their pictures where those are still there."""
    numbers = [number for number in view.images(category)[-LOOKED_AT:] if number != but]
    if not numbers:
        return ()
    register, events = view.register, [view.assigned(number) for number in numbers]
    apart = _apart(np.stack([register.feature_from(event.feature) for event in events]), feature)
    originals = Originals(view.pictures)
    return tuple(_fellow(originals, numbers[i], events[i]) for i in np.argsort(apart, kind="stable")[:FELLOWS].tolist())


def _fellow(originals: Originals, number: int, event: Assigned) -> Fellow:
    try:
        return Fellow(number, event.source, thumbnail(originals.picture(event), SIDE))
    except ImageError as error:
        why = event.source if error.reason == NO_FILE else error.reason  # what came as a feature has a name
        return Fellow(number, event.source, None, why)


def _apart(features: NDArray[Any], feature: NDArray[Any]) -> NDArray[Any]:
    """How far features are from one: in bits, or by the angle."""
    if features.dtype.kind == "u":
        return np.asarray(np.bitwise_count(features ^ feature).sum(axis=1))
    lengths = np.linalg.norm(features, axis=1) * np.linalg.norm(feature)
    return np.asarray(-(features @ feature) / np.maximum(lengths, np.finfo(np.float32).tiny))
