"""The method as a whole: from features and labels to a register. Its parts: test_space.py, test_calibration.py."""

from __future__ import annotations

import json
from dataclasses import replace
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import firstsight
from clouds import clouds
from firstsight.core.assignments import Assignments
from firstsight.core.protocols import SupportFeatures
from firstsight.methods.firstsight.calibration import Calibration, calibrated
from firstsight.methods.firstsight.decision import Firstsight, dimensions_for
from firstsight.methods.firstsight.settings import FirstsightSettings
from firstsight.methods.simulation import ALWAYS, MUCH_MORE, evenly, random_thirds, simulated, thirds
from firstsight.register.kinds import of_header
from firstsight.register.spread import Birth
from firstsight.store.store import Store
from tiny_settings import tiny_for


def fitted(features: NDArray[Any], labels: NDArray[np.int64]) -> Firstsight:
    names = tuple(str(category) for category in range(int(labels.max()) + 1))
    return Firstsight.fit(SupportFeatures(features.astype(np.float32), labels, names), FirstsightSettings())


@pytest.mark.parametrize(("categories", "images"), [(1, 1), (1, 5), (2, 1), (5, 1), (3, 2)])
def test_the_smallest_support_sets_give_numbers(categories: int, images: int) -> None:
    features, labels = clouds(categories, images)
    decision = fitted(features, labels)
    assert np.isfinite(decision.concentration)
    known = decision.register().assign_many(decision.transform(features.astype(np.float32))).category
    assert known.tolist() == labels.tolist()
    assert decision.report(features.astype(np.float32), labels)["lines"]


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
    decision = fitted(features[labels < 12], labels[labels < 12])
    order = np.random.default_rng(0).permutation(len(features))
    answers = decision.register().assign_many(decision.transform(features[order].astype(np.float32)))
    assert isinstance(answers, Assignments)
    counts = np.bincount(answers.category)
    assert (counts >= 3).sum() == pytest.approx(24, abs=3)
    known = labels[order] < 12
    assert (answers.category[known] == labels[order][known]).mean() > 0.9


def test_more_images_bear_more_dimensions_within_bounds() -> None:
    assert [dimensions_for(images) for images in (1, 959, 965, 1500, 1600, 100_000)] == [192, 192, 193, 300, 320, 320]


def test_its_state_survives_saving() -> None:
    made = fitted(*clouds(5, 6))
    loaded = Firstsight.of(made.names, made.arrays(), json.loads(json.dumps(made.values())))
    assert loaded.register().header() == made.register().header()
    assert made.closed_set().match(np.full(12, 99, dtype=np.float32)).category in made.names


def test_a_category_weighs_sixteen_images_at_most() -> None:
    """8 and 16, 12 on average, where it was 4 in the simulation."""
    calibration = Calibration(Birth(1.0), 1.0, weight=4.0)
    assert calibration.concentration_with(np.array([8, 100])) == pytest.approx(1 + log(12 / 4))
    assert Calibration(Birth(1.0), 1.0).concentration_with(np.array([8, 100])) == 1


def test_images_are_alike_in_the_dimensions_that_tell_categories() -> None:
    """B is 3 and 0, so the second dimension says nothing; where it says as much as the first, it counts as much."""
    plain = Firstsight(
        names=("a", "b"),
        origin=np.zeros(12, dtype=np.float32),
        basis=np.eye(12, 2, dtype=np.float32),
        within=np.ones(2),
        between=np.array([3.0, 0]),
        concentration=0.0,
        decline=0.0,
        sharpness=1.0,
        odds_slope=1.0,
        odds_shift=0.0,
        counts=np.zeros(2),
        sums=np.zeros((2, 2)),
        counting=np.zeros(0),
        outlook=np.zeros(0),
        splitting=np.zeros(0),
    )
    one, other = np.zeros((2, 1, 12), dtype=np.float32)
    one[0, :2], other[0, :2] = (1, 25), (1, -25)  # roots 1 and 5
    assert plain.similarity(one, other).item() == pytest.approx(1)
    even = replace(plain, between=np.array([3.0, 3]))
    assert even.similarity(one, other).item() == pytest.approx((1 - 25) / 26)


def test_an_explanation_says_when_the_category_learned_from_the_very_image(
    moths: Path, tiny: dict[str, Any], tmp_path: Path
) -> None:
    model = firstsight.fit(moths / "support", device="cpu", **tiny_for("firstsight", tiny))
    seen, other = sorted((moths / "stream").rglob("*.jpg"))[:2]
    start = model.register().header() | {"enough": 7.0, "radius": 1e9}  # categories were taught six; none is founded

    def said(store: Store, image: Path) -> bool:
        given = firstsight.explain(model, image, store=store).given
        return given is not None and given.taught

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
