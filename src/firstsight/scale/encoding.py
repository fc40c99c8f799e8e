"""Images to features, part by part: here, a little ahead of the encoder; or as one task among those of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from firstsight.core.errors import DataError, ImageError
from firstsight.core.protocols import Encoder, Progress, Silent
from firstsight.data.ahead import ahead, or_error
from firstsight.data.images import ImageLike, describe, read
from firstsight.data.remote import find_remote, is_address
from firstsight.data.source import find_images
from firstsight.encode.many import group_size
from firstsight.model.model import Model
from firstsight.scale.parts import About, Encoded, begin, digest_of, part_of, write_part
from firstsight.store.events import as_text

PART = 1_000  # images in a part


def listed(sources: Sequence[Path | str]) -> list[ImageLike]:
    """The images of folders, packs, files and addresses, in the order that every machine finds them in."""
    found: list[ImageLike] = []
    for source in sources:
        if is_address(source):
            found += find_remote(str(source))
        else:
            found += find_images([source])
    if not found:
        raise DataError(f"no images in {', '.join(map(str, sources))}")
    return found


def about(model: Model, images: Sequence[ImageLike], part: int = PART) -> About:
    """What the features of these images by this model will be."""
    encoder = model.image_encoder
    names = digest_of([describe(image) for image in images])
    return About(encoder.fingerprint, encoder.preprocess.version, encoder.exact, len(images), names, part)


def encode_here(
    model: Model, images: Sequence[ImageLike], folder: Path, part: int = PART, progress: Progress | None = None
) -> int:
    """Encode what is missing in this process; how many images that was."""
    told = about(model, images, part)
    missing = begin(folder, told)
    wanted = [images[number * part : (number + 1) * part] for number in missing]
    with (progress or Silent()).task("encoding", sum(map(len, wanted))) as advance:
        stream = encoded(model.image_encoder, chain.from_iterable(wanted), advance)
        for number, some in zip(missing, wanted, strict=True):
            write_part(part_of(folder, number), list(islice(stream, len(some))), told)
    return sum(map(len, wanted))


def encode_part(encoder: Encoder, images: Sequence[ImageLike], folder: Path, number: int, told: About) -> int:
    """Encode one part, unless it is there; how many images it has."""
    path = part_of(folder, number)
    if not path.exists():
        write_part(path, list(encoded(encoder, images)), told)
    return len(images)


def encoded(
    encoder: Encoder, images: Sequence[ImageLike] | Iterator[ImageLike], advance: Callable[[], None] = lambda: None
) -> Iterator[Encoded]:
    """Images with their features, in order; one that cannot be used says so in its place."""
    size = group_size(encoder)
    ready = ahead(partial(_read, encoder.prepare), images, window=2 * size)
    for group in iter(lambda: list(islice(ready, size)), []):
        pixels = [each for _, _, each in group if not isinstance(each, ImageError)]
        features = iter(encoder.encode(pixels) if pixels else ())
        for name, digest, each in group:
            if isinstance(each, ImageError):
                yield Encoded(name, digest, None, each.reason)
            else:
                yield Encoded(name, digest, next(features))
            advance()


def _read(
    prepare: Callable[[ImageLike], NDArray[np.uint8]], image: ImageLike
) -> tuple[str, bytes, NDArray[np.uint8] | ImageError]:
    """What an image is called, the digest of its content, and its pixels or its error."""
    name = as_text(describe(image))
    try:
        picture, digest = read(image)
    except ImageError as error:
        return name, b"", error
    return name, digest, or_error(prepare)(picture)
