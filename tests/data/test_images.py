"""The one image path: geometry, orientation, colour, and every kind of bad image."""

from __future__ import annotations

import hashlib
import io
import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from firstsight.data.images import Preprocess, decode, prepared, resized, thumbnail
from firstsight.errors import ImageError, ModelError

HALF = (0.5, 0.5, 0.5)
SMALL = Preprocess(resize=32, crop=28, mean=HALF, std=HALF)


def gradient(width: int, height: int) -> Image.Image:
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    return Image.fromarray(np.stack([x * 255 // width, y * 255 // height, (x + y) % 256], axis=-1).astype(np.uint8))


@pytest.mark.parametrize(
    ("size", "expected"), [((100, 50), (32, 64)), ((50, 100), (64, 32)), ((7, 7), (32, 32)), ((101, 50), (32, 64))]
)
def test_the_shorter_side_is_resized(size: tuple[int, int], expected: tuple[int, int]) -> None:
    assert resized(gradient(*size), SMALL).shape[:2] == expected


def test_the_crop_is_central() -> None:
    whole, cut = resized(gradient(64, 32), SMALL), prepared(gradient(64, 32), SMALL)
    assert (cut == whole[2:30, 18:46]).all()


def test_the_pixels_of_the_path_are_pinned() -> None:
    """Codes flip on a pixel of skew: if this fails, a decoder or resizer changed, and VERSION must too."""
    digest = hashlib.sha256(prepared(gradient(90, 61), SMALL).tobytes()).hexdigest()
    assert digest[:16] == "11f8967030439cc1"


def test_exif_orientation_is_applied(tmp_path: Path) -> None:
    upright = gradient(40, 20)
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera lay on its side
    upright.rotate(90, expand=True).save(tmp_path / "turned.png", exif=exif)
    assert (np.asarray(decode(tmp_path / "turned.png")) == np.asarray(upright)).all()


def test_transparency_becomes_white() -> None:
    assert decode(Image.new("RGBA", (2, 2), (255, 0, 0, 0))).getpixel((0, 0)) == (255, 255, 255)


def test_sixteen_bit_grey_is_scaled_not_clipped() -> None:
    grey = Image.fromarray(np.full((2, 2), 0x8000, dtype=np.uint16))
    assert decode(grey).getpixel((0, 0)) == (128, 128, 128)


@pytest.mark.parametrize("mode", ["L", "P", "CMYK", "1", "LA"])
def test_every_mode_becomes_rgb(mode: str) -> None:
    assert decode(gradient(8, 8).convert(mode)).mode == "RGB"


def png_header(width: int, height: int) -> bytes:
    """A PNG that claims a size and has no pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def truncated_jpeg() -> bytes:
    buffer = io.BytesIO()
    gradient(200, 200).save(buffer, "JPEG")
    return buffer.getvalue()[:1000]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not an image"),
        (b"plain text", "not an image"),
        (truncated_jpeg(), "cannot be decoded"),
        (png_header(20_000, 10_000), "pixels"),
        (png_header(100_000, 100_000), "pixels"),
        (png_header(10, 10), "cannot be decoded"),
    ],
    ids=["empty", "text", "truncated", "huge", "bomb", "no pixels"],
)
def test_bad_files_are_named_with_the_reason(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "bad.jpg"
    path.write_bytes(content)
    with pytest.raises(ImageError, match=reason) as caught:
        decode(path)
    assert caught.value.source == str(path)


def test_a_thin_image_that_would_grow_huge_is_refused() -> None:
    with pytest.raises(ImageError, match="too long and thin"):
        prepared(Image.new("L", (1, 200_000)), SMALL)


def test_a_missing_file_and_a_folder_are_bad_images(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="does not exist"):
        decode(tmp_path / "none.jpg")
    with pytest.raises(ImageError, match="is not a file"):
        decode(tmp_path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jpg")
    with pytest.raises(ImageError, match="is not a file"):
        decode(tmp_path / "pipe.jpg")


@pytest.mark.parametrize("array", [np.zeros((4, 4, 3)), np.zeros((4, 4, 2), np.uint8), np.zeros((0, 4, 3), np.uint8)])
def test_arrays_of_another_kind_are_refused(array: np.ndarray) -> None:
    with pytest.raises(ImageError, match="uint8"):
        decode(array)


def test_a_thumbnail_is_a_small_square_without_metadata() -> None:
    with Image.open(io.BytesIO(thumbnail(gradient(80, 40), 32))) as image:
        assert image.size == (32, 32)
        assert not image.getexif()


def test_preprocessing_survives_json_and_other_versions_are_refused() -> None:
    assert Preprocess.of(SMALL.as_dict()) == SMALL
    with pytest.raises(ModelError, match="version 99"):
        Preprocess.of({**SMALL.as_dict(), "version": 99})
