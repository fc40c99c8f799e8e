"""The discoverer: a model and a register joined, kept in a store if there is one. Two verbs for the world to use.

`predict_*` never changes anything; `discover_*` records. The `*_many` twins give what the loop would give. `teach` adds
images that somebody labelled. `prepare`, `encode` and then `match` or `decide` are the steps of all of them, for
whoever runs them in threads of its own, as a service does.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice, takewhile
from operator import length_hint
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from firstsight.core.assignments import Assignment
from firstsight.core.errors import BadImages, ImageError, ModelError, SettingsError
from firstsight.core.progress import Watcher, counted
from firstsight.core.protocols import Discovering, Register
from firstsight.core.sightings import NOTHING, Sighting
from firstsight.core.threads import one_thread
from firstsight.data.ahead import ahead, or_error
from firstsight.data.bursts import runs, same_burst, whole
from firstsight.data.crops import Crop
from firstsight.data.features import is_feature, read_feature
from firstsight.data.images import ImageLike, describe, read
from firstsight.data.metadata import sighting_of
from firstsight.encode.many import group_size
from firstsight.register.together import decide as decide_together
from firstsight.store.opening import is_there
from firstsight.store.store import Arrival, Store

log = logging.getLogger(__name__)

Given: TypeAlias = ImageLike  # an image, or a feature somebody has already: an array of one dimension
Answers: TypeAlias = Iterator[Assignment]
AnswersOrErrors: TypeAlias = Iterator[Assignment | ImageError]


class Prepared(NamedTuple):
    """An image on its way: where from, the digest of its content (if a store wants it), its pixels, then its feature.

    One that the store recognised has neither, but what they can be made of should it have been undone since. One that
    came as a feature has that instead of pixels.
    """

    source: str
    content: bytes
    pixels: NDArray[np.uint8] | None = None
    picture: ImageLike | None = None
    given: NDArray[np.float32] | None = None  # a feature, as it came
    sighting: Sighting = NOTHING
    feature: Any = None  # as the register compares it
    key: str = ""  # of its sending, see `Arrival`


PreparedOrError: TypeAlias = Prepared | ImageError
Decide: TypeAlias = Callable[[list[Prepared]], Sequence[Assignment]]


class Discoverer:
    """Answers images with categories, known or new. An image is a path, a PIL image, an array or a file's bytes.

    Features are answered as well, each an array of one dimension, made as those the model was fitted on.
    Without a register it starts with a fresh one of the model's known categories. With a `store`, a file's name or
    an open `Store`, everything it discovers is kept there and the next discoverer goes on from there; a file that
    does not exist is made and starts from the register given, one that exists has its own. With `once`, an image
    the store has already is recognised and not counted again. Without `metadata`, the store keeps no time, place or
    camera of an image. With `bursts`, images that one camera took at most so many seconds apart are decided together.

    >>> from firstsight import fit_features
    >>> model = fit_features([[0, 1], [0.1, 1], [1, 0], [1, 0.1]], ["ant", "ant", "bee", "bee"])
    >>> discoverer = Discoverer(model)
    >>> discoverer.predict_one(np.array([-1, -1])).category is None  # it would found one
    True
    >>> discoverer.discover_one(np.array([-1, -1])).category
    'new-1'
    >>> discoverer.predict_one(np.array([-1, -1.05])).category
    'new-1'
    """

    def __init__(
        self,
        model: Discovering,
        register: Register | None = None,
        store: Store | Path | str | None = None,
        once: bool = False,
        metadata: bool = True,
        bursts: float | None = None,
    ) -> None:
        self.model = model
        self.once = once
        self.metadata = metadata
        self.bursts = bursts
        self._own = model.register() if register is None else register
        self._opened = self._open(store) if isinstance(store, str | Path) else None
        self.store = self._opened if isinstance(store, str | Path) else store
        if self.store is not None:
            try:
                self.store.check_model(model.provenance)
            except BaseException:
                self.close()
                raise

    def _open(self, where: Path | str) -> Store:
        if is_there(where):
            return Store.open(where)
        return Store.create(where, self._own, self.model.provenance, or_open=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store, if this opened it."""
        if self._opened is not None:
            self._opened.close()

    @property
    def register(self) -> Register:
        """The register that answers: the store's, if there is one."""
        return self._own if self.store is None else self.store.register

    def predict_one(self, image: Given) -> Assignment:
        """What this image is; `category` is None where it would found a new one. Changes nothing."""
        return self.match(self._with_feature(self._preparing(once=False)(image)))[0]

    def discover_one(self, image: Given, source: str | None = None) -> Assignment:
        """What this image is, a new category registered on the spot if it fits none; kept before this returns.

        `source` is how the store is to call an image that is no file.
        """
        prepared = self._preparing(self.once)(image)
        named = prepared if source is None else prepared._replace(source=source)
        return self.decide(self._with_feature(named))[0]

    @overload
    def predict_many(
        self, images: Iterable[Given], errors: Literal["raise"] = "raise", progress: Watcher = None
    ) -> Answers: ...
    @overload
    def predict_many(
        self, images: Iterable[Given], errors: Literal["yield"], progress: Watcher = None
    ) -> AnswersOrErrors: ...
    def predict_many(self, images: Iterable[Given], errors: str = "raise", progress: Watcher = None) -> AnswersOrErrors:
        """`predict_one` of every image, in groups. A bad image is raised, or yielded as its error in its place.

        `progress` is told how many are answered: it is called with what, how many, and of how many (0 if unknown).
        """
        answers = self._many(_several(images, errors), errors, self.match, once=False)
        return answers if progress is None else counted(answers, progress, "predicting", length_hint(images))

    @overload
    def discover_many(
        self, images: Iterable[Given], errors: Literal["raise"] = "raise", progress: Watcher = None
    ) -> Answers: ...
    @overload
    def discover_many(
        self, images: Iterable[Given], errors: Literal["yield"], progress: Watcher = None
    ) -> AnswersOrErrors: ...
    def discover_many(
        self, images: Iterable[Given], errors: str = "raise", progress: Watcher = None
    ) -> AnswersOrErrors:
        """`discover_one` of every image, likewise. A group is kept before the first of its answers is given."""
        answers = self._many(_several(images, errors), errors, self.decide, self.once)
        return answers if progress is None else counted(answers, progress, "discovering", length_hint(images))

    def _many(self, images: Iterable[Given], errors: str, decide: Decide, once: bool) -> AnswersOrErrors:
        """Images are read and encoded a little ahead, each in its own time, and decided in groups, in turn."""
        ready = self._encoded(images, once)
        for group in ready if self.bursts is None else whole(ready, self._of_one_burst):
            if errors == "raise":
                group = [*takewhile(_is_good, group), *[each for each in group if not _is_good(each)][:1]]
            good = [each for each in group if not isinstance(each, ImageError)]
            answers = iter(decide(good) if good else ())
            for each in group:
                if not isinstance(each, ImageError):
                    yield next(answers)
                elif errors == "yield":
                    yield each
                else:
                    raise each

    def _encoded(self, images: Iterable[Given], once: bool) -> Iterator[list[PreparedOrError]]:
        size = group_size(self.model)
        prepared = ahead(or_error(self._preparing(once)), images, window=2 * size)
        groups = iter(lambda: list(islice(prepared, size)), [])
        return ahead(self.encode, groups, window=2, workers=1)

    def teach(self, images: Iterable[Given], labels: Sequence[str], by: str | None = None) -> list[Assignment]:
        """Add labelled images to known or new categories, all or none, without fitting anew; how each stands then.

        A label that is no category's name makes a known category. One undo of the store takes all of it back. `by` is
        the name of whoever says so.
        """
        if self.store is None:
            raise SettingsError(
                "what is taught is kept in a store, and this discoverer has none", 'give it one: store="moths.db"'
            )
        every = [each for group in self._encoded(images, once=False) for each in group]
        if bad := [each for each in every if isinstance(each, ImageError)]:
            raise BadImages(bad)
        good = [each for each in every if isinstance(each, Prepared)]
        self.store.teach(self._arrivals(good), labels, self.model.provenance, by)
        view = self.store.view()
        return [view.named(view.assignment(view.with_content(each.content)[-1])) for each in good]

    def prepare(self, image: Given) -> Prepared:
        """An image ready to be encoded; threads may do this. ImageError where it cannot be used."""
        return self._preparing(self.once)(image)

    @one_thread()
    def match(self, group: list[Prepared]) -> list[Assignment]:
        """What each of these is, which have their features. Changes nothing."""
        if self.store is None:
            return [self._own.match(each.feature) for each in group]
        return [self.store.match(each.feature, each.content) for each in group]

    @one_thread()
    def decide(self, group: list[Prepared]) -> Sequence[Assignment]:
        """What each of these is, in turn, and kept before this returns; one caller at a time."""
        if self.store is None:
            if self.bursts is None:
                return self._own.assign_many(np.stack([each.feature for each in group]))
            bursts = ([group[i].feature for i in unit] for unit in runs(group, self._of_one_burst))
            return [answer for features in bursts for answer in decide_together(self._own, features).answers]
        known, arrivals = self.arrivals(group)
        answers = iter(self.store.record(arrivals, self.model.provenance, self.once))
        return [answer or next(answers) for answer in known]

    def arrivals(self, group: list[Prepared]) -> tuple[list[Assignment | None], list[Arrival]]:
        """The answers to those that the store recognises, none for the others, and these as the store takes them."""
        assert self.store is not None
        known = [self.store.recognise(each.content, each.source) if each.feature is None else None for each in group]
        fresh = [each for each, answer in zip(group, known, strict=True) if answer is None]
        if undone := [self.model.prepare(each.picture) for each in fresh if each.feature is None]:
            again = iter(self.model.transform(self.model.encode(undone)))
            fresh = [each._replace(feature=next(again)) if each.feature is None else each for each in fresh]
        for each in fresh:
            for what in each.sighting.unread:
                log.warning("%s: %s", each.source, what)
        return known, self._arrivals(fresh)

    def _arrivals(self, group: list[Prepared]) -> list[Arrival]:
        """Images as the store takes them: with what it may keep of them, and which belong together."""
        arrivals = []
        for number, unit in enumerate(runs(group, self._of_one_burst)):
            for each in (group[i] for i in unit):
                told = each.sighting
                if not self.metadata:
                    told = Sighting(box=told.box, detected=told.detected, withheld=True)
                burst = number if len(unit) > 1 else None
                arrivals.append(Arrival(each.source, each.content, each.feature, told, burst, each.key))
        return arrivals

    def _of_one_burst(self, one: PreparedOrError, other: PreparedOrError) -> bool:
        if isinstance(one, ImageError) or isinstance(other, ImageError) or self.bursts is None:
            return False
        return same_burst(one.sighting, one.source, other.sighting, other.source, self.bursts)

    def _preparing(self, once: bool) -> Callable[[Given], Prepared]:
        """What makes an image ready to be encoded, or with `once` finds it in the store."""
        if once and self.store is not None:
            return self._recognised
        kept = self.store is not None or self.bursts is not None
        return partial(_prepared, self.model.prepare, kept, self.metadata or self.bursts is not None)

    def _recognised(self, image: Given) -> Prepared:
        assert self.store is not None
        if is_feature(image):
            return _as_feature(image)
        picture, content = read(image)
        source, told = _source(image), sighting_of(image, picture, self.metadata or self.bursts is not None)
        if self.store.recognise(content, source) is not None:
            return Prepared(source, content, picture=picture, sighting=told)
        return Prepared(source, content, _pixels(self.model.prepare, picture, describe(image)), sighting=told)

    def _with_feature(self, prepared: Prepared) -> list[Prepared]:
        """A group of one, with its feature; ImageError where it can have none."""
        (each,) = self.encode([prepared])
        if isinstance(each, ImageError):
            raise each
        return [each]

    def encode(self, group: Sequence[PreparedOrError]) -> list[PreparedOrError]:
        """A group with the features of those that have none yet, made together; their pixels are let go of."""
        seen = [each.pixels for each in group if isinstance(each, Prepared) and each.pixels is not None]
        encoded = iter(self.model.transform(self.model.encode(seen)) if seen else ())
        ready: list[PreparedOrError] = []
        for each in group:
            if isinstance(each, ImageError):
                ready.append(each)
            elif each.given is not None:
                ready.append(self._compared(each))
            elif each.pixels is not None:
                ready.append(each._replace(pixels=None, feature=next(encoded)))
            else:  # the store has it
                ready.append(each)
        return ready

    def _compared(self, each: Prepared) -> PreparedOrError:
        """What came as a feature, as the register compares it; each by itself, since one may be of another width."""
        assert each.given is not None
        try:
            return each._replace(given=None, feature=self.model.transform(each.given[None])[0])
        except ModelError as error:
            return ImageError(each.source, error.what, error.remedy)


def _prepared(prepare: Callable[[Any], NDArray[np.uint8]], kept: bool, metadata: bool, image: Given) -> Prepared:
    """An image ready to be encoded, with the digest of its content where that is to be kept."""
    if is_feature(image):
        return _as_feature(image)
    name = describe(image)
    if not kept:
        return Prepared(name, b"", prepare(image))
    picture, content = read(image)
    told = sighting_of(image, picture, metadata)
    return Prepared(_source(image), content, _pixels(prepare, picture, name), sighting=told)


def _pixels(prepare: Callable[[Any], NDArray[np.uint8]], picture: ImageLike, name: str) -> NDArray[np.uint8]:
    try:
        return prepare(picture)
    except ImageError as error:  # which knows the bytes, but not whose they were
        raise ImageError(name, error.reason, error.remedy) from None


def _source(image: Given) -> str:
    """How a store calls an image: a part of a frame by the frame, whose box it keeps."""
    if isinstance(image, Crop):
        image = image.frame
    return os.path.abspath(image) if isinstance(image, (str, Path)) else describe(image)  # noqa: PTH100 - keeps links


def _is_good(each: PreparedOrError) -> bool:
    return not isinstance(each, ImageError)


def _as_feature(given: Given) -> Prepared:
    values, content, name = read_feature(given)
    return Prepared(name, content, given=values)


def _several(images: Iterable[Given], errors: str) -> Iterable[Given]:
    """Images as given; refused at once, not with the first answer, where they are one, or errors are dealt with so."""
    if errors not in ("raise", "yield"):
        raise SettingsError(f"errors is {errors!r}; allowed: raise, yield")
    if isinstance(images, (str, bytes, os.PathLike)):
        one = "bytes" if isinstance(images, bytes) else repr(str(images))
        raise SettingsError(f"images are {one}, not a list", "give a list, or use predict_one or discover_one")
    return images
