"""Evidence on a model one can follow by hand: images are colours, and so are prototypes."""

from __future__ import annotations

from dataclasses import replace
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

import firstsight
from colours import PURPLE, RED, SIDE, colour_model, painted
from firstsight.core.errors import ImageError, StoreError
from firstsight.evidence.evidence import Similar
from firstsight.evidence.points import summed, top
from firstsight.methods.decisions import CodeDecision
from firstsight.store.store import Store


def score(squared_distance: float) -> float:
    """Eq. 1 as printed."""
    return log((squared_distance + 1) / (squared_distance + 1e-4))


def test_the_most_activated_prototypes_and_their_sums_by_hand() -> None:
    """Red is 0, 1/4 and 1 from red's prototypes, 2, 9/4 and 1 from blue's, all squared."""
    found = firstsight.explain(colour_model(), painted(RED))
    ranked = [(each.category, each.number) for each in found.similar]
    assert ranked == [("red", 1), ("red", 2), ("red", 3), ("blue", 3), ("blue", 1)]  # of equals, the earlier
    expected = [score(d) for d in (0, 0.25, 1, 1, 2)]
    assert [each.similarity for each in found.similar] == pytest.approx(expected, abs=1e-5)
    assert [(each.category, each.count) for each in found.sums] == [("red", 3), ("blue", 2)]
    assert [each.similarity for each in found.sums] == pytest.approx([sum(expected[:3]), sum(expected[3:])], abs=1e-5)
    assert found.kind == "prototypes"
    assert (found.answer.category, found.answer.distance, found.answer.radius) == ("red", 0, 1)
    assert found.sentence.startswith("red: it has the very code of that category's centre. Of the five prototypes")
    assert "three are that category's own." in found.sentence


def test_bits_that_differ_and_how_close_to_zero_they_were() -> None:
    """Purple is 0.6 red and 0.549 blue: 1011, with the third and fourth bit near zero."""
    found = firstsight.explain(colour_model(), painted(PURPLE))
    assert found.code == "1011"
    assert found.values == pytest.approx((0.1, -0.5, 0.049, 0.051), abs=1e-3)
    red, blue = found.near
    assert (red.category, red.distance, red.within, red.differing) == ("red", 1, True, (3,))
    assert (blue.category, blue.distance, blue.within, blue.differing) == ("blue", 2, False, (1, 4))
    assert (found.centre_code(red), found.centre_code(blue)) == ("1001", "0010")
    assert found.is_unsure(3) is False  # half of the typical 0.1
    assert replace(found, values=(0.1, -0.5, 0.02, 0.4)).is_unsure(3) is True
    assert "1 bit from its centre, inside its ball of radius 1" in found.sentence
    assert found.answer.runner_up is not None
    assert found.answer.runner_up.category == "blue"


def test_close_to_two_and_inside_neither() -> None:
    """Green alone sets the second bit only: two away from red's 1001 would be three; blue's 0010 is two."""
    model = colour_model()
    centres = np.array([[1, -1, -1, -1], [-1, -1, 1, -1]], dtype=np.float32)
    assert isinstance(model.decision, CodeDecision)
    model = replace(model, decision=replace(model.decision, centres=centres))
    found = firstsight.explain(model, painted((0, 255, 0)))
    assert found.answer.category is None
    assert found.sentence.startswith(
        "New: as close to two known categories, red (2 bits away) and blue (2 bits away), and inside neither ball"
    )
    strict = firstsight.explain(model, painted((0, 255, 0)), register=model.register(0))
    assert strict.sentence.startswith("New: no category has its code; nearest are red (2 bits away) and blue")
    wide = firstsight.explain(model, painted((0, 255, 0)), register=model.register(2))
    assert wide.answer.category == "red"


def test_where_it_looked_is_where_the_likeness_is() -> None:
    """Half red, half green: what makes it like the colours it is like is in the red half."""
    picture = painted(RED)
    picture[:, SIDE // 2 :] = (0, 255, 0)
    looked = firstsight.explain(colour_model(), picture).looked
    assert looked is not None
    assert looked.shape == (SIDE, SIDE)
    assert looked[:, : SIDE // 2].min() > looked[:, SIDE // 2 :].max()


def test_discovered_categories_take_part_and_the_register_stays_as_it_is(tmp_path: Path) -> None:
    model, file, green = colour_model(), tmp_path / "r.db", tmp_path / "green.png"
    Image.fromarray(painted((0, 255, 0))).save(green)
    with firstsight.Discoverer(model, store=file) as discoverer:
        assert discoverer.discover_one(green).category == "new-1"
        assert discoverer.store is not None
        discoverer.store.rename("new-1", "Leaf")
        discoverer.store.rename("red", "Rose")
    before = file.read_bytes()
    with Store.open(file, write=False) as store:
        found = firstsight.explain(model, green, store=store)
        red = firstsight.explain(model, painted(RED), store=store)
    assert file.read_bytes() == before
    assert (found.answer.category, found.called, found.answer.is_new) == ("new-1", "Leaf", True)
    assert "Leaf (discovered earlier): it has the very code of that category's centre. Of the" in found.sentence
    nearest = found.near[0]
    assert (nearest.category, nearest.is_new) == ("Leaf", True)
    assert nearest.picture is not None  # its image is still where it was
    assert red.called == red.sums[0].category == red.near[0].category == "Rose"
    green.write_bytes(b"another")
    with Store.open(file, write=False) as store:
        assert firstsight.explain(model, painted((0, 255, 0)), store=store).near[0].picture is None


def test_an_image_a_person_placed_is_said_to_be(tmp_path: Path) -> None:
    model = colour_model()
    with firstsight.Discoverer(model, store=tmp_path / "r.db") as discoverer:
        number = discoverer.discover_one(painted(RED)).image
        assert discoverer.store is not None
        assert number is not None
        discoverer.store.move([number], "blue")
        found = firstsight.explain(model, painted(RED), store=discoverer.store)
    assert (found.answer.decided_by, found.answer.category) == ("person", "blue")
    assert found.sentence.endswith("blue: a person placed this very image there, and that comes before any rule.")
    assert found.given is not None
    assert (found.given.category, found.given.now, found.called) == ("red", "blue", "blue")


def test_registers_of_another_model_and_bad_images_are_refused(tmp_path: Path) -> None:
    model, other = colour_model(), colour_model()
    with torch.no_grad():
        other.torch_encoder.learner.get_parameter("points")[0, 0] = 0.5
    with firstsight.Discoverer(model, store=tmp_path / "r.db") as discoverer:
        discoverer.discover_one(painted(RED))
    with Store.open(tmp_path / "r.db", write=False) as store, pytest.raises(StoreError, match="another model"):
        firstsight.explain(other, painted(RED), store=store)
    (tmp_path / "bad.jpg").write_bytes(b"no picture")
    for name, words in (("none.jpg", "does not exist"), ("bad.jpg", "not an image")):
        with pytest.raises(ImageError, match=f"{name}: .*{words}"):
            firstsight.explain(model, tmp_path / name)


floats = st.floats(-10, 10, width=32)


@given(arrays(np.float32, st.integers(1, 30), elements=floats))
def test_the_top_are_the_highest_and_of_equals_the_earlier(scores: Any) -> None:
    best = top(scores)
    assert best.tolist() == sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:5]


@given(st.lists(st.tuples(st.sampled_from("abc"), floats), max_size=5))
def test_sums_lose_nothing(given: list[tuple[str, float]]) -> None:
    sums = summed([Similar(category, 1, similarity) for category, similarity in given])
    assert sum(each.count for each in sums) == len(given)
    assert sum(each.similarity for each in sums) == pytest.approx(sum(value for _, value in given))
    assert [each.similarity for each in sums] == sorted((each.similarity for each in sums), reverse=True)
    assert len({each.category for each in sums}) == len(sums)


def test_a_feature_is_explained_without_prototypes_that_only_an_image_could_be_compared_with() -> None:
    """What PHE compares with prototypes is not the feature its codes are made of."""
    model = colour_model()
    feature = model.encode([model.prepare(painted(RED))])[0]
    found = firstsight.explain(model, feature)
    assert found.answer == firstsight.explain(model, painted(RED)).answer
    assert found.similar == ()
    assert found.near
