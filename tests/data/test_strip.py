"""Copies without metadata: the same pixels, and nothing else."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from firstsight.core.errors import ImageError
from firstsight.core.sightings import NOTHING
from firstsight.data.images import decode
from firstsight.data.metadata import sighting_of
from firstsight.data.strip import stripped
from photographs import HAARLEM, exif, photograph

TOLD = {"taken": "2026:05:01 12:00:03", "place": HAARLEM, "camera": ("Secretcam", "One"), "serial": "S77-Secret"}


def noisy(size: tuple[int, int] = (61, 43)) -> Image.Image:
    return Image.fromarray(np.random.default_rng(0).integers(0, 256, (*size[::-1], 3), dtype=np.uint8))


def jpeg(orientation: int = 1, **options: object) -> bytes:
    made = exif(**TOLD)  # type: ignore[arg-type]
    made[0x0112] = orientation
    buffer = io.BytesIO()
    noisy().save(buffer, "JPEG", exif=made, comment=b"Secretcam says hello", **options)
    return buffer.getvalue()


@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
@pytest.mark.parametrize("progressive", [False, True])
def test_a_jpeg_keeps_its_pixels_and_which_way_is_up(orientation: int, progressive: bool) -> None:
    content = jpeg(orientation, progressive=progressive, icc_profile=b"profile" * 9) + b"a hidden video: Secretcam"
    bare, suffix = stripped(content)
    assert suffix == ".jpg"
    assert (np.asarray(decode(bare)) == np.asarray(decode(content))).all()
    assert b"Secretcam" in content
    assert b"Secretcam" not in bare
    assert sighting_of(bare) == NOTHING
    with Image.open(io.BytesIO(bare)) as picture:
        assert picture.info["icc_profile"] == b"profile" * 9
        assert "comment" not in picture.info


@pytest.mark.parametrize("format", ["PNG", "WEBP", "TIFF"])
def test_anything_else_becomes_a_png(format: str) -> None:
    buffer = io.BytesIO()
    noisy().save(buffer, format, exif=exif(**TOLD))  # type: ignore[arg-type]
    bare, suffix = stripped(buffer.getvalue())
    assert suffix == ".png"
    assert (np.asarray(decode(bare)) == np.asarray(decode(buffer.getvalue()))).all()
    assert b"Secretcam" not in bare
    assert sighting_of(bare) == NOTHING


def test_a_jpeg_that_is_cut_off_is_read_as_far_as_it_goes_or_refused() -> None:
    whole = photograph()
    for end in range(2, len(whole), 37):
        try:
            bare, _ = stripped(whole[:end])
        except ImageError:
            continue
        assert bare


def test_what_is_no_image_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImageError):
        stripped(b"\xff\xd8 no jpeg")
    with pytest.raises(ImageError):
        stripped(tmp_path / "gone.jpg")
