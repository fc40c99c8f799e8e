"""A store for another model: the same categories, images, edits and numbers, with features the new model makes.

Nothing is decided again. Every image is read once more from where it is, and must be what it was; only of those that
were discarded or undone may the file be gone. Where the new model knows a category by a name that people gave one here,
the two become one: that one is merged into what the model knows.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from firstsight.core.errors import BadImages, Conflict, ImageError
from firstsight.core.protocols import Discovering, Progress, Register
from firstsight.encode.many import encode_many
from firstsight.store.authors import By
from firstsight.store.catalogue import Catalogue
from firstsight.store.connection import beside
from firstsight.store.events import (
    Assigned,
    Created,
    Discarded,
    Event,
    Founded,
    Moved,
    RadiusChanged,
    Recentred,
    Recorded,
    Renamed,
    Split,
)
from firstsight.store.making import new_database, vacant
from firstsight.store.originals import Originals
from firstsight.store.store import Store
from firstsight.store.view import View

GROUP = 1000  # events written at a time


class Reencoded(NamedTuple):
    """What came of it."""

    events: int
    joined: list[tuple[str, str]]  # categories found here, and those of the new model that they are part of now


def reencode(store: Store, encoder: Discovering, path: Path, progress: Progress, by: By = None) -> Reencoded:
    """Write a new file. Refused as a whole when an image is gone or changed."""
    register, view = encoder.register(), store.view()
    known = {centre.category for centre in register.known_centres()}
    _check_known(view.catalogue, known)
    joined = [(c.id, c.name) for c in view.catalogue.live() if c.name in known and c.id not in known]
    with vacant(path):
        features = _features(view, encoder, progress)
        anew = Anew(view, features, register, known)
        with new_database(path) as temporary, Store.create(temporary, register, encoder.provenance) as new:
            source, entry = iter(view.events()), new.encoder(encoder.provenance)
            while group := list(islice(source, GROUP)):
                new.take_over([anew.event(each, entry) for each in group], [each.at for each in group])
            new.edit(lambda draft: [draft.merge(id, name) for id, name in joined], by)
            view.pictures.copy_to(beside(path, "-images"))
            return Reencoded(new.view().last, joined)


def _check_known(catalogue: Catalogue, known: set[str]) -> None:
    """Refuse a model that lacks a category of the one before, or one that such a category is called after here."""
    taught = [c for c in catalogue.categories.values() if c.founded == 0]
    if lost := [f"{c.id} (called {c.name!r} here)" if c.name != c.id else c.id for c in taught if c.id not in known]:
        raise Conflict(f"the new model does not know {', '.join(lost[:10])}", "fit it with those categories too")
    if clash := [f"{c.name}, as {c.id} is called here" for c in taught if c.name != c.id and c.name in known]:
        raise Conflict(f"the new model knows {'; '.join(clash[:10])}", "give it another name here first")


def _features(view: View, encoder: Discovering, progress: Progress) -> dict[int, NDArray[Any]]:
    """What the new model makes of every image, by number; of one without a picture, of those in its category."""
    seen = ((number, view.seen(number)) for number in view.catalogue.numbers.values().tolist())
    every = {number: event for number, event in seen if isinstance(event, Assigned)}
    here, originals = view.catalogue.has_image, Originals(view.pictures)
    images = {
        n: event for n, event in every.items() if not event.forgotten and (here(n) or _is_there(event, originals))
    }
    if not images:
        return _in_their_place(every, {}, encoder.register())

    def prepare(image: Assigned) -> NDArray[np.uint8]:
        return encoder.prepare(originals.picture(image))

    try:
        encoded = encode_many(encoder, list(images.values()), progress, prepare)
    except BadImages as bad:
        named = "; ".join(each.what for each in bad.errors[:5])
        what = f"{len(bad.errors)} images cannot be encoded anew: {named}"
        raise Conflict(what, "put the files back where they were", hint="relocate") from None
    return _in_their_place(every, dict(zip(images, encoder.transform(encoded), strict=True)), encoder.register())


def _is_there(image: Assigned, originals: Originals) -> bool:
    """Whether an image that was discarded or undone can be read: its file may have been thrown away, too."""
    try:
        originals.picture(image)
    except ImageError:
        return False
    return True


def _in_their_place(
    images: Mapping[int, Assigned], features: dict[int, NDArray[Any]], register: Register
) -> dict[int, NDArray[Any]]:
    """Features for all images: one that has no picture any more gets the centre of its category's.

    Such a one is forgotten, or it was discarded or undone and its file is gone.
    """
    found = dict(features)
    for number in images.keys() - features.keys():
        home = images[number].home
        others = [features[n] for n, image in images.items() if n in features and image.home == home]
        if not others:
            what = f"image {number} has no picture any more, and {home} no other image to encode anew"
            raise Conflict(what, hint="history")
        found[number] = register.centre_of(np.stack(others))
    return found


class Anew:
    """The same events, for another model: what the old one measured says nothing about it."""

    def __init__(
        self, view: View, features: Mapping[int, NDArray[Any]], register: Register, known: Container[str]
    ) -> None:
        self.view, self.features, self.register, self.known = view, features, register, known

        self._centres: dict[tuple[str, bytes], bytes] = {}  # of a category's centres, what each is anew

    def event(self, recorded: Recorded, encoder: int) -> Event:
        event = recorded.event
        match event:
            case Assigned():
                feature = self.register.feature_bytes(self.features[recorded.number])
                unmeasured = replace(event, distance=None, runner_up=None, runner_up_distance=None, confidence=None)
                return replace(unmeasured, feature=feature, encoder=encoder)
            case Created():  # its founder is the event after it
                return replace(event, feature=self._centre(event, [recorded.number + 1]))
            case Split():
                centre = self._centre(event, event.images)
                return replace(event, name=self._name(event.name, event.category), feature=centre)
            case Founded():
                centre = self._centre(event, self._taught(recorded))
                return replace(event, name=self._name(event.name, event.category), feature=centre)
            case Recentred():
                old = self._centres[event.category, bytes.fromhex(event.old)]
                return replace(event, old=old.hex(), feature=self._centre(event, event.images))
            case Renamed():
                old_name, new_name = (self._name(name, event.category) for name in (event.old, event.new))
                return replace(event, old=old_name, new=new_name)
            case Discarded():
                pairs = zip(event.names, event.categories, strict=True)
                return replace(event, names=tuple(self._name(name, id) for name, id in pairs))
            case RadiusChanged():  # a distance between the old model's features
                return replace(event, old=self.register.radius, new=self.register.radius)
            case _:
                return event

    def _name(self, name: str, id: str) -> str:
        """A name; with the id where the new model knows another category by it."""
        return name if name == id or name not in self.known else f"{name} ({id})"

    def _centre(self, event: Created | Split | Founded | Recentred, images: Sequence[int]) -> bytes:
        centre = self.features[images[0]]
        if len(images) > 1:
            centre = self.register.centre_of(np.stack([self.features[i] for i in images]))
        made = self.register.feature_bytes(centre)
        self._centres[event.category, event.feature] = made
        return made

    def _taught(self, recorded: Recorded) -> list[int]:
        """The images that a category was founded for: of its command, those that were put there."""
        assert isinstance(recorded.event, Founded)
        id, images, number = recorded.event.category, list[int](), recorded.number + 1
        while number <= self.view.last and (each := self.view.event(number)).command == recorded.command:
            if isinstance(each.event, Assigned) and each.event.home == id:
                images.append(number)
            elif isinstance(each.event, Moved) and each.event.to == id:
                images += each.event.images
            number += 1
        return images
