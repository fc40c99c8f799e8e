"""What people say with `firstsight categories`: promote, teach, discard, split --auto, relocate, and who said so."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from test_categories import categories, discover, listed
from test_categories import register as register  # the fixture
from test_commands import firstsight, refused

import firstsight as library
from firstsight.data.folder import walk
from swatches import write_swatches


def names(register: Path) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in listed(register, "list")}


def test_a_promoted_category_is_known_and_says_who_made_it_so(sure_model: Path, swatches: Path, register: Path) -> None:
    said = refused(8, "has no name yet", "categories", register, "promote", "new-1")
    assert "promote new-1 --name NAME" in said
    made = categories(register, "promote", "NEW-1", "--name", "Fuchsia", "--by", "Ann Lee")
    assert "known from now on" in made.stderr
    assert names(register)["Fuchsia"]["known"]
    (event,) = listed(register, "history", "--limit", 1)
    assert (event["author"], event["author_name"], event["command"]) == ("person", "Ann Lee", event["event"] - 1)
    assert "Ann Lee" in categories(register, "history", "--limit", 1).stdout
    answers = {Path(row["image"]).parent.name: row for row in discover(sure_model, swatches, register, "--again")}
    assert (answers["magenta"]["name"], answers["magenta"]["is_new"]) == ("Fuchsia", False)
    categories(register, "undo")  # name and promotion are one command
    assert "Fuchsia" not in names(register)


def test_labelled_images_are_taught_without_fitting(
    sure_model: Path, swatches: Path, register: Path, tmp_path: Path
) -> None:
    write_swatches(tmp_path / "more", {"black": "BLACK", "white": "Snow"}, range(12, 15))
    (tmp_path / "more" / "Snow" / "notes.txt").write_text("mine")
    result = categories(register, "teach", sure_model, tmp_path / "more", "--by", "Ann", "--device", "cpu")
    assert "6 images taught to 2 categories; new: Snow" in result.stderr
    assert "files with suffix .txt were left out" in result.stderr
    assert names(register)["black"]["placed"] == 3
    assert names(register)["Snow"]["known"]
    before = listed(register, "list")
    again = categories(register, "teach", sure_model, tmp_path / "more", "--device", "cpu")
    assert listed(register, "list") == before, again.stderr
    answers = {
        Path(row["image"]).parent.name: row["name"] for row in discover(sure_model, swatches, register, "--again")
    }
    assert answers["white"] == "Snow"
    (tmp_path / "more" / "Snow" / "bad.jpg").write_bytes(b"no picture")
    refused(3, "bad.jpg", "categories", register, "teach", sure_model, tmp_path / "more", "--device", "cpu")
    refused(3, "no folder with images", "categories", register, "teach", sure_model, tmp_path / "more" / "Snow")


def test_a_model_fitted_with_what_was_promoted_goes_on_with_the_register(
    swatches: Path, tiny: dict[str, Any], register: Path, tmp_path: Path
) -> None:
    categories(register, "promote", "new-1", "--name", "Fuchsia")
    categories(register, "export", tmp_path / "all")
    shutil.copytree(swatches / "support", tmp_path / "train")
    shutil.copytree(tmp_path / "all" / "Fuchsia", tmp_path / "train" / "Fuchsia")
    library.fit(tmp_path / "train", tmp_path / "new.model", device="cpu", **tiny)
    made = categories(register, "reencode", tmp_path / "new.model", tmp_path / "new.db", "--device", "cpu")
    assert "new-1 is part of 'Fuchsia' now" in made.stderr
    fuchsia = names(tmp_path / "new.db")["Fuchsia"]
    assert (fuchsia["id"], fuchsia["known"], fuchsia["merged"], fuchsia["images"]) == ("Fuchsia", True, ["new-1"], 3)
    assert discover(tmp_path / "new.model", swatches, tmp_path / "new.db", "--once")


def test_junk_is_discarded_and_recognised(sure_model: Path, swatches: Path, register: Path) -> None:
    before = listed(register, "list")
    image = listed(register, "show", "new-2")[0]["image"]
    assert f"image {image} discarded" in categories(register, "discard", image, "--by", "Ann").stderr
    assert "and new-3 with them" in categories(register, "discard", "--category", "New-3").stderr
    assert "new-3" not in names(register)
    found = listed(register, "discarded")
    assert [each["category"] for each in found] == ["new-2", *["new-3"] * 3]
    assert "Ann" in categories(register, "discarded").stdout
    stream = ("discover", sure_model, swatches / "stream", "--register", register, "--device", "cpu")
    refused(2, "all 20 images are in", *stream)  # four more, which do not count
    result = firstsight(*stream, "--again")
    assert "4 discarded before" in result.stderr
    assert result.stdout.count("\tdiscarded\t") == 4
    assert listed(register, "history", "--limit", 1)[0]["kind"] == "Assigned"
    rows = [json.loads(line) for line in firstsight(*stream, "--once", "--json").stdout.splitlines()]
    assert sum(row["decided_by"] == "discarded" and row["category"] is None for row in rows) == 4
    assert {row["decided_by"] for row in rows} == {"discarded", "record"}
    thrown = firstsight("explain", sure_model, found[0]["source"], "--register", register, "--device", "cpu")
    assert "Discarded: a person said" in thrown.stdout
    refused(8, "taught to the model", "categories", register, "discard", "--category", "black")
    refused(8, "no image new-1, but a category 'new-1'", "categories", register, "discard", "new-1")
    refused(2, "one of the two", "categories", register, "discard")
    categories(register, "undo")
    categories(register, "undo")
    assert "nothing is discarded" in categories(register, "discarded").stderr
    assert {row["name"] for row in before} == set(names(register))


def test_teaching_keeps_time_and_place_unless_told_not_to(sure_model: Path, register: Path, tmp_path: Path) -> None:
    taken = Image.Exif()
    taken.get_ifd(0x8769)[0x9003] = "1999:12:31 23:59:59"
    for label in ("Snow", "Soot"):
        (tmp_path / label / label).mkdir(parents=True)
        Image.new("RGB", (80, 80), "white" if label == "Snow" else "gray").save(
            tmp_path / label / label / "1.jpg", exif=taken
        )
    categories(register, "teach", sure_model, tmp_path / "Snow", "--device", "cpu", "--no-metadata")
    categories(register, "teach", sure_model, tmp_path / "Soot", "--device", "cpu")
    assert listed(register, "show", "Snow")[0]["taken"] is None
    assert listed(register, "show", "Soot")[0]["taken"].startswith("1999-12-31")


def test_a_founder_that_others_joined_has_two_ways_out(register: Path) -> None:
    founder, *others = (row["image"] for row in listed(register, "show", "new-1"))
    said = refused(8, "later events depend on it", "categories", register, "undo", founder)
    assert f"discard {founder}" in said
    assert f"undo {founder} --with-followers" in said
    assert "undone" in categories(register, "undo", founder, "--with-followers").stderr
    assert "new-1" not in names(register)
    categories(register, "redo")
    categories(register, "discard", founder)
    assert [row["image"] for row in listed(register, "show", "new-1")] == others


def test_a_category_of_two_things_is_proposed_and_split(register: Path) -> None:
    """The colours of new-1 and new-4 differ in six bits; hindsight had put them together."""
    from firstsight.store.authors import HINDSIGHT
    from firstsight.store.store import Store

    assert "no category seems to hold two things" in categories(register, "splits").stderr
    yellow = [row["image"] for row in listed(register, "show", "new-4")]
    with Store.open(register) as store:
        store.move(yellow, "new-1", by=HINDSIGHT)
    (row,) = [row for row in listed(register, "show", "new-1") if row["image"] == yellow[0]]
    assert (row["author"], row["author_name"]) == ("hindsight", "")
    (found,) = listed(register, "splits")
    assert found["rehearsed"] is None  # by this method
    assert (found["category"], sorted([found["images"], found["rest"]])[1]) == ("new-1", yellow)
    shown = categories(register, "splits")
    assert "split --auto new-1" in shown.stderr
    assert "nearer to their own part" in shown.stdout
    refused(2, "one of the two", "categories", register, "split", yellow[0], "--auto", "new-1")
    refused(8, "does not seem to hold two things", "categories", register, "split", "--auto", "new-2")
    categories(register, "split", "--auto", "NEW-1", "--name", "Lemon", "--by", "Ann")
    assert names(register)["Lemon"]["placed"] == 3
    categories(register, "undo")
    assert listed(register, "splits") == []  # which a person has taken back


def test_several_merges_are_one_undo(register: Path) -> None:
    before = listed(register, "list")
    categories(register, "merge", "new-1", "NEW-2", "new-3", "--into", "Black")
    assert len(listed(register, "list")) == len(before) - 3
    assert categories(register, "undo").stderr.count("merged into black") == 3
    assert listed(register, "list") == before
    (event,) = listed(register, "history", "--limit", 1)
    categories(register, "redo")
    categories(register, "undo", event["event"] - 1)
    assert listed(register, "list") == before


def test_exports_say_who_put_images_there(register: Path, tmp_path: Path) -> None:
    first, second = (row["image"] for row in listed(register, "show", "new-1")[:2])
    result = firstsight("categories", register, "confirm", first, env={"FIRSTSIGHT_BY": "Bob"})
    assert result.returncode == 0, result.stderr
    categories(register, "export", tmp_path / "all.csv")
    rows = {int(row["image"]): row for row in csv.DictReader((tmp_path / "all.csv").open(newline=""))}
    assert [rows[n]["author"] for n in (first, second)] == ["person", "rule"]
    assert rows[first]["author_name"] == "Bob"
    assert "Bob" in categories(register, "show", "new-1").stdout
    refused(8, "cannot be a name", "categories", register, "confirm", first, "--by", "x" * 300)


def test_files_that_moved_are_found(sure_model: Path, swatches: Path, tmp_path: Path) -> None:
    shutil.copytree(swatches / "stream", tmp_path / "camera" / "stream")
    register = tmp_path / "a.db"
    discover(sure_model, tmp_path / "camera", register, "--radius", 0)
    assert "every file is where it was" in categories(register, "relocate", tmp_path).stderr
    (tmp_path / "camera").rename(tmp_path / "disk")
    lost = next(walk(tmp_path / "disk"))
    lost.unlink()
    result = firstsight("categories", register, "relocate", tmp_path / "disk", "--by", "Ann")
    assert result.returncode == 1
    assert "23 images found" in result.stderr
    assert f"still missing: {tmp_path / 'camera' / lost.relative_to(tmp_path / 'disk')}" in result.stderr
    assert categories(register, "move", "disk/stream/red/6.jpg", "--to", "BLACK")
    out = firstsight("categories", register, "export", tmp_path / "out")
    assert "23 images" in out.stderr
    refused(3, "is not a folder", "categories", register, "relocate", tmp_path / "nowhere")


@pytest.mark.parametrize("verb", ["show", "rename", "promote", "discard", "splits", "history", "move"])
def test_a_name_that_is_nearly_one_is_answered_with_those_meant(register: Path, verb: str) -> None:
    wanted: dict[str, tuple[object, ...]] = {
        "show": ("show", "Blak"),
        "rename": ("rename", "Blak", "x"),
        "promote": ("promote", "Blak"),
        "discard": ("discard", "--category", "Blak"),
        "splits": ("split", "--auto", "Blak"),
        "history": ("history", "--category", "Blak"),
        "move": ("move", 1, "--to", "Blak"),
    }
    refused(8, "did you mean 'black'", "categories", register, *wanted[verb])
