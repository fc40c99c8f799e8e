"""A part of a frame as an image of its own: what a detector found there. Knows the geometry, not how files are read."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from PIL import Image, ImageDraw

Box: TypeAlias = tuple[float, float, float, float]  # left, top, width, height: parts of the sides of the upright frame

DIGITS = 5  # of a box: a hundredth of a pixel in a thousand


@dataclass(frozen=True)
class Crop:
    """An image inside another: `frame` is a file, its bytes, or anything else that can be decoded."""

    frame: Any
    box: Box
    detected: float | None = None  # how sure the detector was

    def __str__(self) -> str:
        return f"{self.frame} [{', '.join(f'{side:.3g}' for side in self.box)}]"

    def content(self, frame: bytes) -> bytes:
        """Its digest, by that of its frame: another for every part."""
        return hashlib.sha256(frame + repr(self.box).encode()).digest()

    def cut(self, frame: Image.Image) -> Image.Image:
        """The part, of the upright frame."""
        return frame.crop(pixels_of(self.box, frame.size))


def box_of(values: Sequence[Any]) -> Box:
    """A box as a detector gives it, cut to the frame; ValueError where it is none or lies outside."""
    if len(values) != 4 or not all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        raise ValueError(f"{str(values)[:60]} is no box: expected left, top, width and height")
    left, top, width, height = (float(value) for value in values)
    if not all(math.isfinite(value) for value in (left, top, width, height)):
        raise ValueError(f"the box {str(values)[:60]} is not made of finite numbers")
    right, bottom = min(left + width, 1.0), min(top + height, 1.0)
    left, top = max(left, 0.0), max(top, 0.0)
    if width <= 0 or height <= 0 or right <= left or bottom <= top:
        raise ValueError(f"the box {str(values)[:60]} lies outside its frame, or has no size")
    return (round(left, DIGITS), round(top, DIGITS), round(right - left, DIGITS), round(bottom - top, DIGITS))


def pixels_of(box: Box, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of the square around a box, moved into the frame where it would leave it.

    An encoder looks at the middle square of an image: of the box alone it would not see the ends of a long animal.
    Where the frame is narrower than the square, it is as wide as the frame.
    """
    left, top, width, height = (part * size[i % 2] for i, part in enumerate(box))
    side = max(1, math.ceil(max(width, height) - 1e-6))
    starts_and_ends = []
    for start, length, whole in ((left, width, size[0]), (top, height, size[1])):
        long = min(side, whole)
        at = min(max(round(start + length / 2 - long / 2), 0), whole - long)
        starts_and_ends.append((at, at + long))
    (west, east), (north, south) = starts_and_ends
    return west, north, east, south


def framed(frame: Image.Image, box: Box) -> Image.Image:
    """The whole upright frame with the box drawn into it."""
    shown = frame.copy()
    left, top, width, height = (part * shown.size[i % 2] for i, part in enumerate(box))
    line = max(2, min(shown.size) // 150)
    for colour, thick in (("black", 2 * line), ("white", line)):  # seen on whatever is beneath
        ImageDraw.Draw(shown).rectangle((left, top, left + width - 1, top + height - 1), outline=colour, width=thick)
    return shown


def picture_of(source: str, box: Sequence[float]) -> Any:
    """An image as a log names it, to be read: a file, or a part of one, whose content is told by the very same box."""
    if not box:
        return source
    left, top, width, height = box
    return Crop(source, (left, top, width, height))
