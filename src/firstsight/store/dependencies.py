"""Which later events stand on an earlier one, so that it cannot be taken back (or brought back) beneath them.

Every event writes some keys and reads others: a category's existence, its name, a name's use, an image's place, the
radius. A later event depends on an earlier one when it reads or writes what that one wrote. Merges have no keys: they
redirect, so only later merges along the same path depend on one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np

from firstsight.store.catalogue import Catalogue
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
)
from firstsight.store.holdings import GONE

Key: TypeAlias = tuple[str, str | int]


def dependants(
    events: Iterable[Recorded], catalogue: Catalogue, edits: Iterable[Recorded], fetch: Callable[[int], Recorded]
) -> list[int]:
    """The numbers of the events in force that depend on any of these; `edits` are those by people, of the whole log."""
    targets = list(events)
    own = {target.number for target in targets}
    later = [edit for edit in edits if edit.number not in own | catalogue.undone and not isinstance(edit.event, Undone)]
    found: set[int] = set()
    for target in targets:
        wrote = writes(target.number, target.event)
        found |= {
            edit.number
            for edit in later
            if edit.number > target.number
            and (wrote & (reads(edit.event) | writes(edit.number, edit.event)) or _redirects(edit, target, catalogue))
        }
        found |= _by_rule(target.number, wrote, catalogue, fetch) - own
    return sorted(found)


def obstacles(event: Event, catalogue: Catalogue) -> list[str]:
    """Why an event cannot come into force again as it was."""
    gone = [
        f"{kind} {id} is undone or discarded"
        for kind, id in sorted(reads(event))
        if (kind == "category" and catalogue.categories[str(id)].gone)
        or (kind == "image" and not catalogue.has_image(int(id)))
    ]
    return gone or _differences(event, catalogue)


def _differences(event: Event, catalogue: Catalogue) -> list[str]:
    """What an event replaced and is no longer there to be replaced."""
    match event:
        case Renamed() if catalogue.categories[event.category].name != event.old:
            return [f"{event.category} is called {catalogue.categories[event.category].name!r} now"]
        case Renamed():
            return _taken(event.new, event.category, catalogue)
        case Merged() if catalogue.categories[event.category].merged_into is not None:
            return [f"{event.category} is merged into {catalogue.resolve(event.category)} now"]
        case Merged() if catalogue.resolve(event.into) == event.category:
            return [f"{event.into} is merged into {event.category} now"]
        case RadiusChanged() if catalogue.radius != event.old:
            return [f"the radius is {catalogue.radius} now"]
        case Split() | Moved():
            were = zip(event.images, event.homes, event.authors, strict=True)
            moved = [i for i, home, by in were if (catalogue.home(i), str(catalogue.author(i))) != (home, by)]
            name = _taken(event.name, event.category, catalogue) if isinstance(event, Split) else []
            return name + [f"image {i} is not where it was" for i in moved[:5]]
        case Confirmed():
            were_put = zip(event.images, event.authors, strict=True)
            return [f"image {i} is not where it was" for i, by in were_put if str(catalogue.author(i)) != by][:5]
        case Promoted() if catalogue.categories[event.category].known:
            return [f"{event.category} is known already"]
        case Founded():
            return _taken(event.name, event.category, catalogue)
        case Discarded():
            homes = zip(event.images, event.homes, strict=True)
            left = {i for id in event.categories for i in catalogue.images(id)} - set(event.images)
            return [f"image {i} is not where it was" for i, home in homes if catalogue.home(i) != home][:5] + [
                f"image {i} came since" for i in sorted(left)[:5]
            ]
        case Recentred() if catalogue.categories[event.category].centre.hex() != event.old:
            return [f"{event.category} has another centre now"]
        case Relocated():
            before = zip(event.images, event.old, strict=True)
            return [f"image {i} is somewhere else now" for i, old in before if catalogue.sources.get(i, "") != old][:5]
        case _:
            return []


def _taken(name: str, id: str, catalogue: Catalogue) -> list[str]:
    other = catalogue.names.get(name, id)
    return [] if other == id else [f"{other} is called {name!r} now"]


def writes(number: int, event: Event) -> set[Key]:
    match event:
        case Assigned():
            return {("image", number)}
        case Created():
            return {("category", event.category), ("name", event.category)}
        case Renamed():
            return {("called", event.category), ("name", event.old), ("name", event.new)}
        case Split():
            founded: set[Key] = {("category", event.category), ("name", event.category), ("name", event.name)}
            return founded | {("image", image) for image in event.images}
        case Moved() | Confirmed():
            return {("image", image) for image in event.images}
        case Founded():
            return {("category", event.category), ("name", event.category), ("name", event.name)}
        case Promoted():
            return {("known", event.category)}
        case Discarded():
            lost: set[Key] = {("category", id) for id in event.categories} | {("name", name) for name in event.names}
            return lost | {("image", image) for image in event.images}
        case Recentred():
            return {("centre", event.category)}
        case Relocated():
            return {("file", image) for image in event.images}
        case RadiusChanged():
            return {("radius", "")}
        case Merged() | FoundEmpty() | Undone() | Forgotten():
            return set()


def reads(event: Event) -> set[Key]:
    match event:
        case Assigned():
            return {("category", event.home)}
        case Renamed():
            return {("category", event.category)}
        case Merged():
            return {("category", event.category), ("category", event.into)}
        case Split():
            return {("category", home) for home in event.homes} | {("image", image) for image in event.images}
        case Moved():
            homes: set[Key] = {("category", home) for home in (*event.homes, event.to)}
            return homes | {("image", image) for image in event.images}
        case Confirmed():
            return {("image", image) for image in event.images}
        case Recentred():
            of: set[Key] = {("image", image) for image in event.images}
            return of | {("category", event.category)}
        case Promoted():
            return {("category", event.category), ("called", event.category)}
        case Discarded():
            kept: set[Key] = {("category", id) for id in (*event.homes, *event.categories)}
            return kept | {("called", id) for id in event.categories} | {("image", image) for image in event.images}
        case Created() | FoundEmpty() | Founded() | Relocated() | RadiusChanged() | Undone() | Forgotten():
            return set()


def _redirects(edit: Recorded, target: Recorded, catalogue: Catalogue) -> bool:
    """Whether a later merge goes on from where an earlier one leads, or takes its category elsewhere."""
    if not (isinstance(edit.event, Merged) and isinstance(target.event, Merged)):
        return False
    path, into = {target.event.category}, target.event.into
    while into not in path:
        path.add(into)
        into = catalogue.categories[into].merged_into or into
    return edit.event.category in path


def _by_rule(number: int, wrote: set[Key], catalogue: Catalogue, fetch: Callable[[int], Recorded]) -> set[int]:
    """Later images and foundings that depend on these keys, found in the catalogue: there may be a million.

    Images that an edit put there do not depend by themselves: the edit does.
    """
    found: set[int] = set()
    lost = [catalogue.categories[str(id)].position for kind, id in wrote if kind == "category"]
    if lost:
        numbers, homes, flags = (a.values() for a in (catalogue.numbers, catalogue.homes, catalogue.flags))
        there, put = np.isin(homes, lost) & (numbers > number) & (flags & GONE == 0), catalogue.authors.values() > 0
        found |= set(numbers[there & ~put].tolist())
        for image in numbers[there & put].tolist():
            event = fetch(image).event
            if isinstance(event, Assigned) and ("category", event.home) in wrote:
                found.add(image)
    names = {str(name) for kind, name in wrote if kind == "name"}
    for name in names & catalogue.categories.keys():
        category = catalogue.categories[name]
        if category.founded > number and not category.gone:
            found.add(category.founded)
    return found
