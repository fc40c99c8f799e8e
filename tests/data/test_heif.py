"""HEIC photographs: read where pillow-heif is installed, and never silently passed over where it is not."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from firstsight.core.errors import ImageError
from firstsight.data import images
from firstsight.data.folder import read_folder, walk
from firstsight.data.images import decode
from firstsight.data.metadata import sighting_of
from photographs import HAARLEM, exif


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    """A HEIC of which the right half is red, with EXIF data."""
    pytest.importorskip("pillow_heif")
    images.formats()
    picture = Image.new("RGB", (64, 48), "blue")
    picture.paste("red", (32, 0, 64, 48))
    path = tmp_path / "a" / "photo.HEIC"
    path.parent.mkdir()
    picture.save(path, "HEIF", exif=exif(taken="2026:05:01 12:00:03", place=HAARLEM, camera=("Acme", "One")))
    return path


def test_a_heic_is_an_image_like_any_other(photo: Path) -> None:
    seen = np.asarray(decode(photo)).astype(int)
    assert seen.shape == (48, 64, 3)
    assert np.abs(seen[:, 40:].mean((0, 1)) - (255, 0, 0)).max() < 40
    told = sighting_of(photo)
    assert (told.taken, told.camera) == ("2026-05-01T12:00:03", "Acme One")
    assert told.latitude == pytest.approx(HAARLEM[0], abs=1e-6)
    assert len(read_folder(photo.parent.parent).images) == 1


def test_without_the_extra_each_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "formats", lambda: ("JPEG", "PNG"))
    photo = tmp_path / "photo.heic"
    photo.write_bytes(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(64))
    assert list(walk(tmp_path)) == [photo]
    with pytest.raises(ImageError, match=r"is HEIC, which is not read yet.*firstsight\[heif\]"):
        decode(photo)


def test_a_broken_heic_is_an_error_of_its_own(tmp_path: Path) -> None:
    pytest.importorskip("pillow_heif")
    for content in (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(64), b"no image"):
        (tmp_path / "x.heic").write_bytes(content)
        with pytest.raises(ImageError, match=r"x\.heic"):
            decode(tmp_path / "x.heic")
    with pytest.raises(ImageError):
        decode(io.BytesIO(b"\0\0\0\x18ftypheic").getvalue())
