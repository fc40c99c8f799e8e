"""What was learned can be taken back and leaves nothing behind; merged centres are parted; copies go their own way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstsight.core.errors import ModelError
from firstsight.core.protocols import Centre, Register
from firstsight.register.codes import CodeRegister
from firstsight.register.exact import FULL, WIDEST, Steps
from firstsight.register.features import FeatureRegister
from firstsight.register.niw import NiwRegister, Prior
from firstsight.register.prototypes import GatedRegister, LeaderRegister, PrototypeRegister
from firstsight.register.spread import Spread
from firstsight.register.statistics import StatisticsRegister
from firstsight.register.windows import WindowRegister

WIDTH = 3
SPREAD = Spread(np.array([1.0, 0.3, 2.0]), np.array([9.0, 25.0, 1.0]), concentration=0.0, decline=2.0)
IDS = ("ant", "bee", "new-1", "new-2")


def fresh() -> StatisticsRegister:
    register = StatisticsRegister(SPREAD, IDS[:2], np.array([4, 2]), np.array([[0.1, 0, 0], [9, 0.7, 1]]))
    register.rebuild(register.known_centres(), order=IDS)
    return register


values = st.tuples(*[st.floats(-1e4, 1e4, width=32)] * WIDTH)
lessons = st.lists(st.tuples(values, st.sampled_from(IDS)), max_size=12)


@given(kept=lessons, forgotten=lessons, random=st.randoms(use_true_random=False))
def test_what_is_unlearned_leaves_nothing_behind_whatever_the_order(kept: Any, forgotten: Any, random: Any) -> None:
    register, expected = fresh(), fresh()
    steps = [(each, True) for each in (*kept, *forgotten)]
    random.shuffle(steps)
    for lesson, _ in steps:
        register.learn(np.array(lesson[0], dtype=np.float32), lesson[1])
    for lesson in random.sample(forgotten, len(forgotten)):
        register.unlearn(np.array(lesson[0], dtype=np.float32), lesson[1])
    for lesson in kept:
        expected.learn(np.array(lesson[0], dtype=np.float32), lesson[1])
    assert register.learned() == expected.learned()
    asked = np.array([1.0, 2.0, 3.0])
    assert np.array_equal(register.distances(asked), expected.distances(asked))
    again = fresh()
    again.rebuild(again.known_centres(), order=IDS, learned=register.learned())
    assert np.array_equal(again.distances(asked), register.distances(asked))


@given(taught=lessons)
def test_a_merge_that_is_undone_was_never_there(taught: Any) -> None:
    register, expected = fresh(), fresh()
    register.redirect("bee", "ant")
    register.redirect("new-1", "ant")
    for place, category in taught:
        for each in (register, expected):
            each.learn(np.array(place, dtype=np.float32), category)
    merged = [n for n, c in taught if c in ("ant", "bee", "new-1")]
    assert register.counts[0] == 4 + len(merged)
    assert register.counts[2] == 0
    for category in ("new-1", "bee"):
        register.redirect(category, category)
    asked = np.array([1.0, 2.0, 3.0])
    assert np.array_equal(register.distances(asked), expected.distances(asked))
    assert register.match(asked) == expected.match(asked)


def test_sums_are_exact_or_refused() -> None:
    steps = Steps(np.array([1.0, 5.0]))
    assert steps.values(steps.whole(np.array([0.1, -7.25]))) == pytest.approx([0.1, -7.25], rel=1e-10)
    with pytest.raises(ModelError, match="times as large as the categories are spread"):
        steps.whole(np.array([2 * WIDEST, 0.0]))
    with pytest.raises(ModelError, match="too large to be kept"):
        steps.sums(np.array([0.0, 16 * FULL]))
    register = fresh()
    before = register.learned()
    with pytest.raises(ModelError):
        register.learn(np.array([1e30, 0, 0], dtype=np.float32), "ant")
    assert register.learned() == before


def centres(kind: str, count: int, seed: int) -> Any:
    generator = np.random.default_rng(seed)
    if kind.startswith("codes"):
        words = -(-int(kind[5:]) // 64)
        limit = min(1 << min(63, int(kind[5:])), 1 << 40)
        return generator.integers(0, limit, (count, words)).astype(np.uint64)
    return generator.normal(0, 3, (count, 4)).astype(np.float32)


def empty(kind: str) -> Register:
    return CodeRegister(int(kind[5:]), 2) if kind.startswith("codes") else FeatureRegister("euclidean", 2.0)


@pytest.mark.parametrize("kind", ["codes8", "codes12", "codes40", "codes70", "features"])
@given(owners=st.lists(st.integers(0, 3), min_size=2, max_size=9), seed=st.integers(0, 99), data=st.data())
def test_centres_redirected_one_by_one_answer_as_if_built_so(
    kind: str, owners: list[int], seed: int, data: st.DataObject
) -> None:
    held = centres(kind, len(owners), seed)
    names = [f"h{i}" for i in range(len(owners))]
    register, built = empty(kind), empty(kind)
    register.rebuild([Centre(c, name, name) for c, name in zip(held, names, strict=True)])
    unchanged = register.copy()
    asked = [*centres(kind, 20, seed + 1), *held]
    before = [unchanged.match(each) for each in asked]
    for i in data.draw(st.permutations(range(len(owners)))):
        register.redirect(names[i], names[owners[i] % len(owners)])
    built.rebuild([Centre(c, names[o % len(owners)], n) for c, o, n in zip(held, owners, names, strict=True)])
    assert [register.match(each) for each in asked] == [built.match(each) for each in asked]
    assert [unchanged.match(each) for each in asked] == before


@pytest.mark.parametrize(
    "register",
    [
        CodeRegister(8, 1, ["a"], np.zeros((1, 1), dtype=np.uint64)),
        CodeRegister(40, 1, ["a"], np.zeros((1, 1), dtype=np.uint64)),
        FeatureRegister("cosine", 0.1, ["a"], np.ones((1, 5), dtype=np.float32)),
        StatisticsRegister(Spread(np.ones(5), np.full(5, 9.0), 0.0), ["a"], np.ones(1), np.zeros((1, 5))),
        NiwRegister(Prior(0.1, 9.0, 0.0), ["a"], np.ones(1), np.zeros((1, 5)), np.zeros((1, 1, 5))),
        PrototypeRegister(["a", "b"], np.eye(2, 5), np.array([0.8, 0.3])),
        GatedRegister(["a", "b"], np.eye(2, 5), np.ones(2), radius=0.3),
        LeaderRegister(["a", "b"], np.eye(2, 5), np.array([0.8, 0.7]), np.array([3, 9]), typical=0.75, radius=0.2),
        WindowRegister(["a"], [np.zeros((3, 4))], np.eye(4), np.array([2.0]), 9.0),
    ],
    ids=lambda register: register.kind,
)
def test_a_copy_answers_the_same_and_then_goes_its_own_way(register: Any) -> None:
    generator = np.random.default_rng(0)
    if isinstance(register, CodeRegister):
        features = generator.integers(0, 256, (120, 1)).astype(np.uint64)
    else:
        features = generator.normal(0, 3, (120, 5)).astype(np.float32)
    register.assign_many(features[:40])
    copy = register.copy()
    expected = [register.match(each) for each in features]
    assert [copy.match(each) for each in features] == expected
    other = register.copy()
    assert list(copy.assign_many(features[40:])) == list(other.assign_many(features[40:]))
    assert [register.match(each) for each in features] == expected
