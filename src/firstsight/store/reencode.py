"""A store for another model: the same categories, images, edits and numbers, with features the new model makes.

Nothing is decided again. Every image is read once more from where it came, and must be what it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firstsight.core.errors import BadImages, Conflict, ImageError
from firstsight.core.protocols import Discovering, Progress, Register
from firstsight.data.crops import picture_of
from firstsight.data.images import read
from firstsight.encode.many import encode_many
from firstsight.store.events import Assigned, Created, Event, RadiusChanged, Recorded, Split
from firstsight.store.making import new_database, vacant
from firstsight.store.store import Store

GROUP = 1000  # events written at a time


def reencode(store: Store, encoder: Discovering, path: Path, progress: Progress) -> int:
    """Write a new file; how many events it has. Refused as a whole when an image is gone or changed."""
    register = encoder.register()
    known = {centre.category for centre in register.known_centres()}
    catalogue = store.view().catalogue
    if lost := [c.id for c in catalogue.categories.values() if c.known and c.id not in known]:
        raise Conflict(f"the new model does not know {', '.join(lost[:10])}", "fit it with those categories too")
    own = {c.id for c in catalogue.categories.values() if c.known}
    if clash := [name for name, id in catalogue.names.items() if name in known and not (name == id and id in own)]:
        raise Conflict(f"the new model knows {', '.join(clash[:10])}, which other categories are called here")
    with vacant(path):
        features = _features(store, encoder, progress)
        with new_database(path) as temporary, Store.create(temporary, register, encoder.provenance) as new:
            source = iter(store.view().events())
            entry = new.encoder(encoder.provenance)
            while group := list(islice(source, GROUP)):
                new.take_over([_anew(each, features, register, entry) for each in group], [each.at for each in group])
    return store.view().last


def _features(store: Store, encoder: Discovering, progress: Progress) -> dict[int, NDArray[Any]]:
    """What the new model makes of every image, by number; of a forgotten one, of those in its category."""
    every = {each.number: each.event for each in store.view().events() if isinstance(each.event, Assigned)}
    images = {number: event for number, event in every.items() if not event.forgotten}
    if not images:
        return _in_their_place(every, {}, encoder.register())

    def prepare(image: Assigned) -> NDArray[np.uint8]:
        picture, content = read(picture_of(image.source, image.box))
        if content != image.content:
            raise ImageError(image.source, "is not the image it was")
        return encoder.prepare(picture)

    try:
        encoded = encode_many(encoder, list(images.values()), progress, prepare)
    except BadImages as bad:
        named = "; ".join(each.what for each in bad.errors[:5])
        raise Conflict(
            f"{len(bad.errors)} images cannot be encoded anew: {named}", "put the files back where they were"
        ) from None
    return _in_their_place(every, dict(zip(images, encoder.transform(encoded), strict=True)), encoder.register())


def _in_their_place(
    images: Mapping[int, Assigned], features: dict[int, NDArray[Any]], register: Register
) -> dict[int, NDArray[Any]]:
    """Features for all images: a forgotten one, which has no picture any more, gets the centre of its category's."""
    found = dict(features)
    for number in images.keys() - features.keys():
        home = images[number].home
        others = [features[n] for n, image in images.items() if n in features and image.home == home]
        if not others:
            raise Conflict(f"image {number} is forgotten, and {home} has no other to encode anew", hint="history")
        found[number] = register.centre_of(np.stack(others))
    return found


def _anew(recorded: Recorded, features: Mapping[int, NDArray[Any]], register: Register, encoder: int) -> Event:
    """The same event, with the new model's feature; what the old one measured says nothing about it."""
    event = recorded.event
    if isinstance(event, Assigned):
        feature = register.feature_bytes(features[recorded.number])
        unmeasured = replace(event, distance=None, runner_up=None, runner_up_distance=None, confidence=None)
        return replace(unmeasured, feature=feature, encoder=encoder)
    if isinstance(event, Created):
        return replace(
            event, feature=register.feature_bytes(features[recorded.number + 1])
        )  # its founder is the event after it
    if isinstance(event, Split):
        return replace(
            event, feature=register.feature_bytes(register.centre_of(np.stack([features[i] for i in event.images])))
        )
    if isinstance(event, RadiusChanged):
        return RadiusChanged(register.radius, register.radius)  # a distance between the old model's features
    return event
