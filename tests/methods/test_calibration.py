"""How readily categories are born: a stream that is corrected at once, and what is found on it."""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import approx_fprime

from clouds import clouds
from firstsight.core.assignments import Assignments
from firstsight.core.protocols import SupportFeatures
from firstsight.methods.firstsight.calibration import (
    _weighed_loss,
    best_birth,
    best_odds,
    best_sharpness,
    calibrated,
)
from firstsight.methods.firstsight.corrected import NEVER, Corrected, corrected
from firstsight.methods.firstsight.decision import Firstsight
from firstsight.methods.firstsight.miscount import Miscount
from firstsight.methods.firstsight.prior import Prior
from firstsight.methods.firstsight.settings import FirstsightSettings
from firstsight.register.spread import Spread
from firstsight.register.statistics import StatisticsRegister


@given(st.integers(0, 1000), st.integers(1, 4), st.integers(1, 6), st.integers(1, 25))
@settings(max_examples=25)
def test_a_corrected_stream_is_what_a_register_that_is_told_the_truth_weighs(
    seed: int, known: int, news: int, images: int
) -> None:
    generator = np.random.default_rng(seed)
    variances = generator.uniform(0.5, 2, 5), generator.uniform(0.5, 9, 5)
    spread = Spread(*variances, concentration=0.0, enough=6.0, decline=2.0)
    counts, sums = generator.integers(1, 8, known), generator.standard_normal((known, 5)) * 9
    features, drawn = generator.standard_normal((images, 5)) * 4, generator.integers(0, known + news, images)
    at = {category: category for category in range(known)}
    labels = np.array([at.setdefault(category, len(at)) for category in drawn.tolist()])
    found = corrected(spread, counts.astype(np.float64), sums, features, labels)
    register = StatisticsRegister(spread, [f"c{i}" for i in range(known)], counts, sums)
    weighed = zip(features, labels, found.log_odds, found.truth, found.falls, strict=True)
    for feature, label, odds, truth, fallen in weighed:
        distances = register.distances(feature)
        assert -odds[: len(distances)] - 2 * fallen == pytest.approx(distances, abs=1e-8)
        assert (odds[len(distances) : -1] == NEVER).all()
        assert truth == (label if label < len(distances) else len(odds) - 1)
        position = int(label) if label < len(distances) else len(register.names)
        if register._learns_on(position):
            register.learn(feature, register.names[label] if label < len(distances) else register.next_name())


def stream(seed: int = 0) -> Corrected:
    """Forty images, three categories there from the start and one that is not."""
    generator = np.random.default_rng(seed)
    odds, truth = generator.normal(0, 6, (40, 5)), generator.integers(0, 3, 40)
    odds[:, 3], odds[:, 4], truth[::8] = NEVER, 0.0, 4
    odds[np.arange(40), truth] += 8 * (truth < 4)
    return Corrected(odds, truth, expected=9.0, falls=np.log1p(np.arange(40) / 20))


def test_the_slope_of_the_loss_is_its_slope() -> None:
    at = np.array([2.0, log(0.3)])
    slope = approx_fprime(at, lambda x: _weighed_loss(stream(), x[0], exp(x[1]))[0], 1e-6)
    assert _weighed_loss(stream(), at[0], exp(at[1]))[1] == pytest.approx(slope, rel=1e-3)


def test_a_missed_birth_counts_as_the_root_of_a_categorys_images() -> None:
    """One image of a category that is not there, log odds all 0 but its own: probability 1/2, weight 3."""
    one = Corrected(np.array([[0.0, 0.0]]), np.array([1]), expected=9.0, falls=np.zeros(1))
    assert _weighed_loss(one, 0.0, 1.0)[0] == pytest.approx(3 * log(2))


def test_a_birth_is_less_probable_later_however_sharp_log_odds_are() -> None:
    """As probable as not at first, and half of that when it has become twice as improbable: one in three."""
    one = Corrected(np.array([[0.0, 0.0]]), np.array([1]), expected=1.0, falls=np.full(1, log(2)))
    for sharpness in (0.1, 1.0):
        assert _weighed_loss(one, 0.0, sharpness)[0] == pytest.approx(log(3))


def test_the_concentration_is_where_the_loss_is_least() -> None:
    free = Prior(concentration_spread=1e6, sharpness_spread=1e6)
    best, decline = best_birth([stream(0), stream(1)], 192, free)
    miscount = Miscount.of([stream(0), stream(1)])

    def least(concentration: float) -> float:
        sharpnesses = np.exp(np.linspace(-5, 1, 200))
        losses = [np.mean([_weighed_loss(stream(i), concentration, s)[0] for i in (0, 1)]) for s in sharpnesses]
        return float(np.min(losses + np.array([miscount(concentration, s)[0] for s in sharpnesses])))

    assert least(best) < min(least(best - 0.5), least(best + 0.5))
    assert exp(-5) < 1 / decline < exp(1)


def test_few_images_leave_the_prior_as_it_is() -> None:
    nothing = Corrected(np.array([[30.0, 0.0]]), np.array([0]), expected=1.0, falls=np.zeros(1))
    assert best_birth([nothing], 192) == pytest.approx((15, 192 / 29), abs=1)
    assert best_sharpness([([np.array([5.0, 0.0])], np.array([True]))], 192) == pytest.approx(29 / 192, rel=0.5)


def test_who_is_often_wrong_is_less_sure() -> None:
    behind = [np.array([0.0, 20.0])] * 100
    often, seldom = (best_sharpness([(behind, np.arange(100) % part > 0)], 192) for part in (2, 20))
    assert often < seldom


@pytest.mark.parametrize(("categories", "images"), [(1, 1), (1, 5), (2, 2), (5, 1)])
def test_where_nothing_can_be_simulated_the_prior_decides(categories: int, images: int) -> None:
    """15 nats in 192 dimensions are 15/16 in 12, which are so few that each says something of its own."""
    found = calibrated(*clouds(categories, images), 12, seed=0)
    assert found.birth == pytest.approx((15 / 16, 1))
    assert (found.sharpness, found.weight) == (1.0, None)


SCENES = {"few categories": (3, 6, 3.0), "few images": (12, 2, 3.0), "hard": (10, 12, 1.0), "easy": (20, 12, 4.0)}


@pytest.mark.parametrize("scene", SCENES)
def test_a_fit_hardly_changes_where_features_hardly_do(scene: str) -> None:
    """1e-6 of noise: log odds of every support image within 1e-3 nats, the projection within 1e-3 of its norm."""
    categories, images, apart = SCENES[scene]
    features, labels = clouds(categories, images, width=40, apart=apart)
    noise = 1 + 1e-6 * np.random.default_rng(7).standard_normal(features.shape)
    one, other = (_fitted(each, labels) for each in (features, features * noise))
    grams = [(basis := decision.basis.astype(np.float64)) @ basis.T for decision in (one, other)]
    assert np.linalg.norm(grams[0] - grams[1]) < 1e-3 * np.linalg.norm(grams[0])
    odds = [_log_odds(decision, each) for decision, each in ((one, features), (other, features * noise))]
    assert np.abs(odds[0] - odds[1]).max() < 1e-3


@pytest.mark.parametrize(("categories", "images"), [(2, 2), (2, 12), (3, 4), (4, 16), (6, 4), (8, 16)])
def test_small_support_sets_know_their_own_images_and_discover(categories: int, images: int) -> None:
    """What was taught is offered again; then five more of each category arrive, and of as many new ones."""
    drawn, labels = clouds(2 * categories, images + 5, width=40, apart=2.0)
    features = drawn.astype(np.float32)
    taught = (labels < categories) & (np.arange(len(labels)) % (images + 5) < images)
    decision = _fitted(features[taught], labels[taught])
    register = decision.register()
    assert [register.match(each).category for each in decision.transform(features[taught])] == [
        str(label) for label in labels[taught]
    ]
    arriving = np.random.default_rng(0).permutation(np.flatnonzero(~taught))
    answers = register.assign_many(decision.transform(features[arriving]))
    assert isinstance(answers, Assignments)
    known = labels[arriving] < categories
    assert (answers.category[known] == labels[arriving][known]).mean() > (0.8 if images > 2 else 0.6)
    assert (answers.category[~known] >= categories).mean() > 0.8


def test_one_large_category_is_not_what_all_are_measured_by() -> None:
    sizes = [300, 2, 2, 2, 1]
    features, labels = clouds(5, 300, width=40, apart=2.0)
    some = np.concatenate([np.flatnonzero(labels == category)[:size] for category, size in enumerate(sizes)])
    decision = _fitted(features[some], labels[some])
    register = decision.register()
    own = [
        register.match(each).category == str(label)
        for each, label in zip(decision.transform(features[some]), labels[some], strict=True)
    ]
    assert np.mean(own) > 0.95


def _fitted(features: NDArray[Any], labels: NDArray[np.int64]) -> Firstsight:
    names = tuple(str(category) for category in range(int(labels.max()) + 1))
    return Firstsight.fit(SupportFeatures(features.astype(np.float32), labels, names), FirstsightSettings())


def _log_odds(decision: Firstsight, features: NDArray[Any]) -> NDArray[np.float64]:
    register = decision.register()
    assert isinstance(register, StatisticsRegister)
    return np.array([register.distances(each.astype(np.float64)) for each in decision.transform(features)])


def forecasts(slope: float, shift: float, images: int) -> list[tuple[list[Any], Any]]:
    """Answers between two categories, right as often as these log odds of the posterior say."""
    generator = np.random.default_rng(0)
    odds = generator.normal(1.0, 2.0, images)
    right = generator.random(images) < 1 / (1 + np.exp(-slope * odds - shift))
    return [([np.array([0.0, each]) for each in odds], right)]


def test_the_odds_of_being_right_are_found_again() -> None:
    slope, shift = best_odds(forecasts(0.5, -0.4, 40_000), sharpness=1.0)
    assert slope == pytest.approx(0.5, abs=0.03)
    assert shift == pytest.approx(-0.4, abs=0.05)


def test_few_answers_leave_posteriors_as_they_are() -> None:
    slope, shift = best_odds(forecasts(0.2, -2.0, 4), sharpness=1.0)
    assert slope == pytest.approx(1.0, abs=0.35)
    assert abs(shift) < 0.4


def test_a_chance_by_hand() -> None:
    """Log odds of 2 at slope 0.5 and shift -1 are 0: one in two."""
    spread = Spread(np.ones(1), np.ones(1), 0.0, slope=0.5, shift=-1.0)
    assert spread.chance(1 / (1 + exp(-2.0))) == pytest.approx(0.5)
    assert Spread(np.ones(1), np.ones(1), 0.0).chance(0.3) == pytest.approx(0.3)
    assert 0 < spread.chance(0.0) < spread.chance(1.0) < 1
