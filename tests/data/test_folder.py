"""A folder per category, and what is wrong with other folders."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from firstsight.core.errors import DataError
from firstsight.data import images
from firstsight.data.folder import check_support, read_folder, walk
from firstsight.data.source import find_images


def touch(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


def test_images_are_read_recursively_in_name_order(tmp_path: Path) -> None:
    touch(
        tmp_path,
        "b/2.JPG",
        "b/1.png",
        "a/deep/er/3.webp",
        "a/notes.txt",
        "a/.hidden.jpg",
        ".git/x.jpg",
        "loose.jpg",
        "empty/x.txt",
    )
    data = read_folder(tmp_path)
    assert data.categories == ("a", "b")
    assert list(data.names) == ["a/deep/er/3.webp", "b/1.png", "b/2.JPG"]
    assert list(data.images) == [tmp_path / name for name in data.names]
    assert data.labels == (0, 1, 1)
    assert data.counts() == [1, 2]


def test_an_empty_folder_says_what_is_expected(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="one folder per category"):
        read_folder(tmp_path)


def test_loose_images_are_counted_in_the_complaint(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="2 loose images"):
        read_folder(touch(tmp_path, "1.jpg", "2.jpg"))


def test_a_missing_folder_and_a_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        read_folder(tmp_path / "none")
    with pytest.raises(DataError, match="is a file"):
        read_folder(touch(tmp_path, "x.jpg") / "x.jpg")


def test_a_single_category_cannot_be_learnt_from(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="single category, 'a'"):
        check_support(read_folder(touch(tmp_path, "a/1.jpg", "a/2.jpg")), tmp_path)


def test_a_category_with_one_image_is_a_warning(tmp_path: Path) -> None:
    data = read_folder(touch(tmp_path, "a/1.jpg", "a/2.jpg", "b/1.jpg"))
    assert check_support(data, tmp_path) == ["category 'b' has 1 image: its place will be a guess"]


def test_files_are_taken_as_named_and_folders_walked(tmp_path: Path) -> None:
    touch(tmp_path, "d/2.jpg", "d/1.jpg", "note.txt")
    found = find_images([tmp_path / "note.txt", tmp_path / "d"])
    assert [path.name for path in found] == ["note.txt", "1.jpg", "2.jpg"]


def test_a_folder_that_may_not_be_read_is_reported_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch(tmp_path, "a/1.jpg", "b/1.jpg", "c/1.jpg")
    scandir = os.scandir

    def guarded(folder: Path) -> Any:
        if Path(folder).name == "b":
            raise PermissionError
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", guarded)
    assert [path.relative_to(tmp_path).as_posix() for path in walk(tmp_path)] == ["a/1.jpg", "b", "c/1.jpg"]


def test_what_is_left_out_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "formats", lambda: ("JPEG", "PNG"))  # as without pillow-heif
    touch(tmp_path, "a/1.jpg", "a/2.HEIC", "b/1.jpg", "b/2.jpg", "c/1.pdf", "d/.keep", "loose.png", "notes.txt")
    data = read_folder(tmp_path)
    assert data.left_out == (
        "category 'a': files with suffix .HEIC were left out; for HEIC, install the extra heif: "
        "pip install 'firstsight[heif]'",
        "category 'c': files with suffix .pdf were left out",
        "category 'd': holds no images",
        "loose.png lies beside the category folders and was left out",
    )
    assert set(data.left_out) < set(check_support(data, tmp_path))
