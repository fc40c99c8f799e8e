"""How a backbone learns the support set: what learns of it, by which losses, on which views."""

from __future__ import annotations

import pytest
import timm
import torch
from torch.nn import functional as F

from firstsight.encode.backbones import feature_width
from firstsight.methods.adaptation import RECIPE, SHARP, SMOOTHING, Adapting, Outputs
from firstsight.train.optim import LAYER_DECAY, make_optimiser


def adapting(name: str, categories: int = 3) -> Adapting:
    model = timm.create_model(name, num_classes=0)
    return Adapting(model, feature_width(model), categories, RECIPE)


@pytest.mark.parametrize("name", ["test_vit", "test_resnet", "test_efficientnet"])
def test_the_later_half_learns(name: str) -> None:
    learner = adapting(name)
    learns = [parameter.requires_grad for parameter in learner.tail.parameters()]
    assert not all(learns)
    assert learns.index(True) > 0  # the first layers stay
    assert not any(module.training for module in learner.train().tail.modules())


def test_no_statistics_of_batchnorm_are_learned() -> None:
    learner = adapting("test_resnet").train()
    before = {name: value.clone() for name, value in learner.tail.named_buffers()}
    learner(torch.randn(4, 3, 64, 64))
    assert all(torch.equal(before[name], value) for name, value in learner.tail.named_buffers())


def test_blocks_of_a_transformer_learn_less_the_deeper_they_are() -> None:
    rates, flat = (
        {group["base_lr"] for group in make_optimiser(adapting(name).parameter_groups(), RECIPE).param_groups}
        for name in ("test_vit", "test_resnet")
    )
    last = RECIPE.lr_backbone
    assert {last, last * LAYER_DECAY, last * LAYER_DECAY**2} <= rates
    assert flat == {RECIPE.lr_backbone, RECIPE.lr}


def test_every_parameter_that_learns_is_in_one_group() -> None:
    learner = adapting("test_vit")
    grouped = [id(each) for some in learner.parameter_groups().values() for each in some]
    assert sorted(grouped) == sorted(id(each) for each in learner.parameters() if each.requires_grad)


def test_the_cross_entropy_is_of_cosines() -> None:
    """A feature along its category's weights has cosine 1, along another's 0: checked by hand."""
    learner = adapting("test_resnet", categories=2)
    width = learner.classifier.shape[1]
    with torch.no_grad():
        learner.classifier.copy_(5 * torch.eye(2, width))
    features = 3 * torch.eye(2, width)
    found = learner.losses(Outputs(features, torch.randn(2, 128)), torch.tensor([0, 1]))["L_ce"]
    wrong = F.softplus(torch.tensor(-SHARP))
    expected = (1 - SMOOTHING / 2) * wrong + SMOOTHING / 2 * (SHARP + wrong)
    assert float(found.detach()) == pytest.approx(float(expected), rel=1e-5)
