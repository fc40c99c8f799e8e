"""Times and distances as people type them: 10s, 2m, 500m, 10km."""

from __future__ import annotations

import math
import re

from firstsight.core.errors import SettingsError

SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
METRES = {"m": 1.0, "km": 1000.0}


def seconds(text: str, option: str) -> float:
    """A time in seconds.

    >>> seconds("10s", "--bursts"), seconds("2m", "--bursts")
    (10.0, 120.0)
    """
    return _number(text, option, SECONDS, "a time such as 10s or 2m")


def metres(text: str, option: str) -> float:
    """A distance in metres.

    >>> metres("10km", "--round-places")
    10000.0
    """
    return _number(text, option, METRES, "a distance such as 500m or 10km")


def _number(text: str, option: str, units: dict[str, float], expected: str) -> float:
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", text.lower())
    if found is None or found[2] not in units or not 0 < (value := float(found[1]) * units[found[2]]) < math.inf:
        raise SettingsError(f"{option} is {text!r}; expected {expected}")
    return value
