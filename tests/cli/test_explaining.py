"""`explain` and the galleries as people type them."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from test_commands import firstsight, refused

from firstsight.store.store import Store
from webpage import read_page


@pytest.fixture
def image(moths: Path) -> Path:
    return min((moths / "stream").rglob("*.jpg"))


def test_explain_says_why_and_writes_what_the_name_asks_for(model_folder: Path, image: Path, tmp_path: Path) -> None:
    for suffix, beginning in {".html": b"<!doctype html>", ".json": b"{"}.items():
        out = tmp_path / f"why{suffix}"
        result = firstsight("explain", model_folder, image, image, "--out", out, "--device", "cpu")
        assert result.returncode == 0, result.stderr
        first, second = result.stdout.splitlines()
        assert first == second
        assert first.startswith(f"{image}\t")
        assert out.read_bytes().startswith(beginning)
        assert f"wrote {out}" in result.stderr
    assert len(json.loads((tmp_path / "why.json").read_text())["images"]) == 2
    assert len(read_page((tmp_path / "why.html").read_bytes()).all("article")) == 2
    quiet = firstsight("explain", model_folder, image, "--device", "cpu", "--quiet")
    assert (quiet.stdout.splitlines(), quiet.stderr) == ([first], "")


def test_a_file_may_be_called_anything(model_folder: Path, image: Path, tmp_path: Path) -> None:
    """Also what is no text in any encoding, where the system has such names."""
    odd = tmp_path / os.fsdecode(b"<b>\xff\x1b.jpg")
    try:
        shutil.copy(image, odd)
    except OSError:
        shutil.copy(image, odd := tmp_path / "<b>.jpg")
    result = firstsight("explain", model_folder, odd, "--out", tmp_path / "why.html", "--device", "cpu")
    assert result.returncode == 0, result.stderr
    page = read_page((tmp_path / "why.html").read_bytes())
    assert page.one("p", "file").text.endswith(odd.name.replace("\udcff", "\\udcff").replace("\x1b", "\\x1b"))


def test_explain_only_reads_a_register(sure_model: Path, swatches: Path, tmp_path: Path) -> None:
    file, cpu, white = tmp_path / "r.db", ("--device", "cpu"), next((swatches / "stream" / "white").iterdir())
    firstsight("discover", sure_model, swatches / "stream", "--register", file, "--radius", "0", *cpu)
    with Store.open(file) as store:
        store.rename("new-3", "Ghost")
    before = file.read_bytes()
    result = firstsight("explain", sure_model, white, "--register", file, "--out", tmp_path / "why.json", *cpu)
    assert result.returncode == 0, result.stderr
    assert file.read_bytes() == before
    (found,) = json.loads((tmp_path / "why.json").read_text())["images"]
    assert (found["category"], found["name"], found["near"][0]["category"]) == ("new-3", "Ghost", "Ghost")
    number = found["given"]["image"]
    for name in (number, f"white/{white.name}"):  # by its number, and by where it was
        again = firstsight("explain", sure_model, name, "--register", file, *cpu)
        assert again.stdout == result.stdout
    refused(8, "there is no image 99999", "explain", sure_model, "99999", "--register", file, *cpu)
    refused(2, "name it with --register", "explain", sure_model, number, *cpu)


def test_gallery_writes_a_page(model_folder: Path, tmp_path: Path) -> None:
    result = firstsight("gallery", model_folder, "--out", tmp_path / "g.html", "--device", "cpu")
    assert result.returncode == 0, result.stderr
    assert "12 prototypes of 4 categories" in result.stderr
    assert len(read_page((tmp_path / "g.html").read_bytes()).all("section", "category")) == 4


def test_a_register_has_a_gallery_too(sure_model: Path, swatches: Path, tmp_path: Path) -> None:
    file, out, cpu = tmp_path / "r.db", tmp_path / "found.html", ("--device", "cpu")
    firstsight("discover", sure_model, swatches / "stream", "--register", file, "--radius", "0", *cpu)
    before = file.read_bytes()
    result = firstsight("categories", file, "gallery", "--out", out, "--model", sure_model, *cpu)
    assert result.returncode == 0, result.stderr
    assert f"wrote {out}" in result.stderr
    assert file.read_bytes() == before
    page = read_page(out.read_bytes(), scripted=True)
    listed = json.loads(firstsight("categories", file, "list", "--json").stdout)["categories"]
    assert {each["id"] for each in page.all("section", "category")} == {f"c-{each['id']}" for each in listed}
    refused(3, "exists already", "categories", file, "gallery", "--out", out)
    refused(2, "allowed: .html", "categories", file, "gallery", "--out", tmp_path / "found.pdf")
    refused(8, "there is no such register", "categories", tmp_path / "no.db", "gallery", "--out", tmp_path / "f.html")


def test_refusals(model_folder: Path, image: Path, tmp_path: Path) -> None:
    (tmp_path / "taken.html").touch()
    (tmp_path / "bad.jpg").write_bytes(b"no picture")
    explain = ("explain", model_folder)
    refused(2, "allowed: .html, .json", *explain, image, "--out", tmp_path / "why.png")
    refused(2, "allowed: .html", "gallery", model_folder, "--out", tmp_path / "g.png")
    refused(3, "exists already", *explain, image, "--out", tmp_path / "taken.html")
    refused(3, "none.jpg: does not exist", *explain, tmp_path / "none.jpg")
    refused(3, "bad.jpg: is not an image", *explain, tmp_path / "bad.jpg")
    refused(8, "none.db: there is no such register", *explain, image, "--register", tmp_path / "none.db")
    refused(4, "there is no model folder", "explain", tmp_path / "none", image)
    assert not list(tmp_path.glob("*.db*"))


def test_a_register_of_another_model_is_refused(
    model_folder: Path, moths: Path, image: Path, tiny: dict[str, object], tmp_path: Path
) -> None:
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in {**tiny, "epochs": 1, "seed": 5}.items()]
    cpu = ("--device", "cpu")
    made = firstsight("fit", moths / "support", "--out", tmp_path / "m", *flags, "--no-thumbnails", *cpu)
    assert made.returncode == 0, made.stderr
    firstsight("discover", tmp_path / "m", image, "--register", tmp_path / "r.db", *cpu)
    refused(8, "another model", "explain", model_folder, image, "--register", tmp_path / "r.db", *cpu)
