"""How a register follows the catalogue: built from the log once, then told what each event changed.

A register that unlearns pays for what an edit touches. One of centres is built again where there
are others than before. One whose state depends on the order of all that came before is built again from the features
of all images.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from firstsight.core.protocols import Centre, Register
from firstsight.store.catalogue import Catalogue
from firstsight.store.events import (
    Assigned,
    Confirmed,
    Created,
    Discarded,
    Event,
    Founded,
    FoundEmpty,
    Merged,
    Moved,
    Recentred,
    Recorded,
    Split,
    Undone,
)
from firstsight.store.log import Log

CENTRES = (Created, Split, Founded, Recentred)  # events that change which centres there are
LESSONS = (*CENTRES, Merged, Assigned, Moved, Confirmed, Discarded)  # events that change what a category has learned

Fetch = Callable[[int], Recorded]


def build(register: Register, log: Log, catalogue: Catalogue, learned: bytes | None = None) -> Register:
    """A fresh register becomes that of a catalogue: by what it had learned by then, or by all features."""
    from_bytes = register.feature_from
    features = log.features(catalogue.last) if register.learns and learned is None else ()
    register.rebuild(
        (Centre(from_bytes(centre), category, home) for centre, category, home in catalogue.centres()),
        catalogue.names,
        ((from_bytes(feature), home) for feature, home in catalogue.members(features)) if register.learns else (),
        catalogue.order,
        learned,
    )
    register.radius = catalogue.radius
    return register


def follow(register: Register, before: Catalogue, after: Catalogue, recorded: Recorded, fetch: Fetch) -> bool:
    """Tell a register what an event changed; False where it has to be built again.

    For an event by the rule, `before` may be the same as `after`: nothing but the event is looked at.
    """
    if isinstance(recorded.event, Created):
        return register.learns  # which learn of it by its founder
    if isinstance(recorded.event, Assigned):
        if register.learns and recorded.event.lesson:
            register.learn(register.feature_from(recorded.event.feature), recorded.event.home)
        return True
    if isinstance(recorded.event, FoundEmpty):
        return True
    events = list(_effects(recorded, fetch))
    rebuilds = () if register.unlearns else LESSONS if register.learns else CENTRES
    if any(isinstance(event, rebuilds) or _loses_centres(register, event) for _, event in events):
        return False
    _redirect(register, before, after, [event for _, event in events if isinstance(event, Merged)])
    if register.unlearns:
        _teach(register, before, after, events, fetch)
    register.reserve(after.names)
    if register.radius != after.radius:
        register.radius = after.radius
    return True


def _loses_centres(register: Register, event: Event) -> bool:
    """Whether centres go, or merged categories, of which a register that was built since does not know."""
    return isinstance(event, Discarded) and len(event.categories) > (1 if register.unlearns else 0)


def _effects(recorded: Recorded, fetch: Fetch) -> Iterator[tuple[int, Event]]:
    """The events that are done or taken back by one: itself, or what an Undone names."""
    if not isinstance(recorded.event, Undone):
        yield recorded.number, recorded.event
        return
    for number in recorded.event.events:
        yield from _effects(fetch(number), fetch)


def _redirect(register: Register, before: Catalogue, after: Catalogue, merges: Sequence[Merged]) -> None:
    ids = {id for merge in merges for id in (merge.category, merge.into)}
    for part in {part for c in (before, after) for id in ids for part in c.parts(c.resolve(id))}:
        if before.resolve(part) != after.resolve(part):
            register.redirect(part, after.resolve(part))


def _teach(
    register: Register, before: Catalogue, after: Catalogue, events: Sequence[tuple[int, Event]], fetch: Fetch
) -> None:
    """Unlearn and learn what the events touched, and the images that were, or now are, the first of a category."""
    images, touched = _touched(events)
    for catalogue in (before, after):
        owners = {catalogue.resolve(id) for id in touched if id in catalogue.categories}
        images |= {first for owner in owners if (first := catalogue.first_image(owner)) is not None}
    for number in sorted(images):
        was, now = _taught(before, number), _taught(after, number)
        if was != now:
            event = fetch(number).event
            assert isinstance(event, Assigned)
            feature = register.feature_from(event.feature)
            if was is not None:
                register.unlearn(feature, was)
            if now is not None:
                register.learn(feature, now)


def _touched(events: Sequence[tuple[int, Event]]) -> tuple[set[int], set[str]]:
    """The images that events put somewhere, and the categories whose first image may be another by them."""
    images: set[int] = set()
    touched: set[str] = set()
    for number, event in events:
        match event:
            case Assigned():
                images.add(number)
                touched.add(event.home)
            case Split():
                images.update(event.images)
                touched.update((*event.homes, event.category))
            case Moved():
                images.update(event.images)
                touched.update((*event.homes, event.to))
            case Discarded():
                images.update(event.images)
                touched.update(event.homes)
            case Confirmed():
                images.update(event.images)
            case Merged():
                touched.update((event.category, event.into))
    return images, touched


def _taught(catalogue: Catalogue, number: int) -> str | None:
    """The category an image was put in, if that learns from it."""
    return catalogue.home(number) if catalogue.has_image(number) and catalogue.lesson(number) else None
