"""When and where an image was taken, and by which camera, as its EXIF data say.

Anybody may have written those: what cannot be is left out and said, and never stops an image.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any

from PIL import Image

from firstsight.core.sightings import NOTHING, Sighting
from firstsight.data.crops import Crop
from firstsight.data.images import ImageLike, Stored, formats

LARGEST = 1_000_000  # bytes of EXIF data that are looked into
LONGEST = 80  # characters of a camera's name
CAMERA, EXIF, GPS = (0x010F, 0x0110), 0x8769, 0x8825
SERIAL = 0xA431
# when: taken, digitised, or last changed; each with the offset from UTC and the parts of a second that belong to it
TIMES = ((EXIF, 0x9003, 0x9011, 0x9291), (EXIF, 0x9004, 0x9012, 0x9292), (0, 0x0132, 0x9010, 0x9290))

# about what is broken; for all threads alike, and so not only while one of them looks
warnings.filterwarnings("ignore", category=UserWarning, module=r"PIL\.TiffImagePlugin")


def sighting_of(image: ImageLike, content: ImageLike | None = None, metadata: bool = True) -> Sighting:
    """What an image tells; `content` is what was read of it already. Without `metadata`, its box alone."""
    part = NOTHING
    if isinstance(image, Crop):
        part = Sighting(box=image.box, detected=image.detected)
        image, content = image.frame, content.frame if isinstance(content, Crop) else None
    if not metadata:
        return replace(part, withheld=True)
    found = _read(content if isinstance(content, bytes) else image)
    return replace(found, box=part.box, detected=part.detected)


def _read(source: ImageLike) -> Sighting:
    try:
        if isinstance(source, Image.Image):
            return _told(source)
        if isinstance(source, Stored) and not isinstance(source, Path):
            source = source.read_bytes()
        if not isinstance(source, bytes | str | Path):
            return NOTHING
        with Image.open(io.BytesIO(source) if isinstance(source, bytes) else source, formats=formats()) as image:
            return _told(image)
    except Exception:  # what cannot be opened is said by whoever decodes it
        return NOTHING


def _told(image: Image.Image) -> Sighting:
    """What EXIF data say; whatever is wrong with one of them costs no more than that one."""
    if image.format == "PNG" and "exif" not in image.info:
        return NOTHING  # it may stand after the pixels, all of which would be decoded to look
    if len(image.info.get("exif") or b"") > LARGEST:
        return Sighting(unread=(f"its EXIF data are over {LARGEST:,} bytes long",))
    unread: list[str] = []

    def careful(what: str, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except Exception as error:  # Pillow raises whatever it comes upon
            unread.append(f"its {what} cannot be read: {str(error)[:LONGEST] or type(error).__name__}")
            return None

    exif = careful("EXIF data", image.getexif)
    if exif is None:
        return Sighting(unread=tuple(unread))
    parts = {0: exif, **{part: careful("EXIF data", partial(exif.get_ifd, part)) for part in (EXIF, GPS)}}
    place = careful("place", lambda: _place(parts[GPS] or {})) or (None, None)
    return Sighting(
        taken=careful("date", lambda: _taken(parts)),
        latitude=place[0],
        longitude=place[1],
        camera=careful("camera", lambda: _camera(exif)),
        serial=careful("camera", lambda: _text((parts[EXIF] or {}).get(SERIAL))),
        unread=tuple(unread),
    )


def _taken(parts: Mapping[int, Any]) -> str | None:
    for part, tag, offset_tag, fraction_tag in TIMES:
        text = _text((parts[part] or {}).get(tag))
        if not text or not text.strip(" :"):  # so a camera says that it does not know
            continue
        try:
            when = datetime.strptime(text[:19], "%Y:%m:%d %H:%M:%S")
        except ValueError:
            raise ValueError(f"{text[:30]!r} is none") from None
        own = parts[EXIF] or {}
        fraction = _text(own.get(fraction_tag))
        if fraction and fraction.isdecimal():
            when = when.replace(microsecond=int(fraction[:6].ljust(6, "0")))
        zone = _zone(_text(own.get(offset_tag)))
        return when.replace(tzinfo=zone).isoformat(timespec="milliseconds" if when.microsecond else "seconds")
    return None


def _zone(text: str | None) -> timezone | None:
    """An offset from UTC, such as +02:00; none where it is anything else."""
    try:
        return None if text is None else timezone(datetime.strptime(text, "%z").utcoffset() or timedelta())
    except ValueError:
        return None


def _place(gps: Mapping[int, Any]) -> tuple[float, float] | None:
    if 2 not in gps and 4 not in gps:
        return None
    latitude, longitude = _degrees(gps.get(2), gps.get(1), "NS"), _degrees(gps.get(4), gps.get(3), "EW")
    if not (abs(latitude) <= 90 and abs(longitude) <= 180):  # nor where they are no numbers
        raise ValueError(f"latitude {latitude:g}, longitude {longitude:g} is nowhere")
    if latitude == longitude == 0:
        raise ValueError("0, 0 is what cameras say that do not know it")
    return round(latitude, 7), round(longitude, 7)


def _degrees(values: Any, side: Any, sides: str) -> float:
    """Degrees, minutes and seconds as a number, below 0 in the south and the west."""
    if not isinstance(values, tuple) or len(values) != 3:
        raise ValueError(f"{values!r:.30} are no degrees")
    side = (_text(side) or "?").upper()
    if side not in sides:
        raise ValueError(f"{side[:10]!r} is neither {sides[0]} nor {sides[1]}")
    numbers = [float(value) for value in values]
    if not all(math.isfinite(number) and number >= 0 for number in numbers):
        raise ValueError("it is not made of numbers")
    found = sum(number / size for number, size in zip(numbers, (1, 60, 3600), strict=True))
    return -found if side == sides[1] else found


def _camera(exif: Mapping[int, Any]) -> str | None:
    """Maker and model, the maker once."""
    maker, model = (_text(exif.get(tag)) for tag in CAMERA)
    if maker and model and model.casefold().startswith(maker.casefold()):
        return model
    return " ".join(part for part in (maker, model) if part)[:LONGEST] or None


def _text(value: Any) -> str | None:
    """Text that can be shown on a line; nothing where there is none."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if not isinstance(value, str):
        return None
    shown = "".join(c for c in value.partition("\0")[0][: 2 * LONGEST] if c.isprintable()).strip()
    return shown[:LONGEST] or None
