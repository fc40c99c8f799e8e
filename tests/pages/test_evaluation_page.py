"""The page of an evaluation: by category, what was taken for what, and the pictures that went wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_report import NASTY, row

from colours import BLUE, RED, painted
from firstsight.data.images import ImageLike
from firstsight.evaluate.details import Details, details_of
from firstsight.evaluate.stream import Evaluation
from firstsight.pages import evaluation
from firstsight.pages.evaluation import confusion, evaluation_page
from webpage import Element, read_page

TRUTH = ["rose", "rose", "rose", "sky", "sky"]
PLACED = np.array([[0, 1, 1, 1, 1], [0, 1, -1, 1, 1]])  # a rose right, one never, one neither


def details(truth: list[str]) -> Details:
    return details_of(PLACED, truth, ["0.jpg", "1.jpg", "2.jpg", "3.jpg", "4.jpg"], {truth[0]})


def page(truth: list[str] = TRUTH, bad: ImageLike | None = None) -> Element:
    rows = [row("random x 2", 0.7, 0.1), row("closed-set", 0.4)]
    red, blue = painted(RED), painted(BLUE)
    images: list[ImageLike] = [red, red, red if bad is None else bad, blue, blue]
    return read_page(evaluation_page(Evaluation(rows, 5, 2, 3, details(truth)), images, truth))


def test_it_begins_with_what_counts() -> None:
    assert page().one("p", "sentence").text == "5 images of 2 categories, 3 of known ones, answered in several orders."
    assert page().one("dl").all("dd")[0].text == "70.0 ± 10.0 %"


def test_every_category_the_least_right_first() -> None:
    table = page().one("table", "scores")
    assert [each.text for each in table.all("th")][4:] == ["rose known", "sky new"]
    cells = [each.text for each in table.all("td")]
    assert cells == ["3", "33 %", "sky 1.5, a category too many 0.5", "2", "100 %", ""]


def test_the_matrix_holds_every_share() -> None:
    found = confusion(details(TRUTH).categories)
    assert found.names == ("rose", "sky")
    shares = {(row, column): share for row, column, share, _ in found.cells}
    assert shares == pytest.approx({(0, 0): 1 / 3, (0, 1): 1 / 2, (0, 2): 1 / 6, (1, 1): 1.0})
    chart = page().one("svg", "confusion")
    assert [each.text for each in chart.all("title")] == [
        "rose: 33% taken for rose",
        "rose: 50% taken for sky",
        "rose: 17% taken for a category too many",
        "sky: 100% taken for sky",
    ]
    assert [each.text for each in chart.all("text")] == ["rose", "sky"]


def test_a_large_matrix_has_no_names_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "LABELLED", 1)
    assert page().one("svg", "confusion").all("text") == []


def test_pictures_that_went_wrong_stand_beside_what_they_were_taken_for() -> None:
    (pair,) = page().all("section", "category")
    assert pair.one("h3").text == "rose, taken for sky"
    wrong, typical = pair.all("div", "wall")
    assert [each.text for each in wrong.all("figure")] == ["2 of 2", "2 of 2"]
    assert [each["alt"] for each in wrong.all("img")] == ["rose: 1.jpg", "rose: 2.jpg"]
    assert len(typical.all("img")) == 2


def test_a_picture_that_cannot_be_read_any_more_is_a_blank() -> None:
    (pair,) = page(bad=b"no picture").all("section", "category")
    assert [each.text for each in pair.all("div", "blank")] == ["not read"]


def test_of_many_some_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "EACH", 1)
    (pair,) = page().all("section", "category")
    assert pair.all("p")[-1].text == "and 1 more"
    monkeypatch.setattr(evaluation, "PAIRS", 0)
    assert "None." in [each.text for each in page().all("p")]


def test_names_change_nothing_but_text() -> None:
    named = [NASTY if each == "rose" else each for each in TRUTH]
    assert page(named).shape() == page().shape()


def test_an_evaluation_without_mistakes_says_so() -> None:
    right = details_of(np.array([[0, 0, 0, 1, 1]]), TRUTH, list("abcde"), {"rose"})
    rows = [row("random x 1", 1.0), row("closed-set", 0.4)]
    result = replace(Evaluation(rows, 5, 2, 3), details=right)
    content = evaluation_page(result, [painted(RED)] * 5, TRUTH)
    assert "None." in [each.text for each in read_page(content).all("p")]
