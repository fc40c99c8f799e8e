"""Packs: what goes in comes out, in order, and what is wrong with one is said."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from firstsight.core.errors import BadImages, DataError, ImageError
from firstsight.core.protocols import Silent
from firstsight.data.folder import read_folder
from firstsight.data.images import decode, read
from firstsight.data.pack import PackedImage, read_pack, write_pack


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    for name, size in (("b/large.jpg", (300, 200)), ("a/small.png", (40, 60)), ("a/deep/tall.jpg", (100, 400))):
        path = tmp_path / "images" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)).save(path)
    return tmp_path / "images"


def test_a_packed_folder_is_read_straight_from_the_tar(folder: Path, tmp_path: Path) -> None:
    data = read_folder(folder)
    write_pack(data, tmp_path / "p.tar", 64, Silent())
    packed = read_pack(tmp_path / "p.tar")
    assert (packed.categories, packed.labels) == (data.categories, data.labels)
    assert list(packed.names) == ["images/a/deep/tall.webp", "images/a/small.webp", "images/b/large.webp"]
    assert [decode(image).size for image in packed.images] == [(64, 256), (40, 60), (96, 64)]
    image = packed.images[0]
    assert isinstance(image, PackedImage)
    assert read(image)[0] == image.read_bytes()
    assert str(image).endswith("p.tar:images/a/deep/tall.webp")


def test_names_that_differ_in_their_suffix_stay_apart(tmp_path: Path) -> None:
    for name in ("a/1.jpg", "a/1.png", "b/1.jpg"):
        (tmp_path / "x" / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (9, 9)).save(tmp_path / "x" / name)
    write_pack(read_folder(tmp_path / "x"), tmp_path / "p.tar", 64, Silent())
    assert len(set(read_pack(tmp_path / "p.tar").names)) == 3


def test_bad_images_are_all_named_and_no_pack_is_made(folder: Path, tmp_path: Path) -> None:
    for name in ("a/bad1.jpg", "b/bad2.jpg"):
        (folder / name).write_bytes(b"no picture")
    with pytest.raises(BadImages, match=r"(?s)bad1.*bad2"):
        write_pack(read_folder(folder), tmp_path / "p.tar", 64, Silent())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["images"]


def test_what_is_wrong_with_a_pack_is_said(folder: Path, tmp_path: Path) -> None:
    tar, index = tmp_path / "p.tar", tmp_path / "p.json"
    with pytest.raises(DataError, match="does not exist"):
        read_pack(tar)
    write_pack(read_folder(folder), tar, 64, Silent())
    content = json.loads(index.read_text())
    for change, why in (
        ({"files": [*content["files"], "images/x.webp"], "labels": [*content["labels"], 0]}, "lacks 1 images"),
        ({"labels": content["labels"][:-1]}, "no index"),
        ({"labels": [7, 7, 7]}, "no index"),
        ({"classes": 5}, "no index"),
    ):
        index.write_text(json.dumps({**content, **change}))
        with pytest.raises(DataError, match=why):
            read_pack(tar)
    index.write_text("[]")
    with pytest.raises(DataError, match="no index"):
        read_pack(tar)
    index.unlink()
    with pytest.raises(DataError, match=r"p\.json is missing"):
        read_pack(tar)
    index.write_text(json.dumps(content))
    tar.write_bytes(b"not a tar" * 100)
    with pytest.raises(DataError, match="no plain tar"):
        read_pack(tar)


def test_a_damaged_image_in_a_pack_is_named(folder: Path, tmp_path: Path) -> None:
    tar = tmp_path / "p.tar"
    write_pack(read_folder(folder), tar, 64, Silent())
    image = read_pack(tar).images[0]
    assert isinstance(image, PackedImage)
    whole = bytearray(tar.read_bytes())
    whole[image.offset : image.offset + image.size] = bytes(image.size)
    tar.write_bytes(whole)
    with pytest.raises(ImageError, match=r"p\.tar:images/a/deep/tall\.webp"):
        decode(image)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"labels": [True, False, True]}, "label True is no position"),
        ({"labels": [0.0, 1.0, 1.0]}, "label 0.0 is no position"),
        ({"labels": ["", "", ""]}, "label '' is no position"),
        ({"labels": [0, -1, 1]}, "label -1 is no position among 2 classes"),
        ({"labels": {"0": 0, "1": 1, "2": 1}}, "not a label for every file"),
        ({"files": [["x"], ["y"], ["z"]]}, "the name of every file is text"),
        ({"files": ["x", "x", "y"]}, "file 'x' is there 2 times"),
        ({"classes": ["moth", "moth"]}, "class 'moth' is there 2 times"),
        ({"classes": ["", "moth"]}, "the name of every class is text"),
        ({"classes": "ab"}, "the name of every class is text"),
        ({"files": [], "labels": []}, "at least one"),
    ],
)
def test_an_index_that_cannot_be_is_refused_with_the_reason(
    folder: Path, tmp_path: Path, change: dict[str, Any], why: str
) -> None:
    write_pack(read_folder(folder), tmp_path / "p.tar", 64, Silent())
    content = json.loads((tmp_path / "p.json").read_text())
    (tmp_path / "p.json").write_text(json.dumps({**content, **change}))
    with pytest.raises(DataError, match="no index of a pack") as caught:
        read_pack(tmp_path / "p.tar")
    assert why in caught.value.what


def test_an_index_nested_without_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.tar").touch()
    (tmp_path / "p.json").write_text("[" * 100_000)
    with pytest.raises(DataError, match="no index of a pack"):
        read_pack(tmp_path / "p.tar")


values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=6,
)


@given(st.fixed_dictionaries({"classes": values, "files": values, "labels": values}) | values)
def test_whatever_an_index_says_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, index: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "any.tar"
    tarfile.open(path, "w").close()
    path.with_suffix(".json").write_text(json.dumps(index))
    with pytest.raises(DataError):  # the tar is empty
        read_pack(path)
