"""Files of boxes: both formats, which frame is which file, and what is wrong with some of them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from firstsight.core.errors import DataError, ImageError
from firstsight.data import boxes as module
from firstsight.data.boxes import Boxes, Refused, read_boxes
from firstsight.data.crops import Crop
from firstsight.data.images import read

KINDS = {"1": "animal", "2": "person", "3": "vehicle"}


def detection(box: Any = (0.1, 0.2, 0.3, 0.4), conf: Any = 0.9, category: str = "1") -> dict[str, Any]:
    return {"category": category, "conf": conf, "bbox": list(box)}


def found(path: Path, *images: dict[str, Any]) -> Boxes:
    content = {"images": images, "detection_categories": KINDS, "info": {"format_version": "1.3"}}
    path.write_text(json.dumps(content))
    return read_boxes(path)


def parts(boxes: Boxes, *sources: Any, threshold: float = 0.2) -> tuple[list[Any], Counter[str]]:
    counts: Counter[str] = Counter()
    return list(boxes.images(sources, threshold, counts)), counts


def test_every_box_that_is_sure_enough_is_an_image(tmp_path: Path) -> None:
    boxes = found(
        tmp_path / "md.json",
        {"file": "a/1.jpg", "detections": [detection(), detection((0.5, 0.5, 0.2, 0.2), 0.3), detection(conf=0.1)]},
        {"file": "a/2.jpg", "detections": [detection(conf=0.1)]},
        {"file": "a/3.jpg", "detections": []},
        {"file": "a/4.jpg", "detections": [detection(category="2"), detection(category="3")]},
    )
    sources = [tmp_path / "cards" / "a" / f"{i}.jpg" for i in (1, 2, 3, 4)]
    images, counts = parts(boxes, *sources)
    first = sources[0]
    assert images == [Crop(first, (0.1, 0.2, 0.3, 0.4), 0.9), Crop(first, (0.5, 0.5, 0.2, 0.2), 0.3)]
    assert counts == {"empty": 2, "others": 2}
    assert len(parts(boxes, *sources, threshold=0.5)[0]) == 1


def test_coco_boxes_are_measured_in_pixels(tmp_path: Path) -> None:
    content = {
        "images": [{"id": 7, "file_name": "1.jpg", "width": 200, "height": 100}],
        "annotations": [
            {"image_id": 7, "bbox": [20, 10, 100, 50], "category_id": 1},
            {"image_id": 7, "bbox": [0, 0, 20, 10], "category_id": 1, "score": 0.1},
        ],
        "categories": [{"id": 1, "name": "moth"}],
    }
    (tmp_path / "coco.json").write_text(json.dumps(content))
    images, _ = parts(read_boxes(tmp_path / "coco.json"), "1.jpg")
    assert images == [Crop("1.jpg", (0.1, 0.1, 0.5, 0.5), None)]  # an annotation without a score is a person's


def test_files_are_found_by_as_much_of_their_path_as_is_known(tmp_path: Path) -> None:
    boxes = found(
        tmp_path / "md.json",
        {"file": "D:\\cards\\a\\1.jpg", "detections": [detection((0.1, 0.1, 0.1, 0.1))]},
        {"file": "D:\\cards\\b\\1.jpg", "detections": [detection((0.2, 0.2, 0.2, 0.2))]},
        {"file": "site/2.jpg", "detections": [detection((0.3, 0.3, 0.3, 0.3))]},
    )
    images, _ = parts(boxes, Path("b/1.jpg"), tmp_path / "site" / "2.jpg", Path("1.jpg"), Path("c/1.jpg"), "9.jpg")
    assert [each.box[0] for each in images[:2]] == [0.2, 0.3]
    assert [type(each) for each in images[2:]] == [Refused] * 3
    with pytest.raises(ImageError, match=r"1\.jpg: may be any of 2 files of that name in md\.json"):
        read(images[2])
    with pytest.raises(ImageError, match="no detector has looked at it"):
        read(images[3])


def test_boxes_that_are_none_are_said_one_by_one(tmp_path: Path) -> None:
    wrong = [(2, 2, 0.1, 0.1), (0.1, 0.1, 0, 0), (float("nan"), 0, 1, 1), ("a", 0, 1, 1), (0.1, 0.1)]
    boxes = found(
        tmp_path / "md.json",
        {"file": "1.jpg", "detections": [detection(box) for box in wrong] + [detection((-0.1, 0.0, 0.5, 2.0))]},
        {"file": "2.jpg", "detections": None, "failure": "Failure image access"},
    )
    images, _ = parts(boxes, "1.jpg", "2.jpg")
    for each in images[:5]:
        with pytest.raises(ImageError, match=r"1\.jpg: left out: "):
            read(each)
    assert images[5].box == (0.0, 0.0, 0.4, 1.0)  # cut to its frame
    with pytest.raises(ImageError, match="could not read it: Failure image access"):
        read(images[6])


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[3]", "no file of boxes"),
        ('[{"file": "a", "detections": [{"confidence": 7, "bbox": [0, 0, 1, 1]}]}]', "expected 0 to 1"),
        ('[{"file": "a", "detections": [{"confidence": 1, "bbox": [0, 0]}]}]', "no file of boxes"),
        ("null", "no file of boxes"),
        ("{}", "no file of boxes"),
        ('{"images": 3}', "no file of boxes"),
        ('{"images": [{"file": 3}]}', "no file of boxes"),
        ('{"images": [{"file": "a", "detections": [{"conf": 0.9}]}]}', "no file of boxes"),
        ('{"images": [{"file": "a", "detections": [{"conf": NaN, "bbox": [0,0,1,1]}]}]}', "expected 0 to 1"),
        ('{"images": [{"file": "a", "detections": [{"conf": 7, "bbox": [0,0,1,1]}]}]}', "expected 0 to 1"),
        ('{"images": [{"id": 1, "file_name": "a", "width": 0, "height": 9}], "annotations": []}', "has no size"),
        ('{"images": [], "annotations": [{"image_id": 1, "bbox": [0, 0, 1, 1]}]}', "no file of boxes"),
    ],
)
def test_what_is_no_file_of_boxes_is_refused(tmp_path: Path, content: str, word: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(DataError, match=word):
        read_boxes(tmp_path / "x.json")


def test_a_file_too_large_to_hold_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 10)
    (tmp_path / "x.json").write_text('{"images": []}')
    with pytest.raises(DataError, match="at most 10 are read"):
        read_boxes(tmp_path / "x.json")
    with pytest.raises(DataError, match="No such file"):
        read_boxes(tmp_path / "none.json")


def test_the_newer_list_of_megadetector_has_corners_in_pixels(tmp_path: Path) -> None:
    for name, orientation in (("1.jpg", 1), ("2.jpg", 6)):  # the second lies on its side
        exif = Image.Exif()
        exif[0x0112] = orientation
        Image.new("RGB", (200, 100) if orientation == 1 else (100, 200)).save(tmp_path / name, exif=exif)
    (tmp_path / "4.jpg").write_bytes(b"no image")
    corner = {"category": "animal", "confidence": 0.93, "bbox": [20.0, 10.0, 120.0, 60.0]}
    person = {**corner, "category": "person"}
    listed: list[dict[str, Any]] = [
        {"file": "1.jpg", "detections": [corner, person]},
        {"file": "2.jpg", "detections": [corner]},
        {"file": "3.jpg", "detections": []},
        {"file": "4.jpg", "detections": [corner]},
    ]
    (tmp_path / "md.json").write_text(json.dumps(listed))
    empty: list[Any] = []
    counts: Counter[str] = Counter()
    sources = [tmp_path / each["file"] for each in listed]
    first, second, broken = read_boxes(tmp_path / "md.json").images(sources, 0.2, counts, empty)
    assert first == Crop(sources[0], (0.1, 0.1, 0.5, 0.5), 0.93)
    assert second == Crop(sources[1], (0.1, 0.1, 0.5, 0.5), 0.93)
    assert isinstance(broken, Refused)
    assert (empty, counts) == ([sources[2]], {"empty": 1, "others": 1})
