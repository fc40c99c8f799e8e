"""Grey of more than eight bits, or of floats, in eight: by the range its format has or, where it has none, its values'.

A TIFF may hold 12 bits of a sensor in 16, or floats from 0 to 1: Pillow would make the one white, the other black.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from PIL import Image

STRIP = 1_000_000  # pixels converted at a time: that takes several copies
BITS = (8, 10, 12, 14, 16)
FULL = 255 * 2**8  # white of 16 bits, of which the upper eight count


def eight_bits(image: Image.Image, format: str | None) -> Image.Image:
    """The image in mode L, some rows at a time; ValueError where it holds no number at all."""
    black, white = (0.0, FULL) if format != "TIFF" and image.mode != "F" else _range(image)
    grey = Image.new("L", image.size)
    for top, strip in _strips(image):
        with np.errstate(invalid="ignore", over="ignore"):
            scaled = (strip.astype(np.float64) - black) * (255 / (white - black))
        values = np.nan_to_num(scaled, nan=0.0).clip(0, 255)
        grey.paste(Image.fromarray(np.floor(values + 1e-6).astype(np.uint8)), (0, top))
    return grey


def _range(image: Image.Image) -> tuple[float, float]:
    """What is black and what is white; not the image's own extremes while a usual range holds them."""
    lowest, highest = np.inf, -np.inf
    for _, strip in _strips(image):
        finite = strip[np.isfinite(strip)]
        if finite.size:
            lowest, highest = min(lowest, float(finite.min())), max(highest, float(finite.max()))
    if lowest > highest:
        raise ValueError("none of its pixels is a number")
    if image.mode == "F" and lowest >= 0 and highest <= 1:
        return 0.0, 1.0
    white = next((255.0 * 2 ** (bits - 8) for bits in BITS if highest < 2**bits), None)
    if lowest < 0 or white is None:
        return lowest, highest if highest > lowest else lowest + 1
    return 0.0, white


def _strips(image: Image.Image) -> Iterator[tuple[int, NDArray[np.floating | np.integer]]]:
    rows = max(1, STRIP // image.width)
    for top in range(0, image.height, rows):
        yield top, np.asarray(image.crop((0, top, image.width, min(top + rows, image.height))))
