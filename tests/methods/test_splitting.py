"""How often proposed splits are right in rehearsal: counted by hand, kept with the model, and said by its registers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from firstsight.core.errors import ModelError
from firstsight.core.protocols import SupportFeatures
from firstsight.core.rehearsed import Rehearsed
from firstsight.methods.firstsight.decision import Firstsight
from firstsight.methods.firstsight.splitting import cuts, is_right, rehearsed
from firstsight.methods.settings import settings
from firstsight.register.kinds import of_header
from firstsight.register.spread import Birth, Spread
from firstsight.register.statistics import StatisticsRegister


def test_a_cut_is_right_where_either_part_is_by_two_thirds_of_one_category_and_those_are_two() -> None:
    assert is_right(np.array([1, 1, 2]), np.array([3, 3]))
    assert not is_right(np.array([1, 1, 1]), np.array([1, 1]))  # the same
    assert not is_right(np.array([1, 2]), np.array([3, 3]))  # of nothing in particular
    assert not is_right(np.array([1, 1, 2]), np.array([3, 1]))


def held(answers: list[int], places: list[float], truth: list[int]) -> Any:
    """A stream that was answered so; features lie along a line."""
    features = np.array(places, dtype=np.float32)[:, None]
    spread = Spread(np.full(1, 0.1), np.full(1, 900.0), 0.0)
    return SimpleNamespace(
        answers=lambda birth: np.array(answers), arriving=features, truth=np.array(truth), spread=spread
    )


def test_only_what_would_be_proposed_is_counted() -> None:
    two, one, alike = [0.0, 0.1, 0.2, 0.3], [9.0, 9.1, 9.2, 9.3], [5.0, 5.0, 5.1, 5.1]
    mixed = held([0] * 8 + [1] * 4, [*two, *one, *alike], [0] * 4 + [1] * 4 + [2] * 4)
    found = list(cuts(mixed, Birth(0.0)))
    assert [factor > 0 for factor, _ in found] == [True, False]
    assert rehearsed([mixed], Birth(0.0)) == (1, 1)
    of_one_kind = held([0] * 8, [*two, *one], [7] * 8)  # two poses of one thing
    assert rehearsed([mixed, of_one_kind], Birth(0.0)) == (1, 2)


def test_an_interval_is_wide_and_holds_what_was_counted() -> None:
    for right, of in ((0, 0), (0, 30), (5, 42), (30, 30)):
        made = Rehearsed.counted(right, of)
        assert 0 <= made.low < made.high <= 1
        assert of == 0 or made.low <= right / of <= made.high
        assert made.in_words.endswith("look before you split")
    assert Rehearsed.counted(50, 420).high < Rehearsed.counted(5, 42).high
    assert "nobody knows" in Rehearsed.counted(0, 0).in_words


def test_a_fit_keeps_it_and_its_registers_say_it() -> None:
    generator = np.random.default_rng(0)
    centres = generator.standard_normal((9, 16))
    labels = np.repeat(np.arange(9), 10)
    features = (centres[labels] + 0.4 * generator.standard_normal((90, 16))).astype(np.float32)
    names = tuple(f"c{i}" for i in range(9))
    decision = Firstsight.fit(SupportFeatures(features, labels, names), settings("firstsight"))
    register: Any = decision.register()
    right, of = decision.splitting
    assert 0 <= right <= of
    assert register.rehearsed_splits == Rehearsed.counted(int(right), int(of))
    again: Any = of_header(register.header())
    assert again.rehearsed_splits == register.rehearsed_splits
    few = Firstsight.fit(SupportFeatures(features[:20], labels[:20], names[:2]), settings("firstsight"))
    untried: Any = few.register()
    assert untried.rehearsed_splits is None


@pytest.mark.parametrize("wrong", [[1], ["x", 2], [-3, 2]])
def test_what_a_file_says_wrongly_is_refused(wrong: list[Any]) -> None:
    spread = Spread(np.ones(1), np.ones(1), 0.0)
    header = StatisticsRegister(spread, ["a"], np.ones(1), np.ones((1, 1))).header()
    with pytest.raises(ModelError, match="no two counts"):
        of_header({**header, "splitting": wrong})
