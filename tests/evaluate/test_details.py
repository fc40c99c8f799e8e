"""Category by category and image by image: what was right, and what was made of the rest."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from test_stream import CODES, TRUTH, of_codes

from firstsight import fit_features
from firstsight.core.accuracy import matched, placed
from firstsight.evaluate.details import TakenFor, details_of
from firstsight.evaluate.stream import decided, score

LABELS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=12)


def test_one_order_by_hand() -> None:
    """An ant that founds a category of its own, an ant right, a bee right, two of a new kind."""
    (fixed,) = decided(of_codes, CODES, TRUTH, orders=1)["fixed"]
    assert fixed.placed.tolist() == [-1, 0, 1, 2, 2]
    found = details_of(fixed.placed[None], TRUTH, list("vwxyz"), {"ant", "bee"})
    ant, bee, fly = found.categories
    assert (ant.name, ant.known, ant.images, ant.accuracy, ant.taken_for) == ("ant", True, 2, 0.5, [TakenFor(None, 1)])
    assert [(each.name, each.known, each.accuracy, each.taken_for) for each in (bee, fly)] == [
        ("bee", True, 1, []),
        ("fly", False, 1, []),
    ]
    (wrong,) = found.wrong
    assert (wrong.index, wrong.image, wrong.truth, wrong.wrong, wrong.orders) == (0, "v", "ant", 1, 1)
    assert wrong.taken_for is None


@given(st.data(), LABELS, st.integers(1, 4))
def test_nothing_is_lost_or_counted_twice(data: st.DataObject, truth: list[str], orders: int) -> None:
    names = list(dict.fromkeys(truth))
    where = data.draw(arrays(np.int64, (orders, len(truth)), elements=st.integers(-1, len(names) - 1)))
    found = details_of(where, truth, [f"{i}" for i in range(len(truth))], {"a"})
    assert sum(each.images for each in found.categories) == len(truth)
    for each in found.categories:
        wrong = each.images * (1 - each.accuracy)
        assert sum(one.images for one in each.taken_for) == pytest.approx(wrong)
        assert each.name not in {one.category for one in each.taken_for}
        assert sum(one.wrong for one in found.wrong if one.truth == each.name) == pytest.approx(orders * wrong)
    assert [each.accuracy for each in found.categories] == sorted(each.accuracy for each in found.categories)
    assert [-each.wrong for each in found.wrong] == sorted(-each.wrong for each in found.wrong)


@given(LABELS, st.data())
def test_an_image_is_right_where_it_is_placed_in_its_own_category(truth: list[str], data: st.DataObject) -> None:
    answers = data.draw(st.lists(st.integers(0, 4), min_size=len(truth), max_size=len(truth)))
    numbers = [list(dict.fromkeys(truth)).index(each) for each in truth]
    assert (placed(truth, answers) == numbers).tolist() == matched(truth, answers).tolist()


def test_the_categories_of_an_evaluation_come_to_its_headline() -> None:
    model = fit_features([[0, 1], [0.1, 1], [1, 0], [1, 0.1]], ["ant", "ant", "bee", "bee"])
    stream = np.array([[0.05, 1], [-1, -1], [1, 0.05], [-1, -1.05], [0.6, 0.62]])
    truth = ["ant", "fly", "bee", "fly", "wasp"]
    result = score(model, stream, truth, names=["a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.jpg"])
    assert result.details is not None
    right = sum(each.accuracy * each.images for each in result.details.categories) / 5
    assert right == pytest.approx(result.rows[0].accuracy.all)
    content = json.loads(json.dumps(result.as_json(), allow_nan=False))["details"]
    assert {each["name"] for each in content["categories"]} == set(truth)
    assert all(each["image"].endswith(".jpg") for each in content["wrong"])
    assert score(model, stream, truth, orders=2).details is not None
