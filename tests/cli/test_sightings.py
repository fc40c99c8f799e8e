"""`days`, `places`, `forget` and `export`, as people type them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from test_categories import categories, listed
from test_commands import firstsight, refused

from photographs import HAARLEM, photograph
from swatches import COLOURS

FAR = (-33.9, 18.4)


@pytest.fixture
def register(sure_model: Path, tmp_path: Path) -> Path:
    """Two days at one place, one elsewhere, and one photograph that tells nothing."""
    black, white = (tuple(part + 7 for part in COLOURS[name][0]) for name in ("black", "white"))
    for i, (colour, day, place) in enumerate(((black, 1, HAARLEM), (black, 2, HAARLEM), (white, 2, FAR)), 1):
        told = {"taken": f"2026:05:{day:02d} 12:00:00", "place": place, "camera": ("Secretcam", "One")}
        photograph(tmp_path / "in" / f"{i}.jpg", colour, (80, 80), **told)  # type: ignore[arg-type]
    photograph(tmp_path / "in" / "4.jpg", black, (80, 80))  # type: ignore[arg-type]
    path = tmp_path / "r.db"
    result = firstsight("discover", sure_model, tmp_path / "in", "--register", path, "--radius", 0, "--device", "cpu")
    assert result.returncode == 0, result.stderr
    return path


def test_images_are_counted_by_day_and_by_place(register: Path) -> None:
    assert [(row["day"], row["category"], row["images"]) for row in listed(register, "days")] == [
        ("2026-05-01", "black", 1),
        ("2026-05-02", "black", 1),
        ("2026-05-02", "new-1", 1),
    ]
    assert [row["images"] for row in listed(register, "days", "--category", "black")] == [1, 1]
    here, there = sorted(listed(register, "places"), key=lambda row: -row["images"])
    assert (here["category"], here["images"]) == ("black", 2)
    assert here["place"].startswith("52.3")
    assert there["category"] == "new-1"
    result = categories(register, "days")
    assert "2026-05-02" in result.stdout
    assert "1 of 4 images do not say when" in result.stderr
    assert "1 of 4 images do not say where" in categories(register, "places", "--within", "10km").stderr
    refused(2, "expected a distance", "categories", register, "places", "--within", "here")


def test_a_forgotten_image_leaves_a_mark_and_nothing_else(register: Path, sure_model: Path, tmp_path: Path) -> None:
    before = listed(register, "list")
    result = categories(register, "forget", tmp_path / "in" / "1.jpg")
    assert "forgotten" in result.stderr
    assert "backups and exports" in result.stderr
    number = listed(register, "history", "--limit", 1)[0]["event"]
    assert listed(register, "list") == before
    assert b"in/1.jpg" not in register.read_bytes()
    refused(8, "cannot be undone", "categories", register, "undo", number)
    assert "forgotten already" in categories(register, "forget", 1).stderr
    categories(register, "verify")
    again = firstsight(
        "discover", sure_model, tmp_path / "in" / "1.jpg", "--register", register, "--json", "--device", "cpu"
    )
    assert json.loads(again.stdout)["decided_by"] == "rule"  # nobody knows it any more
    refused(8, "no image", "categories", register, "forget", "nowhere.jpg")


def test_a_register_with_a_forgotten_image_is_encoded_anew(register: Path, sure_model: Path, tmp_path: Path) -> None:
    categories(register, "forget", 1)
    categories(register, "reencode", sure_model, tmp_path / "new.db", "--device", "cpu")
    assert listed(tmp_path / "new.db", "list") == listed(register, "list")
    categories(register, "forget", *(row["image"] for row in listed(register, "show", "new-1")))
    reencode = ("categories", register, "reencode", sure_model, tmp_path / "x.db")
    refused(8, "has no picture any more, and new-1 no other", *reencode)


def test_exports_are_asked_for_by_name_or_format(register: Path, tmp_path: Path) -> None:
    for name in ("a.csv", "a.json", "a.parquet", "a.xlsx", "folder"):
        assert "4 images" in categories(register, "export", tmp_path / name).stderr
    said = categories(register, "export", tmp_path / "o.csv", "--format", "dwc", "--round-places", "10km").stderr
    assert "rename their categories" in said
    assert "do not say when" in said
    with (tmp_path / "o.csv").open(newline="") as file:
        first = next(csv.DictReader(file))
    assert first["coordinateUncertaintyInMeters"] == "7142"
    said = categories(register, "export", tmp_path / "dp", "--format", "camtrap").stderr
    assert "fill in" in said
    assert "1 of 4 images are left out" in said
    categories(register, "export", tmp_path / "a.csv", "--overwrite", "--no-metadata")
    assert "Secretcam" not in (tmp_path / "a.csv").read_text()
    refused(2, "format is 'sql'", "categories", register, "export", tmp_path / "x", "--format", "sql")
    refused(2, "expected a distance", "categories", register, "export", tmp_path / "x.csv", "--round-places", "far")
    refused(3, "cannot be read", "categories", register, "export", tmp_path / "x", "--sites", tmp_path / "none.csv")
