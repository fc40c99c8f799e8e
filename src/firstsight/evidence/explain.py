"""`explain`: the evidence for one image, gathered from a model and a register. Changes neither."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firstsight.core.assignments import Assignment, Candidate
from firstsight.core.errors import BadRequest, ImageError, NotFound
from firstsight.core.protocols import ComparesBits, Features, Register
from firstsight.data.crops import Crop
from firstsight.data.features import is_feature, read_feature
from firstsight.data.images import ImageLike, Pixels, describe, in_frame, read, thumbnail
from firstsight.evidence.evidence import Evidence, Near
from firstsight.evidence.points import Look, Points, summed
from firstsight.evidence.recorded import fellows, given_to, number_of, without
from firstsight.evidence.words import asked_again, given_sentence, sentence
from firstsight.model.examples import SIDE
from firstsight.model.model import Model
from firstsight.store.events import as_text
from firstsight.store.originals import Originals
from firstsight.store.store import Store
from firstsight.store.view import View
from firstsight.store.views import images as images_of

NEAREST = 3  # categories whose centres are shown
LOOKED_FOR = 5  # images of a new category that are looked for, until one is still there


def explain(
    model: Model, image: ImageLike | int, register: Register | None = None, store: Store | None = None
) -> Evidence:
    """Why this image is what it is: by the model's known categories, by a register, or by all that a store holds.

    An image of a store may be named by its number. If the store holds it, the evidence has the answer it was given
    besides what would be answered today. A feature is explained as well, as far as that goes without a picture;
    nothing of torch is loaded for it.
    """
    view = None if store is None else _view(store, model)  # as of now, whoever writes meanwhile
    points, subject = Points(model), _subject(model, image, view)
    register = model.register() if register is None else register
    number = subject.number
    if view is not None:
        register = view.register if number is None else without(view, number)
    names = Names(model, view)
    answer = names.given(_answer(register, view, subject))
    seen = subject.seen(points)
    scores = points.similarity(seen.shown)[0] if len(points) and seen.shown is not None else None
    similar = () if scores is None else points.ranked(scores, lambda category: names.of(model.names[category]))
    sums, near = summed(similar), _near(register, subject, answer, names)
    bits = register.bits if isinstance(register, ComparesBits) else None
    there = sum(names.of(model.names[category]) == (answer.name or answer.category) for category in points.category)
    said = sentence(answer, near, sums, points.kind, there, bits, model.decision.discovers)
    given = None if view is None or number is None else given_to(view, number)
    beside = answer.category or (None if view is None or number is None else view.category_of(number))
    return Evidence(
        image=subject.called,
        pixels=subject.pixels,
        answer=answer,
        sentence=said if given is None else f"{given_sentence(given)} {asked_again(given, answer)} {said}",
        kind=points.kind,
        similar=similar,
        sums=sums,
        near=near,
        values=() if bits is None or subject.encoded is None else tuple(subject.encoded[0].tolist()),
        looked=seen.places,
        weighed=register.confident,
        closer=seen.closer,
        frame=subject.frame,
        given=given,
        fellows=() if view is None or beside is None else fellows(view, beside, subject.feature, number),
        fellows_of="" if view is None or beside is None else names.of(beside),
    )


@dataclass(frozen=True)
class Subject:
    """What is explained, as far as it is at hand: pixels, what an encoder makes of them, what a register compares."""

    called: str
    content: bytes
    feature: NDArray[Any]
    encoded: Features | None = None  # None where only the feature that a register keeps is left
    pixels: Pixels | None = None
    number: int | None = None  # in the register
    frame: bytes | None = None  # the whole picture, where it is a part of one

    def seen(self, points: Points) -> Look:
        """What of it is compared with what the model was taught, and where the model looked."""
        if self.pixels is None or points.learner is None:  # a model without torch does not tell where it looked
            return Look(None if points.by_learner else self.encoded)
        from firstsight.evidence.looking import look  # which is torch's

        return look(points, self.pixels)


def _view(store: Store, model: Model) -> View:
    store.check_model(model.provenance)
    return store.view()


def _subject(model: Model, image: ImageLike | int, view: View | None) -> Subject:
    if isinstance(image, int):
        return _numbered(model, image, view)
    if is_feature(image):
        values, content, called = read_feature(image)
        pixels, encoded, frame = None, values[None], None
    else:
        called, (pixels, content) = describe(image), _read(model, image)
        encoded, frame = model.encode([pixels]), in_frame(image) if isinstance(image, Crop) else None
    number = None if view is None else number_of(view, content, _source(image))
    return Subject(called, content, model.transform(encoded)[0], encoded, pixels, number, frame)


def _numbered(model: Model, number: int, view: View | None) -> Subject:
    """An image of a register: its picture if that is where it was, else the feature that was kept of it."""
    if view is None:
        raise BadRequest(f"image {number} is one of a register", "say which register, or name a file")
    if not view.catalogue.has_image(number) and not view.catalogue.is_discarded(number):
        raise NotFound(f"there is no image {number} in {view.name}", hint="show")
    event = view.assigned(number)
    try:
        picture = Originals(view.pictures).picture(event)
        pixels = model.prepare(picture)
        encoded = model.encode([pixels])
    except ImageError:
        feature = view.register.feature_from(event.feature)
        return Subject(event.source, event.content, feature, number=number)
    frame = in_frame(picture) if isinstance(picture, Crop) else None
    return Subject(event.source, event.content, model.transform(encoded)[0], encoded, pixels, number, frame)


def _answer(register: Register, view: View | None, subject: Subject) -> Assignment:
    """What is answered now; a person's word on the very picture comes first."""
    if view is None:
        return register.match(subject.feature)
    return view.named(view.said_before(subject.content) or register.match(subject.feature))


class Names:
    """What people call categories, and pictures that show them."""

    def __init__(self, model: Model, view: View | None) -> None:
        self.model, self.view = model, view

    def of(self, category: str) -> str:
        """A category's name, or that of the one it was merged into."""
        return category if self.view is None else self.view.name_of(category)

    def known(self, register: Register) -> set[str]:
        """The categories that are known by now: some may have been promoted."""
        if self.view is None:
            return {centre.category for centre in register.known_centres()}
        categories = self.view.catalogue.categories
        return {id for id in categories if categories[self.view.catalogue.resolve(id)].known}

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
        originals = Originals(self.view.pictures)
        for member in islice(images_of(self.view, category), LOOKED_FOR):
            try:
                yield thumbnail(originals.picture(member), SIDE)
            except ImageError:  # moved, or never a file of its own
                continue


def _source(image: ImageLike) -> str:
    """What a store calls an image."""
    return as_text(os.path.abspath(image)) if isinstance(image, (str, Path)) else describe(image)  # noqa: PTH100


def _read(model: Model, image: ImageLike) -> tuple[Pixels, bytes]:
    """What the model sees of an image, and the digest by which a store knows it."""
    picture, content = read(image)
    try:
        return model.prepare(picture), content
    except ImageError as error:  # which knows the bytes, but not whose they were
        raise ImageError(describe(image), error.reason, error.remedy) from None


def _near(register: Register, subject: Subject, answer: Assignment, names: Names) -> tuple[Near, ...]:
    """The nearest categories, each by its nearest centre; the one that answers and a known one are among them.

    Of bits that differ it is told where their values are at hand.
    """
    feature, told = subject.feature, subject.encoded is not None
    nearest: dict[str, Candidate] = {}
    for candidate in register.neighbours(feature, inf, sys.maxsize):
        nearest.setdefault(candidate.category, candidate)
    known = names.known(register)
    first_known = next((each for each in nearest if each in known), None)
    order = [*list(nearest)[:NEAREST], *(each for each in (answer.category, first_known) if each in nearest)]
    return tuple(
        Near(
            category=names.of(each.category),
            is_new=each.category not in known,
            distance=each.distance,
            within=each.distance <= register.radius,
            differing=register.differing(feature, each.category) if told and isinstance(register, ComparesBits) else (),
            picture=names.picture(each.category),
        )
        for each in (nearest[category] for category in dict.fromkeys(order))
    )
