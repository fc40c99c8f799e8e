"""The discoverer: an encoder and a register joined, two verbs for the world to use.

`predict_*` never changes anything; `discover_*` records. The `*_many` twins give what the loop would give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from firstsight.data.ahead import ahead, or_error
from firstsight.data.images import ImageLike
from firstsight.errors import ImageError
from firstsight.protocols import Assignment, Encoder, Register

BATCH = 16

Answers: TypeAlias = Iterator[Assignment]
AnswersOrErrors: TypeAlias = Iterator[Assignment | ImageError]
Decide: TypeAlias = Callable[[NDArray[Any]], Assignment]


class Discoverer:
    """Answers images with categories, known or new. An image is a path, a PIL image, an array or a file's bytes.

    Without a register it starts with a fresh one of the encoder's known categories.
    """

    def __init__(self, encoder: Encoder, register: Register | None = None) -> None:
        self.encoder = encoder
        self.register = encoder.register() if register is None else register

    def predict_one(self, image: ImageLike) -> Assignment:
        """What this image is; `category` is None where it would found a new one. Changes nothing."""
        return self.register.match(self._rows([self.encoder.prepare(image)])[0])

    def discover_one(self, image: ImageLike) -> Assignment:
        """What this image is, a new category registered on the spot if it fits none."""
        return self.register.assign(self._rows([self.encoder.prepare(image)])[0])

    @overload
    def predict_many(self, images: Iterable[ImageLike], errors: Literal["raise"] = "raise") -> Answers: ...
    @overload
    def predict_many(self, images: Iterable[ImageLike], errors: Literal["yield"]) -> AnswersOrErrors: ...
    def predict_many(self, images: Iterable[ImageLike], errors: str = "raise") -> AnswersOrErrors:
        """`predict_one` of every image, in batches. A bad image is raised, or yielded as its error in its place."""
        return self._many(images, errors, self.register.match)

    @overload
    def discover_many(self, images: Iterable[ImageLike], errors: Literal["raise"] = "raise") -> Answers: ...
    @overload
    def discover_many(self, images: Iterable[ImageLike], errors: Literal["yield"]) -> AnswersOrErrors: ...
    def discover_many(self, images: Iterable[ImageLike], errors: str = "raise") -> AnswersOrErrors:
        """`discover_one` of every image, likewise. An image is recorded when its answer is taken, not before."""
        return self._many(images, errors, self.register.assign)

    def _many(self, images: Iterable[ImageLike], errors: str, decide: Decide) -> AnswersOrErrors:
        """Images are read and encoded a little ahead, and decided one by one."""
        prepared = ahead(or_error(self.encoder.prepare), images, window=2 * BATCH)
        while batch := list(islice(prepared, BATCH)):
            good = [pixels for pixels in batch if not isinstance(pixels, ImageError)]
            rows = iter(self._rows(good)) if good else iter(())
            for pixels in batch:
                if not isinstance(pixels, ImageError):
                    yield decide(next(rows))
                elif errors == "yield":
                    yield pixels
                else:
                    raise pixels

    def _rows(self, prepared: list[NDArray[np.uint8]]) -> NDArray[Any]:
        return self.register.rows_of(self.encoder.encode(prepared))
