"""Pictures of more than eight bits and of floats, by their range."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from firstsight.core.errors import ImageError
from firstsight.data.images import decode


def decoded(values: Any, format: str = "TIFF") -> Any:
    buffer = io.BytesIO()
    Image.fromarray(values).save(buffer, format)
    return np.asarray(decode(buffer.getvalue()))[..., 0].astype(int)


RAMP = np.linspace(0, 1, 64).reshape(8, 8)


@pytest.mark.parametrize(
    ("kind", "white"),
    [
        (np.float32, 1.0),
        (np.float32, 255.0),
        (np.float32, 65535.0),
        (np.uint16, 1023),
        (np.uint16, 4095),
        (np.uint16, 65535),
        (np.int32, 65535),
    ],
)
def test_a_tiff_is_read_by_the_range_its_values_lie_in(kind: type, white: float) -> None:
    assert np.abs(decoded((RAMP * white).astype(kind)) - RAMP * 255).max() < 2


def test_a_dark_image_stays_dark() -> None:
    assert decoded((RAMP * 0.3).astype(np.float32)).max() == 76
    assert decoded((RAMP * 20_000).astype(np.uint16)).max() == 20_000 >> 8


def test_values_below_nothing_or_of_no_usual_range_are_stretched() -> None:
    for values in (RAMP * 400 - 200, RAMP * 1e9):
        assert np.abs(decoded(values.astype(np.float32)) - RAMP * 255).max() < 2
    assert decoded(np.full((4, 4), -3.0, dtype=np.float32)).max() == 0


def test_what_is_no_number_is_black_and_an_image_of_nothing_else_is_refused() -> None:
    values = RAMP.astype(np.float32)
    values[0, :3] = np.nan, np.inf, -np.inf
    shown = decoded(values)
    assert shown[0, :3].tolist() == [0, 255, 0]
    assert np.abs(shown - RAMP * 255).ravel()[3:].max() < 2
    with pytest.raises(ImageError, match="none of its pixels is a number"):
        decoded(np.full((4, 4), np.nan, dtype=np.float32))


def test_sixteen_bits_of_a_png_are_sixteen_bits() -> None:
    values = (RAMP * 4000).astype(np.uint16)
    assert (decoded(values, "PNG") == values >> 8).all()
