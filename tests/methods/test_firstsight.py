"""The projection, the spread of categories it has not seen, and what simulated discovery chooses."""

from __future__ import annotations

from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import nn

import firstsight
from firstsight.methods.calibration import USUAL, Calibration, Shape, _best, calibrated
from firstsight.methods.catalogue import method
from firstsight.methods.discriminant import fit_projection, held_out_spread, spread_of
from firstsight.methods.firstsight import Firstsight
from firstsight.methods.simulation import evenly, halves, simulated, thirds
from firstsight.register.kinds import of_header
from firstsight.store.store import Store


def clouds(
    categories: int, images: int, width: int = 12, apart: float = 4.0, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Categories with means `apart` away in every dimension, images around them with variance 1."""
    generator = np.random.default_rng(seed)
    labels = np.repeat(np.arange(categories), images)
    means = apart * generator.standard_normal((categories, width))
    return means[labels] + generator.standard_normal((len(labels), width)), labels


def test_a_projection_makes_categories_round() -> None:
    features, labels = clouds(20, 50)
    features[:, 0] *= 2  # one direction in which everything varies more
    rows = fit_projection(features, labels, 12)(features)
    within = rows - np.stack([rows[labels == c].mean(0) for c in range(20)])[labels]
    assert np.allclose(within.T @ within / len(rows), np.eye(12), atol=0.15)
    between = np.cov(np.stack([rows[labels == c].mean(0) for c in range(20)]).T)
    assert np.allclose(between - np.diag(np.diag(between)), 0, atol=0.3)


def test_the_spread_by_hand() -> None:
    """Categories {0, 2} and {10, 12}: W is 2, the means 1 and 11 have variance 50, less W / 2."""
    within, between = spread_of(np.array([[0.0], [2], [10], [12]]), np.array([0, 0, 1, 1]))
    assert within.tolist() == [2]
    assert between.tolist() == [49]


def test_the_spread_of_held_out_categories_is_found_without_bias() -> None:
    features, labels = clouds(60, 40, apart=3.0)
    within, between = held_out_spread(features, labels, 12)
    assert np.mean(within) == pytest.approx(1, abs=0.1)
    assert np.mean(between) == pytest.approx(9, rel=0.2)


@pytest.mark.parametrize(("categories", "images"), [(1, 1), (1, 5), (2, 1), (5, 1), (3, 2)])
def test_the_smallest_support_sets_give_numbers(categories: int, images: int) -> None:
    features, labels = clouds(categories, images)
    within, between = held_out_spread(features, labels, 12)
    assert np.isfinite([*within, *between]).all()
    assert (within > 0).all()
    assert (between > 0).all()
    assert np.isfinite(fit_projection(features, labels, 12)(features)).all()
    assert calibrated(features, labels, 12, seed=0).concentration <= USUAL
    network = Firstsight(nn.Identity(), 12, categories, method("firstsight").settings())
    with torch.no_grad():
        rows = network.rows(torch.from_numpy(features).float())
        network.finish(rows, torch.from_numpy(labels))
    assert network.report(rows.numpy(), labels)["support_within_radius"] == 1


def test_a_simulated_stream_teaches_half_and_keeps_the_new_ones_away() -> None:
    labels = np.repeat(np.arange(6), 5)
    generator = np.random.default_rng(0)
    for new in [*thirds(labels), *halves(labels, 3, generator)]:
        stream = simulated(labels, new, generator)
        assert not np.isin(labels[stream.teaching], new).any()
        assert sorted([*stream.teaching, *stream.arriving]) == list(range(30))
        assert np.array_equal(stream.known, ~np.isin(labels[stream.arriving], new))
        assert np.bincount(labels[stream.teaching], minlength=6).tolist() == [0 if c in new else 3 for c in range(6)]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.integers(1, 70))
def test_what_is_taken_evenly_is_of_all_categories(drawn: list[int], most: int) -> None:
    labels = np.unique(drawn, return_inverse=True)[1]
    taken = evenly(labels, most, np.random.default_rng(0))
    assert len(taken) == min(most, len(labels))
    assert (np.diff(taken) > 0).all()
    there, left = np.bincount(labels), np.bincount(labels) - np.bincount(labels[taken], minlength=labels.max() + 1)
    taken_of = there - left
    assert (taken_of[left > 0] >= taken_of.max() - 1).all()  # who has more to give has given as much as any


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


def test_shapes_by_hand() -> None:
    """Half way from 1 and 4 to their mean, 2.5: the roots of 2.5 and 10."""
    spread = np.array([1.0, 4.0]), np.array([9.0, 1.0])
    assert Shape.MEASURED.of(*spread)[0].tolist() == [1, 4]
    assert Shape.EVEN_WITHIN.of(*spread)[0].tolist() == pytest.approx([2.5**0.5, 10**0.5])
    assert Shape.EVEN_WITHIN.of(*spread)[1].tolist() == [9, 1]
    assert Shape.EVEN_BETWEEN.of(*spread)[1].tolist() == pytest.approx([45**0.5, 5**0.5])


class Scored:
    """A trial whose scores are known."""

    def __init__(self, scores: dict[Shape, dict[float, float]]) -> None:
        self.scores = scores

    def score(self, shape: Shape, concentration: float) -> float:
        return self.scores.get(shape, {}).get(concentration, 0.0)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ({Shape.MEASURED: {4.0: 0.5}}, (Shape.MEASURED, 4)),
        ({Shape.MEASURED: {4.0: 0.5}, Shape.EVEN_WITHIN: {0.0: 0.6}}, (Shape.EVEN_WITHIN, 0)),
        ({Shape.MEASURED: {4.0: 0.5}, Shape.EVEN_BETWEEN: {0.0: 0.5}}, (Shape.MEASURED, 4)),  # in doubt as measured
        ({Shape.MEASURED: {0.0: 0.5, 4.0: 0.5, 8.0: 0.5}}, (Shape.MEASURED, 6)),  # among equals what is usual
        ({Shape.MEASURED: {12.0: 0.5, 16.0: 0.5}}, (Shape.MEASURED, 12)),  # or nearest to that
        ({Shape.MEASURED: {0.0: 0.49, 4.0: 0.5}}, (Shape.MEASURED, 4)),  # a little worse in every trial is worse
    ],
)
def test_the_best_shape_and_the_usual_of_what_is_as_good(
    scores: dict[Shape, dict[float, float]], expected: tuple[Shape, float]
) -> None:
    trial: Any = Scored(scores)
    assert _best([trial, trial]) == expected


def test_what_is_no_worse_than_chance_is_as_good() -> None:
    """Worse by 0.03 on average, by 0 and 0.06 in the two trials: less than two standard errors."""
    trials: Any = [Scored({Shape.MEASURED: {0.0: zero, 12.0: 0.5}}) for zero in (0.5, 0.44)]
    assert _best(trials) == (Shape.MEASURED, 6)


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
