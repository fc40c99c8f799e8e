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

from firstsight.data.ahead import ahead, or_error
from firstsight.data.images import ImageLike, describe, read
from firstsight.errors import ImageError
from firstsight.protocols import Assignment, Encoder, Register
from firstsight.store.store import Arrival, Store

GROUP = 16  # images decided, and kept, at a time; more where an encoder takes more

Answers: TypeAlias = Iterator[Assignment]
AnswersOrErrors: TypeAlias = Iterator[Assignment | ImageError]


class Prepared(NamedTuple):
    """An image on its way: where from, the digest of its content (if a store wants it), its pixels.

    One that the store recognised has no pixels, but what they can be made of should it have been undone since.
    """

    source: str
    content: bytes
    pixels: NDArray[np.uint8] | None
    picture: ImageLike | None = None


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
        self._opened = None if isinstance(store, Store) or store is None else self._open(Path(store))
        self.store = store if isinstance(store, Store) else self._opened
        if self.store is not None:
            try:
                self.store.check_model(encoder.provenance)
            except BaseException:
                self.close()
                raise

    def _open(self, path: Path) -> Store:
        return Store.open(path) if path.exists() else Store.create(path, self._own, self.encoder.provenance)

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
        return self._predict([self._prepare(image, once=False)])[0]

    def discover_one(self, image: ImageLike, source: str | None = None) -> Assignment:
        """What this image is, a new category registered on the spot if it fits none; kept before this returns.

        `source` is how the store is to call an image that is no file.
        """
        prepared = self._prepare(image, self.once)
        return self._discover([prepared if source is None else prepared._replace(source=source)])[0]

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
        """Images are read and encoded a little ahead, and decided in groups, in turn."""
        size = max(self.encoder.batch, GROUP)
        prepared = ahead(or_error(partial(self._prepare, once=once)), images, window=2 * size)
        while batch := list(islice(prepared, size)):
            if errors == "raise":
                batch = [*takewhile(_is_good, batch), *[each for each in batch if not _is_good(each)][:1]]
            good = [each for each in batch if not isinstance(each, ImageError)]
            answers = iter(decide(good) if good else ())
            for each in batch:
                if not isinstance(each, ImageError):
                    yield next(answers)
                elif errors == "yield":
                    yield each
                else:
                    raise each

    def _predict(self, group: list[Prepared]) -> list[Assignment]:
        rows = self._rows(group)
        if self.store is None:
            return [self._own.match(row) for row in rows]
        return [self.store.match(row, each.content) for row, each in zip(rows, group, strict=True)]

    def _discover(self, group: list[Prepared]) -> Sequence[Assignment]:
        if self.store is None:
            return self._own.assign_many(self._rows(group))
        known = [self.store.recognise(each.content, each.source) if each.pixels is None else None for each in group]
        fresh = [self._with_pixels(each) for each, answer in zip(group, known, strict=True) if answer is None]
        rows: Iterable[NDArray[Any]] = self._rows(fresh) if fresh else ()
        arrivals = [Arrival(each.source, each.content, row) for each, row in zip(fresh, rows, strict=True)]
        answers = iter(self.store.record(arrivals, self.encoder.provenance, self.once))
        return [answer or next(answers) for answer in known]

    def _with_pixels(self, each: Prepared) -> Prepared:
        return each if each.pixels is not None else each._replace(pixels=self.encoder.prepare(each.picture))

    def _prepare(self, image: ImageLike, once: bool) -> Prepared:
        name = describe(image)
        if self.store is None:
            return Prepared(name, b"", self.encoder.prepare(image))
        picture, content = read(image)
        source = os.path.abspath(image) if isinstance(image, (str, Path)) else name  # noqa: PTH100 - keeps links
        if once and self.store.recognise(content, source) is not None:
            return Prepared(source, content, None, picture)
        try:
            return Prepared(source, content, self.encoder.prepare(picture))
        except ImageError as error:  # which knows the bytes, but not whose they were
            raise ImageError(name, error.reason, error.remedy) from None

    def _rows(self, group: list[Prepared]) -> NDArray[Any]:
        return self.register.rows_of(self.encoder.encode([each.pixels for each in group if each.pixels is not None]))


def _is_good(each: Prepared | ImageError) -> bool:
    return not isinstance(each, ImageError)
