"""Pictures that were sent: kept whole under their digest, found by every part that opens pictures, and forgotten."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tiny_store import MODEL, arrival, new_store

from firstsight.core.errors import BadRequest, DiskError, ImageError, SettingsError
from firstsight.core.protocols import Silent
from firstsight.core.sightings import Sighting
from firstsight.data import thumbnails
from firstsight.data.images import ImageLike, decode, read
from firstsight.data.metadata import sighting_of
from firstsight.exports.export import export
from firstsight.store.groups import Arrival
from firstsight.store.originals import Originals
from firstsight.store.pictures import Pictures
from firstsight.store.relocate import find
from firstsight.store.store import Store
from firstsight.store.views import member


def photograph(colour: str = "red", size: int = 40, place: str = "Secretcam") -> bytes:
    """A JPEG that says which camera took it."""
    told = Image.Exif()
    told[0x0110] = place
    buffer = io.BytesIO()
    pixels = np.random.default_rng(len(colour)).integers(0, 255, (size, size, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(buffer, "JPEG", exif=told)
    return buffer.getvalue()


def sent(store: Store, content: bytes, name: str = "a.jpg", withheld: bool = False, key: str = "") -> int:
    """An image arrives by itself, and is kept as a service keeps it."""
    digest = read(content)[1]
    store.pictures.put(content, digest, withheld)
    told = Sighting(withheld=withheld)
    (answer,) = store.record([Arrival(f"upload:{name}", digest, arrival(7).feature, told, key=key)], MODEL)
    assert answer.image is not None
    return answer.image


def files(path: Path) -> list[str]:
    return sorted(each.name for each in path.with_name(f"{path.name}-images").rglob("*") if each.is_file())


def of(content: bytes) -> Callable[[], ImageLike]:
    return lambda: content


def test_what_came_is_kept_under_its_digest(tmp_path: Path) -> None:
    content, pictures = photograph(), Pictures(tmp_path / "r.db-images")
    digest = read(content)[1]
    assert pictures.path(digest) is None
    path = pictures.put(content, digest)
    assert path == tmp_path / "r.db-images" / digest.hex()[:2] / digest.hex()
    assert path == pictures.path(digest) == pictures.path(digest.hex())
    assert path.read_bytes() == content
    before = path.stat().st_mtime_ns
    assert pictures.put(content, digest) == path
    assert path.stat().st_mtime_ns == before  # nothing was to do
    pictures.remove(digest)
    assert pictures.path(digest) is None
    pictures.remove(digest)  # which is done


def test_a_copy_without_metadata_is_found_under_the_digest_of_what_came(tmp_path: Path) -> None:
    content, pictures = photograph(), Pictures(tmp_path / "r.db-images")
    digest = read(content)[1]
    path = pictures.put(content, digest, withheld=True)
    assert path == pictures.path(digest)
    assert b"Secretcam" in content
    assert b"Secretcam" not in path.read_bytes()
    assert sighting_of(path, path.read_bytes(), True).camera is None
    assert np.array_equal(np.asarray(decode(path)), np.asarray(decode(content)))  # not a pixel is another


@pytest.mark.parametrize("broken", [b"", b"no image", photograph()[:200]])
def test_what_is_no_image_cannot_be_kept_without_metadata(tmp_path: Path, broken: bytes) -> None:
    pictures = Pictures(tmp_path / "r.db-images")
    with pytest.raises(ImageError):
        pictures.put(broken, b"d" * 32, withheld=True)
    assert pictures.path(b"d" * 32) is None


def test_a_write_that_is_broken_off_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = Pictures(tmp_path / "r.db-images")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskError, match="No space left"):
        pictures.put(photograph(), b"d" * 32)
    assert [each for each in (tmp_path / "r.db-images").rglob("*") if each.is_file()] == []


def test_a_small_copy_is_made_once_and_kept(tmp_path: Path) -> None:
    content, pictures = photograph(), Pictures(tmp_path / "r.db-images")
    digest, asked = read(content)[1], []

    def picture() -> bytes:
        asked.append(1)
        return content

    made = pictures.thumbnail(digest, picture, 112)
    assert Image.open(io.BytesIO(made)).size == (112, 112)
    assert pictures.thumbnail(digest, picture, 112) == made
    assert Pictures(pictures.folder).thumbnail(digest, picture, 112) == made
    assert len(asked) == 1
    assert Image.open(io.BytesIO(pictures.thumbnail(digest, picture, 224))).size == (224, 224)
    with pytest.raises(BadRequest, match="112, 224"):
        pictures.thumbnail(digest, picture, 4096)


def test_many_who_ask_at_once_have_one_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content, pictures = photograph(), Pictures(tmp_path / "r.db-images")
    made, ready, real = [], threading.Barrier(8), thumbnails.small

    def slow(picture: ImageLike, side: int) -> bytes:
        made.append(1)
        return real(picture, side)

    def ask(_: int) -> bytes:
        ready.wait(20)
        return pictures.thumbnail(read(content)[1], of(content), 112)

    monkeypatch.setattr("firstsight.store.pictures.small", slow)
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1
    assert len(made) == 1


@pytest.mark.parametrize("hostile", [b"", b"RIFF\0\0\0\0WEBPVP8 ", b"<script>", photograph(), b"x" * 2_000_000])
def test_what_is_no_small_copy_is_made_anew(tmp_path: Path, hostile: bytes) -> None:
    content, pictures = photograph(), Pictures(tmp_path / "r.db-images")
    digest = read(content)[1]
    good = pictures.thumbnail(digest, of(content), 112)
    (kept,) = (each for each in (tmp_path / "r.db-images").rglob("*.webp"))
    kept.write_bytes(hostile)
    assert pictures.thumbnail(digest, of(content), 112) == good
    kept.unlink()
    kept.mkdir()  # in its place
    assert pictures.thumbnail(digest, of(content), 112) == good
    kept.rmdir()
    kept.symlink_to("/dev/zero")
    assert pictures.thumbnail(digest, of(content), 112) == good
    with pytest.raises(ImageError):
        pictures.thumbnail(b"e" * 32, of(b"no image"), 112)


def test_without_a_folder_nothing_is_kept() -> None:
    pictures = Pictures(None)
    with pytest.raises(SettingsError, match="in memory"):
        pictures.put(photograph(), b"d" * 32)
    assert pictures.path(b"d" * 32) is None
    assert pictures.thumbnail(b"d" * 32, of(photograph()), 112)
    pictures.remove(b"d" * 32)


def test_the_folder_is_beside_the_register_wherever_its_name_leads(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link.db").symlink_to(tmp_path / "real" / "r.db")
    with new_store(tmp_path / "real" / "r.db"):
        pass
    with Store.open(tmp_path / "link.db", write=False) as store:
        assert store.pictures.folder == tmp_path / "real" / "r.db-images"
        assert store.view().pictures is store.pictures


def test_small_copies_of_files_are_kept_too(tmp_path: Path) -> None:
    file = tmp_path / "1.jpg"
    file.write_bytes(photograph())
    with new_store(tmp_path / "r.db") as store:
        store.record([Arrival(str(file), read(file)[1], arrival(7).feature)], MODEL)
        shown = member(store.view(), 2)
        made = Originals(store.pictures).thumbnail(shown, 112)
        file.unlink()
        assert Originals(store.pictures).thumbnail(shown, 112) == made
        store.forget([2])
        assert files(tmp_path / "r.db") == []
        with pytest.raises(ImageError, match="forgotten"):
            Originals(store.pictures).thumbnail(member(store.view(), 2), 112)


def test_forgetting_removes_the_picture_when_no_other_image_has_it(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    with new_store(path) as store:
        one, again, other = sent(store, photograph()), sent(store, photograph()), sent(store, photograph("green"))
        for number in (one, other):
            Originals(store.pictures).thumbnail(member(store.view(), number), 112)
        assert len(files(path)) == 4
        store.undo(one, followers=True)  # it may be brought back
        store.redo()
        store.forget([one])
        assert len(files(path)) == 4
        store.forget([again])
        assert len(files(path)) == 2
        store.forget([other, other])
        assert files(path) == []


def test_two_of_one_content_forgotten_at_once_leave_none(tmp_path: Path) -> None:
    with new_store(tmp_path / "r.db") as store:
        store.forget([sent(store, photograph()), sent(store, photograph(), withheld=True)])
    assert files(tmp_path / "r.db") == []


def test_what_a_reader_may_not_forget_stays(tmp_path: Path) -> None:
    with new_store(tmp_path / "r.db") as store:
        number = sent(store, photograph())
        with Store.open(tmp_path / "r.db", write=False) as reader, pytest.raises(Exception, match="for reading"):
            reader.forget([number])
        with pytest.raises(Exception, match="not an image"):
            store.forget([number, 1])
    assert len(files(tmp_path / "r.db")) == 1


def test_what_was_sent_is_exported(tmp_path: Path) -> None:
    with new_store(tmp_path / "r.db") as store:
        sent(store, photograph(), "../../a:b.jpg")
        sent(store, photograph("green"), "b.jpg", withheld=True)
        sent(store, photograph("blue"), "no suffix")
        made = export(store.view(), tmp_path / "out", "folder")
        assert made.missing == []
        names = {each.name: each.read_bytes() for each in (tmp_path / "out").rglob("*.jpg")}
        assert sorted(names) == ["000002-a_b.jpg", "000003-b.jpg", "000004-no suffix.jpg"]
        assert names["000002-a_b.jpg"] == photograph()
        assert b"Secretcam" not in names["000003-b.jpg"]


def test_a_copy_of_a_register_has_its_pictures(tmp_path: Path) -> None:
    with new_store(tmp_path / "r.db") as store:
        number = sent(store, photograph())
        Originals(store.pictures).thumbnail(member(store.view(), number), 112)
        store.back_up(tmp_path / "copy" / "c.db")
    with Store.open(tmp_path / "copy" / "c.db", write=False) as copy:
        assert Originals(copy.pictures).picture(member(copy.view(), number)) == photograph()
    assert len(files(tmp_path / "copy" / "c.db")) == 1  # small ones are made again


def test_a_picture_that_was_lost_is_found_by_its_content(tmp_path: Path) -> None:
    with new_store(tmp_path / "r.db") as store:
        number = sent(store, photograph())
        assert find(store.view(), tmp_path, Silent()) == ({}, [])
        (tmp_path / "card").mkdir()
        (tmp_path / "card" / "x.jpg").write_bytes(photograph())
        store.pictures.remove(read(photograph())[1])
        assert find(store.view(), tmp_path / "card", Silent()).found == {number: str(tmp_path / "card" / "x.jpg")}
