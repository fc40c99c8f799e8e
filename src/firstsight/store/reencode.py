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
from firstsight.data.images import read
from firstsight.encode.many import encode_many
from firstsight.store.events import Assigned, Created, Event, RadiusChanged, Recorded, Split
from firstsight.store.making import new_database, vacant
from firstsight.store.store import Store

GROUP = 1000  # events written at once


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
    """What the new model makes of every image, by number."""
    images = [(r.number, r.event) for r in store.view().events() if isinstance(r.event, Assigned)]

    def prepare(image: tuple[int, Assigned]) -> NDArray[np.uint8]:
        picture, content = read(image[1].source)
        if content != image[1].content:
            raise ImageError(image[1].source, "is not the image it was")
        return encoder.prepare(picture)

    try:
        made = encode_many(encoder, images, progress, prepare)
    except BadImages as bad:
        named = "; ".join(fault.what for fault in bad.errors[:5])
        what = f"{len(bad.errors)} images cannot be encoded anew: {named}"
        raise Conflict(what, "put the files back where they were") from None
    compared = encoder.transform(made) if images else ()
    return {number: feature for (number, _), feature in zip(images, compared, strict=True)}


def _anew(recorded: Recorded, features: Mapping[int, NDArray[Any]], register: Register, encoder: int) -> Event:
    """The same event, with the new model's feature; what the old one measured says nothing about it."""
    event = recorded.event
    if isinstance(event, Assigned):
        feature = register.feature_bytes(features[recorded.number])
        unmeasured = replace(event, distance=None, runner_up=None, runner_up_distance=None, confidence=None)
        return replace(unmeasured, feature=feature, encoder=encoder)
    if isinstance(event, Created):
        founder = features[recorded.number + 1]  # the event after it
        return replace(event, feature=register.feature_bytes(founder))
    if isinstance(event, Split):
        centre = register.centre_of(np.stack([features[i] for i in event.images]))
        return replace(event, feature=register.feature_bytes(centre))
    if isinstance(event, RadiusChanged):
        return RadiusChanged(register.radius, register.radius)  # a distance between the old model's features
    return event
