"""Places made coarse lie within the uncertainty that is said."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from firstsight.core.places import DEGREE, coarse, uncertainty


def apart(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Metres between two places, on a sphere."""
    (north, east), (south, west) = ((math.radians(part) for part in place) for place in (one, other))
    chord = math.sin((north - south) / 2) ** 2 + math.cos(north) * math.cos(south) * math.sin((east - west) / 2) ** 2
    return 2 * math.asin(math.sqrt(min(1.0, chord))) * DEGREE * 180 / math.pi


@given(st.floats(-90, 90), st.floats(-180, 180), st.sampled_from([100.0, 1000.0, 10_000.0, 100_000.0]))
@example(89.9999, 10.0, 10_000.0)
@example(-90.0, 180.0, 100_000.0)
@example(0.0, -180.0, 1000.0)
def test_a_place_is_within_the_uncertainty_of_its_square(latitude: float, longitude: float, size: float) -> None:
    found = coarse(latitude, longitude, size)
    assert abs(found[0]) <= 90
    assert abs(found[1]) <= 180
    assert apart((latitude, longitude), found) <= uncertainty(size)


def test_places_of_one_square_are_the_same_place() -> None:
    here, near, far = coarse(52.3874, 4.6462, 10_000), coarse(52.3880, 4.6470, 10_000), coarse(52.55, 4.6462, 10_000)
    assert here == near
    assert far != here
    assert uncertainty(10_000) == pytest.approx(7142, abs=1)
