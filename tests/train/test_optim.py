"""Groups, schedule and the average of weights."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from firstsight.methods.phe.model import PHE
from firstsight.methods.phe.settings import PheSettings
from firstsight.methods.settings import settings as settings_of
from firstsight.train.optim import Average, learning_rate, make_optimiser

FULL = PheSettings()


def test_the_schedule_is_the_one_in_the_released_logs() -> None:
    # epochs 198 and 199 of 200 for the backbone, as logged by the authors
    assert learning_rate(1e-4, 198, FULL) == pytest.approx(1.00500e-5, rel=1e-4)
    assert learning_rate(1e-4, 199, FULL) == pytest.approx(1.00222e-5, rel=1e-4)


def test_warm_up_starts_low_lags_an_epoch_and_ends_at_the_cosine() -> None:
    rates = [learning_rate(1e-3, epoch, FULL) for epoch in range(8)]
    assert rates[0] == rates[1] == 1e-4
    assert rates[2] == pytest.approx(1e-4 + 9e-4 / 5)
    assert rates[6] == pytest.approx(1e-3, rel=0.01)


def test_without_lag_the_second_epoch_is_warmer() -> None:
    assert learning_rate(1e-3, 1, FULL.changed(schedule_lag=False)) == pytest.approx(1e-4 + 9e-4 / 5)


def test_a_short_run_is_not_all_warm_up() -> None:
    assert max(learning_rate(1e-3, epoch, PheSettings(epochs=8)) for epoch in range(8)) > 8e-4


def phe(settings: PheSettings) -> PHE:
    return PHE(nn.Linear(3, 5), inputs=5, categories=2, settings=settings)


@pytest.mark.parametrize(("method", "decays"), [("phe", [1e-3, 1e-3, 0.05]), ("phe-paper", [0.05, 0.05, 0.05])])
def test_groups_have_the_rates_and_decays_of_their_part(method: str, decays: list[float]) -> None:
    settings = settings_of(method, feature_dim=8, expected_categories=4)
    groups = make_optimiser(phe(settings).parameter_groups(), settings).param_groups
    assert [group["base_lr"] for group in groups] == [1e-4, 1e-3, 1e-3]
    assert [group["weight_decay"] for group in groups] == decays


def test_a_frozen_backbone_has_no_group() -> None:
    settings = PheSettings(feature_dim=8)
    learner = PHE(nn.Identity(), 5, 2, settings)
    assert len(make_optimiser(learner.parameter_groups(), settings).param_groups) == 2


def test_the_average_follows_quickly_at_first_and_slowly_later() -> None:
    layer = nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        layer.weight.fill_(0.0)
    average = Average(layer, decay=0.999)
    with torch.no_grad():
        layer.weight.fill_(1.0)
    average.update(layer)
    assert average.values["weight"].item() == pytest.approx(1 - 2 / 11)  # decay (1 + 1) / (10 + 1)
    for _ in range(100):
        average.update(layer)
    average.give_to(layer)
    assert layer.weight.item() == pytest.approx(1.0, abs=1e-3)  # not 91 % of its first value, as in deviation 14


@pytest.mark.parametrize("base", [0.0, 1e-6, 5e-5])
def test_no_rate_rises_above_the_one_asked_for(base: float) -> None:
    assert max(learning_rate(base, epoch, FULL) for epoch in range(200)) <= base
