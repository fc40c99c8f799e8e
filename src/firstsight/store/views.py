"""What people look at: categories with their images, one category, the history. Read from a store, changing nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest

import numpy as np

from firstsight.core.errors import StoreError
from firstsight.core.protocols import CONFIRMED
from firstsight.register.kinds import is_confident
from firstsight.store.events import (
    Assigned,
    Confirmed,
    Created,
    Event,
    Merged,
    Moved,
    RadiusChanged,
    Recorded,
    Renamed,
    Split,
    Undone,
    as_text,
)
from firstsight.store.store import Store


@dataclass(frozen=True)
class Summary:
    """One line about a category."""

    id: str
    name: str
    known: bool
    images: int
    placed: int  # of them put there or confirmed by a person
    merged: tuple[str, ...]  # the ids that stand for it since they were merged into it

    @property
    def tentative(self) -> bool:
        """Whether it is new and rests on so few images, none of them placed by a person, that it may be a mistake."""
        return not self.known and not self.placed and self.images < CONFIRMED


@dataclass(frozen=True)
class Member:
    """One image in a category: how it came there and what was second best."""

    image: int
    source: str
    category: str
    name: str
    known: bool
    time: str
    distance: int | float | None
    radius: int | float
    runner_up: str | None
    runner_up_distance: int | float | None
    by_person: bool
    content: str  # the SHA-256 of the image
    confidence: float | None  # how probable the rule held this, where it could tell and the image was not moved since


def summaries(store: Store) -> list[Summary]:
    """All categories there are, oldest first."""
    with store.lock:
        return _summaries(store)


def _summaries(store: Store) -> list[Summary]:
    catalogue = store.catalogue
    _, owners, placed = catalogue.columns()
    counts = np.bincount(owners, minlength=len(catalogue.order))
    by_people = np.bincount(owners[placed], minlength=len(catalogue.order))
    merged: dict[str, list[str]] = {}
    for category in catalogue.categories.values():
        if category.merged_into is not None:
            merged.setdefault(catalogue.resolve(category.id), []).append(category.id)
    return [
        Summary(
            c.id,
            c.name,
            c.known,
            int(counts[catalogue.position[c.id]]),
            int(by_people[catalogue.position[c.id]]),
            tuple(merged.get(c.id, ())),
        )
        for c in catalogue.live()
    ]


def images(store: Store, category: str | None = None) -> Iterator[Member]:
    """The images of a category by its id, or of all, in order of arrival."""
    with store.lock:
        catalogue = store.catalogue
        numbers = catalogue.columns()[0].tolist() if category is None else catalogue.images(category)
    return (_member(store, number) for number in numbers)


def _member(store: Store, number: int) -> Member:
    with store.lock:
        recorded, answer = store.log.event(number), store.assignment(number)
        event, owner = recorded.event, store.catalogue.categories[str(answer.category)]
        by_person = store.catalogue.placed(number)
    assert isinstance(event, Assigned)
    return Member(
        image=number,
        source=event.source,
        category=owner.id,
        name=owner.name,
        known=owner.known,
        time=recorded.time,
        distance=answer.distance,
        radius=answer.radius,
        runner_up=answer.runner_up.category if answer.runner_up else None,
        runner_up_distance=answer.runner_up.distance if answer.runner_up else None,
        by_person=by_person,
        content=event.content.hex(),
        confidence=answer.confidence,
    )


def unsure(store: Store, below: float, limit: int) -> tuple[list[Member], int]:
    """The images a person should look at, the least sure first, and how many do not say how sure the rule was.

    What a person placed or confirmed is settled. Only the images given are read whole.
    """
    if not is_confident(store.log.header["register"]):
        raise StoreError(
            f"{store.log.path} was made with a method that cannot tell how sure it is",
            "methods firstsight and dp-boa can; pairs of categories to look at are named by: suggest",
        )
    with store.lock:
        numbers, _, placed = store.catalogue.columns()
        open_ones = set(numbers[~placed].tolist())
        said = [(sure, number) for number, sure in store.log.confidences() if number in open_ones]
        least = nsmallest(limit, ((sure, number) for sure, number in said if sure is not None and sure < below))
        return [_member(store, number) for _, number in least], sum(sure is None for sure, _ in said)


def is_lesson(store: Store, content: bytes) -> bool:
    """Whether a category learns from this very image, any time that it came."""
    with store.lock:
        found = store.log.with_content(content)
        return any(store.catalogue.has_image(number) and store.catalogue.lesson(number) for number in found)


def image_numbers(store: Store, wanted: Sequence[str]) -> list[int]:
    """Images as people name them: by number, by the file they came from, or by the end of its path."""
    found: list[int] = []
    for each in wanted:
        found += [int(each)] if each.isdecimal() and len(each) < 19 else _from_file(store, each)
    return found


def _from_file(store: Store, name: str) -> list[int]:
    whole = os.path.abspath(name)  # noqa: PTH100 - Path.resolve would follow links
    found = store.log.with_source(as_text(whole)) or store.log.with_source(as_text(name))
    here = {number: source for number, source in found if store.catalogue.has_image(number)}
    if not here:
        raise StoreError(f"there is no image {name}", "numbers and files are shown by: show CATEGORY")
    if len(set(here.values())) > 1:
        shown = ", ".join(f"{number} ({source})" for number, source in list(here.items())[:5])
        raise StoreError(f"{name} may be any of {len(here)} images: {shown}", "say more of the path, or a number")
    return list(here)


def label(store: Store, id: str) -> str:
    """A category as people call it, with its id where that is another."""
    name = store.catalogue.categories[id].name
    return id if name == id else f"{name} ({id})"


def describe(event: Event) -> str:
    """An event in a few words."""
    match event:
        case Assigned():
            near = "" if event.distance is None else f", {event.distance:g} away"
            near = near if event.confidence is None else f", {event.confidence:.0%} sure"
            by = {"person": ", as a person placed it before"}.get(event.decided_by, near)
            return f"{event.source} -> {event.category}{f' (via {event.via})' if event.via else ''}{by}"
        case Created():
            return f"{event.category} founded"
        case Renamed():
            return f"{event.category}: {event.old!r} is now {event.new!r}"
        case Merged():
            return f"{event.category} merged into {event.into}"
        case Split():
            called = f" ({event.name!r})" if event.name != event.category else ""
            return f"{_several(event.images)} split off into {event.category}{called}"
        case Moved():
            return f"{_several(event.images)} moved to {event.to}"
        case Confirmed():
            return f"{_several(event.images)} confirmed"
        case RadiusChanged():
            return f"radius {event.old:g} -> {event.new:g}"
        case Undone():
            return f"event {', '.join(map(str, event.events))} undone"


def line(store: Store, recorded: Recorded) -> dict[str, int | str]:
    """An event as a line of history; the undo of an undo is a redo."""
    kind, what = recorded.kind, describe(recorded.event)
    if isinstance(recorded.event, Undone):
        undo = store.log.event(recorded.event.events[0]).event
        if isinstance(undo, Undone):
            kind, what = "Redone", f"event {', '.join(map(str, undo.events))} brought back"
    return {"event": recorded.number, "time": recorded.time, "kind": kind, "what": what}


def toggled(store: Store, recorded: Recorded) -> Iterator[tuple[str, Event]]:
    """What an Undone took back, or brought back."""
    assert isinstance(recorded.event, Undone)
    for number in recorded.event.events:
        target = store.log.event(number).event
        if isinstance(target, Undone):
            yield from (("brought back", store.log.event(inner).event) for inner in target.events)
        else:
            yield "undone", target


def rivals(store: Store, split: Split) -> list[str]:
    """Categories with the very centre a split has got."""
    return [
        category
        for feature, category, _ in store.catalogue.centres()
        if feature == split.feature and category != split.category
    ]


def touches(recorded: Recorded, category: str | None, image: int | None) -> bool:
    """Whether an event is about this category or image; every event is about neither."""
    event = recorded.event
    about = {getattr(event, name, None) for name in ("category", "via", "into", "to")} | set(
        getattr(event, "homes", ())
    )
    of_image = recorded.number == image or image in getattr(event, "images", ())
    return (category is None or category in about) and (image is None or of_image)


def _several(images: Sequence[int]) -> str:
    shown = ", ".join(map(str, images[:6])) + (", ..." if len(images) > 6 else "")
    return f"image {shown}" if len(images) == 1 else f"images {shown}"
