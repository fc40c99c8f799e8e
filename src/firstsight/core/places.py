"""Places on the Earth made coarse, with the uncertainty that comes of it."""

from __future__ import annotations

import math

DEGREE = 111_195.0  # metres of latitude, on a sphere of the Earth's mean radius
MARGIN = 1.01  # the Earth is no sphere

Place = tuple[float, float]  # latitude and longitude, in degrees


def coarse(latitude: float, longitude: float, size: float) -> Place:
    """The middle of the square of a grid, with sides of so many metres, in which a place lies."""
    step = size / DEGREE
    row = math.floor(latitude / step)
    middle = min(max((row + 0.5) * step, -90.0), 90.0)
    widest = 0.0 if row * step < 0 < (row + 1) * step else min(abs(row * step), abs((row + 1) * step))
    around = DEGREE * math.cos(math.radians(min(widest, 90.0)))  # where the row of squares is widest
    across = min(size / around, 360.0) if around > size / 360 else 360.0
    east = (math.floor(longitude / across) + 0.5) * across if across < 360 else 0.0
    return round(middle, 5), round((east + 180) % 360 - 180, 5)


def uncertainty(size: float) -> int:
    """Metres from the middle of a square within which the place lies: to its corners."""
    return math.ceil(size / math.sqrt(2) * MARGIN)
