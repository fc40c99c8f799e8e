"""Taking back and bringing back: which events an undo or a redo means, and whether others stand on them.

What one command did is taken back as one, and brought back as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NoReturn, TypeAlias

import numpy as np

from firstsight.core.errors import Conflict
from firstsight.store.catalogue import Catalogue
from firstsight.store.dependencies import dependants, obstacles
from firstsight.store.events import Assigned, Created, Forgotten, Founded, Recorded, Split, Undone
from firstsight.store.holdings import AWAY

NAMED = 20  # events named in a refusal

Fetch: TypeAlias = Callable[[int], Recorded]


def undo(
    catalogue: Catalogue, numbers: Sequence[int], fetch: Fetch, edits: Sequence[Recorded], followers: bool = False
) -> Undone:
    """Take back events, each with all of its command, or the last edit in force; with `followers`, what stands on them.

    The latest first, so that each finds what it left.
    """
    if not numbers:
        since = _in_force_since(catalogue, edits)
        if not since:
            raise Conflict("there is nothing to undo: no edit is in force")
        numbers = [max(since, key=lambda number: (since[number], number))]
    for number in numbers:
        _check_in_force(catalogue, number, fetch)
    targets = _whole(numbers, catalogue, fetch)
    while later := dependants(targets.values(), catalogue, edits, fetch) or _stranded(targets, catalogue):
        if not followers:
            _refuse(later, fetch(numbers[0]), "undone", fetch, "followers")
        targets |= _whole(later, catalogue, fetch)
    return Undone(tuple(sorted(targets, reverse=True)))


def redo(catalogue: Catalogue, number: int | None, fetch: Fetch, edits: Sequence[Recorded]) -> Undone:
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
    undos = [e for e in meant if e.command == meant[-1].command][::-1]
    targets = [fetch(n) for e in undos if isinstance(e.event, Undone) for n in reversed(e.event.events)]
    if later := dependants(targets, catalogue, edits, fetch):
        _refuse(later, targets[0], "brought back", fetch)
    _check_as_it_was(catalogue.copy(), targets)
    return Undone(tuple(e.number for e in undos))


def _check_as_it_was(catalogue: Catalogue, targets: Sequence[Recorded]) -> None:
    """Refuse to bring back what would replace something else by now, one after the other."""
    for target in targets:
        if why := obstacles(target.event, catalogue):
            what = f"event {target.number} ({target.kind}) cannot be brought back"
            raise Conflict(f"{what}: {'; '.join(why)}", "bring back or undo what changed it first")
        catalogue.do(target.number, target.event)


def _check_in_force(catalogue: Catalogue, number: int, fetch: Fetch) -> None:
    """Refuse what is no event to take back."""
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


def _stranded(targets: Mapping[int, Recorded], catalogue: Catalogue) -> list[int]:
    """The images that would be left in a category that is gone, once all of these are taken back."""
    if not any(isinstance(target.event, Created | Split | Founded) for target in targets.values()):
        return []
    trial = catalogue.copy()
    for number in sorted(targets, reverse=True):
        trial.take_back(number, targets[number].event)
    gone = [category.position for category in trial.categories.values() if category.gone]
    left = np.isin(trial.homes.values(), gone) & (trial.flags.values() & AWAY == 0)
    found: list[int] = trial.numbers.values()[left].tolist()
    return found


def _whole(numbers: Iterable[int], catalogue: Catalogue, fetch: Fetch) -> dict[int, Recorded]:
    """Events with all that is in force of their commands; a founder and its category go together."""
    found: dict[int, Recorded] = {}
    for number in numbers:
        for each in () if number in found else _command(fetch(number), catalogue, fetch):
            if each.number not in catalogue.undone and not isinstance(each.event, Undone):
                found |= {every.number: every for every in _with_founding(each, catalogue, fetch)}
    return found


def _command(target: Recorded, catalogue: Catalogue, fetch: Fetch) -> Iterable[Recorded]:
    """All events of the command that an event is part of."""
    number = target.command
    while number <= catalogue.last and (each := fetch(number)).command == target.command:
        yield each
        number += 1


def _with_founding(target: Recorded, catalogue: Catalogue, fetch: Fetch) -> list[Recorded]:
    """A founder and its category go together: the image first, then what it founded."""
    if isinstance(target.event, Created):
        founder = fetch(target.number + 1)
        return [founder, target] if founder.number not in catalogue.undone else [target]
    if isinstance(target.event, Assigned) and target.number > 1:
        before = fetch(target.number - 1)
        if isinstance(before.event, Created) and before.number not in catalogue.undone:
            return [target, before]
    return [target]


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


def _refuse(later: list[int], target: Recorded, done: str, fetch: Fetch, hint: str = "") -> NoReturn:
    what = f"event {target.number} ({target.kind}) cannot be {done}"
    shown = ", ".join(f"{n} ({fetch(n).kind})" for n in later[:NAMED])
    more = f" and {len(later) - NAMED} more" if len(later) > NAMED else ""
    remedy = "undo those first, the last one first"
    if hint:
        remedy += "; or with followers=True, which takes them back too"
    image = target.number + isinstance(target.event, Created)
    if hint and isinstance(target.event, Assigned | Created):
        hint, remedy = "founder", f"{remedy}; or discard image {image}, which leaves the others where they are"
    raise Conflict(f"{what}: later events depend on it: {shown}{more}", remedy, hint, number=target.number, image=image)
