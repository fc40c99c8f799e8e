"""The register of Gaussian categories: against the formulas written out with whole matrices."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import multivariate_t

from firstsight.register.kinds import of_header
from firstsight.register.niw import NiwRegister, Prior

WIDTH, KAPPA, N0, ALPHA = 3, 0.1, 7.0, 30.0


def predictive(features: np.ndarray, feature: np.ndarray) -> float:
    """log t(feature | features), Psi and all."""
    n = len(features)
    mean = features.mean(axis=0) if n else np.zeros(WIDTH)
    kappa, nu = KAPPA + n, N0 + WIDTH + 1 + n
    psi = N0 * np.eye(WIDTH) + (features - mean).T @ (features - mean) + KAPPA * n / kappa * np.outer(mean, mean)
    freedom = nu - WIDTH + 1
    shape = (kappa + 1) / (kappa * freedom) * psi
    return float(multivariate_t(n * mean / kappa, shape, freedom).logpdf(feature))


def register_of(groups: list[np.ndarray]) -> NiwRegister:
    factors = np.zeros((len(groups), WIDTH, WIDTH))
    for factor, features in zip(factors, groups, strict=True):
        n, mean = len(features), features.mean(axis=0)
        added = np.concatenate([features - mean, np.sqrt(KAPPA * n / (KAPPA + n)) * mean[None]])
        upper = np.linalg.qr(added, mode="r")
        factor[: len(upper)] = upper
    counts, means = (
        np.array([len(features) for features in groups]),
        np.stack([features.mean(axis=0) for features in groups]),
    )
    prior = Prior(KAPPA, N0, float(np.log(ALPHA)))
    return NiwRegister(prior, [f"known-{i}" for i in range(len(groups))], counts, means, factors)


@pytest.fixture
def groups() -> list[np.ndarray]:
    generator = np.random.default_rng(3)
    return [generator.normal(centre, 1, (n, WIDTH)) for centre, n in ((-3, 5), (0, 1), (4, 12))]


def test_distances_are_the_log_odds_of_a_new_category(groups: list[np.ndarray]) -> None:
    """Through a stream long enough that features are folded, every distance is what whole matrices give."""
    register = register_of(groups)
    generator = np.random.default_rng(4)
    members = {f"known-{i}": list(features) for i, features in enumerate(groups)}
    for _ in range(60):
        feature = generator.normal(generator.choice([-20, -3, 0, 4]), 1, WIDTH).astype(np.float32)
        near = {c.category: c.distance for c in register.neighbours(feature, np.inf, 100)}
        new = np.log(ALPHA) + predictive(np.zeros((0, WIDTH)), feature)
        expected = {
            name: new - np.log(len(features)) - predictive(np.array(features), feature)
            for name, features in members.items()
        }
        assert near.keys() == expected.keys()
        for name in near:
            assert near[name] == pytest.approx(expected[name], abs=1e-8)
        best = min(expected, key=lambda name: expected[name])
        answer = register.assign(feature)
        assert answer.created == (expected[best] > 0)
        assert answer.created or answer.category == best
        members.setdefault(str(answer.category), []).append(feature.astype(np.float64))
        odds = np.exp([-value for value in expected.values()])
        top = 1.0 if answer.created else np.exp(-expected[best])
        assert answer.confidence == pytest.approx(top / (1 + odds.sum()))
    assert len(members) > len(groups)
    assert max(len(features) for features in members.values()) > 2 * WIDTH  # folded at least once


def test_rows_of_a_are_never_more_than_twice_the_dimensions_per_category(groups: list[np.ndarray]) -> None:
    register = register_of(groups)
    for feature in np.random.default_rng(0).normal(4, 1, (200, WIDTH)):
        register.learn(feature, "known-2")
    assert register._used <= 2 * WIDTH * len(groups)


def test_the_header_is_json_and_starts_the_same_register(groups: list[np.ndarray]) -> None:
    register = register_of(groups)
    again = of_header(json.loads(json.dumps(register.header())))
    features = np.random.default_rng(1).normal(0, 4, (40, WIDTH)).astype(np.float32)
    assert list(again.assign_many(features)) == list(register.assign_many(features))


def test_starting_again_from_the_features_gives_the_same_distances(groups: list[np.ndarray]) -> None:
    register = register_of(groups)
    features = np.random.default_rng(1).normal(0, 4, (40, WIDTH)).astype(np.float32)
    members = [
        (feature, str(answer.category))
        for feature, answer in zip(features, register.assign_many(features), strict=True)
    ]
    before = [register.match(feature) for feature in features]
    register.rebuild(register.known_centres(), (), members)
    assert [register.match(feature) for feature in features] == before


def test_the_radius_is_the_dial(groups: list[np.ndarray]) -> None:
    features = np.random.default_rng(1).normal(0, 5, (60, WIDTH)).astype(np.float32)
    found = []
    for radius in (-8.0, 0.0, 8.0):
        register = register_of(groups)
        register.radius = radius
        register.assign_many(features)
        found.append(len(register))
    assert found[0] > found[2]


def test_a_category_without_features_does_not_answer() -> None:
    register = NiwRegister(
        Prior(KAPPA, N0, -9.0), ["a", "b"], np.array([0, 3]), np.zeros((2, WIDTH)), np.zeros((2, 1, WIDTH))
    )
    assert register.assign(np.zeros(WIDTH)).category == "b"
