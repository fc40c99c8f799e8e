"""The one loop that encodes: images are read a little ahead, encoded in batches, and come back in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from firstsight.core.errors import BadImages, ImageError
from firstsight.core.protocols import Encoder, Features, Progress, Silent
from firstsight.data.ahead import ahead, or_error

Image = TypeVar("Image")

GROUP = 16  # images that go together at least, however few an encoder takes


def group_size(encoder: Encoder) -> int:
    """How many images are read, encoded and decided together."""
    return max(encoder.batch, GROUP)


def encode_many(
    encoder: Encoder,
    images: Sequence[Image],
    progress: Progress | None = None,
    prepare: Callable[[Image], NDArray[np.uint8]] | None = None,
) -> Features:
    """The features of images, in order; those that cannot be used are reported in one error.

    `prepare` makes the pixels of one, where it has to be found first; else the encoder does.
    """
    size, bad, parts = group_size(encoder), list[ImageError](), list[Features]()
    with (progress or Silent()).task("encoding", len(images)) as advance:
        prepared = ahead(or_error(prepare or encoder.prepare), images, window=2 * size)
        while batch := list(islice(prepared, size)):
            bad += [pixels for pixels in batch if isinstance(pixels, ImageError)]
            good = [pixels for pixels in batch if not isinstance(pixels, ImageError)]
            if good and not bad:
                parts.append(encoder.encode(good))
            for _ in batch:
                advance()
    if bad:
        raise BadImages(bad)
    return np.concatenate(parts)
