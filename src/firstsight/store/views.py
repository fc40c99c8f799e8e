"""What people look at: categories with their images, one category, the history. Read from a view, changing nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from firstsight.core.errors import Conflict, NotFound
from firstsight.core.protocols import CONFIRMED
from firstsight.core.sightings import KEPT
from firstsight.store.authors import PERSON, Author
from firstsight.store.events import (
    Assigned,
    Confirmed,
    Created,
    Discarded,
    Event,
    Forgotten,
    Founded,
    FoundEmpty,
    Merged,
    Moved,
    Promoted,
    RadiusChanged,
    Recentred,
    Recorded,
    Relocated,
    Renamed,
    Split,
    Undone,
    as_text,
)
from firstsight.store.finding import category_or_none
from firstsight.store.holdings import AWAY, PLACED, SETTLED
from firstsight.store.pictures import UPLOAD
from firstsight.store.view import View


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
    author: str  # who put it there: "rule", "hindsight" or "person"
    author_name: str  # a person's, where one was given
    content: str  # the SHA-256 of the image
    confidence: float | None  # how probable the rule held this, where it could tell and the image was not moved since
    taken: str | None
    latitude: float | None
    longitude: float | None
    camera: str | None
    serial: str | None
    box: tuple[float, ...]  # the part of the file it is; none where it is the whole
    detected: float | None
    withheld: bool  # whether nothing else about it was to be kept

    @property
    def by_person(self) -> bool:
        return self.author == PERSON.kind


def summaries(view: View) -> list[Summary]:
    """All categories there are, oldest first."""
    catalogue = view.catalogue
    _, owners, flags = catalogue.columns()
    counts = np.bincount(owners, minlength=len(catalogue.order))
    by_people = np.bincount(owners[flags & PLACED != 0], minlength=len(catalogue.order))
    merged: dict[str, list[str]] = {}
    for category in catalogue.categories.values():
        if category.merged_into is not None:
            merged.setdefault(catalogue.resolve(category.id), []).append(category.id)
    return [
        Summary(
            c.id,
            c.name,
            c.known,
            int(counts[c.position]),
            int(by_people[c.position]),
            tuple(merged.get(c.id, ())),
        )
        for c in catalogue.live()
    ]


def images(view: View, category: str | None = None) -> Iterator[Member]:
    """The images of a category by its id, or of all, in order of arrival."""
    return (member(view, number) for number in view.images(category))


def member(view: View, number: int) -> Member:
    """One image."""
    recorded = view.event(number)
    event = view.located(recorded)
    answer = view.standing(number, event)
    owner, by = view.catalogue.categories[str(answer.category)], author_of(view, number, event)
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
        author=by.kind,
        author_name=by.name,
        content=event.content.hex(),
        confidence=answer.confidence,
        **{name: getattr(event, name) for name in KEPT},
    )


def author_of(view: View, number: int, event: Assigned) -> Author:
    """Whose word it is that an image is where it is; that on the same image before, where that answered it."""
    by = view.catalogue.author(number)
    return PERSON if by.kind == "rule" and event.decided_by == PERSON.kind else by


@dataclass(frozen=True)
class Thrown:
    """An image that was discarded: what it was taken for, by whom, and by which event."""

    image: int
    source: str
    category: str  # as that was called
    author: str
    author_name: str
    event: int


def discarded(view: View) -> list[Thrown]:
    """The images that are discarded, in the order that happened."""
    found = []
    for recorded in view.edits() if view.catalogue.discarded_images else ():
        event = recorded.event
        if isinstance(event, Discarded) and not view.is_undone(recorded.number):
            for image, home in zip(event.images, event.homes, strict=True):
                where = view.name_of(home), *Author.of(event.by)
                found.append(Thrown(image, view.assigned(image).source, *where, recorded.number))
    return found


def unsure(view: View, below: float, limit: int) -> tuple[list[Member], int]:
    """The images a person should look at, the least sure first, and how many do not say how sure the rule was.

    What a person placed or confirmed is settled. Only the images given are read from the log.
    """
    if not view.confident:
        raise Conflict(f"{view.name} was made with a method that cannot tell how sure it is", hint="unsure")
    catalogue = view.catalogue
    open_ones = catalogue.flags.values() & (AWAY | PLACED | SETTLED) == 0
    sure = catalogue.confidences.values()
    asked = np.flatnonzero(open_ones & (sure < below))
    if len(asked) > limit:  # all that may be among the least sure, ties included
        asked = asked[sure[asked] <= np.partition(sure[asked], limit - 1)[limit - 1]]
    numbers = catalogue.numbers.values()[asked]
    least = numbers[np.lexsort((numbers, sure[asked]))][:limit]
    return [member(view, number) for number in least.tolist()], int((open_ones & np.isnan(sure)).sum())


def image_numbers(view: View, wanted: Sequence[str], empty: bool = False) -> list[int]:
    """Images as people name them: by number, by the file they came from, or by the end of its path.

    With `empty`, frames in which nothing was found, too.
    """
    found: list[int] = []
    for each in wanted:
        found += [int(each)] if each.isdecimal() and len(each) < 19 else _from_file(view, each, empty)
    return found


def _from_file(view: View, name: str, empty: bool = False) -> list[int]:
    whole = os.path.abspath(name)  # noqa: PTH100 - Path.resolve would follow links
    here = dict(view.with_source(as_text(whole), empty) or view.with_source(as_text(name), empty))
    if not here:
        also = category_or_none(view.catalogue, name)
        raise NotFound(f"there is no image {name}" + (f", but a category {also.name!r}" if also else ""), hint="show")
    if len(set(here.values())) > 1:
        shown = ", ".join(f"{number} ({source})" for number, source in list(here.items())[:5])
        raise Conflict(f"{name} may be any of {len(here)} images: {shown}", "say more of the path, or a number")
    if name.startswith(UPLOAD) and len({view.seen(number).content for number in here}) > 1:
        raise Conflict(f"{len(here)} images were sent as {name}", "say which, by number")
    return list(here)


def label(view: View, id: str) -> str:
    """A category as people call it, with its id where that is another."""
    name = view.catalogue.categories[id].name
    return id if name == id else f"{name} ({id})"


def describe(event: Event) -> str:
    """An event in a few words."""
    match event:
        case Assigned():
            near = "" if event.distance is None else f", {event.distance:g} away"
            near = near if event.confidence is None else f", {event.confidence:.0%} sure"
            before = ", as a person placed it before" if event.by == "rule" else ", by its label"
            by = {"person": before}.get(event.decided_by, near)
            source = event.source or "an image that is forgotten"
            return f"{source} -> {event.category}{f' (via {event.via})' if event.via else ''}{by}"
        case FoundEmpty():
            return f"{event.source or 'a frame that is forgotten'}: nothing in it"
        case Created():
            return f"{event.category} founded"
        case Founded():
            return f"{event.category} founded for labelled images ({event.name!r})"
        case Promoted():
            return f"{event.category} is known from now on"
        case Discarded():
            gone = f", and {', '.join(event.categories)} with them" if event.categories else ""
            return f"{_several(event.images) if event.images else 'no images'} discarded{gone}"
        case Recentred():
            return f"{event.category} has the centre of {_several(event.images)} now"
        case Relocated():
            return f"{_several(event.images)} found elsewhere"
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
        case Forgotten():
            return f"{_several(event.images)} forgotten: where from, content, time, place, camera"
        case Undone():
            return f"event {', '.join(map(str, event.events))} undone"


def line(view: View, recorded: Recorded) -> dict[str, int | str]:
    """An event as a line of history; the undo of an undo is a redo."""
    kind, what = recorded.kind, describe(recorded.event)
    if isinstance(recorded.event, Undone):
        undo = view.event(recorded.event.events[0]).event
        if isinstance(undo, Undone):
            kind, what = "Redone", f"event {', '.join(map(str, undo.events))} brought back"
    by = Author.of(recorded.event.by)
    said: dict[str, int | str] = {"author": by.kind, "author_name": by.name, "command": recorded.command}
    return {"event": recorded.number, "time": recorded.time, "kind": kind, "what": what, **said}


def toggled(view: View, recorded: Recorded) -> Iterator[tuple[str, Event]]:
    """What an Undone took back, or brought back."""
    assert isinstance(recorded.event, Undone)
    for number in recorded.event.events:
        target = view.event(number).event
        if isinstance(target, Undone):
            yield from (("brought back", view.event(inner).event) for inner in target.events)
        else:
            yield "undone", target


def rivals(view: View, split: Split) -> list[str]:
    """Categories with the very centre a split has got."""
    return [
        category
        for feature, category, _ in view.catalogue.centres()
        if feature == split.feature and category != split.category
    ]


def touches(recorded: Recorded, category: str | None, image: int | None) -> bool:
    """Whether an event is about this category or image; every event is about neither."""
    of_image = recorded.number == image or image in getattr(recorded.event, "images", ())
    return (category is None or category in named_in(recorded.event)) and (image is None or of_image)


def named_in(event: Event) -> set[str]:
    """The categories that an event names."""
    named = {getattr(event, name, None) for name in ("category", "via", "into", "to")} - {None}
    return {*map(str, named), *getattr(event, "homes", ()), *getattr(event, "categories", ())}


def _several(images: Sequence[int]) -> str:
    shown = ", ".join(map(str, images[:6])) + (", ..." if len(images) > 6 else "")
    return f"image {shown}" if len(images) == 1 else f"images {shown}"
