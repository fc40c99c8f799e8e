"""Registers of prototypes: each rule by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

from firstsight.register.kinds import of_header
from firstsight.register.learning import LearningRegister
from firstsight.register.prototypes import BATCH, GatedRegister, LeaderRegister, PrototypeRegister


def at(degrees: float) -> np.ndarray:
    return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])


def distances(register: LearningRegister, feature: np.ndarray) -> dict[str, float]:
    return {near.category: near.distance for near in register.neighbours(feature, np.inf, 100)}


def test_the_mark_that_is_exceeded_most_answers() -> None:
    """At 50 degrees from a mark of 0.3 and 40 from one of 0.7, the farther one is the more surprising."""
    register = PrototypeRegister(["wide", "narrow"], np.stack([at(0), at(90)]), np.array([0.3, 0.7]))
    near = distances(register, 5 * at(50))
    assert near == pytest.approx({"wide": 0.3 - np.cos(np.radians(50)), "narrow": 0.7 - np.cos(np.radians(40))})
    assert register.assign(at(50)).category == "wide"


def test_a_new_category_inherits_the_mark_of_the_nearest() -> None:
    register = PrototypeRegister(["a", "b"], np.stack([at(0), at(90)]), np.array([0.99, 0.95]))
    assert register.assign(at(70)).category == "new-1"  # 20 degrees from b: 0.94
    assert distances(register, at(70))["new-1"] == pytest.approx(0.95 - 1)
    assert register.assign(at(20)).category == "new-2"  # from a
    assert distances(register, at(20))["new-2"] == pytest.approx(0.99 - 1)


def test_prototypes_move_after_a_batch_by_the_formula() -> None:
    """62 features at 10 degrees from a, known; two 4 degrees apart that found and join a new one."""
    register = GatedRegister(["a", "b"], np.stack([at(0), at(180)]), np.ones(2), radius=0.1)
    for _ in range(BATCH - 2):
        assert register.assign(at(10)).category == "a"
    assert register.assign(at(90)).category == "new-1"
    before = distances(register, at(50))
    assert before["a"] == pytest.approx(1 - np.cos(np.radians(50)))
    assert register.assign(at(94)).category == "new-1"  # the 64th
    steps = {
        "a": (0.06 * np.cos(np.radians(10)) * 62 / (62 + 32), at(0), at(10)),
        "new-1": (0.3 * (1 + np.cos(np.radians(4))) / 2 * 2 / (2 + 8), at(90), (at(90) + at(94)) / 2),
    }
    after = distances(register, at(50))
    for name, (step, prototype, mean) in steps.items():
        moved = (1 - step) * prototype + step * mean
        assert after[name] == pytest.approx(1 - moved @ at(50) / np.linalg.norm(moved)), name
    assert after["b"] == before["b"]  # none joined


def test_one_feature_alone_moves_nothing() -> None:
    register = GatedRegister(["a", "b"], np.stack([at(0), at(90)]), np.ones(2), radius=0.2)
    before = distances(register, at(45))["b"]
    register.assign(at(85))
    for _ in range(BATCH - 1):
        register.assign(at(0))
    assert distances(register, at(45))["b"] == before


def test_a_leader_is_the_mean_direction_and_its_mark_follows_its_features() -> None:
    """A founder starts at what is typical; a second feature at a right angle leaves |S| = sqrt 2 of two features."""
    register = LeaderRegister(["a"], at(0)[None], np.array([0.9]), np.array([4]), typical=0.8, radius=2.0)
    near = distances(register, at(0))["a"]
    assert near == pytest.approx((10 * 0.8 + 4 * 0.9 - 1) / 13 - 1)
    register.radius = -1.0
    assert register.assign(at(90)).category == "new-1"
    assert distances(register, at(90))["new-1"] == pytest.approx(0.8 - 1)
    register.learn(at(180), "new-1")
    mark = (10 * 0.8 + np.sqrt(2) - 1) / 11
    assert distances(register, at(135))["new-1"] == pytest.approx(mark - 1)


@pytest.mark.parametrize(
    "register",
    [
        PrototypeRegister(["a", "b"], np.eye(2, 5), np.array([0.8, 0.3])),
        GatedRegister(["a", "b"], 3 * np.eye(2, 5), np.ones(2), radius=0.3),
        LeaderRegister(["a", "b"], np.eye(2, 5), np.array([0.8, 0.7]), np.array([3, 9]), typical=0.75, radius=0.2),
    ],
    ids=lambda register: register.kind,
)
def test_the_header_is_json_and_features_give_the_same_register(register: PrototypeRegister) -> None:
    features = np.random.default_rng(1).normal(0, 1, (150, 5)).astype(np.float32)
    again = of_header(json.loads(json.dumps(register.header())))
    answers = list(register.assign_many(features))
    assert list(again.assign_many(features)) == answers
    assert len(register) > 4
    before = [register.match(feature) for feature in features]
    members = [(feature, str(answer.category)) for feature, answer in zip(features, answers, strict=True)]
    register.rebuild(register.known_centres(), (), members)
    assert [register.match(feature) for feature in features] == before
