"""Pages, pictures and JSON of evidence: self-contained, readable, and the same whatever categories are called."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest
from PIL import Image

import firstsight
from colours import PURPLE, RED, colour_model, painted
from firstsight.cli.explain import drawn
from firstsight.evidence.evidence import Evidence
from firstsight.model.examples import Examples
from firstsight.model.model import Category
from firstsight.pages.gallery import as_page
from firstsight.pages.page import lit

NASTY = '<script>alert("x")</script> & Söhne'


@pytest.fixture
def cases() -> list[Evidence]:
    model = colour_model()
    model.categories = (Category(NASTY, 1), model.categories[1])
    model.decision = replace(model.decision, names=tuple(model.names))
    numbers = np.arange(6)
    kept = Examples(numbers // 3, numbers, numbers // 3, numbers)
    model.examples = kept.with_pictures(lambda i: painted((40 * i, 0, 0)))
    looked = np.array([[0, 1], [0.5, 0]], dtype=np.float32)
    return [replace(firstsight.explain(model, painted(colour)), looked=looked) for colour in (RED, PURPLE)]


class Page(HTMLParser):
    """What a page is made of: (tag, attributes) in order, and its tags balanced."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(content.decode())
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "br", "wbr", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check_page(content: bytes) -> Page:
    page = Page(content)
    assert ("html", {"lang": "en"}) in page.tags
    assert "script" not in {tag for tag, _ in page.tags}
    for tag, attributes in page.tags:
        assert tag != "img" or (attributes["alt"] and str(attributes["src"]).startswith("data:image/jpeg;base64,"))
        assert tag != "svg" or (attributes["role"] == "img" and attributes["aria-label"])
        assert "http" not in str(attributes.get("href")), "nothing is fetched"
    return page


def test_the_page_is_self_contained_and_says_what_its_pictures_are(cases: list[Evidence]) -> None:
    for shown in (cases, cases[:1]):
        page = check_page(drawn(shown, ".html"))
        assert sum(tag == "article" for tag, _ in page.tags) == len(shown)
        pictures = [attributes for tag, attributes in page.tags if tag == "img"]
        assert len(pictures) == len(shown) * (2 + 5 + 2)  # as seen and where looked, the top five, two centres
    nothing = [replace(cases[0], similar=(), sums=(), near=(), values=(), looked=None)]
    check_page(drawn(nothing, ".html"))


def test_bars_of_two_images_are_on_one_scale(cases: list[Evidence]) -> None:
    widths = [float(w) for w in re.findall(r"width:([\d.]+)rem", drawn(cases, ".html").decode())]
    sums = [each.similarity for case in cases for each in case.sums]
    assert widths == pytest.approx([6 * each / max(sums) for each in sums], abs=0.01)


def test_the_picture_has_a_column_for_each_image(cases: list[Evidence]) -> None:
    one, two = (Image.open(io.BytesIO(drawn(shown, ".png"))) for shown in (cases[:1], cases))
    assert two.width == 2 * one.width
    assert one.height > 1000
    assert dict(one.getexif()) == {}


def test_json_is_documented_and_plain(cases: list[Evidence]) -> None:
    content = json.loads(drawn(cases, ".json"))
    assert set(content) == {"format", "firstsight", "images"}
    red, purple = content["images"]
    assert red["category"] == NASTY
    assert (purple["code"], purple["near"][1]["differing"][0]["bit"]) == ("1011", 1)
    assert purple["near"][1]["differing"][0]["value"] == purple["values"][0]


def test_colours_keep_their_contrast_in_light_and_dark() -> None:
    """AA of WCAG: 4.5 to 1 for every tone that text is written in."""
    style = files("firstsight.pages").joinpath("page.css").read_text()
    light, dark = (dict(re.findall(r"--(\w+): (#\w{6})", part)) for part in style.split("@media")[:2])
    for tones in (light, dark):
        for tone in ("ink", "soft", "found", "low"):
            pair = sorted((luminance(tones[tone]), luminance(tones["paper"])))
            assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5, tone


def luminance(colour: str) -> float:
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def test_the_gallery_points_out_what_is_of_little_use() -> None:
    model = colour_model()
    model.categories = (Category(NASTY, 1), model.categories[1])
    model.decision = replace(model.decision, names=tuple(model.names))
    category = wins = np.arange(6) // 3
    kept = Examples(category, np.array([0, 0, 2, 3, 4, 2]), np.array([0, 0, 0, 1, 1, 0]), wins)
    model.examples = kept.with_pictures(lambda i: painted((40 * i, 0, 0)))
    content, summary = as_page(model, "colours.model")
    assert summary == "6 prototypes of 2 categories: 1 duplicate, 3 dead, 1 stray"
    page = check_page(content)
    kinds = [attributes.get("class") for tag, attributes in page.tags if tag == "figure"]
    assert kinds == ["dead", "duplicate dead", "dead", None, None, "stray"]
    targets = {attributes["id"] for tag, attributes in page.tags if tag == "section"}
    links = {str(attributes["href"])[1:] for tag, attributes in page.tags if tag == "a"}
    assert targets == links == {"c0", "c1"}
    assert all(attributes["loading"] == "lazy" for tag, attributes in page.tags if tag == "img")


def test_light_falls_where_it_looked() -> None:
    shown = lit(np.full((8, 8, 3), 200, np.uint8), np.array([[1, 0], [1, 0]], dtype=np.float32))
    assert shown[:, 0].mean() > 190
    assert shown[:, -1].mean() < 110
