"""How images come to `firstsight discover`: named, listed, watched, in boxes and in bursts."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from test_categories import categories, discover, listed
from test_commands import firstsight, refused

from firstsight.data import watching
from firstsight.data.folder import walk
from firstsight.data.watching import watched
from photographs import HAARLEM, photograph
from swatches import COLOURS

BLACK, WHITE, MAGENTA, GREEN = (
    tuple(part + 7 for part in COLOURS[name][0]) for name in ("black", "white", "magenta", "green")
)


def shades(folder: Path, *colours: Any, **told: Any) -> None:
    """Photographs of plain colours, one a second from noon on, by one camera."""
    for i, colour in enumerate(colours):
        taken = {"taken": f"2026:05:01 12:00:{i:02d}", "camera": ("Acme", "Trap"), "serial": "7"}
        photograph(folder / f"{i:03d}.jpg", colour, (80, 80), **{**taken, **told})


def answered(*arguments: object, code: int = 0) -> list[dict[str, Any]]:
    result = firstsight("discover", *arguments, "--json", "--device", "cpu")
    assert result.returncode == code, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_paths_are_taken_from_standard_input(sure_model: Path, swatches: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = sorted(walk(swatches / "stream"))[:3]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\n".join(map(str, paths)).encode() + b"\n\n")))
    assert [row["image"] for row in answered(sure_model, "-")] == [str(path) for path in paths]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"/nowhere/1.jpg\n")))
    assert [row["error"] for row in answered(sure_model, "-", code=1)] == ["does not exist"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    refused(3, "no images", "discover", sure_model, "-", "--device", "cpu")


def test_images_that_are_all_held_are_refused_before_anything_is_recorded(
    sure_model: Path, swatches: Path, tmp_path: Path
) -> None:
    path = tmp_path / "r.db"
    discover(sure_model, swatches, path, "--radius", 0)
    before = path.read_bytes()
    (tmp_path / "broken.jpg").write_bytes(b"no picture")  # which no register ever holds
    images = (swatches / "stream", tmp_path / "broken.jpg")
    everything = ("discover", sure_model, *images, "--register", path, "--device", "cpu")
    said = refused(2, "all 24 images are in", *everything)
    assert "--once" in said
    assert "--again" in said
    refused(2, "all 24 images are in", *everything, "--radius", 3)  # nor is that recorded
    refused(2, "contradict", *everything, "--once", "--again")
    refused(2, "--again needs --register", "discover", sure_model, swatches / "stream", "--again")
    assert path.read_bytes() == before
    other = tmp_path / "one.jpg"
    photograph(other, "black", (80, 80))
    rows = answered(sure_model, swatches / "stream", other, "--register", path)  # one that is not held is enough
    assert len(rows) == 25


class Enough(Exception):
    pass


def test_a_watched_folder_gives_what_comes_when_it_is_whole(tmp_path: Path) -> None:
    def touch(name: str, content: bytes = b"x") -> None:
        (tmp_path / name).write_bytes(content)

    def pauses() -> Iterator[None]:
        for content in (b"ha", b"half", b"half", b"changed", b"changed"):  # at first, it is being written
            if content != (tmp_path / "late.jpg").read_bytes():
                touch("late.jpg", content)
            yield
        (tmp_path / "late.jpg").unlink()
        yield

    touch("old.jpg")
    touch("notes.txt")
    touch("late.jpg")
    os.utime(tmp_path / "old.jpg", (1, 1))
    steps = pauses()
    given: list[Any] = []

    def pause(seconds: float) -> None:
        try:
            next(steps)
        except StopIteration:
            raise Enough from None

    with suppress(Enough):
        for paths in watched(tmp_path, pause):
            given.append([(path.name, path.read_bytes()) for path in paths])
    assert given == [[("old.jpg", b"x")], [("late.jpg", b"half")], [("late.jpg", b"changed")]]


def test_watching_ends_by_an_interrupt_with_everything_kept(
    sure_model: Path, swatches: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, path = tmp_path / "drop", tmp_path / "r.db"
    shutil.copytree(swatches / "stream" / "black", folder)
    for each in folder.iterdir():
        os.utime(each, (1, 1))

    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(watching.watched, "__defaults__", (interrupt,))
    command = ("discover", sure_model, "--watch", folder, "--register", path, "--device", "cpu")
    for _ in range(2):  # the second time they are there already
        result = firstsight(*command)
        assert result.returncode == 0, result.stderr
        assert "watching" in result.stderr
    assert "3 there already" in result.stderr
    assert sum(row["images"] for row in listed(path, "list")) == 3
    (tmp_path / "empty").mkdir()
    assert firstsight("discover", sure_model, "--watch", tmp_path / "empty", "--device", "cpu").returncode == 0
    refused(2, "not both", "discover", sure_model, folder, "--watch", folder)
    refused(2, "name images", "discover", sure_model)
    refused(2, "is no folder", "discover", sure_model, "--watch", path)


@pytest.fixture
def frames(tmp_path: Path) -> Path:
    """Two frames with something left and right, one empty, one with a person; and what a detector says of them."""
    folder = tmp_path / "card"
    folder.mkdir()
    for i, (one, other) in enumerate(((BLACK, WHITE), (MAGENTA, BLACK), (GREEN, GREEN), (BLACK, BLACK)), 1):
        picture = Image.new("RGB", (160, 80), one)
        picture.paste(other, (80, 0, 160, 80))
        picture.save(folder / f"{i}.jpg", quality=98)
    left, right, person = (
        {"category": kind, "conf": 0.9, "bbox": box}
        for kind, box in (("1", [0, 0, 0.5, 1]), ("1", [0.5, 0, 0.5, 1]), ("2", [0, 0, 1, 1]))
    )
    content = {
        "detection_categories": {"1": "animal", "2": "person"},
        "images": [
            {"file": "1.jpg", "detections": [left, right, {**left, "conf": 0.1}]},
            {"file": "2.jpg", "detections": [left]},
            {"file": "3.jpg", "detections": []},
            {"file": "4.jpg", "detections": [person]},
        ],
    }
    (tmp_path / "md.json").write_text(json.dumps(content))
    return folder


def test_every_box_is_an_image_with_its_frame(sure_model: Path, frames: Path, tmp_path: Path) -> None:
    path, boxes = tmp_path / "r.db", tmp_path / "md.json"
    result = firstsight(
        "discover", sure_model, frames, "--boxes", boxes, "--register", path, "--radius", 0, "--json", "--device", "cpu"
    )
    assert result.returncode == 0, result.stderr
    assert "1 frame is empty; 1 boxes of people or vehicles left out" in result.stderr
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(Path(row["image"]).name, row["box"], row["category"]) for row in rows] == [
        ("1.jpg", [0, 0, 0.5, 1], "black"),
        ("1.jpg", [0.5, 0, 0.5, 1], "new-1"),
        ("2.jpg", [0, 0, 0.5, 1], "new-2"),
    ]
    (shown,) = listed(path, "show", "new-1")
    assert (Path(shown["source"]).name, shown["box"], shown["detected"]) == ("1.jpg", [0.5, 0, 0.5, 1], 0.9)
    refused(2, "all 3 images are in", "discover", sure_model, frames, "--boxes", boxes, "--register", path)
    again = answered(sure_model, frames, "--boxes", boxes, "--register", path, "--once")
    assert {row["decided_by"] for row in again} == {"record"}
    assert json.loads(categories(path, "list", "--json").stdout)["empty_frames"] == 1  # not once more
    assert "1 empty frame" in categories(path, "list").stderr
    categories(path, "forget", "3.jpg")
    assert b"3.jpg" not in path.read_bytes()
    assert len(answered(sure_model, frames, "--boxes", boxes, "--box-threshold", 0.05)) == 4


def test_a_frame_the_detector_has_not_seen_is_named(sure_model: Path, frames: Path, tmp_path: Path) -> None:
    Image.new("RGB", (80, 80)).save(frames / "9.jpg")
    rows = answered(sure_model, frames, "--boxes", tmp_path / "md.json", code=1)
    assert rows[-1]["error"] == "is not in md.json: no detector has looked at it"
    refused(3, "is not JSON", "discover", sure_model, frames, "--boxes", frames / "1.jpg")


def test_a_burst_is_decided_together(sure_model: Path, tmp_path: Path) -> None:
    """One picture of five shows something else; a minute later that is a category of its own."""
    shades(tmp_path / "a", BLACK, BLACK, WHITE, BLACK, BLACK)
    shades(tmp_path / "b", WHITE, camera=("Acme", "Phone"))
    for register in ([], ["--register", tmp_path / "r.db"]):
        rows = answered(sure_model, tmp_path / "a", tmp_path / "b", "--radius", 0, "--bursts", "10s", *register)
        assert [row["category"] for row in rows] == ["black"] * 5 + ["new-1"]
    alone = answered(sure_model, tmp_path / "a", tmp_path / "b", "--radius", 0)
    assert [row["category"] for row in alone] == ["black", "black", "new-1", "black", "black", "new-1"]
    refused(2, "expected a time", "discover", sure_model, tmp_path / "a", "--bursts", "soon")


def test_time_place_and_camera_are_kept_unless_they_are_not_to_be(sure_model: Path, tmp_path: Path) -> None:
    shades(tmp_path / "a", BLACK, BLACK, place=HAARLEM)
    answered(sure_model, tmp_path / "a", "--register", tmp_path / "with.db")
    (first, _) = listed(tmp_path / "with.db", "show", "black")
    assert (first["taken"], first["camera"], first["serial"]) == ("2026-05-01T12:00:00", "Acme Trap", "7")
    assert first["latitude"] == pytest.approx(HAARLEM[0], abs=1e-6)
    answered(sure_model, tmp_path / "a", "--register", tmp_path / "without.db", "--no-metadata", "--bursts", "10s")
    (first, _) = listed(tmp_path / "without.db", "show", "black")
    assert (first["taken"], first["latitude"], first["camera"], first["serial"]) == (None, None, None, None)
    assert first["withheld"]
    assert b"Acme" not in (tmp_path / "without.db").read_bytes()


def test_nonsense_in_exif_data_is_a_warning(sure_model: Path, tmp_path: Path) -> None:
    shades(tmp_path / "a", BLACK, taken="0000:00:00 00:00:00")
    result = firstsight("discover", sure_model, tmp_path / "a", "--register", tmp_path / "r.db", "--device", "cpu")
    assert result.returncode == 0
    assert "000.jpg: its date cannot be read: '0000:00:00 00:00:00' is none" in result.stderr
    categories(tmp_path / "r.db", "verify")


def test_parts_of_frames_are_encoded_anew(sure_model: Path, frames: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    answered(sure_model, frames, "--boxes", tmp_path / "md.json", "--register", path, "--radius", 0)
    categories(path, "reencode", sure_model, tmp_path / "new.db", "--device", "cpu")
    before, after = listed(path, "show", "new-1"), listed(tmp_path / "new.db", "show", "new-1")
    assert [(row["content"], row["box"]) for row in after] == [(row["content"], row["box"]) for row in before]
