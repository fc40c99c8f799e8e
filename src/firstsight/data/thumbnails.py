"""Small squares of pictures, for pages that show many of them."""

from __future__ import annotations

import io

from PIL import Image, ImageOps, features

from firstsight.data.images import ImageLike, decoded

SIDE = 112  # pixels of a picture among others,
LARGE = 224  # and of one that stands for its category
QUALITY = 60


def small(picture: ImageLike, side: int) -> bytes:
    """A square of the middle, without metadata: WebP, which is half as large as JPEG, where this Pillow has it."""
    with decoded(picture, at_least=2 * side) as image:
        square = ImageOps.fit(image, (side, side), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    square.save(buffer, "WEBP" if features.check("webp") else "JPEG", quality=QUALITY)
    return buffer.getvalue()
