"""Photographs that say of themselves when, where and by what they were taken, and some that say what cannot be."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from PIL import Image
from PIL.TiffImagePlugin import IFDRational

HAARLEM = (52.3874, 4.6462)


def degrees(value: float) -> tuple[IFDRational, IFDRational, IFDRational]:
    minutes = abs(value) % 1 * 60
    return (
        IFDRational(int(abs(value))),
        IFDRational(int(minutes)),
        IFDRational(round(minutes % 1 * 60 * 1000), 1000),
    )


def exif(
    taken: Any = None,
    place: tuple[float, float] | None = None,
    camera: tuple[str, str] | None = None,
    serial: str | None = None,
    offset: str | None = None,
    fraction: str | None = None,
    gps: dict[int, Any] | None = None,
) -> Image.Exif:
    """EXIF data as a camera would write them; `gps` is written as it is."""
    made = Image.Exif()
    own = made.get_ifd(0x8769)
    for tag, value in ((0x9003, taken), (0xA431, serial), (0x9011, offset), (0x9291, fraction)):
        if value is not None:
            own[tag] = value
    if camera is not None:
        made[0x010F], made[0x0110] = camera
    if place is not None:
        latitude, longitude = place
        gps = {
            1: "N" if latitude >= 0 else "S",
            2: degrees(latitude),
            3: "E" if longitude >= 0 else "W",
            4: degrees(longitude),
        }
    if gps is not None:
        made.get_ifd(0x8825).update(gps)
    return made


def photograph(path: Path | None = None, colour: str = "teal", size: tuple[int, int] = (48, 32), **told: Any) -> bytes:
    """A JPEG of one colour with these EXIF data; in a file, too, if that is named."""
    buffer = io.BytesIO()
    Image.new("RGB", size, colour).save(buffer, "JPEG", exif=exif(**told), quality=95)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(buffer.getvalue())
    return buffer.getvalue()
