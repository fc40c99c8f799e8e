"""`explain`: the evidence for one image, gathered from a model and a register. Changes neither."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firstsight.core.assignments import Assignment, Candidate
from firstsight.core.errors import ImageError
from firstsight.core.protocols import ComparesBits, Register
from firstsight.data.features import is_feature, read_feature
from firstsight.data.images import ImageLike, Pixels, describe, read, thumbnail
from firstsight.evidence.evidence import Evidence, Near
from firstsight.evidence.points import Look, Points, summed
from firstsight.evidence.words import sentence
from firstsight.model.examples import SIDE
from firstsight.model.model import Model
from firstsight.store.store import Store
from firstsight.store.view import View
from firstsight.store.views import images as images_of
from firstsight.store.views import is_lesson

NEAREST = 3  # categories whose centres are shown
LOOKED_FOR = 5  # images of a new category that are looked for, until one is still there


def explain(model: Model, image: ImageLike, register: Register | None = None, store: Store | None = None) -> Evidence:
    """Why this image is what it is: by the model's known categories, by a register, or by all that a store holds.

    A feature is explained as well, as far as that goes without a picture; nothing of torch is loaded for it.
    """
    points, view = Points(model), None
    if is_feature(image):
        values, content, called = read_feature(image)
        pixels, encoded, seen = None, values[None], Look(None if points.by_learner else values[None])
    else:
        from firstsight.evidence.looking import look  # which is torch's

        called, (pixels, content) = describe(image), _read(model, image)
        encoded, seen = model.encode([pixels]), look(points, pixels)
    if store is not None:
        store.check_model(model.provenance)
        view = store.view()  # as of now, whoever writes meanwhile
        register = view.register
    register = model.register() if register is None else register
    feature = model.transform(encoded)[0]
    names = Names(model, view)
    answer = names.given(register.match(feature) if view is None else view.match(feature, content))
    scores = points.similarity(seen.shown)[0] if len(points) and seen.shown is not None else None
    similar = () if scores is None else points.ranked(scores, lambda category: names.of(model.names[category]))
    sums, near = summed(similar), _near(register, feature, answer, names)
    bits = register.bits if isinstance(register, ComparesBits) else None
    there = sum(names.of(model.names[category]) == (answer.name or answer.category) for category in points.category)
    said = sentence(answer, near, sums, points.kind, there, bits, model.decision.discovers)
    if view is not None and register.learns and is_lesson(view, content):
        said += " This very image is in the register: the category it is in has learned from it."
    return Evidence(
        image=called,
        pixels=pixels,
        answer=answer,
        sentence=said,
        kind=points.kind,
        similar=similar,
        sums=sums,
        near=near,
        values=() if bits is None else tuple(encoded[0].tolist()),
        looked=seen.places,
        weighed=register.confident,
        closer=seen.closer,
    )


class Names:
    """What people call categories, and pictures that show them."""

    def __init__(self, model: Model, view: View | None) -> None:
        self.model, self.view = model, view

    def of(self, category: str) -> str:
        """A category's name, or that of the one it was merged into."""
        return category if self.view is None else self.view.name_of(category)

    def given(self, answer: Assignment) -> Assignment:
        """The answer with its runner-up as people call it."""
        other = answer.runner_up
        return replace(answer, runner_up=other and Candidate(self.of(other.category), other.distance))

    def picture(self, category: str) -> bytes | None:
        """A known category by its most activated example; a new one by its first image that is still where it was."""
        if category in self.model.names:
            return self._example(self.model.names.index(category))
        return None if self.view is None else next(self._kept(category), None)

    def _example(self, category: int) -> bytes | None:
        examples = self.model.examples
        if examples is None or not len(own := np.flatnonzero(examples.category == category)):
            return None
        return examples.picture(int(own[examples.wins[own].argmax()]))

    def _kept(self, category: str) -> Iterator[bytes]:
        assert self.view is not None
        for member in islice(images_of(self.view, category), LOOKED_FOR):
            try:
                picture, content = read(member.source)
                if content.hex() == member.content:
                    yield thumbnail(picture, SIDE)
            except ImageError:  # moved, or never a file of its own
                continue


def _read(model: Model, image: ImageLike) -> tuple[Pixels, bytes]:
    """What the model sees of an image, and the digest by which a store knows it."""
    picture, content = read(image)
    try:
        return model.prepare(picture), content
    except ImageError as error:  # which knows the bytes, but not whose they were
        raise ImageError(describe(image), error.reason, error.remedy) from None


def _near(register: Register, feature: NDArray[Any], answer: Assignment, names: Names) -> tuple[Near, ...]:
    """The nearest categories, each by its nearest centre; the one that answers and a known one are among them."""
    nearest: dict[str, Candidate] = {}
    for candidate in register.neighbours(feature, inf, sys.maxsize):
        nearest.setdefault(candidate.category, candidate)
    known = {centre.category for centre in register.known_centres()}
    first_known = next((each for each in nearest if each in known), None)
    order = [*list(nearest)[:NEAREST], *(each for each in (answer.category, first_known) if each in nearest)]
    return tuple(
        Near(
            category=names.of(each.category),
            is_new=each.category not in known,
            distance=each.distance,
            within=each.distance <= register.radius,
            differing=register.differing(feature, each.category) if isinstance(register, ComparesBits) else (),
            picture=names.picture(each.category),
        )
        for each in (nearest[category] for category in dict.fromkeys(order))
    )
