"""Labelled images for known or new categories, without fitting anew.

A register that learns takes each feature in. One of centres gets a centre for them, where the category does not reach
so far already: a category of its own that is merged into the one they are of. An image that is here already is not
counted again: it is put where its label says.
"""

from __future__ import annotations

from collections.abc import Sequence

from firstsight.core.errors import BadRequest, Conflict
from firstsight.core.sightings import KEPT
from firstsight.store import edits
from firstsight.store.draft import Draft
from firstsight.store.events import Assigned, Founded
from firstsight.store.finding import category_or_none
from firstsight.store.groups import Arrival


def teach(draft: Draft, arrivals: Sequence[Arrival], labels: Sequence[str], encoder: int) -> None:
    """Each image with its label; a label nobody has becomes a known category of that name."""
    if len(arrivals) != len(labels):
        raise BadRequest(f"{len(arrivals)} images need as many labels, and there are {len(labels)}")
    if not arrivals:
        raise BadRequest("name at least one image")
    together: dict[str, dict[bytes, Arrival]] = {}
    called: dict[str, str] = {}
    for arrival, label in zip(arrivals, labels, strict=True):
        found = category_or_none(draft.catalogue, label)
        key = label.strip().casefold() if found is None else found.id
        called.setdefault(key, label if found is None else found.id)
        together.setdefault(key, {}).setdefault(arrival.content, arrival)
    for key, images in together.items():
        _teach(draft, list(images.values()), called[key], encoder)


def _teach(draft: Draft, arrivals: Sequence[Arrival], label: str, encoder: int) -> None:
    register = draft.before.register
    held = {each.content: here[-1] for each in arrivals if (here := draft.with_content(each.content))}
    fresh = [each for each in arrivals if each.content not in held]
    features = {each.content: register.feature_bytes(each.feature) for each in arrivals}
    category, home = _home(draft, label, list(features.values()), bool(fresh))
    for each in fresh:
        event = Assigned(
            source=each.source,
            category=category,
            via=None if home == category else home,
            distance=None,
            radius=draft.catalogue.radius,
            runner_up=None,
            runner_up_distance=None,
            decided_by="person",
            encoder=encoder,
            feature=features[each.content],
            content=each.content,
            **{name: getattr(each.sighting, name) for name in KEPT},
        )
        draft.append(event)
    if elsewhere := [n for n in held.values() if draft.catalogue.category_of(n) != category]:
        draft.move(elsewhere, home)
    if unsaid := [n for n in held.values() if not draft.catalogue.placed(n)]:
        draft.confirm(unsaid)


def _home(draft: Draft, label: str, features: Sequence[bytes], fresh: bool) -> tuple[str, str]:
    """The category a label means, and the one to put its images in: another where a centre of its own is merged."""
    catalogue, register = draft.catalogue, draft.before.register
    found = category_or_none(catalogue, label)
    if found is None:
        return (_founded(draft, label, draft.centre(features)),) * 2
    if not fresh:  # they are only put there
        return found.id, found.id
    if register.learns:
        if not register.teachable:
            raise Conflict(
                f"{found.name!r} cannot be taught: categories of this method stay where they were founded",
                "fit a model of another method, or teach it as a new category",
            )
        return found.id, found.id
    centre = draft.centre(features)
    answer = register.match(register.feature_from(centre)).category
    if answer is not None and catalogue.resolve(answer) == found.id:
        return found.id, found.id
    home = _founded(draft, edits.next_id(catalogue), centre)
    draft.merge(home, found.id)
    return found.id, home


def _founded(draft: Draft, name: str, centre: bytes) -> str:
    event = draft.append(edits.found(draft.catalogue, name, centre))
    assert isinstance(event, Founded)
    return event.category
