"""What is known of an image beside its pixels: when and where it was taken, by which camera, which part of a frame."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True)
class Sighting:
    """When an image was taken (ISO 8601, as the camera's clock said), where (degrees, WGS 84) and by which camera.

    `box` is the part of the frame it is: left, top, width and height, in parts of the frame's sides. `detected` is how
    sure a detector was of that. `withheld` says that nothing but this was to be kept. `unread` is what the image says
    that cannot be; no log keeps it.
    """

    taken: str | None = None
    latitude: float | None = None
    longitude: float | None = None
    camera: str | None = None
    serial: str | None = None  # of the camera
    box: tuple[float, ...] = ()
    detected: float | None = None
    withheld: bool = False
    unread: tuple[str, ...] = ()


NOTHING = Sighting()
KEPT = ("taken", "latitude", "longitude", "camera", "serial", "box", "detected", "withheld")  # by a log


def moment(taken: str | None) -> datetime | None:
    """When that was; by UTC where the camera did not say by which clock."""
    if taken is None:
        return None
    try:
        when = datetime.fromisoformat(taken)
    except ValueError:
        return None
    return when if when.tzinfo is not None else when.replace(tzinfo=UTC)
