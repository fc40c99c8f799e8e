"""Pictures that a register was shown, where they are still there and still the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from firstsight.core.errors import ImageError
from firstsight.core.protocols import Silent
from firstsight.data.crops import Crop
from firstsight.data.folder import read_folder
from firstsight.data.images import read
from firstsight.data.pack import packed_images, write_pack
from firstsight.evidence.originals import CHANGED, FORGOTTEN, GONE, NO_FILE, Originals, original


@pytest.fixture
def red(tmp_path: Path) -> Path:
    path = tmp_path / "birds" / "robin" / "1.png"
    path.parent.mkdir(parents=True)
    Image.new("RGB", (8, 8), "red").save(path)
    return path


def reason(place: object, content: str) -> str:
    with pytest.raises(ImageError) as caught:
        original(str(place), content)
    return caught.value.reason


def test_a_file_that_is_as_it_was(red: Path) -> None:
    content = read(red)[1].hex()
    assert original(Originals().place(str(red)), content) == red.read_bytes()


def test_what_is_wrong_is_said_in_a_word_or_two(red: Path) -> None:
    content = read(red)[1].hex()
    assert reason(red, "0" * 64) == CHANGED
    red.unlink()
    assert reason(red, content) == GONE
    assert reason("feature 3f2a", content) == NO_FILE
    assert reason(red.parent, content) == GONE


def test_an_image_of_a_pack(red: Path, tmp_path: Path) -> None:
    pack = tmp_path / "birds.tar"
    write_pack(read_folder(tmp_path / "birds"), pack, 8, Silent())
    (image,) = packed_images(pack)
    content, originals = read(image)[1].hex(), Originals()
    assert original(originals.place(str(image)), content) == image.read_bytes()
    assert originals.place(f"{pack}:images/none.webp") == f"{pack}:images/none.webp"
    pack.unlink()
    assert reason(originals.place(str(image)), content) == GONE
    assert reason(Originals().place(str(image)), content) == GONE


def test_a_part_of_a_frame_and_what_was_forgotten(red: Path) -> None:
    part = Originals().place(str(red), (0.0, 0.0, 0.5, 0.5))
    assert part == Crop(str(red), (0.0, 0.0, 0.5, 0.5))
    found = original(part, read(part)[1].hex())
    assert isinstance(found, Crop)
    assert reason("", "") == FORGOTTEN
