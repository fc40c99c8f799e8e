"""Parts of frames: where they lie, how they are decoded and told apart, and how they are shown in their frame."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from firstsight.core.errors import ImageError
from firstsight.data.crops import Crop, box_of, picture_of, pixels_of
from firstsight.data.images import Preprocess, decode, describe, in_frame, prepared, read, thumbnail

HALF = (0.0, 0.0, 0.5, 1.0)
PREPROCESS = Preprocess(8, 8, (0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
sides = st.floats(-0.5, 1.5, allow_nan=False)
boxes = st.tuples(st.floats(0, 0.9), st.floats(0, 0.9), st.floats(0.02, 0.1), st.floats(0.02, 0.1))


@pytest.fixture
def frame(tmp_path: Path) -> Path:
    """Red on the left, blue on the right; turned on its side, as the EXIF data say."""
    picture = Image.new("RGB", (40, 20), "red")
    picture.paste("blue", (20, 0, 40, 20))
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees to be upright
    picture.transpose(Image.Transpose.ROTATE_90).save(tmp_path / "frame.png", exif=exif)
    return tmp_path / "frame.png"


def test_a_part_is_cut_from_the_upright_frame(frame: Path) -> None:
    left, right = (np.asarray(decode(Crop(frame, (x, 0.0, 0.5, 1.0)))) for x in (0.0, 0.5))
    assert left.shape == right.shape == (20, 20, 3)
    assert (left == (255, 0, 0)).all()
    assert (right == (0, 0, 255)).all()
    assert prepared(Crop(frame.read_bytes(), HALF), PREPROCESS).shape == (8, 8, 3)
    assert Image.open(io.BytesIO(thumbnail(Crop(frame, HALF)))).size == (96, 96)


def test_every_part_has_a_content_of_its_own(frame: Path) -> None:
    whole = read(frame)[1]
    contents = [read(Crop(source, box))[1] for source in (frame, frame.read_bytes()) for box in (HALF, (0, 0, 1, 1))]
    assert contents[:2] == contents[2:]
    assert len({whole, *contents}) == 3
    picture, _ = read(Crop(frame, HALF))
    assert (np.asarray(decode(picture)) == np.asarray(decode(Crop(frame, HALF)))).all()


def test_a_part_is_called_by_its_frame_and_place(frame: Path) -> None:
    assert describe(Crop(frame, HALF)) == f"{frame} [0, 0, 0.5, 1]"
    assert picture_of(str(frame), HALF) == Crop(str(frame), HALF)
    assert picture_of(str(frame), ()) == str(frame)


def test_a_part_is_shown_in_its_frame(frame: Path) -> None:
    shown = Image.open(io.BytesIO(in_frame(Crop(frame, (0.25, 0.25, 0.5, 0.5)))))
    plain = Image.open(io.BytesIO(in_frame(frame)))
    assert shown.size == plain.size == (40, 20)
    assert np.abs(np.asarray(shown).astype(int) - np.asarray(plain)).max() > 100


def test_errors_name_the_frame(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"gone\.jpg \[0, 0, 0\.5, 1\]: does not exist"):
        decode(Crop(tmp_path / "gone.jpg", HALF))
    with pytest.raises(ImageError, match=r"gone\.jpg"):
        read(Crop(tmp_path / "gone.jpg", HALF))
    with pytest.raises(ImageError, match="part of a part"):
        decode(Crop(Crop(tmp_path / "gone.jpg", HALF), HALF))


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ((2.0, 0.0, 0.1, 0.1), "outside"),
        ((-0.5, 0.0, 0.2, 0.1), "outside"),
        ((0.1, 0.1, 0.0, 0.1), "no size"),
        ((0.1, 0.1, -0.3, 0.1), "no size"),
        ((float("nan"), 0.1, 0.1, 0.1), "finite"),
        ((0.1, float("inf"), 0.1, 0.1), "finite"),
        ((0.1, 0.1, 0.1), "no box"),
        (("0", "0", "1", "1"), "no box"),
        ((True, 0, 1, 1), "no box"),
    ],
)
def test_what_is_no_box_is_refused(values: Any, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        box_of(values)


@given(sides, sides, st.floats(-0.2, 1.5), st.floats(-0.2, 1.5))
def test_a_box_is_cut_to_its_frame(left: float, top: float, width: float, height: float) -> None:
    try:
        x, y, w, h = box_of((left, top, width, height))
    except ValueError:
        return
    assert 0 <= x <= x + w <= 1 + 1e-4
    assert 0 <= y <= y + h <= 1 + 1e-4


@given(boxes)
def test_a_box_that_a_log_kept_leads_to_the_same_content(values: Any) -> None:
    box = box_of(values)
    kept = json.loads(json.dumps(box))
    assert picture_of("a.jpg", kept).content(b"frame") == Crop("a.jpg", box).content(b"frame")


@given(boxes, st.integers(1, 3000), st.integers(1, 3000))
def test_the_square_around_a_box_lies_in_the_frame_and_holds_it(box: Any, width: int, height: int) -> None:
    left, top, right, bottom = pixels_of(box, (width, height))
    assert 0 <= left < right <= width
    assert 0 <= top < bottom <= height
    assert left <= box[0] * width + 1
    assert right >= min(width, (box[0] + box[2]) * width) - 1
    assert bottom >= min(height, (box[1] + box[3]) * height) - 1
    assert right - left == bottom - top or right - left == width or bottom - top == height
