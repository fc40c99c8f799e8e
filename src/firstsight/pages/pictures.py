"""Pictures for pages: the image as a model saw it, and where it looked."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from firstsight.data.images import Pixels
from firstsight.evidence.evidence import Square

DIM = 0.45  # brightness where a model did not look


def jpeg(pixels: Pixels) -> bytes:
    """Pixels as a JPEG without metadata."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=88)
    return buffer.getvalue()


def lit(pixels: Pixels, looked: NDArray[np.float32], closer: Square | None = None) -> Pixels:
    """The image as it is where a model looked, dim and grey where it did not; a frame around its second look."""
    height, width = pixels.shape[:2]
    smooth = Image.fromarray(looked.astype(np.float32)).resize((width, height), Image.Resampling.BICUBIC)
    light = np.sqrt(np.asarray(smooth).clip(0, 1))[..., None]  # half as much looked at is not half as bright
    grey = pixels.mean(-1, keepdims=True)
    shown = Image.fromarray((light * pixels + (1 - light) * DIM * grey).round().astype(np.uint8))
    if closer is not None:
        left, top, side = closer
        box = (left * width, top * height, (left + side) * width - 1, (top + side) * height - 1)
        for colour, line in (("black", 4), ("white", 2)):  # seen on whatever is beneath
            ImageDraw.Draw(shown).rectangle(box, outline=colour, width=line)
    return np.asarray(shown)
