"""PHE as a whole: what one step computes, what learns, and which centres are kept."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from firstsight.methods.phe.model import PHE
from firstsight.methods.phe.prototypes import category_means
from firstsight.methods.phe.settings import PheSettings
from firstsight.methods.settings import settings as settings_of


def small(**changes: Any) -> PHE:
    torch.manual_seed(0)
    settings = PheSettings(bits=6, prototypes=2, feature_dim=8, **changes)
    return PHE(nn.Identity(), inputs=5, categories=3, settings=settings)


def test_eq10_is_the_visible_sum_of_its_terms() -> None:
    model = small(alpha=0.2, beta=2.0)
    terms = model.losses(model(torch.randn(4, 5)), torch.tensor([0, 1, 2, 0]))
    assert_close(terms["L_c"], terms["L_sep"] + terms["L_q"])
    assert_close(terms["total"], terms["L_p"] + 0.2 * terms["L_c"] + 2.0 * terms["L_f"])


def test_prototypes_start_between_0_and_1_and_learn_from_every_loss() -> None:
    model = small()
    assert model.points.min() >= 0
    assert model.points.max() <= 1
    for term in ("L_p", "L_f", "L_q"):
        gradient = torch.autograd.grad(
            model.losses(model(torch.randn(4, 5)), torch.tensor([0, 1, 2, 0]))[term], model.points
        )
        assert gradient[0].abs().sum() > 0, term


def test_centres_come_from_mean_prototypes() -> None:
    model = small()
    assert_close(model.hash_centres(), model.hash_head.centres(category_means(model.points, 2)))


def test_final_centres_are_those_of_the_trained_weights() -> None:
    model = small()
    with torch.no_grad():
        model.points.mul_(-1)
    assert_close(model.centres(), model.hash_centres().detach())


def test_last_batch_centres_are_those_before_the_last_step() -> None:
    model = small(centres="last-batch")
    outputs = model(torch.randn(4, 5))
    model.losses(outputs, torch.tensor([0, 1, 2, 0]))
    with torch.no_grad():
        model.points.mul_(-1)
    assert_close(model.centres(), outputs.centres.detach())


@pytest.mark.parametrize("method", ["phe", "phe-paper"])
def test_both_recipes_take_a_step_that_lowers_the_loss(method: str) -> None:
    torch.manual_seed(0)
    settings = settings_of(method, bits=6, prototypes=2, feature_dim=8, theta=0.0, expected_categories=6)
    model = PHE(nn.Identity(), 5, 3, settings).train()
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-3)
    x, y = torch.randn(12, 5), torch.arange(12) % 3
    losses = []
    for _ in range(8):
        total = model.losses(model(x), y)["total"]
        optimiser.zero_grad()
        total.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        losses.append(total.item())
    assert losses[-1] < losses[0]
