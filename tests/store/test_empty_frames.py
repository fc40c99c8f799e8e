"""Frames in which nothing was found: counted as looked at, of no category, no lesson, and taken back as one command."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from every_log import LOGS, new_log
from tiny_store import MODEL, discover, fresh_register

from firstsight.core.errors import NotFound
from firstsight.core.protocols import Silent
from firstsight.store import relocate, sightings
from firstsight.store.empties import keep_empty
from firstsight.store.events import FoundEmpty
from firstsight.store.forget import of_the_same_file
from firstsight.store.store import Store
from firstsight.store.views import image_numbers, line, summaries
from photographs import HAARLEM, photograph


@pytest.fixture(params=LOGS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    for number in (1, 2, 3):
        photograph(tmp_path / "card" / f"{number}.jpg", taken=f"2026:05:0{number} 12:00:00", place=HAARLEM)
    made = Store(new_log(tmp_path / "r.db", "codes", request.param))
    discover(made, 0b0000, 0b0111)
    return made


def frames(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "card").iterdir())


def test_they_are_no_images_and_teach_nothing(store: Store, tmp_path: Path) -> None:
    before, register = summaries(store.view()), store.register
    kept = keep_empty(store, frames(tmp_path))
    assert [type(each.event) for each in kept.recorded] == [FoundEmpty] * 3
    view = store.view()
    assert summaries(view) == before
    assert view.images() == [each for each in range(1, kept.recorded[0].number) if view.catalogue.has_image(each)]
    assert view.catalogue.empty_frames() == [each.number for each in kept.recorded]
    assert str(line(view, kept.recorded[0])["what"]).endswith("1.jpg: nothing in it")
    assert store.register is register or store.register.learned() == register.learned()
    with pytest.raises(NotFound):
        store.move([kept.recorded[0].number], "ant")
    assert store.replay() == view.catalogue
    store.verify()


def test_a_frame_is_kept_once_unless_it_is_to_count_again(store: Store, tmp_path: Path) -> None:
    first, second, third = frames(tmp_path)
    assert len(keep_empty(store, [first, second, first]).recorded) == 2
    assert [Path(each.event.source).name for each in keep_empty(store, [second, third]).recorded] == ["3.jpg"]  # type: ignore[union-attr]
    assert len(keep_empty(store, [first], again=True).recorded) == 1
    (tmp_path / "no.jpg").mkdir()
    kept = keep_empty(store, [tmp_path / "no.jpg"])
    assert (kept.recorded, len(kept.errors)) == ([], 1)


def test_one_undo_takes_the_whole_run_back_and_redo_brings_it_back(store: Store, tmp_path: Path) -> None:
    kept = keep_empty(store, frames(tmp_path))
    there = store.view().catalogue.empty_frames()
    store.undo(kept.recorded[1].number)
    assert store.view().catalogue.empty_frames() == []
    again = keep_empty(store, frames(tmp_path)[:1])  # which nobody has seen by now
    assert len(again.recorded) == 1
    store.undo(again.recorded[0].number)
    store.redo(kept.recorded[0].number)
    assert store.view().catalogue.empty_frames() == there
    assert store.replay() == store.view().catalogue


def test_they_are_counted_by_day_and_place_beside_the_categories(store: Store, tmp_path: Path) -> None:
    keep_empty(store, frames(tmp_path))
    days, unknown = sightings.by_day(store.view())
    assert [(each.where, each.category, each.name, each.images) for each in days] == [
        (f"2026-05-0{day}", "", "empty frames", 1) for day in (1, 2, 3)
    ]
    assert unknown == 2  # images, which say nothing of it
    (place,) = sightings.by_place(store.view(), 1000)[0]
    assert place.images == 3
    assert sightings.by_day(store.view(), "ant")[0] == []


def test_metadata_can_be_left_out_and_all_of_it_forgotten(store: Store, tmp_path: Path) -> None:
    (bare,) = keep_empty(store, frames(tmp_path)[:1], metadata=False).recorded
    told = store.view().seen(bare.number)
    assert (told.taken, told.latitude, told.withheld) == (None, None, True)
    (same,) = keep_empty(store, frames(tmp_path)[:1], again=True).recorded
    assert of_the_same_file(store.view(), [bare.number]) == [same.number]
    assert image_numbers(store.view(), ["1.jpg"], empty=True) == [bare.number, same.number]
    with pytest.raises(NotFound):
        image_numbers(store.view(), ["1.jpg"])
    assert store.forget([bare.number, same.number]) is not None
    assert store.view().seen(same.number).forgotten
    assert len(keep_empty(store, frames(tmp_path)[:1]).recorded) == 1  # nobody knows it any more
    store.verify()


def test_their_files_are_found_where_they_were_moved_to(store: Store, tmp_path: Path) -> None:
    keep_empty(store, frames(tmp_path))
    shutil.move(tmp_path / "card", tmp_path / "elsewhere")
    search = relocate.find(store.view(), tmp_path / "elsewhere", Silent())
    store.relocate(search.found)
    sources = [store.view().seen(each).source for each in store.view().catalogue.empty_frames()]
    assert sources == [str(each) for each in sorted((tmp_path / "elsewhere").iterdir())]


def test_a_snapshot_has_them(tmp_path: Path) -> None:
    photograph(tmp_path / "1.jpg")
    with Store.create(tmp_path / "r.db", fresh_register(), MODEL) as store:
        discover(store, *[0b0000] * 1100)
        keep_empty(store, [tmp_path / "1.jpg"])
        expected = store.view().catalogue.empty_frames()
    with Store.open(tmp_path / "r.db") as store:
        assert store.view().catalogue.empty_frames() == expected
        store.verify()
        assert keep_empty(store, [tmp_path / "1.jpg"]).recorded == []
