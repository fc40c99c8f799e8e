"""The page of a register: all categories and images, what to mend, and pictures wherever they still are."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from colours import colour_model, painted
from firstsight import Discoverer, Store
from firstsight.core.number import Number
from firstsight.core.rehearsed import Rehearsed
from firstsight.data.crops import Crop
from firstsight.data.images import read
from firstsight.evidence.overview import Found, Overview, overview
from firstsight.model.examples import Examples
from firstsight.pages import found as pages
from firstsight.pages.found import found_page
from firstsight.store import views
from firstsight.store.splits import SplitSuggestion
from firstsight.store.suggest import Suggestion
from firstsight.store.views import Member, Summary
from photographs import photograph
from webpage import Element, read_page

NUMBER = Number(certain=1, more=2, low=1, high=4)
NASTY = '"><script>alert("x")</script> & Söhne \udcff\x1b'


@pytest.fixture
def pictures(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{i}.png" for i in range(6)]
    for i, path in enumerate(paths):
        Image.new("RGB", (40, 30), (40 * i, 0, 0)).save(path)
    return paths


@cache
def pattern(by_person: bool) -> Member:
    """An image of a register, as the rule or as a person has it."""
    model = colour_model()
    with Store.in_memory(model.register(), model.provenance) as store:
        image = Discoverer(model, store=store).discover_one(painted((0, 255, 0))).image
        if by_person:
            store.confirm([image or 0], by="Ann")
        return next(views.images(store.view()))


def member(
    image: int, path: Path, confidence: float | None = 0.9, name: str = "new-1", by_person: bool = False
) -> Member:
    content = read(path)[1].hex() if path.is_file() else "0" * 64
    shown = {"image": image, "source": str(path), "content": content, "confidence": confidence, "name": name}
    return replace(pattern(by_person), **shown, runner_up="ant", time="2026-06-05T14:02:09Z")  # type: ignore[arg-type]


def category(id: str, name: str, members: list[Member], known: bool = False, nearest: str | None = None) -> Found:
    summary = Summary(id, name, known, len(members), 0, ())
    founder = None if known or not members else members[0]
    unsure = frozenset(each.image for each in members if (each.confidence or 1) < 0.5)
    return Found(summary, founder, tuple(members[founder is not None :]), unsure, nearest, 2)


def register(pictures: list[Path], name: str = "moth") -> Overview:
    """Six images of a new category, two of them unsure; a tentative one; a known one without images."""
    sure = (0.9, 0.8, 0.4, 1.0, 0.3, 0.7)
    members = [member(2 + i, path, sure[i], name) for i, path in enumerate(pictures)]
    alone = member(20, pictures[0].with_name("gone.png"), 0.6)
    found = (
        category("ant", "ant", [], known=True),
        category("new-1", name, members, nearest="ant"),
        category("new-2", "new-2", [alone], nearest="new-1"),
    )
    merge = Suggestion("new-2", "new-1", 3.0, "centres 1 apart")
    split = SplitSuggestion("new-1", (3, 5), (2, 4, 6, 7), 9.0, "they lie apart")
    return Overview("my moths.db", 30, True, found, (merge,), (split,), NUMBER)


def page(found: Overview) -> Element:
    return read_page(found_page(found), scripted=True)


def test_every_category_with_founder_size_time_and_neighbour(pictures: list[Path]) -> None:
    whole = page(register(pictures))
    assert whole.one("h1").text == "What was found in my moths.db"
    assert "In truth there may be about 3 categories (90 %: 2 to 5)." in [each.text for each in whole.all("p")]
    moth, alone, ant = whole.all("section", "category")
    assert [each["id"] for each in (moth, alone, ant)] == ["c-new-1", "c-new-2", "c-ant"]
    assert [kind for each in (moth, alone, ant) for kind in each.kinds[1:2]] == ["new", "tentative", "known"]
    about = [each.text for each in moth.one("div", "about").all("p")]
    assert about == [
        "6 images. Seen 5 June 2026, 14:02 UTC.",
        "Nearest to ant, which came next for 2 of its images.",
        "Its id is new-1.",
    ]
    assert moth.one("div", "founder").text == "2 90% sure"
    assert "No image yet." in ant.text
    assert [each["href"] for each in moth.one("div", "about").all("a")] == ["#c-ant"]


def test_unsure_images_stand_apart_the_least_sure_first(pictures: list[Path]) -> None:
    moth = page(register(pictures)).all("section", "category")[0]
    assert "doubtful" in moth.kinds
    assert [each.text for each in moth.all("h4")] == ["Unsure: 2 images to look at", "All others"]
    assert [each.text for each in moth.all("figure", "unsure")] == ["6 30% sure, or ant", "4 40% sure, or ant"]
    assert [each.text for each in moth.one("div", "sure").all("figure")] == [
        "3 80% sure",
        "5 over 99% sure",
        "7 70% sure",
    ]


def test_what_a_person_says_is_said(pictures: list[Path]) -> None:
    members = [member(2, pictures[0]), member(3, pictures[1], None, by_person=True)]
    found = Overview("r.db", 3, True, (category("new-1", "moth", members),), (), (), NUMBER)
    assert [each.text for each in page(found).all("figure")] == ["2 90% sure", "3 Ann says so"]


def test_a_picture_that_is_not_there_says_why(pictures: list[Path]) -> None:
    pictures[1].write_bytes(pictures[2].read_bytes())
    found = register(pictures)
    pictures[1].write_bytes(pictures[3].read_bytes())
    whole = page(found)
    blanks = [each.text for each in whole.all("div", "blank")]
    assert sorted(set(blanks)) == ["another picture now", "no longer there"]
    assert whole.one("p", "warning").text.startswith("2 pictures are not where they were. If files moved, firstsight")
    assert all(each["loading"] == "lazy" for each in whole.all("img"))


def test_what_may_be_mended_stands_side_by_side_with_the_command(pictures: list[Path]) -> None:
    merge, split = page(register(pictures)).all("article", "proposal")
    assert merge.one("h3").text == "Are these one?"
    assert [each.text for each in merge.one("div", "sides").all("p")] == ["new-2 new 1 image", "moth new 6 images"]
    assert merge.one("p", "note").text == "Centres 1 apart."
    assert merge.one("code").text == "firstsight categories 'my moths.db' merge new-2 --into new-1"
    assert split.one("h3").text == "Is moth new two?"
    assert [each.text for each in split.all("b")] == ["3", "5", "2", "4", "6", "7"]
    assert [each.text for each in split.all("p")][2:] == ["They lie apart."]
    assert split.one("code").text == "firstsight categories 'my moths.db' split --auto new-1"
    everything = register(pictures)
    tried = replace(everything.splits[0], rehearsed=Rehearsed.counted(3, 23))
    said = [each.text for each in page(replace(everything, splits=(tried,))).all("p")]
    assert sum("In rehearsal 3 of 23 such splits were right" in each for each in said) == 1
    assert not any("rehearsal" in each.text for each in page(everything).all("p"))


def test_a_large_category_is_folded(pictures: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "AT_ONCE", 1)
    moth = page(register(pictures)).all("section", "category")[0]
    assert [each.one("summary").text for each in moth.all("details")] == ["1 more", "2 more"]
    assert len(moth.all("figure")) == 6


def test_names_change_nothing_but_text(pictures: list[Path]) -> None:
    odd = register(pictures, NASTY)
    whole, plain = page(odd), page(register(pictures, "moth"))
    assert whole.shape() == plain.shape()
    shown = NASTY.replace("\udcff", "\\udcff").replace("\x1b", "\\x1b")
    assert whole.all("section", "category")[0].one("h3").text == f"{shown} new"
    assert page(replace(odd, name=NASTY)).shape() == whole.shape()


def test_ids_are_places_on_the_page_whatever_they_are(pictures: list[Path]) -> None:
    ant = category(NASTY, NASTY, [], known=True)
    other = category("new-1", "new-1", [member(2, pictures[0])], nearest=NASTY)
    whole = page(Overview("r.db", 3, True, (ant, other), (), (), NUMBER))
    places = {each["id"] for each in whole.all("section", "category")}
    assert {each["href"][1:] for each in whole.all("a")} <= places
    assert all(each.isascii() and " " not in each for each in places)


def test_support_images_show_what_known_categories_were_taught_by(pictures: list[Path]) -> None:
    model, numbers = colour_model(), np.arange(6)
    kept = Examples(numbers // 3, numbers, numbers // 3, numbers)
    model.examples = kept.with_pictures(lambda i: painted((40 * i, 0, 0)))
    found = Overview("r.db", 0, True, (category("red", "red", [], known=True),), (), (), NUMBER)
    red = read_page(found_page(found, model), scripted=True).one("section", "category")
    assert red.one("h4").text == "Taught by"
    assert len(red.all("img")) == 3
    model.examples = None
    assert not read_page(found_page(found, model), scripted=True).all("img")


def test_a_register_of_real_pictures_from_the_store_to_the_page(pictures: list[Path], tmp_path: Path) -> None:
    with Discoverer(colour_model(), store=tmp_path / "r.db") as discoverer:
        answers = list(discoverer.discover_many(pictures))
        assert discoverer.store is not None
        whole = read_page(found_page(overview(discoverer.store.view())), scripted=True)
    numbers = {each.text for section in whole.all("section", "category") for each in section.all("b")}
    assert numbers == {str(each.image) for each in answers}
    assert not whole.all("p", "warning")


def test_a_founder_that_is_a_part_of_a_frame_stands_above_it(pictures: list[Path], tmp_path: Path) -> None:
    photograph(tmp_path / "frame.jpg", "lime", taken="2026:05:03 08:00:00")
    with Discoverer(colour_model(), store=tmp_path / "r.db") as discoverer:
        discoverer.discover_one(Crop(tmp_path / "frame.jpg", (0.0, 0.0, 0.5, 0.5)))
        assert discoverer.store is not None
        whole = read_page(found_page(overview(discoverer.store.view())), scripted=True)
    founder = whole.one("div", "founder")
    assert [each["alt"] for each in founder.all("img")] == ["frame.jpg", "The frame it is a part of"]
    assert "1 image. Photographed 3 May 2026." in whole.text
    assert not whole.all("p", "warning")


def test_a_register_without_an_image_has_a_page_of_what_was_taught() -> None:
    model = colour_model()
    with Store.in_memory(model.register(), model.provenance) as store:
        page = read_page(found_page(overview(store.view())), scripted=True)
    assert {each["id"] for each in page.all("section", "category")} == {f"c-{name}" for name in model.names}
