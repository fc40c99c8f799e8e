"""The report of a labelled stream: how right, how it went, and what every category holds."""

from __future__ import annotations

import pytest

from colours import BLUE, RED, painted
from firstsight.core.accuracy import Accuracy
from firstsight.core.assignments import Assignment
from firstsight.evaluate.scores import Row
from firstsight.evaluate.stream import Answered, Evaluation
from firstsight.pages import report
from firstsight.pages.report import report_page
from webpage import Element, read_page

NASTY = "<script>alert('x')</script>\x1b\udcff"
GREEN = (0, 255, 0)


def row(name: str, value: float, deviation: float | None = None) -> Row:
    accuracy = Accuracy(value, value, value)
    spread = None if deviation is None else Accuracy(deviation, deviation, deviation)
    more = {"confirmed": 2.0, "by_name": 1.0, "false_births": 0.0, "mutual_information": 1.0, "rand_index": 1.0}
    same = {"hindsight": accuracy, "largest": accuracy, "separate": accuracy}
    rest = {"categories": 3.0, "course": [value, value], "growth": [1.0, 3.0], **more, **same}
    return Row(name=name, accuracy=accuracy, deviation=spread, **rest)  # type: ignore[arg-type]


def seen(colour: tuple[int, int, int], truth: str, category: str, is_new: bool, created: bool = False) -> Answered:
    return Answered(painted(colour), truth, Assignment(category, is_new, created, 0, 1, None))


def page(name: str = "grass", known: str = "rose") -> Element:
    """Two roses, one of them taken for something new, and two of what the model was not taught."""
    stream = [
        seen(RED, known, known, False),
        seen(GREEN, name, "new-1", True, created=True),
        seen(GREEN, name, "new-1", True),
        seen(RED, known, "new-1", True),
        seen(BLUE, "sky", known, False),
    ]
    rows = [row("random x 10", 0.8, 0.05), row("closed-set", 0.4)]
    return read_page(report_page(Evaluation(rows, 5, 3, 2), stream, [known], ["Made by hand."]))


def test_it_begins_with_what_counts() -> None:
    found = page()
    assert found.one("p", "sentence").text == (
        "5 images arrived one by one, in random order. The model knew 1 category; 2 more were in the stream. "
        "It registered 1 new category on the way."
    )
    tiles = [each.text for each in found.one("dl", "tiles").all("dd")]
    assert tiles[::2] == ["80.0 ± 5.0 %", "40.0 %", "2"]
    assert tiles[-1] == "3 in truth"
    assert "Made by hand." in found.text


def test_the_table_has_all_rows() -> None:
    table = page().one("table")
    assert [each.text for each in table.all("th")] == [
        *("order", "All", "Old", "New", "categories found"),
        *("random x 10", "closed-set"),
    ]
    assert [each.text for each in table.all("td")] == ["80.0 ± 5.0"] * 3 + ["3.0"] + ["40.0"] * 3 + ["3.0"]


def test_charts_go_from_the_first_image_to_the_last() -> None:
    growth, course = (each for each in page().all("svg", "chart") if "role" in each.attributes)
    assert growth["aria-label"] == "Categories as the stream goes on: at the end 2 registered, 3 in truth"
    real, found = ([point.split(",") for point in line["points"].split()] for line in growth.all("polyline"))
    assert [float(x) for x, _ in found] == [34, 104.5, 175, 245.5, 316]
    assert [round((128 - float(y)) / 116 * 3, 1) for _, y in found] == [1, 2, 2, 2, 2]
    assert [round((128 - float(y)) / 116 * 3, 1) for _, y in real] == [1, 2, 2, 2, 3]
    assert course["aria-label"] == "Accuracy as the stream goes on: at the end 80 per cent"


def test_every_category_shows_its_images_and_marks_strangers() -> None:
    new, known = page().all("section", "category")
    assert (new.one("h3").text, known.one("h3").text) == ("new-1 new", "rose known")
    assert (new.one("p").text, known.one("p").text) == ("3 images, 2 of grass", "2 images, 1 of rose")
    assert [each.one("img")["alt"] for each in new.all("figure")] == ["grass", "grass", "rose, does not belong here"]
    assert [each.text for each in new.all("figure", "stranger")] == ["rose"]
    assert [each.text for each in known.all("figure", "stranger")] == ["sky"]


def test_of_large_categories_some_images_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "WALL", 2)
    new, known = page().all("section", "category")
    assert (len(new.all("img")), new.all("p")[-1].text) == (2, "and 1 more")
    assert (len(known.all("img")), len(known.all("p"))) == (2, 1)


def test_a_long_stream_is_drawn_with_few_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "POINTS", 3)
    line = page().all("polyline", "found")[0]
    assert [each.split(",")[0] for each in line["points"].split()] == ["34.0", "175.0", "316.0"]


def test_names_change_nothing_but_text() -> None:
    found, plain = page(name=NASTY, known=f"{NASTY}2"), page()
    assert found.shape() == plain.shape()
    assert found.all("section", "category")[0].one("p").text == "3 images, 2 of <script>alert('x')</script>\\x1b\\udcff"


def test_a_stream_without_discoveries_says_so() -> None:
    rows = [row("random x 10", 1.0), row("closed-set", 1.0)]
    content = report_page(Evaluation(rows, 1, 1, 1), [seen(RED, "rose", "rose", False)], ["rose"], [])
    assert "None." in [each.text for each in read_page(content).all("p")]
