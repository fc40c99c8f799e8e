"""Copies of photographs that tell nothing but their pixels: no time, place, camera, comment, thumbnail or hidden video.

A JPEG keeps its compressed pixels to the bit, and which way is up. Anything else is decoded and saved as PNG.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator

from PIL import Image

from firstsight.data.images import ORIENTATION, ImageLike, decode, formats

SOI, EOI, SOS, COMMENT = 0xD8, 0xD9, 0xDA, 0xFE
ALONE = {0x01, *range(0xD0, 0xD8)}  # markers that are followed by nothing of their own
KEPT = {0xE0: b"JFIF", 0xE2: b"ICC_PROFILE", 0xEE: b"Adobe"}  # application segments that say how to show the pixels


def stripped(image: ImageLike) -> tuple[bytes, str]:
    """The content of a file without metadata, and the suffix it should have. ImageError where it is no image."""
    if isinstance(image, bytes) and image.startswith(b"\xff\xd8"):
        try:
            return _jpeg(image), ".jpg"
        except Exception:  # not as a JPEG should be, and Pillow raises anything: its pixels may be read all the same
            pass
    buffer = io.BytesIO()
    picture = decode(image)
    Image.frombytes("RGB", picture.size, picture.tobytes()).save(buffer, "PNG")
    return buffer.getvalue(), ".png"


def _jpeg(content: bytes) -> bytes:
    with Image.open(io.BytesIO(content), formats=formats()) as picture:
        orientation = picture.getexif().get(ORIENTATION, 1)
    kept = [content[:2]]
    if orientation in range(2, 9):
        up = Image.Exif()
        up[ORIENTATION] = orientation
        told = b"Exif\0\0" + up.tobytes().removeprefix(b"Exif\0\0")
        kept.append(b"\xff\xe1" + struct.pack(">H", len(told) + 2) + told)
    kept += _segments(content)
    return b"".join(kept)


def _segments(content: bytes) -> Iterator[bytes]:
    """What is worth keeping, up to the end of the picture; what comes after that is not shown by anyone."""
    at = 2
    while True:
        if content[at] != 0xFF:
            raise ValueError(f"no marker at {at}")
        marker = content[at + 1]
        if marker == 0xFF:  # padding
            at += 1
            continue
        if marker == EOI:
            yield content[at : at + 2]
            return
        if marker in ALONE:
            yield content[at : at + 2]
            at += 2
            continue
        (length,) = struct.unpack(">H", content[at + 2 : at + 4])
        end = at + 2 + length
        if marker == SOS:
            end = _end_of_scan(content, end)
        if marker != COMMENT and (
            not 0xE0 <= marker <= 0xEF or content[at + 4 :].startswith(KEPT.get(marker, b"\0\0"))
        ):
            yield content[at:end]
        at = end


def _end_of_scan(content: bytes, at: int) -> int:
    """Where the next marker stands after compressed pixels."""
    while True:
        at = content.index(b"\xff", at)
        if content[at + 1] != 0 and content[at + 1] not in ALONE:
            return at
        at += 2
