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

from firstsight.core.errors import Conflict, ImageError
from firstsight.core.protocols import Discovering, Progress, Register
from firstsight.data.ahead import ahead, or_error
from firstsight.data.images import read
from firstsight.store.events import Assigned, Created, Event, RadiusChanged, Recorded, Split
from firstsight.store.making import new_database, vacant
from firstsight.store.store import Store

BATCH, GROUP = 16, 1000


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
        features = _features(store, encoder, register, progress)
        with new_database(path) as temporary, Store.create(temporary, register, encoder.provenance) as new:
            source = iter(store.view().events())
            entry = new.encoder(encoder.provenance)
            while group := list(islice(source, GROUP)):
                new.take_over([_anew(each, features, register, entry) for each in group], [each.at for each in group])
    return store.view().last


def _features(store: Store, encoder: Discovering, register: Register, progress: Progress) -> dict[int, NDArray[Any]]:
    """What the new model makes of every image, by number."""
    images = [(r.number, r.event) for r in store.view().events() if isinstance(r.event, Assigned)]
    features: dict[int, NDArray[Any]] = {}
    faults: list[ImageError] = []

    def prepare(image: tuple[int, Assigned]) -> NDArray[np.uint8]:
        picture, content = read(image[1].source)
        if content != image[1].content:
            raise ImageError(image[1].source, "is not the image it was")
        return encoder.prepare(picture)

    with progress.task("encoding anew", len(images)) as advance:
        prepared = zip(images, ahead(or_error(prepare), images, window=2 * BATCH), strict=True)
        while batch := list(islice(prepared, BATCH)):
            good = [(number, pixels) for (number, _), pixels in batch if not isinstance(pixels, ImageError)]
            faults += [pixels for _, pixels in batch if isinstance(pixels, ImageError)]
            if good:
                made = encoder.transform(encoder.encode([pixels for _, pixels in good]))
                features |= {number: feature for (number, _), feature in zip(good, made, strict=True)}
            for _ in batch:
                advance()
    if faults:
        named = "; ".join(fault.what for fault in faults[:5])
        raise Conflict(f"{len(faults)} images cannot be encoded anew: {named}", "put the files back where they were")
    return features


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
