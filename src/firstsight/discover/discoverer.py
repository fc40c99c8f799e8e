"""The discoverer: an encoder and a register joined, two verbs for the world to use.

`predict_*` never changes anything; `discover_*` records. The `*_many` twins give what the loop would give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from firstsight.data.ahead import ahead
from firstsight.data.images import ImageLike, Pixels
from firstsight.errors import ImageError
from firstsight.protocols import Assignment, Encoder, Register

BATCH = 16

Answers: TypeAlias = Iterator[Assignment]
AnswersOrErrors: TypeAlias = Iterator[Assignment | ImageError]
Decide: TypeAlias = Callable[[NDArray[Any]], list[Assignment]]


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
        return self._many(images, errors, lambda rows: [self.register.match(row) for row in rows])

    @overload
    def discover_many(self, images: Iterable[ImageLike], errors: Literal["raise"] = "raise") -> Answers: ...
    @overload
    def discover_many(self, images: Iterable[ImageLike], errors: Literal["yield"]) -> AnswersOrErrors: ...
    def discover_many(self, images: Iterable[ImageLike], errors: str = "raise") -> AnswersOrErrors:
        """`discover_one` of every image, in batches, likewise; what came before a bad image stays recorded."""
        return self._many(images, errors, self.register.assign_many)

    def _many(self, images: Iterable[ImageLike], errors: str, decide: Decide) -> AnswersOrErrors:
        prepared = ahead(self._prepare, images, window=2 * BATCH)
        while batch := list(islice(prepared, BATCH)):
            good = [pixels for pixels in batch if not isinstance(pixels, ImageError)]
            if errors == "raise" and len(good) < len(batch):  # what stands behind the bad image is not decided
                first_bad = next(i for i, pixels in enumerate(batch) if isinstance(pixels, ImageError))
                batch, good = batch[: first_bad + 1], good[:first_bad]
            answers = iter(decide(self._rows(good)) if good else [])
            for pixels in batch:
                if not isinstance(pixels, ImageError):
                    yield next(answers)
                elif errors == "yield":
                    yield pixels
                else:
                    raise pixels

    def _prepare(self, image: ImageLike) -> Pixels | ImageError:
        try:
            return self.encoder.prepare(image)
        except ImageError as error:
            return error

    def _rows(self, prepared: list[NDArray[np.uint8]]) -> NDArray[Any]:
        return self.register.rows_of(self.encoder.encode(prepared))
