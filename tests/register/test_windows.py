"""The register of Gaussians of the last features: against scipy and scikit-learn, and its routing by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.covariance import ledoit_wolf

from firstsight.register.kinds import of_header
from firstsight.register.windows import WINDOW, WindowRegister, shrunk_covariance

WIDTH = 3
UNSURE = np.zeros(2)


def points(n: int, centre: float, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(centre, (0.5, 1, 2), (n, WIDTH))


@pytest.fixture
def register() -> WindowRegister:
    return WindowRegister(["a", "b"], [points(6, 0), points(30, 8)], 2 * np.eye(WIDTH), np.array([0.5, 0.9]), 40.0)


def feature(point: np.ndarray, chances: np.ndarray = UNSURE) -> np.ndarray:
    return np.concatenate([point, chances])


def covariance(own: np.ndarray) -> np.ndarray:
    if len(own) == 1:
        return (2 + 1e-5) * np.eye(WIDTH)
    share = 2 / (len(own) + 2)
    return np.asarray((1 - share) * ledoit_wolf(own)[0] + (share * 2 + 1e-5) * np.eye(WIDTH))


def distance(own: np.ndarray, point: np.ndarray) -> float:
    peak = multivariate_normal(np.zeros(WIDTH), covariance(own[:1])).logpdf(np.zeros(WIDTH))
    return float(2 * (peak - multivariate_normal(own.mean(axis=0), covariance(own)).logpdf(point)))


@pytest.mark.parametrize("n", [2, 5, 20])
def test_the_shrunk_covariance_is_ledoit_and_wolfs(n: int) -> None:
    np.testing.assert_allclose(shrunk_covariance(points(n, 1)), ledoit_wolf(points(n, 1))[0])


def test_distances_follow_the_last_points_of_every_category(register: WindowRegister) -> None:
    own = {"a": list(points(6, 0)), "b": list(points(30, 8)[-WINDOW:])}
    for centre in np.random.default_rng(5).choice([0, 8, -30], 80):
        point = points(1, centre, seed=len(own["a"]) + len(register))[0] + np.random.default_rng(3).normal()
        near = {c.category: c.distance for c in register.neighbours(feature(point), np.inf, 100)}
        expected = {name: distance(np.array(some[-WINDOW:]), point) for name, some in own.items()}
        assert near == pytest.approx(expected)
        best = min(expected, key=lambda name: expected[name])
        answer = register.assign(feature(point))
        assert answer.created == (expected[best] > 40)
        own.setdefault(str(answer.category), []).append(point)
    assert "new-1" in own
    assert len(own["a"]) > WINDOW


def test_a_founder_is_at_no_distance(register: WindowRegister) -> None:
    far = feature(np.full(WIDTH, 99.0))
    assert register.assign(far).created
    assert register.match(far).distance == pytest.approx(0)


def test_where_the_classifier_is_sure_it_answers_and_nothing_is_learned(register: WindowRegister) -> None:
    at_b = points(1, 8)[0]
    before = register.match(feature(at_b))
    assert before.category == "b"
    assert register.assign(feature(at_b, np.array([0.5, 0.4]))).category == "a"  # its threshold is 0.5
    assert register.assign(feature(np.full(WIDTH, 99.0), np.array([0.05, 0.95]))).category == "b"
    assert register.match(feature(at_b)) == before
    assert register.assign(feature(at_b, np.array([0.11, 0.89]))).category == "b"  # not sure, by the Gaussian
    assert register.match(feature(at_b)) != before


def test_the_header_is_json_and_features_give_the_same_register(register: WindowRegister) -> None:
    generator = np.random.default_rng(1)
    features = np.concatenate([generator.normal(0, 9, (60, WIDTH)), generator.random((60, 2))], axis=1).astype(
        np.float32
    )
    again = of_header(json.loads(json.dumps(register.header())))
    answers = list(register.assign_many(features))
    assert list(again.assign_many(features)) == answers
    before = [register.match(one) for one in features]
    register.rebuild(
        register.known_centres(), (), [(r, str(a.category)) for r, a in zip(features, answers, strict=True)]
    )
    assert [register.match(one) for one in features] == before
