"""The one image path: geometry, orientation, colour, and every kind of bad image."""

from __future__ import annotations

import hashlib
import io
import os
import struct
import zlib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from firstsight.core.errors import ImageError, ModelError
from firstsight.data import depth, images
from firstsight.data.crops import Crop
from firstsight.data.images import Preprocess, decode, prepared, resized, thumbnail

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


def as_jpeg(image: Image.Image, **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, "JPEG", quality=95, **options)
    return file.getvalue()


@pytest.mark.parametrize(
    ("oversampled", "expected"), [(0, (640, 480)), (2, (80, 60)), (4, (160, 120)), (9, (320, 240))]
)
def test_a_large_jpeg_is_decoded_no_larger_than_need_be(oversampled: int, expected: tuple[int, int]) -> None:
    """Halved, halved again, at most by 8, and never below so many times 30 pixels."""
    photo = as_jpeg(gradient(640, 480).rotate(90, expand=True))
    with images.decoded(photo, 26, 26 * oversampled) as image:
        assert image.size == expected[::-1]


def test_so_decoded_it_looks_the_same() -> None:
    x, y = np.meshgrid(np.linspace(0, 6, 640), np.linspace(0, 4, 480))
    waves = np.stack([np.sin(x), np.cos(y), np.sin(x + y)], axis=-1)
    photo = as_jpeg(Image.fromarray((127 + 100 * waves).astype(np.uint8)))
    whole, quick = (prepared(photo, replace(SMALL, oversampled=times)).astype(int) for times in (0, 2))
    assert not (whole == quick).all()
    assert np.abs(whole - quick).max() <= 6
    assert (prepared(gradient(640, 480), replace(SMALL, oversampled=2)) == prepared(gradient(640, 480), SMALL)).all()


def test_a_part_is_cut_from_the_whole_whatever_is_asked() -> None:
    part = Crop(as_jpeg(gradient(640, 480)), (0.5, 0.5, 0.1, 0.1))
    assert (prepared(part, replace(SMALL, oversampled=2)) == prepared(part, SMALL)).all()


def test_a_progressive_jpeg_counts_as_large_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its decoder keeps all of it, however small a picture it makes of it."""
    monkeypatch.setattr(images, "MAX_BYTES", 640 * 480 * 8 - 1)
    with pytest.raises(ImageError, match="307,200 pixels"):
        prepared(as_jpeg(gradient(640, 480), progressive=True), replace(SMALL, oversampled=2))


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


@pytest.mark.parametrize("mode", ["RGBA", "LA", "PA", "P"])
def test_every_value_at_every_transparency_is_laid_on_white_as_pillow_composes_it(mode: str) -> None:
    value, alpha = (side.astype(np.uint8) for side in np.meshgrid(np.arange(256), np.arange(256)))
    picture = Image.fromarray(np.stack([value, 255 - value, value // 2, alpha], axis=-1))
    if mode == "P":
        picture = picture.convert("RGB").quantize(64)
        picture.info["transparency"] = bytes(range(0, 256, 4))
    picture = picture if picture.mode == mode else picture.convert(mode)
    white = Image.new("RGBA", picture.size, "white")
    expected = Image.alpha_composite(white, picture.convert("RGBA")).convert("RGB")
    assert (np.asarray(decode(picture)) == np.asarray(expected)).all()


@pytest.mark.parametrize("kind", [np.uint16, np.int32])
def test_sixteen_bits_are_converted_in_strips(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(depth, "STRIP", 100)
    values: np.ndarray = np.arange(30 * 50).reshape(30, 50).astype(kind) * 40
    assert (np.asarray(decode(Image.fromarray(values)))[..., 0] == values >> 8).all()


def png_header(width: int, height: int, *more: bytes) -> bytes:
    """A PNG that claims a size and has no pixels."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(more) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def tiff_of_one_tile(side: int) -> bytes:
    """A TIFF of 10 x 10 pixels, cut from one tile that has far more."""
    data = zlib.compress(bytes(100))
    tags = {256: 10, 257: 10, 258: 8, 259: 8, 262: 1, 277: 1, 322: side, 323: side, 324: 8, 325: len(data)}
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags.items())
    return b"II*\0" + struct.pack("<I", 8 + len(data)) + data + struct.pack("<H", len(tags)) + entries + bytes(4)


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
        (png_header(10, 10, chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(2**21)))), "cannot be decoded: .*too large"),
        (png_header(10, 10, chunk(b"iCCP", b"a\0\0" + zlib.compress(bytes(2**21)))), "cannot be decoded: .*too large"),
        (tiff_of_one_tile(20_000), "400,000,000 pixels; at most 128,000,000 are read of TIFF"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n", "not an image that is read: JPEG, PNG"),
    ],
    ids=[
        "empty",
        "text",
        "truncated",
        "huge",
        "bomb",
        "no pixels",
        "text bomb",
        "profile bomb",
        "tile bomb",
        "program",
    ],
)
def test_bad_files_are_named_with_the_reason(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "bad.jpg"
    path.write_bytes(content)
    with pytest.raises(ImageError, match=reason) as caught:
        decode(path)
    assert caught.value.source == str(path)


def test_formats_whose_decoders_keep_copies_are_read_up_to_fewer_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "MAX_BYTES", 1000)
    for kind in ("PNG", "JPEG", "BMP"):
        assert decode(saved(gradient(10, 10), kind)).size == (10, 10)
    for kind in ("WEBP", "JPEG2000"):
        with pytest.raises(ImageError, match=f"has 100 pixels; at most .. are read of {kind}"):
            decode(saved(gradient(10, 10), kind))


def saved(image: Image.Image, kind: str) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind)
    return buffer.getvalue()


def test_files_are_looked_for_by_the_names_of_the_formats_that_are_read() -> None:
    known = Image.registered_extensions()
    for name, suffixes in images.FORMATS.items():
        assert {known.get(suffix, name) for suffix in suffixes} == {name}


def test_the_first_of_several_frames_is_the_image() -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (9, 9), "red").save(buffer, "GIF", save_all=True, append_images=[Image.new("RGB", (9, 9), "blue")])
    assert decode(buffer.getvalue()).getpixel((0, 0)) == (255, 0, 0)


def test_a_prepared_image_keeps_no_larger_one_alive() -> None:
    assert prepared(gradient(500, 40), SMALL).base is None


def test_a_picture_without_pixels_is_refused() -> None:
    with pytest.raises(ImageError, match="has no pixels"):
        prepared(Image.new("RGB", (0, 9)), SMALL)


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
    assert "oversampled" not in SMALL.as_dict()  # so the fingerprints of older models stay what they were
    quick = replace(SMALL, oversampled=2)
    assert Preprocess.of(quick.as_dict()) == quick
    with pytest.raises(ValueError, match="oversampled"):
        Preprocess.of({**SMALL.as_dict(), "oversampled": -1})
    with pytest.raises(ModelError, match="version 99"):
        Preprocess.of({**SMALL.as_dict(), "version": 99})


def test_whatever_a_decoder_raises_is_a_bad_image(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object, **options: object) -> None:
        raise RuntimeError("Failed to decode frame 0")  # as that of AVIF does

    monkeypatch.setattr(Image, "open", fails)
    with pytest.raises(ImageError, match="cannot be decoded: Failed to decode frame 0"):
        decode(b"\0\0\0 ftypavif")


@given(st.sampled_from(images.formats()), st.data())
def test_damaged_files_are_read_or_refused(kind: str, data: st.DataObject) -> None:
    content = bytearray(saved(gradient(20, 12), kind))
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with suppress(ImageError):
        assert prepared(bytes(content), SMALL).shape == (28, 28, 3)
