"""The method as a whole: from features and labels to a register. Its parts: test_space.py, test_calibration.py."""

from __future__ import annotations

from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

import firstsight
from clouds import clouds
from firstsight.methods.catalogue import method
from firstsight.methods.firstsight.calibration import Calibration, calibrated
from firstsight.methods.firstsight.method import Firstsight
from firstsight.methods.simulation import ALWAYS, MUCH_MORE, evenly, random_thirds, simulated, thirds
from firstsight.register.kinds import of_header
from firstsight.store.store import Store


@pytest.mark.parametrize(("categories", "images"), [(1, 1), (1, 5), (2, 1), (5, 1), (3, 2)])
def test_the_smallest_support_sets_give_numbers(categories: int, images: int) -> None:
    features, labels = clouds(categories, images)
    network = Firstsight(nn.Identity(), 12, categories, method("firstsight").settings())
    with torch.no_grad():
        rows = network.rows(torch.from_numpy(features).float())
        network.finish(rows, torch.from_numpy(labels))
    assert network.report(rows.numpy(), labels)["support_within_radius"] == 1


def test_a_simulated_stream_teaches_half_and_keeps_the_new_ones_away() -> None:
    labels = np.repeat(np.arange(6), 5)
    generator = np.random.default_rng(0)
    for new in [*thirds(labels), *random_thirds(labels, 3, generator)]:
        stream = simulated(labels, new, generator)
        assert not np.isin(labels[stream.teaching], new).any()
        assert sorted([*stream.teaching, *stream.arriving]) == list(range(30))
        assert np.array_equal(stream.known, ~np.isin(labels[stream.arriving], new))
        assert np.bincount(labels[stream.teaching], minlength=6).tolist() == [0 if c in new else 3 for c in range(6)]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.integers(1, 70))
def test_what_is_taken_evenly_is_of_all_categories(drawn: list[int], most: int) -> None:
    labels = np.unique(drawn, return_inverse=True)[1]
    taken = evenly(labels, most, np.random.default_rng(0))
    counts = np.bincount(labels)
    fair = np.minimum(counts, max(ALWAYS, MUCH_MORE * np.median(counts)))
    assert len(taken) == min(most, fair.sum())
    assert (np.diff(taken) > 0).all()
    taken_of = np.bincount(labels[taken], minlength=len(counts))
    assert (taken_of[taken_of < fair] >= taken_of.max() - 1).all()  # who has more to give has given as much as any


def test_calibration_finds_categories_that_are_there_to_be_found() -> None:
    features, labels = clouds(24, 12, apart=3.0)
    found = calibrated(features, labels, 12, seed=0)
    assert found == calibrated(features, labels, 12, seed=0)
    assert isinstance(found, Calibration)
    network = Firstsight(nn.Identity(), 12, 12, method("firstsight").settings())
    support = torch.from_numpy(features[labels < 12]).float()
    with torch.no_grad():
        network.finish(network.rows(support), torch.from_numpy(labels[labels < 12]))
        rows = network.rows(torch.from_numpy(features).float()).numpy()
    order = np.random.default_rng(0).permutation(len(rows))
    answers = network.register([str(i) for i in range(12)]).assign_many(rows[order])
    counts = np.bincount(answers.category)
    assert (counts >= 3).sum() == pytest.approx(24, abs=3)
    known = labels[order] < 12
    assert (answers.category[known] == labels[order][known]).mean() > 0.9


def test_the_rows_of_an_image_do_not_depend_on_the_precision_of_the_backbone() -> None:
    features, labels = clouds(5, 6)
    network = Firstsight(nn.Identity(), 12, 5, method("firstsight").settings())
    stem = torch.from_numpy(features).float()
    with torch.no_grad():
        network.finish(network.rows(stem), torch.from_numpy(labels))
        plain = network.rows(stem)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert torch.equal(network.rows(stem), plain)


def test_its_state_survives_saving() -> None:
    features, labels = clouds(5, 6)
    made, loaded = (Firstsight(nn.Identity(), 12, 5, method("firstsight").settings()) for _ in range(2))
    with torch.no_grad():
        made.finish(made.rows(torch.from_numpy(features).float()), torch.from_numpy(labels))
    state: dict[str, Any] = made.state_dict()
    loaded.load_state_dict(state)
    names = list("abcde")
    assert loaded.register(names).header() == made.register(names).header()
    assert made.closed_set(names).match(np.full(12, 99, dtype=np.float32)).category in names


def test_a_category_weighs_sixteen_images_at_most() -> None:
    """8 and 16, 12 on average, where it was 4 in the simulation."""
    calibration = Calibration(1.0, 1.0, weight=4.0)
    assert calibration.concentration_with(np.array([8, 100])) == pytest.approx(1 + log(12 / 4))
    assert Calibration(1.0, 1.0).concentration_with(np.array([8, 100])) == 1


def test_images_are_alike_in_the_dimensions_that_tell_categories() -> None:
    """B is 3 and 0, so the second dimension says nothing; where it says as much as the first, it counts as much."""
    network = Firstsight(nn.Identity(), 2, 2, method("firstsight").settings())
    one, other = torch.tensor([[1.0, 5.0]]), torch.tensor([[1.0, -5.0]])
    network.between.copy_(torch.tensor([3.0, 0]))
    assert network.similarity(one, other).item() == pytest.approx(1)
    network.between.fill_(3.0)
    assert network.similarity(one, other).item() == pytest.approx((1 - 25) / 26)


def test_an_explanation_says_when_the_category_learned_from_the_very_image(
    moths: Path, tiny: dict[str, Any], tmp_path: Path
) -> None:
    model = firstsight.fit(moths / "support", device="cpu", **{**tiny, "method": "firstsight"})
    seen, other = sorted((moths / "stream").rglob("*.jpg"))[:2]
    start = model.register().header() | {"enough": 7.0, "radius": 1e9}  # categories were taught six; none is founded

    def said(store: Store, image: Path) -> bool:
        return "has learned from it" in firstsight.explain(model, image, store=store).sentence

    with Store.create(tmp_path / "r.db", of_header(start), model.provenance) as store:
        discoverer = firstsight.Discoverer(model, store=store)
        assert discoverer.discover_one(seen).lesson
        assert said(store, seen)
        assert not said(store, other)
        again = discoverer.discover_one(seen)
        assert not again.lesson
        assert said(store, seen)  # from the first time it came
        store.undo(1)
        assert not said(store, seen)
        assert again.image is not None
        store.confirm([again.image])
        assert said(store, seen)
