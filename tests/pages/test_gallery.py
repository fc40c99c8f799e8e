"""The gallery: all prototypes, and those of little use pointed out."""

from __future__ import annotations

import numpy as np
import pytest

from colours import colour_model, painted
from firstsight.model.examples import Examples
from firstsight.model.model import Category
from firstsight.pages.gallery import as_page
from webpage import read_page

NASTY = '<script>alert("x")</script> & Söhne \udcff'


@pytest.mark.parametrize("name", ["red", NASTY])
def test_it_points_out_what_is_of_little_use(name: str) -> None:
    model = colour_model()
    model.categories = (Category(name, 1), model.categories[1])
    category = wins = np.arange(6) // 3
    kept = Examples(category, np.array([0, 0, 2, 3, 4, 2]), np.array([0, 0, 0, 1, 1, 0]), wins)
    model.examples = kept.with_pictures(lambda i: painted((40 * i, 0, 0)))
    content, summary = as_page(model, f"{name}.model")
    assert summary == "6 prototypes of 2 categories: 1 duplicate, 3 dead, 1 stray"
    page, shown = read_page(content), name.replace("\udcff", "\\udcff")
    assert page.one("h1").text == f"What {shown}.model learned"
    assert [each.text for each in page.one("dl").all("dd")][::2] == ["1", "3", "1"]
    assert [each.kinds for each in page.all("figure")] == [["dead"], ["duplicate", "dead"], ["dead"], [], [], ["stray"]]
    captions = [each.text for each in page.all("figcaption")]
    assert captions[1:4] == ["2 · 0 imagesduplicatedead", "3 · 0 imagesdead", "1 · 1 image"]
    assert captions[5] == f"3 · 1 imageshows {shown}"
    assert all(each["loading"] == "lazy" for each in page.all("img"))


def test_every_category_is_a_link_away_and_every_kind_can_be_chosen() -> None:
    model = colour_model()
    numbers = np.arange(6)
    model.examples = Examples(numbers // 3, numbers, numbers // 3, numbers)
    page = read_page(as_page(model, "colours.model")[0])
    targets = [each["id"] for each in page.all("section", "category")]
    assert targets == [each["href"][1:] for each in page.all("a")] == ["c0", "c1"]
    assert [each.text for each in page.all("section")[0].all("div", "blank")] == [f"prototype {n}" for n in (1, 2, 3)]
    choices = {each["id"]: "checked" in each.attributes for each in page.all("input")}
    assert choices == {"only-all": True, "only-duplicate": False, "only-dead": False, "only-stray": False}
    assert all(f"#{each}:checked" in page.one("style").text for each in choices if each != "only-all")
