"""`firstsight discover --register` and `firstsight categories`, as people type them."""

from __future__ import annotations

import csv
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from test_commands import Result, firstsight, refused

import firstsight as library
from firstsight.data.folder import walk
from firstsight.store.log import Snapshot
from firstsight.store.snapshot import pack


@pytest.fixture
def register(sure_model: Path, swatches: Path, tmp_path: Path) -> Path:
    """A register of the stream: at radius 0 magenta is new-1, red is new-2, white is new-3 and yellow new-4."""
    path = tmp_path / "swatches.db"
    discover(sure_model, swatches, path, "--radius", 0)
    return path


def discover(model: Path, swatches: Path, register: Path, *options: object) -> list[dict[str, Any]]:
    result = firstsight(
        "discover", model, swatches / "stream", "--register", register, "--json", "--device", "cpu", *options
    )
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def categories(register: Path, *arguments: object) -> Result:
    result = firstsight("categories", register, *arguments)
    assert result.returncode == 0, result.stderr
    return result


def listed(register: Path, *arguments: object) -> list[dict[str, Any]]:
    content: Any = json.loads(categories(register, *arguments, "--json").stdout)
    rows: list[dict[str, Any]] = content["categories"] if isinstance(content, dict) else content
    return rows


def test_the_list_says_how_many_categories_there_may_be(register: Path) -> None:
    """A method that has not learned how found categories relate to true ones counts those that are no guess."""
    shown, rows = categories(register, "list"), listed(register, "list")
    content = json.loads(categories(register, "list", "--json").stdout)
    known, sure = sum(row["known"] for row in rows), sum(not row["tentative"] for row in rows)
    assert content["number"] == {"estimate": sure, "low": None, "high": None, "certain": known}
    assert f"estimate of what is there: {sure} categories" in shown.stderr


def test_the_next_run_goes_on_where_the_last_one_ended(sure_model: Path, swatches: Path, tmp_path: Path) -> None:
    path = tmp_path / "swatches.db"
    first = discover(sure_model, swatches, path, "--radius", 0)
    again = discover(sure_model, swatches, path, "--again")
    assert [row["category"] for row in first if row["created"]] == ["new-1", "new-2", "new-3", "new-4"]
    assert not any(row["created"] for row in again)
    assert [row["category"] for row in again] == [row["category"] for row in first]
    assert again[0]["number"] > first[-1]["number"]
    assert sum(row["images"] for row in listed(path, "list")) == 48


def test_once_recognises_images_and_counts_nothing(sure_model: Path, swatches: Path, register: Path) -> None:
    before = listed(register, "list")
    again = discover(sure_model, swatches, register, "--once")
    assert {row["decided_by"] for row in again} == {"record"}
    assert listed(register, "list") == before
    refused(2, "--once needs --register", "discover", sure_model, swatches / "stream", "--once")


def test_a_changed_radius_is_an_event_and_the_rule_stays(sure_model: Path, swatches: Path, register: Path) -> None:
    discover(sure_model, swatches, register, "--once", "--radius", 2)
    assert listed(register, "history", "--limit", 1)[0]["what"] == "radius 0 -> 2"
    everything = ("discover", sure_model, swatches / "stream", "--register", register, "--again")
    refused(2, "matches by 'nearest'", *everything, "--rule", "first")
    refused(2, "sync is 'no'", *everything, "--sync", "no")
    refused(2, "0 to 12", *everything, "--radius", 13)


def test_another_model_is_refused_and_reencoding_leads_on(
    sure_model: Path, swatches: Path, tiny: dict[str, Any], register: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.model"
    library.fit(swatches / "support", other, device="cpu", **{**tiny, "seed": 5, "bits": 16})
    said = refused(8, "another model", "discover", other, swatches / "stream", "--register", register)
    assert "reencode" in said
    categories(register, "rename", "new-1", "grey")
    categories(register, "merge", "new-2", "--into", "grey")
    new = tmp_path / "new.db"
    categories(register, "reencode", other, new, "--device", "cpu")
    before, after = listed(register, "list"), listed(new, "list")
    assert after == before
    assert [e["what"].split(",")[0] for e in listed(new, "history", "--limit", 99)] == [
        e["what"].split(",")[0] for e in listed(register, "history", "--limit", 99)
    ]
    again = discover(other, swatches, new, "--once")
    assert {row["decided_by"] for row in again} == {"record"}
    refused(8, "exists already", "categories", register, "reencode", other, new)


def test_reencoding_needs_every_image(
    sure_model: Path, swatches: Path, tiny: dict[str, Any], register: Path, tmp_path: Path
) -> None:
    lonely = tmp_path / "one.jpg"
    lonely.write_bytes(next(walk(swatches / "stream")).read_bytes())
    firstsight("discover", sure_model, lonely, "--register", register, "--again", "--device", "cpu")
    lonely.unlink()
    refused(8, "one.jpg: no longer there", "categories", register, "reencode", sure_model, tmp_path / "n.db")
    assert not (tmp_path / "n.db").exists()


def test_every_edit_shows_and_can_be_taken_back(register: Path) -> None:
    start = listed(register, "list")
    image = listed(register, "show", "new-2")[0]["image"]
    known = start[0]["id"]
    for command in (
        ("rename", "new-1", "grey moth"),
        ("move", image, "--to", known),
        ("confirm", image),
        ("split", image, "--name", "one of a kind"),
        ("merge", "new-2", "--into", "grey moth"),
        ("radius", 3),
    ):
        assert "event" in categories(register, *command).stderr
    shown = {row["name"]: row for row in listed(register, "list")}
    assert shown["grey moth"]["merged"] == ["new-2"]
    assert shown["one of a kind"]["placed"] == 1
    assert "grey moth" in categories(register).stdout
    for _ in range(6):
        assert "undone" in categories(register, "undo").stderr
    assert listed(register, "list") == start
    refused(8, "nothing to undo", "categories", register, "undo")
    for _ in range(6):
        assert "brought back" in categories(register, "redo").stderr
    assert {row["name"]: row for row in listed(register, "list")} == shown
    kinds = [event["kind"] for event in listed(register, "history", "--image", image)]
    assert kinds == ["Assigned", "Moved", "Confirmed", "Split"]


def test_images_go_by_number_or_by_file(register: Path, swatches: Path) -> None:
    path = next(walk(swatches / "stream"))
    known = listed(register, "list")[0]["id"]
    for name in (path, f"{path.parent.name}/{path.name}", os.path.relpath(path)):
        assert "moved" in categories(register, "move", name, "--to", known).stderr
    refused(8, f"{path.name} may be any of 8 images", "categories", register, "confirm", path.name)
    refused(8, "no image nowhere.jpg", "categories", register, "move", "nowhere.jpg", "--to", known)
    refused(8, "no image 99999", "categories", register, "confirm", 99999)
    refused(8, "did you mean 'new-1'", "categories", register, "show", "neww-1")


def test_suggestions_have_reasons_and_a_rejected_pair_is_not_named_again(register: Path) -> None:
    (pair,) = listed(register, "suggest")
    assert (pair["category"], pair["into"], pair["reason"]) == ("new-2", "new-1", "centres 1 apart, radius 0")
    assert "Do:" in categories(register, "suggest").stderr
    categories(register, "merge", pair["category"], "--into", pair["into"])
    categories(register, "undo")
    assert listed(register, "suggest") == []


def test_exports_hold_every_image(register: Path, swatches: Path, tmp_path: Path) -> None:
    categories(register, "rename", "new-1", 'a/b: "c"')
    categories(register, "export", tmp_path / "all.csv")
    categories(register, "export", tmp_path / "all.json")
    rows = list(csv.DictReader((tmp_path / "all.csv").open(newline="")))
    content = json.loads((tmp_path / "all.json").read_text())
    assert len(rows) == sum(len(each["images"]) for each in content) == 24
    for how in ("copy", "link", "hardlink"):
        out = tmp_path / how
        categories(register, "export", out, "--how", how)
        files = list(out.rglob("*.jpg"))
        assert len(files) == 24
        assert all(path.is_symlink() == (how == "link") for path in files)
        assert (out / "a_b_ _c_").is_dir()
    refused(3, "exists already", "categories", register, "export", tmp_path / "copy")
    refused(3, "exists already", "categories", register, "export", tmp_path / "all.csv")
    refused(2, ".ods is not written", "categories", register, "export", tmp_path / "all.ods")
    refused(2, "copy, link, hardlink", "categories", register, "export", tmp_path / "x", "--how", "move")


def test_an_export_names_images_that_are_gone(sure_model: Path, swatches: Path, register: Path, tmp_path: Path) -> None:
    lonely = tmp_path / "one.jpg"
    lonely.write_bytes(next(walk(swatches / "stream")).read_bytes())
    firstsight("discover", sure_model, lonely, "--register", register, "--again", "--device", "cpu")
    lonely.unlink()
    result = firstsight("categories", register, "export", tmp_path / "out")
    assert result.returncode == 1
    assert "one.jpg: is no longer there" in result.stderr


def test_what_is_no_register_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("no database at all, just some text that is long enough to look at" * 20)
    refused(8, "is not a register", "categories", tmp_path / "notes.db")
    refused(8, "is a folder", "categories", tmp_path)
    refused(8, "no such register", "categories", tmp_path / "none.db", "undo")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.db"]


def test_odd_arguments_are_errors_and_not_faults(sure_model: Path, swatches: Path, register: Path) -> None:
    long = "x" * 300
    refused(6, "too long", "discover", sure_model, swatches / "stream", "--register", f"{long}.db")
    refused(8, "no image", "categories", register, "confirm", "9" * 5000)
    refused(2, "limit", "categories", register, "history", "--limit", "9" * 30)
    refused(8, "itself", "categories", register, "merge", "new-2", "new-1", "--into", "new-1")
    assert not any(row["merged"] for row in listed(register, "list"))


def test_a_run_of_events_is_undone_at_once(register: Path) -> None:
    last = listed(register, "history", "--limit", 1)[0]["event"]
    categories(register, "undo", f"3-{last}")
    assert sum(row["images"] for row in listed(register, "list")) == 2  # the first two events: two images of black
    for odd in ("three", "5-1", "-"):
        refused(2, "no event's number", "categories", register, "undo", "--", odd)


def test_names_people_gave_are_in_the_answers(sure_model: Path, swatches: Path, register: Path) -> None:
    categories(register, "rename", "new-2", "grey moth")
    named = {row["category"]: row["name"] for row in discover(sure_model, swatches, register, "--once")}
    assert named["new-2"] == "grey moth"
    result = firstsight(
        "discover", sure_model, swatches / "stream", "--register", register, "--again", "--device", "cpu"
    )
    assert "\tgrey moth\t" in result.stdout
    assert "\tnew-2\t" not in result.stdout


def test_the_runner_up_goes_by_the_name_people_gave_it(sure_model: Path, swatches: Path, register: Path) -> None:
    again = discover(sure_model, swatches, register, "--once")
    second = next(row["runner_up"]["category"] for row in again if row["runner_up"])
    categories(register, "rename", second, "brown moth")
    result = firstsight(
        "discover", sure_model, swatches / "stream", "--register", register, "--once", "--device", "cpu"
    )
    assert "\tnext brown moth at " in result.stdout
    assert f"\tnext {second} at " not in result.stdout
    named = discover(sure_model, swatches, register, "--once")
    assert [row["runner_up"] for row in named] == [row["runner_up"] for row in again]


def test_a_moved_image_has_no_distance_to_its_new_category(register: Path) -> None:
    image = listed(register, "show", "new-2")[0]["image"]
    categories(register, "move", image, "--to", "new-1")
    (moved,) = [row for row in listed(register, "show", "new-1") if row["image"] == image]
    assert (moved["distance"], moved["runner_up"], moved["author"]) == (None, None, "person")


def test_a_backup_is_a_register(register: Path, tmp_path: Path) -> None:
    categories(register, "backup", tmp_path / "copy.db")
    assert listed(tmp_path / "copy.db", "list") == listed(register, "list")
    refused(8, "exists already", "categories", register, "backup", tmp_path / "copy.db")


def test_names_are_shown_as_they_are(register: Path) -> None:
    categories(register, "rename", "new-1", "[red]moth[/red]")
    assert "[red]moth[/red]" in categories(register).stdout
    assert "[red]moth[/red]" in categories(register, "history", "--category", "new-1").stdout


def test_verify_checks_what_opening_does_not_read(register: Path, tmp_path: Path) -> None:
    assert "is sound: " in categories(register, "verify").stderr
    copy = tmp_path / "copy.db"
    categories(register, "backup", copy)
    assert "is sound: " in categories(copy, "verify").stderr
    with library.Store.open(copy) as store:  # a snapshot, so that opening spares itself the events
        store._log.keep_snapshot(Snapshot(store.view().last, pack(store.view().catalogue, None)))
    with closing(sqlite3.connect(copy)) as db:
        db.execute("DROP TRIGGER events_are_never_changed")
        db.execute("UPDATE events SET at = at + 1 WHERE number = 2")
        db.commit()
    assert categories(copy, "list").stdout == categories(register, "list").stdout
    refused(8, "event 2 is missing or not as it was written", "categories", copy, "verify")
    refused(8, "restore it from a backup", "categories", copy, "backup", tmp_path / "other.db")
    assert not (tmp_path / "other.db").exists()


def test_several_categories_are_merged_at_once_or_not_at_all(register: Path) -> None:
    before = listed(register, "list")
    refused(8, "there is no category 'nowhere'", "categories", register, "merge", "new-1", "nowhere", "--into", "new-3")
    refused(8, "into itself", "categories", register, "merge", "new-1", "new-3", "--into", "new-3")
    assert listed(register, "list") == before
    said = categories(register, "merge", "new-1", "new-2", "--into", "new-3").stderr
    assert said.count("merged into new-3") == 2
    first = listed(register, "history", "--limit", 2)[0]["event"]
    categories(register, "undo", f"{first}-{first + 1}")
    assert [row["images"] for row in listed(register, "list")] == [row["images"] for row in before]
