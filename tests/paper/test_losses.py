"""Eq. 3 to 10, each on numbers a person can check."""

from __future__ import annotations

from math import exp, log, tanh

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from firstsight.methods.phe.losses import (
    centre_loss,
    feature_loss,
    quantisation_loss,
    separation_loss,
    smooth_sign,
    soft_hamming,
    total_loss,
)


def random_signs(count: int, bits: int, seed: int) -> Tensor:
    return torch.from_numpy(np.random.default_rng(seed).choice([-1.0, 1.0], size=(count, bits)))


def test_eq3_is_the_cross_entropy_of_cosines_without_temperature() -> None:
    features, centres = torch.tensor([[2.0, 0.0]]), torch.tensor([[5.0, 0.0], [0.0, 1.0]])
    # cosines 1 and 0: -log(e / (e + 1))
    assert feature_loss(features, centres, torch.tensor([0])).item() == pytest.approx(log((exp(1) + 1) / exp(1)))


def test_eq4_is_a_tanh_with_tau_3() -> None:
    assert_close(smooth_sign(torch.tensor([0.0, 0.5, -1.0])), torch.tensor([0.0, tanh(1.5), tanh(-3.0)]))


@given(st.integers(2, 8), st.integers(1, 40), st.integers(0, 2**31))
def test_the_soft_distance_of_signs_is_the_number_of_differing_bits(count: int, bits: int, seed: int) -> None:
    signs = random_signs(count, bits, seed)
    differing = (signs[:, None] != signs[None]).sum(-1)
    assert_close(soft_hamming(signs), differing.double())


def test_eq5_two_equal_centres_fall_short_by_the_whole_distance() -> None:
    centres = torch.ones(2, 4)
    assert separation_loss(centres, 2, "paper") == 8  # distance 0, asked 2, for all four i, j: i = j too, as printed


def test_eq5_as_printed_has_i_equal_j_which_pulls_soft_bits_back() -> None:
    centres = torch.tensor([[0.5, -0.5]], requires_grad=True)
    loss = separation_loss(centres, 1, "paper")  # (2 - 0.5) / 2 = 0.75 from itself, asked 1
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss == 0.25
    assert_close(centres.grad, torch.tensor([[0.5, -0.5]]))


def test_eq5_released_averages_over_centres_and_asks_for_a_little_more() -> None:
    centres = torch.ones(2, 4)
    # distance (0.95 * 4 - 4) / 2 = -0.1, so each of the two rows falls short by 2.1
    assert separation_loss(centres, 2, "released").item() == pytest.approx(2.1)


@given(st.integers(2, 10), st.integers(1, 6), st.integers(0, 2**31))
def test_eq5_is_zero_exactly_when_all_centres_are_apart(count: int, distance: int, seed: int) -> None:
    signs = random_signs(count, 12, seed)
    closest = min((a != b).sum().item() for i, a in enumerate(signs) for b in signs[:i])
    of_itself = count * distance  # i = j: distance 0
    assert (separation_loss(signs, distance, "paper").item() == of_itself) == (closest >= distance)


def test_eq5_pushes_close_centres_apart() -> None:
    centres = torch.tensor([[0.5, 0.5], [0.5, 0.4]], requires_grad=True)
    separation_loss(centres, 2, "released").backward()  # type: ignore[no-untyped-call]
    assert centres.grad is not None
    assert (centres.grad > 0).all()  # descending makes the product of the two rows smaller


def test_eq8_is_how_far_bits_are_from_signs() -> None:
    codes = torch.tensor([[1.0, -0.5], [0.0, -1.0]])
    assert quantisation_loss(codes, "paper") == 1.5
    assert quantisation_loss(codes, "released") == 1.5 / 4


def test_eq9_and_eq10_are_weighted_sums() -> None:
    assert centre_loss(torch.tensor(1.0), torch.tensor(2.0)) == 3
    total = total_loss(torch.tensor(1.0), torch.tensor(2.0), torch.tensor(4.0))
    assert total.item() == pytest.approx(1 + 0.1 * 2 + 3 * 4)
