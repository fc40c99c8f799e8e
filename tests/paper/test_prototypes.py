"""Eq. 1, the mask, and the frozen FC layer, on numbers a person can check."""

from __future__ import annotations

from math import log, sqrt

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from firstsight.methods.phe.losses import prototype_loss
from firstsight.methods.phe.prototypes import category_logits, category_means, mask_prototypes, prototype_similarity


def test_eq1_released_is_the_distance_of_unit_vectors() -> None:
    z, p = torch.tensor([[3.0, 0.0]]), torch.tensor([[5.0, 0.0], [0.0, 2.0], [-1.0, 0.0]])
    # the same direction, a right angle (distance sqrt 2), the opposite direction (distance 2)
    expected = [log(1 / 1e-4), log((sqrt(2) + 1) / (sqrt(2) + 1e-4)), log(3 / 2.0001)]
    assert_close(prototype_similarity(z, p, "released"), torch.tensor([expected]), atol=0.02, rtol=0)


def test_eq1_as_printed_is_the_squared_distance_of_raw_vectors() -> None:
    z, p = torch.tensor([[3.0, 0.0]]), torch.tensor([[3.0, 0.0], [3.0, 1.0], [5.0, 0.0]])
    expected = [log(1 / 1e-4), log(2 / 1.0001), log(5 / 4.0001)]  # squared distances 0, 1, 4
    assert_close(prototype_similarity(z, p, "paper"), torch.tensor([expected]))


@pytest.mark.parametrize("form", ["released", "paper"])
def test_a_feature_on_its_prototype_has_a_finite_gradient(form: str) -> None:
    z = torch.tensor([[0.6, 0.8]], requires_grad=True)
    prototype_similarity(z, torch.tensor([[0.6, 0.8]]), form).sum().backward()  # type: ignore[arg-type, no-untyped-call]
    assert z.grad is not None
    assert z.grad.isfinite().all()


def test_the_frozen_fc_adds_own_prototypes_and_halves_others_away() -> None:
    # two categories of two prototypes: (1 + 2) - 0.5 * (3 + 4), and the reverse
    assert_close(category_logits(torch.tensor([[1.0, 2.0, 3.0, 4.0]]), 2), torch.tensor([[-0.5, 5.5]]))


@given(st.integers(2, 6), st.integers(1, 4), st.integers(0, 2**31))
def test_the_frozen_fc_is_the_matrix_of_the_paper(categories: int, k: int, seed: int) -> None:
    similarities = torch.rand(3, categories * k, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    weights = torch.full((categories, categories * k), -0.5, dtype=torch.float64)
    for category in range(categories):
        weights[category, category * k : (category + 1) * k] = 1
    assert_close(category_logits(similarities, k), similarities @ weights.T)


def test_the_mask_silences_a_tenth_and_rescales_nothing() -> None:
    masked = mask_prototypes(torch.full((100, 1000), 2.0), 0.1, torch.Generator().manual_seed(0))
    assert set(masked.flatten().tolist()) == {0.0, 2.0}
    assert (masked == 0).float().mean().item() == pytest.approx(0.1, abs=0.005)


def test_no_mask_at_theta_0() -> None:
    values = torch.rand(4, 6)
    assert_close(mask_prototypes(values, 0.0), values)


def test_eq2_is_the_cross_entropy_of_those_logits() -> None:
    # one prototype each, similarities 1 and 0: logits 1 and -0.5
    loss = prototype_loss(torch.tensor([[1.0, 0.0]]), torch.tensor([0]), per_category=1, theta=0.0)
    assert loss.item() == pytest.approx(log(1 + torch.exp(torch.tensor(-1.5)).item()))


def test_mean_prototype_of_each_category() -> None:
    prototypes = torch.tensor([[1.0, 0.0], [3.0, 0.0], [0.0, 2.0], [0.0, 4.0]])
    assert_close(category_means(prototypes, 2), torch.tensor([[2.0, 0.0], [0.0, 3.0]]))
