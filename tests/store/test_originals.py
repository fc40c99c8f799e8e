"""Pictures that a register was shown, where they are still there and still the same."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

from firstsight.core.errors import ImageError
from firstsight.core.protocols import Silent
from firstsight.data.crops import Crop
from firstsight.data.folder import read_folder
from firstsight.data.images import decode, read
from firstsight.data.pack import packed_images, write_pack
from firstsight.store.originals import CHANGED, FORGOTTEN, NO_FILE, Originals, original
from firstsight.store.pictures import GONE, NOT_KEPT, Kept, Pictures


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


@dataclass(frozen=True)
class Shown:
    """What a register says of an image."""

    source: str
    content: str = ""
    box: tuple[float, ...] = ()


def nowhere() -> Originals:
    return Originals(Pictures(None))


def test_a_file_that_is_as_it_was(red: Path) -> None:
    content = read(red)[1].hex()
    assert nowhere().picture(Shown(str(red), content)) == red.read_bytes()


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
    content, originals = read(image)[1].hex(), nowhere()
    assert originals.picture(Shown(str(image), content)) == image.read_bytes()
    assert originals.place(Shown(f"{pack}:images/none.webp")) == f"{pack}:images/none.webp"
    pack.unlink()
    assert reason(originals.place(Shown(str(image))), content) == GONE
    assert reason(nowhere().place(Shown(str(image))), content) == GONE


def test_a_part_of_a_frame_and_what_was_forgotten(red: Path) -> None:
    part = nowhere().place(Shown(str(red), box=(0.0, 0.0, 0.5, 0.5)))
    assert part == Crop(str(red), (0.0, 0.0, 0.5, 0.5))
    found = original(part, read(part)[1].hex())
    assert isinstance(found, Crop)
    assert reason("", "") == FORGOTTEN


def test_what_was_sent_is_found_where_it_is_kept_and_never_as_a_path(
    red: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(red.parent)
    (red.parent / "upload:1.png").write_bytes(red.read_bytes())  # a file of that very name
    content, pictures = read(red)[1], Pictures(tmp_path / "r.db-images")
    sent, originals = Shown("upload:1.png", content.hex()), Originals(pictures)
    for name in ("upload:1.png", f"upload:{red}", "upload:../robin/1.png"):
        assert isinstance(originals.place(Shown(name, content.hex())), Kept)
        assert originals.file(Shown(name, content.hex())) is None
        with pytest.raises(ImageError, match=NOT_KEPT):
            originals.picture(Shown(name, content.hex()))
    pictures.put(red.read_bytes(), content)
    assert originals.picture(sent) == red.read_bytes()
    assert originals.file(sent) == pictures.path(content)
    (pictures.path(content) or red).write_bytes(b"another")
    with pytest.raises(ImageError, match=CHANGED):
        originals.picture(sent)


def test_a_part_of_what_was_sent_is_kept_as_its_frame(red: Path, tmp_path: Path) -> None:
    part = Crop(str(red), (0.0, 0.0, 0.5, 0.5))
    content, pictures = read(part)[1], Pictures(tmp_path / "r.db-images")
    pictures.put(red.read_bytes(), content)
    sent = Shown("upload:1.png", content.hex(), part.box)
    assert decode(Originals(pictures).picture(sent)).size == (4, 4)


def test_a_picture_that_is_kept_comes_before_a_file_that_moved(red: Path, tmp_path: Path) -> None:
    content, pictures = read(red)[1], Pictures(tmp_path / "r.db-images")
    pictures.put(red.read_bytes(), content)
    assert Originals(pictures).picture(Shown("/nowhere/1.png", content.hex())) == red.read_bytes()
