"""From what a person asks to the event that records it, or a refusal that says why.

Pure: reads the catalogue, changes nothing. Categories are named by id or name, images by number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from operator import index

from firstsight.core.errors import BadRequest, Conflict, NotFound
from firstsight.store.catalogue import Catalogue, Category
from firstsight.store.dependencies import dependants, obstacles, writes
from firstsight.store.events import (
    Assigned,
    Confirmed,
    Created,
    Forgotten,
    Merged,
    Moved,
    RadiusChanged,
    Recorded,
    Renamed,
    Split,
    Undone,
)

LONGEST_NAME = 200
NAMED = 20  # events named in a refusal


def category(catalogue: Catalogue, name: str) -> Category:
    """The category a person means; a merged one stands for what it was merged into."""
    found = catalogue.find(name)
    if found is None:
        names = dict.fromkeys(n for c in catalogue.live() for n in (c.name, c.id))
        near = " or ".join(map(repr, get_close_matches(name, names, n=3)))
        remedy, hint = (f"did you mean {near}?", "") if near else ("", "list")
        raise NotFound(f"there is no category {name!r}", remedy, hint)
    return found


def images(catalogue: Catalogue, numbers: Sequence[int]) -> tuple[int, ...]:
    """The images a person means, each once."""
    try:
        numbers = [index(number) for number in numbers]
    except TypeError:
        raise BadRequest(f"images are named by their numbers, not {list(numbers)!r}") from None
    unknown = [number for number in numbers if not catalogue.has_image(number)]
    if unknown:
        raise NotFound(f"there is no image {', '.join(map(str, unknown[:10]))}", hint="show")
    if not numbers:
        raise BadRequest("name at least one image")
    return tuple(dict.fromkeys(numbers))


def rename(catalogue: Catalogue, name: str, new: str) -> Renamed:
    found = category(catalogue, name)
    return Renamed(found.id, found.name, _free_name(catalogue, new, found.id))


def merge(catalogue: Catalogue, name: str, into: str) -> Merged:
    source, target = category(catalogue, name), category(catalogue, into)
    if source is target:
        also = "" if name == into else f": {name!r} and {into!r} are both {source.name!r}"
        raise Conflict(f"a category cannot be merged into itself{also}")
    return Merged(source.id, target.id)


def split(catalogue: Catalogue, chosen: Sequence[int], id: str, name: str | None, feature: bytes) -> Split:
    label = id if name is None else _free_name(catalogue, name, id)
    return Split(id, label, tuple(chosen), *_as_they_are(catalogue, chosen), feature)


def move(catalogue: Catalogue, numbers: Sequence[int], to: str) -> Moved:
    moved, target = images(catalogue, numbers), category(catalogue, to)
    return Moved(moved, *_as_they_are(catalogue, moved), target.id)


def confirm(catalogue: Catalogue, numbers: Sequence[int]) -> Confirmed:
    confirmed = images(catalogue, numbers)
    return Confirmed(confirmed, _as_they_are(catalogue, confirmed)[1])


def change_radius(catalogue: Catalogue, radius: int | float) -> RadiusChanged:
    if radius == catalogue.radius:
        raise Conflict(f"the radius is {radius} already")
    return RadiusChanged(catalogue.radius, radius)


def undo(
    catalogue: Catalogue, number: int | None, fetch: Callable[[int], Recorded], edits: Sequence[Recorded]
) -> Undone:
    """Take back an event, or the last edit by a person that is in force."""
    if number is None:
        since = _in_force_since(catalogue, edits)
        if not since:
            raise Conflict("there is nothing to undo: no edit by a person is in force")
        number = max(since, key=since.__getitem__)
    target = fetch(number)
    if isinstance(target.event, Undone):
        inner = fetch(target.event.events[0])
        if isinstance(inner.event, Undone):
            what = ", ".join(map(str, inner.event.events))
            raise Conflict(f"event {number} is a redo", f"undo what it brought back: {what}")
        raise Conflict(f"event {number} is an undo itself", hint="redo", number=number)
    if isinstance(target.event, Forgotten):
        raise Conflict(f"event {number} removed what told of images, for good", "it cannot be undone")
    if number in catalogue.undone:
        raise Conflict(f"event {number} is undone already", hint="redo", number=number)
    targets = _with_founding(target, catalogue, fetch)
    later = dependants(targets, catalogue, edits, fetch)
    _refuse_if(later, f"event {number} ({target.kind}) cannot be undone", fetch)
    return Undone(tuple(t.number for t in targets))


def redo(
    catalogue: Catalogue, number: int | None, fetch: Callable[[int], Recorded], edits: Sequence[Recorded]
) -> Undone:
    """Bring back what an undo took: the one named, by its own number or that of what it took, or the last one.

    Without a number, only what was undone since the last new edit: what came before was left behind.
    """
    last_new = max((e.number for e in edits if not isinstance(e.event, Undone)), default=0)
    meant = [
        e
        for e in edits
        if isinstance(e.event, Undone)
        and e.number not in catalogue.undone
        and not isinstance(fetch(e.event.events[0]).event, Undone)
        and (e.number > last_new if number is None else number in (e.number, *e.event.events))
    ]
    if not meant:
        which = "nothing was undone since the last edit" if number is None else f"event {number} is not undone"
        raise Conflict(f"there is nothing to redo: {which}", hint="history")
    last = meant[-1]
    assert isinstance(last.event, Undone)
    targets = [fetch(n) for n in last.event.events]
    what = f"event {targets[0].number} ({targets[0].kind}) cannot be brought back"
    _refuse_if(dependants(targets, catalogue, edits, fetch), what, fetch)
    brought = {key for t in targets if isinstance(t.event, Assigned | Created) for key in writes(t.number, t.event)}
    if why := [reason for t in targets for reason in obstacles(t.event, catalogue, brought)]:
        raise Conflict(f"{what}: {'; '.join(why)}", "bring back or undo what changed it first")
    return Undone((last.number,))


def _in_force_since(catalogue: Catalogue, edits: Sequence[Recorded]) -> dict[int, int]:
    """The edits in force, and the event that brought each into force last: itself, or a redo."""
    since: dict[int, int] = {}
    undos: dict[int, tuple[int, ...]] = {}
    for edit in edits:
        if not isinstance(edit.event, Undone):
            since[edit.number] = edit.number
            continue
        undos[edit.number] = edit.event.events
        for number in (inner for target in edit.event.events for inner in undos.get(target, ())):
            if number in since:
                since[number] = edit.number
    return {number: last for number, last in since.items() if number not in catalogue.undone}


def _with_founding(target: Recorded, catalogue: Catalogue, fetch: Callable[[int], Recorded]) -> list[Recorded]:
    """A founder and its category go together: the image first, then what it founded."""
    if isinstance(target.event, Created):
        founder = fetch(target.number + 1)
        return [founder, target] if founder.number not in catalogue.undone else [target]
    if isinstance(target.event, Assigned) and target.number > 1:
        before = fetch(target.number - 1)
        if isinstance(before.event, Created) and before.number not in catalogue.undone:
            return [target, before]
    return [target]


def _refuse_if(later: list[int], what: str, fetch: Callable[[int], Recorded]) -> None:
    if later:
        shown = ", ".join(f"{n} ({fetch(n).kind})" for n in later[:NAMED])
        more = f" and {len(later) - NAMED} more" if len(later) > NAMED else ""
        raise Conflict(f"{what}: later events depend on it: {shown}{more}", "undo those first, the last one first")


def _free_name(catalogue: Catalogue, name: str, id: str) -> str:
    """A name no other category has, had as its id, or would show badly."""
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise BadRequest(
            f"{name[:40]!r} cannot be a name", f"1 to {LONGEST_NAME} characters that can be printed, on one line"
        )
    other = catalogue.names.get(name, id)
    if other != id:
        raise Conflict(f"{name!r} is taken by category {other}", "choose another name, or merge the two")
    if id in catalogue.categories and catalogue.categories[id].name == name:
        raise Conflict(f"{id} is called {name!r} already")
    return name


def _as_they_are(catalogue: Catalogue, chosen: Sequence[int]) -> tuple[tuple[str, ...], tuple[bool, ...]]:
    """Where images are, and whether a person put them there."""
    return tuple(catalogue.home(i) for i in chosen), tuple(catalogue.placed(i) for i in chosen)
