"""The register of Gaussian categories: against the formulas written out with whole matrices."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import multivariate_t

from firstsight.register.kinds import of_header
from firstsight.register.niw import NiwRegister, Prior

WIDTH, KAPPA, N0, ALPHA = 3, 0.1, 7.0, 30.0


def predictive(rows: np.ndarray, row: np.ndarray) -> float:
    """log t(row | rows), Psi and all."""
    n = len(rows)
    mean = rows.mean(axis=0) if n else np.zeros(WIDTH)
    kappa, nu = KAPPA + n, N0 + WIDTH + 1 + n
    psi = N0 * np.eye(WIDTH) + (rows - mean).T @ (rows - mean) + KAPPA * n / kappa * np.outer(mean, mean)
    freedom = nu - WIDTH + 1
    shape = (kappa + 1) / (kappa * freedom) * psi
    return float(multivariate_t(n * mean / kappa, shape, freedom).logpdf(row))


def register_of(groups: list[np.ndarray]) -> NiwRegister:
    factors = np.zeros((len(groups), WIDTH, WIDTH))
    for factor, rows in zip(factors, groups, strict=True):
        n, mean = len(rows), rows.mean(axis=0)
        added = np.concatenate([rows - mean, np.sqrt(KAPPA * n / (KAPPA + n)) * mean[None]])
        upper = np.linalg.qr(added, mode="r")
        factor[: len(upper)] = upper
    counts, means = np.array([len(rows) for rows in groups]), np.stack([rows.mean(axis=0) for rows in groups])
    prior = Prior(KAPPA, N0, float(np.log(ALPHA)))
    return NiwRegister(prior, [f"known-{i}" for i in range(len(groups))], counts, means, factors)


@pytest.fixture
def groups() -> list[np.ndarray]:
    generator = np.random.default_rng(3)
    return [generator.normal(centre, 1, (n, WIDTH)) for centre, n in ((-3, 5), (0, 1), (4, 12))]


def test_distances_are_the_log_odds_of_a_new_category(groups: list[np.ndarray]) -> None:
    """Through a stream long enough that rows are folded, every distance is what whole matrices give."""
    register = register_of(groups)
    generator = np.random.default_rng(4)
    members = {f"known-{i}": list(rows) for i, rows in enumerate(groups)}
    for _ in range(60):
        row = generator.normal(generator.choice([-20, -3, 0, 4]), 1, WIDTH).astype(np.float32)
        near = {c.category: c.distance for c in register.neighbours(row, np.inf, 100)}
        new = np.log(ALPHA) + predictive(np.zeros((0, WIDTH)), row)
        expected = {name: new - np.log(len(rows)) - predictive(np.array(rows), row) for name, rows in members.items()}
        assert near.keys() == expected.keys()
        for name in near:
            assert near[name] == pytest.approx(expected[name], abs=1e-8)
        best = min(expected, key=lambda name: expected[name])
        answer = register.assign(row)
        assert answer.created == (expected[best] > 0)
        assert answer.created or answer.category == best
        members.setdefault(str(answer.category), []).append(row.astype(np.float64))
        odds = np.exp([-value for value in expected.values()])
        top = 1.0 if answer.created else np.exp(-expected[best])
        assert answer.confidence == pytest.approx(top / (1 + odds.sum()))
    assert len(members) > len(groups)
    assert max(len(rows) for rows in members.values()) > 2 * WIDTH  # folded at least once


def test_rows_of_a_are_never_more_than_twice_the_dimensions_per_category(groups: list[np.ndarray]) -> None:
    register = register_of(groups)
    for row in np.random.default_rng(0).normal(4, 1, (200, WIDTH)):
        register.learn(row, "known-2")
    assert register._rows <= 2 * WIDTH * len(groups)


def test_the_header_is_json_and_starts_the_same_register(groups: list[np.ndarray]) -> None:
    register = register_of(groups)
    again = of_header(json.loads(json.dumps(register.header())))
    rows = np.random.default_rng(1).normal(0, 4, (40, WIDTH)).astype(np.float32)
    assert list(again.assign_many(rows)) == list(register.assign_many(rows))


def test_starting_again_from_the_rows_gives_the_same_distances(groups: list[np.ndarray]) -> None:
    register = register_of(groups)
    rows = np.random.default_rng(1).normal(0, 4, (40, WIDTH)).astype(np.float32)
    members = [(row, str(answer.category)) for row, answer in zip(rows, register.assign_many(rows), strict=True)]
    before = [register.match(row) for row in rows]
    register.rebuild(register.known_centres(), (), members)
    assert [register.match(row) for row in rows] == before


def test_the_radius_is_the_dial(groups: list[np.ndarray]) -> None:
    rows = np.random.default_rng(1).normal(0, 5, (60, WIDTH)).astype(np.float32)
    found = []
    for radius in (-8.0, 0.0, 8.0):
        register = register_of(groups)
        register.radius = radius
        register.assign_many(rows)
        found.append(len(register))
    assert found[0] > found[2]


def test_a_category_without_rows_does_not_answer() -> None:
    register = NiwRegister(
        Prior(KAPPA, N0, -9.0), ["a", "b"], np.array([0, 3]), np.zeros((2, WIDTH)), np.zeros((2, 1, WIDTH))
    )
    assert register.assign(np.zeros(WIDTH)).category == "b"
