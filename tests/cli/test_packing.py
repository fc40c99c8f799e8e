"""`firstsight pack`, and that fit, evaluate and discover read what it makes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from PIL import Image
from test_commands import firstsight, refused


def test_a_packed_folder_serves_as_the_folder_does(
    moths: Path, tiny: dict[str, Any], model_folder: Path, tmp_path: Path
) -> None:
    for part in ("support", "stream"):
        result = firstsight("pack", moths / part, tmp_path / f"{part}.tar", "--side", 96)
        assert result.returncode == 0, result.stderr
    assert "24 images of 4 categories" in firstsight("pack", moths / "support", tmp_path / "again.tar").stderr
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in {**tiny, "epochs": 1}.items()]
    model = tmp_path / "packed.model"
    fitted = firstsight("fit", tmp_path / "support.tar", "--out", model, *flags, "--device", "cpu")
    assert fitted.returncode == 0, fitted.stderr
    scored = firstsight("evaluate", model, tmp_path / "stream.tar", "--json", "--device", "cpu")
    assert json.loads(scored.stdout)["images"] == 24
    answered = firstsight("discover", model, tmp_path / "stream.tar", "--json", "--device", "cpu")
    rows = [json.loads(line) for line in answered.stdout.splitlines()]
    assert len(rows) == 24
    assert rows[0]["image"].startswith(f"{tmp_path / 'stream.tar'}:images/")


def test_what_cannot_be_packed_is_refused(moths: Path, tmp_path: Path) -> None:
    refused(2, "does not end in .tar", "pack", moths / "support", tmp_path / "x.zip")
    refused(2, "there is no benchmark 'birds'", "pack", moths / "support", tmp_path / "x.tar", "--data", "birds")
    refused(3, "download", "pack", tmp_path, tmp_path / "x.tar", "--data", "cub")
    (tmp_path / "x.json").write_text("{}")
    refused(3, "exists already", "pack", moths / "support", tmp_path / "x.tar")


def test_listed_categories_only(tmp_path: Path) -> None:
    for name in ("b/1.jpg", "a/1.jpg", "c/1.jpg"):
        (tmp_path / "all" / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (20, 20)).save(tmp_path / "all" / name)
    (tmp_path / "list.txt").write_text("c\na\n")
    result = firstsight("pack", tmp_path / "all", tmp_path / "p.tar", "--classes", tmp_path / "list.txt")
    assert result.returncode == 0, result.stderr
    assert json.loads((tmp_path / "p.json").read_text())["classes"] == ["c", "a"]
    named = ["--data", "imagenet100", "--classes", tmp_path / "list.txt"]
    assert firstsight("pack", tmp_path / "all", tmp_path / "q.tar", *named).returncode == 0
    assert (tmp_path / "q.json").read_text() == (tmp_path / "p.json").read_text()
    refused(2, "give --classes FILE", "pack", tmp_path / "all", tmp_path / "r.tar", "--data", "imagenet100")
    refused(
        2, "its own list", "pack", tmp_path, tmp_path / "r.tar", "--data", "cub", "--classes", tmp_path / "list.txt"
    )
