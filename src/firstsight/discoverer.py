"""The discoverer: an encoder and a register joined, kept in a store if there is one. Two verbs for the world to use.

`predict_*` never changes anything; `discover_*` records. The `*_many` twins give what the loop would give.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice, takewhile
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from firstsight.core.errors import ImageError
from firstsight.core.protocols import Assignment, Encoder, Register
from firstsight.core.threads import one_thread
from firstsight.data.ahead import ahead, or_error
from firstsight.data.images import ImageLike, describe, read
from firstsight.store.store import Arrival, Store

GROUP = 16  # images decided, and kept, at a time; more where an encoder takes more

Answers: TypeAlias = Iterator[Assignment]
AnswersOrErrors: TypeAlias = Iterator[Assignment | ImageError]


class Prepared(NamedTuple):
    """An image on its way: where from, the digest of its content (if a store wants it), its pixels and then its row.

    One that the store recognised has neither, but what they can be made of should it have been undone since.
    """

    source: str
    content: bytes
    pixels: NDArray[np.uint8] | None = None
    picture: ImageLike | None = None
    row: Any = None


Decide: TypeAlias = Callable[[list[Prepared]], Sequence[Assignment]]


class Discoverer:
    """Answers images with categories, known or new. An image is a path, a PIL image, an array or a file's bytes.

    Without a register it starts with a fresh one of the encoder's known categories. With a `store`, a file's name or
    an open `Store`, everything it discovers is kept there and the next discoverer goes on from there; a file that
    does not exist is made and starts from the register given, one that exists has its own. With `once`, an image
    the store has already is recognised and not counted again.
    """

    def __init__(
        self,
        encoder: Encoder,
        register: Register | None = None,
        store: Store | Path | str | None = None,
        once: bool = False,
    ) -> None:
        self.encoder = encoder
        self.once = once
        self._own = encoder.register() if register is None else register
        self._opened = self._open(Path(store)) if isinstance(store, str | Path) else None
        self.store = self._opened if isinstance(store, str | Path) else store
        if self.store is not None:
            try:
                self.store.check_model(encoder.provenance)
            except BaseException:
                self.close()
                raise

    def _open(self, path: Path) -> Store:
        if path.exists():
            return Store.open(path)
        return Store.create(path, self._own, self.encoder.provenance, or_open=True)

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

    def predict_one(self, image: ImageLike) -> Assignment:
        """What this image is; `category` is None where it would found a new one. Changes nothing."""
        return self._predict(self._with_rows([self._preparing(once=False)(image)]))[0]

    def discover_one(self, image: ImageLike, source: str | None = None) -> Assignment:
        """What this image is, a new category registered on the spot if it fits none; kept before this returns.

        `source` is how the store is to call an image that is no file.
        """
        prepared = self._preparing(self.once)(image)
        return self._discover(self._with_rows([prepared if source is None else prepared._replace(source=source)]))[0]

    @overload
    def predict_many(self, images: Iterable[ImageLike], errors: Literal["raise"] = "raise") -> Answers: ...
    @overload
    def predict_many(self, images: Iterable[ImageLike], errors: Literal["yield"]) -> AnswersOrErrors: ...
    def predict_many(self, images: Iterable[ImageLike], errors: str = "raise") -> AnswersOrErrors:
        """`predict_one` of every image, in groups. A bad image is raised, or yielded as its error in its place."""
        return self._many(images, errors, self._predict, once=False)

    @overload
    def discover_many(self, images: Iterable[ImageLike], errors: Literal["raise"] = "raise") -> Answers: ...
    @overload
    def discover_many(self, images: Iterable[ImageLike], errors: Literal["yield"]) -> AnswersOrErrors: ...
    def discover_many(self, images: Iterable[ImageLike], errors: str = "raise") -> AnswersOrErrors:
        """`discover_one` of every image, likewise. A group is kept before the first of its answers is given."""
        return self._many(images, errors, self._discover, self.once)

    def _many(self, images: Iterable[ImageLike], errors: str, decide: Decide, once: bool) -> AnswersOrErrors:
        """Images are read and encoded a little ahead, each in its own time, and decided in groups, in turn."""
        size = max(self.encoder.batch, GROUP)
        prepared = ahead(or_error(self._preparing(once)), images, window=2 * size)
        groups = iter(lambda: list(islice(prepared, size)), [])
        for group in ahead(self._with_rows, groups, window=2, workers=1):
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

    @one_thread()
    def _predict(self, group: list[Prepared]) -> list[Assignment]:
        if self.store is None:
            return [self._own.match(each.row) for each in group]
        return [self.store.match(each.row, each.content) for each in group]

    @one_thread()
    def _discover(self, group: list[Prepared]) -> Sequence[Assignment]:
        if self.store is None:
            return self._own.assign_many(np.stack([each.row for each in group]))
        known = [self.store.recognise(each.content, each.source) if each.row is None else None for each in group]
        fresh = [each for each, answer in zip(group, known, strict=True) if answer is None]
        if undone := [each._replace(pixels=self.encoder.prepare(each.picture)) for each in fresh if each.row is None]:
            again = iter(self._with_rows(undone))
            fresh = [next(again) if each.row is None else each for each in fresh]
        arrivals = [Arrival(each.source, each.content, each.row) for each in fresh]
        answers = iter(self.store.record(arrivals, self.encoder.provenance, self.once))
        return [answer or next(answers) for answer in known]

    def _preparing(self, once: bool) -> Callable[[ImageLike], Prepared]:
        """What makes an image ready to be encoded, or with `once` finds it in the store."""
        if once and self.store is not None:
            return self._recognised
        return partial(_prepared, self.encoder.prepare, self.store is not None)

    def _recognised(self, image: ImageLike) -> Prepared:
        assert self.store is not None
        picture, content = read(image)
        source = _source(image)
        if self.store.recognise(content, source) is not None:
            return Prepared(source, content, picture=picture)
        return Prepared(source, content, _pixels(self.encoder.prepare, picture, describe(image)))

    def _with_rows(self, group: list[Any]) -> list[Any]:
        """A group with the rows of those that have pixels, which are let go of."""
        fresh = [each for each in group if _has_pixels(each)]
        if not fresh:
            return group
        rows = iter(self.register.rows_of(self.encoder.encode([each.pixels for each in fresh])))
        return [each._replace(pixels=None, row=next(rows)) if _has_pixels(each) else each for each in group]


def _prepared(prepare: Callable[[Any], NDArray[np.uint8]], kept: bool, image: ImageLike) -> Prepared:
    """An image ready to be encoded, with the digest of its content where that is to be kept."""
    name = describe(image)
    if not kept:
        return Prepared(name, b"", prepare(image))
    picture, content = read(image)
    return Prepared(_source(image), content, _pixels(prepare, picture, name))


def _pixels(prepare: Callable[[Any], NDArray[np.uint8]], picture: ImageLike, name: str) -> NDArray[np.uint8]:
    try:
        return prepare(picture)
    except ImageError as error:  # which knows the bytes, but not whose they were
        raise ImageError(name, error.reason, error.remedy) from None


def _source(image: ImageLike) -> str:
    """How a store calls an image."""
    return os.path.abspath(image) if isinstance(image, (str, Path)) else describe(image)  # noqa: PTH100 - keeps links


def _is_good(each: Prepared | ImageError) -> bool:
    return not isinstance(each, ImageError)


def _has_pixels(each: Any) -> bool:
    return isinstance(each, Prepared) and each.pixels is not None
