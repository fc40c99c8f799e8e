"""What a wrong number of found categories counts: nothing where it is right, and ever more the farther it is off."""

from __future__ import annotations

from math import e, exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstsight.methods.firstsight import miscount
from firstsight.methods.firstsight.calibration import best_birth
from firstsight.methods.firstsight.corrected import Corrected
from firstsight.methods.firstsight.miscount import NATS, Miscount


def stream(seed: int = 0, images: int = 60, mixed_up: float = 1.0) -> Corrected:
    """Two categories that are there and, for every tenth image, one that is not."""
    generator = np.random.default_rng(seed)
    odds, truth = generator.normal(0, 6 * mixed_up, (images, 3)), generator.integers(0, 2, images)
    odds[:, 2], truth[::10] = 0.0, 2
    odds[np.arange(images), truth] += 8 * (truth < 2)
    return Corrected(odds, truth, expected=9.0, falls=np.log1p(np.arange(images) / 20))


def test_by_hand() -> None:
    """Four images, each as probably new as not, of which one is: 2 are found, where halves stand for none."""
    odds = np.zeros((4, 2))
    wrong, _ = Miscount.of([Corrected(odds, np.array([1, 0, 0, 0]), expected=4.0, falls=np.zeros(4))])(0.0, 1.0)
    assert wrong == pytest.approx(NATS * log(2.5 / 1.5) ** 4)


def test_e_times_too_many_cost_so_many_nats_each() -> None:
    """A thousand firsts, and e times as many images that are surely called new: the halves are nothing there."""
    images = round(1000 * e)
    truth = (np.arange(images) < 1000).astype(np.int64)
    nothing = np.zeros(images)
    wrong, _ = Miscount.of([Corrected(np.zeros((images, 2)), truth, expected=2.0, falls=nothing)])(50.0, 1.0)
    assert wrong == pytest.approx(NATS * 1000, rel=1e-2)


def test_what_has_become_less_probable_is_found_less() -> None:
    """Twice as improbable, so with a sharpness of a half four times: one in five is new, where it was one in two."""
    odds, truth = np.zeros((4, 2)), np.array([1, 0, 0, 0])
    wrong, _ = Miscount.of([Corrected(odds, truth, expected=4.0, falls=np.full(4, log(2)))])(0.0, 0.5)
    assert wrong == pytest.approx(NATS * log((4 / 5 + 0.5) / 1.5) ** 4)


@given(st.floats(-30, 30), st.floats(-3, 0), st.integers(0, 20))
def test_the_slope_is_its_slope(concentration: float, sharpness: float, seed: int) -> None:
    wrong, step = Miscount.of([stream(seed), stream(seed + 1)]), 1e-4
    slope = wrong(concentration, exp(sharpness))[1]
    for at, (more, sharper) in enumerate([(step, 0.0), (0.0, step)]):
        low, high = (wrong(concentration + way * more, exp(sharpness + way * sharper))[0] for way in (-1, 1))
        assert slope[at] == pytest.approx((high - low) / (2 * step), rel=1e-3, abs=1e-4)


def test_nothing_new_is_no_miscount() -> None:
    nothing = Corrected(np.array([[5.0, 0.0]]), np.array([0]), expected=1.0, falls=np.zeros(1))
    wrong, slope = Miscount.of([nothing])(50.0, 1.0)
    assert (wrong, *slope) == (0, 0, 0)


def test_fewer_are_found_where_many_would_be_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = [stream(seed, mixed_up=2.0) for seed in range(4)]
    priced = best_birth(streams, 192).concentration
    monkeypatch.setattr(miscount, "NATS", 0.0)
    assert priced < best_birth(streams, 192).concentration
