"""The contract every encoder and decision keep together, as a function anyone can run on theirs.

`check_discoverer` raises AssertionError with the clause that broke; it needs a way to make fresh discoverers and
some images, or features.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firstsight.core.assignments import Assignment
from firstsight.data.features import is_feature
from firstsight.data.images import ImageLike
from firstsight.discoverer import Discoverer
from firstsight.register.kinds import of_header
from firstsight.store.store import Store


def check_discoverer(fresh: Callable[[], Discoverer], images: Sequence[ImageLike]) -> None:
    """Run every clause on a stream of images, at least two, and discoverers without a store."""
    check_prediction_is_pure(fresh(), images)
    check_batch_equals_loop(fresh, images)
    check_replay_is_deterministic(fresh, images)
    check_ids_are_stable(fresh(), images)
    check_work_is_bounded(fresh(), images)
    check_copy_is_independent(fresh(), images)
    check_header_starts_the_same_register(fresh, images)
    check_save_and_load(fresh, images)
    check_edits_are_kept(fresh, images)


def check_prediction_is_pure(discoverer: Discoverer, images: Sequence[ImageLike]) -> None:
    """Predicting changes nothing: the same question twice has the same answer, whatever was asked between."""
    first = [discoverer.predict_one(image) for image in images]
    again = [discoverer.predict_one(image) for image in images]
    assert first == again, "predict_one changed the register"
    assert not any(answer.created for answer in first), "predict_one claims to have created a category"


def check_batch_equals_loop(fresh: Callable[[], Discoverer], images: Sequence[ImageLike]) -> None:
    """On the same features, assigning many is assigning one by one. (Encoders may differ in the last digits.)"""
    one, many = fresh(), fresh()
    features = _features(one, images)
    loop = [one.register.assign(feature) for feature in features]
    assert list(many.register.assign_many(features)) == loop, "assign_many is not the loop"


def check_replay_is_deterministic(fresh: Callable[[], Discoverer], images: Sequence[ImageLike]) -> None:
    """The same stream from the same start gives the same answers."""
    assert list(fresh().discover_many(images)) == list(fresh().discover_many(images)), "a replay gave other answers"


def check_ids_are_stable(discoverer: Discoverer, images: Sequence[ImageLike]) -> None:
    """A created category answers for its own founder from then on, by the id it was given."""
    for feature in _features(discoverer, images):
        answer = discoverer.register.assign(feature)
        if answer.created:
            assert discoverer.register.match(np.asarray(feature)).category == answer.category, (
                "a founder lost its category"
            )


def check_work_is_bounded(discoverer: Discoverer, images: Sequence[ImageLike]) -> None:
    """Answering a feature compares it with each centre there is at most once, counted and not timed."""
    register = discoverer.register
    centres = len(register.known_centres())
    for feature in _features(discoverer, images):
        before = register.comparisons
        centres += register.assign(feature).created
        assert register.comparisons - before <= max(1, centres), (
            "an answer took more comparisons than there are centres"
        )


def check_copy_is_independent(discoverer: Discoverer, images: Sequence[ImageLike]) -> None:
    """What a copy of a register learns, the register does not."""
    features = _features(discoverer, images)
    before = [discoverer.register.match(feature) for feature in features]
    clone = discoverer.register.copy()
    clone.assign_many(features)
    assert [discoverer.register.match(feature) for feature in features] == before, "a copy changed the original"


def check_header_starts_the_same_register(fresh: Callable[[], Discoverer], images: Sequence[ImageLike]) -> None:
    """A register made from a header decides as the one that wrote it, and features survive being bytes."""
    discoverer = fresh()
    features, register = _features(discoverer, images), discoverer.register
    again = of_header(register.header())
    kept = [again.feature_from(register.feature_bytes(feature)) for feature in features]
    assert all(np.array_equal(a, b) for a, b in zip(kept, features, strict=True)), (
        "a feature changed on its way through bytes"
    )
    assert list(again.assign_many(features)) == list(register.assign_many(features)), "the header made another register"


def check_save_and_load(fresh: Callable[[], Discoverer], images: Sequence[ImageLike]) -> None:
    """Kept in a store, closed in the middle and opened again, the stream has the answers it has in memory."""
    half = len(images) // 2
    expected = list(fresh().discover_many(images))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kept.db"
        answers = []
        for part in (images[:half], images[half:]):
            with _stored(fresh(), path) as discoverer:
                answers += list(discoverer.discover_many(part))
                store = _store(discoverer)
                assert store.replay() == store.view().catalogue, "the log, replayed, says something else than the store"
    assert all(_alike(*pair) for pair in zip(answers, expected, strict=True)), "a store changed the answers"


def check_edits_are_kept(fresh: Callable[[], Discoverer], images: Sequence[ImageLike]) -> None:
    """Merge, split, move and undo work on this register, and are as they were left when the store is opened again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kept.db"
        with _stored(fresh(), path) as discoverer:
            first, second = (discoverer.discover_one(image) for image in images[:2])
            store = _store(discoverer)
            before = discoverer.predict_one(images[0])
            split = store.split([first.image or 0, second.image or 0])
            category = store.view().category_of(first.image or 0)
            assert category not in (first.category, second.category), "a split made no category of its own"
            store.merge(category, into=str(first.category))
            assert store.view().category_of(second.image or 0) == first.category, "a merge left images behind"
            store.undo()
            kept = store.view().catalogue
        with _stored(fresh(), path) as discoverer:
            store = _store(discoverer)
            assert store.view().catalogue == kept, "an edit was lost"
            store.undo(split.number)
            assert _alike(discoverer.predict_one(images[0]), before), "a split that was undone left its mark"


def _alike(one: Assignment, other: Assignment) -> bool:
    """The same decision; distances may differ in the last digits, as features of other batches do."""
    if (one.category, one.is_new, one.created) != (other.category, other.is_new, other.created):
        return False
    return bool(np.isclose(one.distance or 0, other.distance or 0, rtol=1e-5, atol=1e-5))


def _stored(discoverer: Discoverer, path: Path) -> Discoverer:
    return Discoverer(discoverer.model, discoverer.register, store=path)


def _store(discoverer: Discoverer) -> Store:
    assert discoverer.store is not None
    return discoverer.store


def _features(discoverer: Discoverer, images: Sequence[ImageLike]) -> NDArray[Any]:
    """What the register compares, of images or of features."""
    model = discoverer.model
    if all(is_feature(image) for image in images):
        return model.transform(np.asarray(images, dtype=np.float32))
    return model.transform(model.encode([model.prepare(image) for image in images]))
