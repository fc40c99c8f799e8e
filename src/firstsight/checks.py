"""The contract every (encoder, register) pair keeps, as a function anyone can run on theirs.

`check_discoverer` raises AssertionError with the clause that broke; it needs a way to make fresh discoverers and
some images.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from firstsight.data.images import ImageLike
from firstsight.discover.discoverer import Discoverer


def check_discoverer(fresh: Callable[[], Discoverer], images: Sequence[ImageLike]) -> None:
    """Run every clause on a stream of images, at least two."""
    check_prediction_is_pure(fresh(), images)
    check_batch_equals_loop(fresh, images)
    check_replay_is_deterministic(fresh, images)
    check_ids_are_stable(fresh(), images)


def check_prediction_is_pure(discoverer: Discoverer, images: Sequence[ImageLike]) -> None:
    """Predicting changes nothing: the same question twice has the same answer, whatever was asked between."""
    first = [discoverer.predict_one(image) for image in images]
    again = [discoverer.predict_one(image) for image in images]
    assert first == again, "predict_one changed the register"
    assert not any(answer.created for answer in first), "predict_one claims to have created a category"


def check_batch_equals_loop(fresh: Callable[[], Discoverer], images: Sequence[ImageLike]) -> None:
    """On the same rows, assigning many is assigning one by one. (Encoders may differ in the last digits.)"""
    one, many = fresh(), fresh()
    prepared = [one.encoder.prepare(image) for image in images]
    rows = one.register.rows_of(one.encoder.encode(prepared))
    assert [one.register.assign(row) for row in rows] == many.register.assign_many(rows), "assign_many is not the loop"


def check_replay_is_deterministic(fresh: Callable[[], Discoverer], images: Sequence[ImageLike]) -> None:
    """The same stream from the same start gives the same answers."""
    assert list(fresh().discover_many(images)) == list(fresh().discover_many(images)), "a replay gave other answers"


def check_ids_are_stable(discoverer: Discoverer, images: Sequence[ImageLike]) -> None:
    """A created category answers for its own founder from then on, by the id it was given."""
    prepared = [discoverer.encoder.prepare(image) for image in images]
    rows = discoverer.register.rows_of(discoverer.encoder.encode(prepared))
    for row in rows:
        answer = discoverer.register.assign(row)
        if answer.created:
            assert discoverer.register.match(np.asarray(row)).category == answer.category, "a founder lost its category"
