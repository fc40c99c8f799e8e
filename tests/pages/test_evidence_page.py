"""The page of an explanation: everything the evidence holds, in words and on one scale."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import firstsight
from colours import PURPLE, RED, colour_model, painted
from firstsight.core.assignments import Assignment, Candidate
from firstsight.evidence.evidence import Evidence, Fellow, Given
from firstsight.model.examples import Examples
from firstsight.pages.explanation import as_html
from firstsight.pages.pictures import lit
from webpage import Element, read_page


@pytest.fixture
def cases() -> list[Evidence]:
    """Red, which is red; and purple, which is a bit away from it."""
    model = colour_model()
    numbers = np.arange(6)
    kept = Examples(numbers // 3, numbers, numbers // 3, numbers)
    model.examples = kept.with_pictures(lambda i: painted((40 * i, 0, 0)))
    looked = np.array([[0, 1], [0.5, 0]], dtype=np.float32)
    return [replace(firstsight.explain(model, painted(colour)), looked=looked) for colour in (RED, PURPLE)]


def headings(page: Element) -> list[str]:
    return [each.text for each in page.all("h3")]


def test_one_image_or_two_side_by_side(cases: list[Evidence]) -> None:
    one, two = (read_page(as_html(some)) for some in (cases[:1], cases))
    assert (one.one("h1").text, two.one("h1").text) == ("Why is this red?", "Why are these two answered so?")
    assert [each.one("h2").text for each in two.all("article")] == ["red known", "red known"]
    assert [each.one("p", "sentence").text for each in two.all("article")] == [each.sentence for each in cases]
    for page, some in ((one, cases[:1]), (two, cases)):
        assert len(page.all("article")) == len(some)
        assert len(page.all("img")) == len(some) * (2 + 5 + 2)  # as seen and where looked, the top five, two centres
    assert headings(one) == [
        "The 5 prototypes it is most like",
        "Their similarity, summed per category",
        "The nearest categories",
        "Its code, bit by bit",
    ]


def test_what_it_is_most_like_and_the_sums(cases: list[Evidence]) -> None:
    page = read_page(as_html(cases[:1]))
    cards = [each.one("figcaption").text for each in page.all("figure", "card")]
    assert cards == [f"{each.category}{each.similarity:.2f}" for each in cases[0].similar]
    sums, near = page.all("table")
    assert [each.text for each in sums.all("td")][::2] == ["3", "2"]
    assert [each.text for each in near.all("th")][3:] == ["red known", "blue known"]


def test_bars_of_two_images_are_on_one_scale(cases: list[Evidence]) -> None:
    page = read_page(as_html(cases))
    for places, values in (
        (page.all("figure", "card"), [each.similarity for case in cases for each in case.similar]),
        ([each.all("table")[0] for each in page.all("article")], [s.similarity for case in cases for s in case.sums]),
    ):
        widths = [float(bar.all("rect")[1]["width"]) for place in places for bar in place.all("svg", "bar")]
        assert widths == pytest.approx([max(0, 100 * each / max(values)) for each in values], abs=0.1)


def test_the_bits_that_differ_are_told_and_marked(cases: list[Evidence]) -> None:
    page = read_page(as_html(cases[1:]))  # 1011, beside red's 1001 and blue's 0010
    told = [each.text for each in page.all("tr", "bits")]
    assert told == ["1 bit differs: 3 (+0.05)", "2 bits differ: 4 (+0.05), 1 (+0.10)"]
    code = page.one("svg", "code")
    assert code["aria-label"] == "The code of the image is 1011"
    marked = ["differs" in each.kinds for each in code.all("rect")]
    assert marked == [False, False, True, False]
    digits = [each for each in code.all("text") if each.text in "01"]
    assert "".join(each.text for each in digits) == "1011" + "1001" + "0010"
    assert [i for i, each in enumerate(digits) if each.kinds] == [4 + 2, 8 + 0, 8 + 3]
    assert "A category reaches 1 from its centre. Runner-up: blue, 2 away." in page.all("caption")[0].text


def test_many_bits_are_cut_short(cases: list[Evidence]) -> None:
    many = replace(cases[0], values=(0.5,) * 9, near=(replace(cases[0].near[0], differing=tuple(range(1, 10))),))
    assert read_page(as_html([many])).one("tr", "bits").text.endswith("6 (+0.50) and 3 more")


def test_odds_have_no_bits_and_no_balls(cases: list[Evidence]) -> None:
    answer = Assignment(None, True, False, 2.5, 0.25, None, confidence=0.9)
    near = tuple(replace(each, differing=()) for each in cases[0].near)
    shown = replace(cases[0], answer=answer, near=near, values=(), weighed=True, closer=(0.1, 0.1, 0.5))
    page = read_page(as_html([shown]))
    assert page.one("h1").text == "Why is this a new category?"
    assert page.one("h2").text == "a new category new"
    fold = page.one("details")
    said = "These are the log odds of a new category. Up to 0.25 the category can answer."
    assert (fold.one("summary").text, fold.one("caption").text) == ("In figures", said)
    outside = page.all("table")[-2]  # of the fold
    assert [each.text for each in outside.all("td")] == ["possible", "too far"]
    assert "log odds" not in outside.text
    assert page.all("svg", "code") == []
    assert page.all("figcaption")[1].text == "Bright: where it looked. Framed: its second look"


def test_the_answer_that_was_given_stands_beside_todays(cases: list[Evidence]) -> None:
    given = Given(12, "2026-06-05T14:02:09Z", "moth", True, False, 0.75, False, "ant", "wasp", True, True)
    answer = Assignment("wasp", True, False, -2.5, 0.25, Candidate("moth", 1.0), confidence=0.9)
    kept = (Fellow(3, "/a/3.jpg", b"picture"), Fellow(4, "/a/4.jpg", None, "no longer there"))
    shown = replace(cases[0], answer=answer, given=given, fellows=kept, fellows_of="wasp")
    page = read_page(as_html([shown]))
    assert page.one("h1").text == "Why is this wasp?"
    assert [each.text for each in page.one("dl").all("dt")] == ["Answered 5 June 2026", "Asked again today"]
    said = ["moth new", "75% sure, next ant", "wasp new", "90% sure, next moth"]
    assert [each.text for each in page.one("dl").all("dd")] == said
    assert "Images of wasp most like it" in headings(page)
    assert page.one("div", "blank").text == "no longer there"
    assert not read_page(as_html(cases[:1])).all("dl")


def test_what_is_not_there_is_left_out(cases: list[Evidence]) -> None:
    nothing = replace(cases[0], similar=(), sums=(), near=(), values=(), looked=None)
    page = read_page(as_html([nothing]))
    assert (len(page.all("img")), headings(page)) == (1, [])
    assert "keeps nothing to compare images with" in page.text
    unseen = replace(cases[0], similar=tuple(replace(each, picture=None) for each in cases[0].similar))
    blanks = [each.text for each in read_page(as_html([unseen])).all("div", "blank")]
    assert blanks == [f"prototype {each.number}" for each in unseen.similar]


def test_categories_without_end_and_likeness_of_nothing(cases: list[Evidence]) -> None:
    alike = tuple(replace(each, similarity=0.0) for each in cases[0].similar)
    sums = tuple(replace(each, similarity=0.0) for each in cases[0].sums)
    endless = replace(cases[0], similar=alike, sums=sums, answer=replace(cases[0].answer, radius=float("inf")))
    assert "Categories have no end here." in read_page(as_html([endless])).text


def test_light_falls_where_it_looked() -> None:
    shown = lit(np.full((8, 8, 3), 200, np.uint8), np.array([[1, 0], [1, 0]], dtype=np.float32))
    assert shown[:, 0].mean() > 190
    assert shown[:, -1].mean() < 110


def test_a_frame_shows_the_second_look() -> None:
    grey = np.full((100, 100, 3), 128, np.uint8)
    shown = lit(grey, np.ones((2, 2), dtype=np.float32), (0.25, 0.5, 0.5))
    assert shown[75, 25].tolist() == [255] * 3  # left,
    assert shown[50, 50].tolist() == [255] * 3  # top,
    assert shown[75, 74].tolist() == [255] * 3  # right of it
    assert shown[75, 50].tolist() == [128] * 3
