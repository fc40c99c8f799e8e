"""How trained models answer: folded backbones give what they did, exact features do not depend on neighbours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import timm
import torch
from torch import nn

import firstsight
from firstsight.encode.backbones import build
from firstsight.encode.folding import folded, safely_folded


@pytest.mark.parametrize("name", ["test_efficientnet", "test_resnet", "test_convnext", "test_vit"])
def test_a_folded_backbone_gives_what_it_gave(name: str) -> None:
    torch.manual_seed(0)
    model = timm.create_model(name, num_classes=0).eval()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):  # as after training: statistics that matter
            module.get_buffer("running_mean").normal_()
            module.get_buffer("running_var").uniform_(0.5, 2)
    config: Any = model.pretrained_cfg
    images = torch.randn(2, *config["input_size"])
    ready = folded(model)
    norms = [module for module in ready.modules() if isinstance(module, nn.BatchNorm2d)]
    assert len(norms) <= 1  # the one of a stem whose convolutions are a list of their own
    with torch.inference_mode():
        torch.testing.assert_close(ready(images), model(images), rtol=1e-3, atol=1e-4)


def test_lite2s_trunk_and_tail_fold_wholly() -> None:
    backbone = build("tf_efficientnet_lite0", 64, 1, blank=True)
    for part in (backbone.trunk, backbone.tail):
        assert not any(isinstance(module, nn.BatchNorm2d) for module in folded(part).modules())
        assert any(isinstance(module, nn.BatchNorm2d) for module in part.modules())  # itself unchanged


class Swapped(nn.Module):
    """Lists a convolution before a BatchNorm, and runs them the other way round."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 1)
        self.norm = nn.BatchNorm2d(4)
        self.norm.get_buffer("running_mean").fill_(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.conv(self.norm(x))
        return y


def test_a_module_that_runs_in_another_order_is_left_alone() -> None:
    module, example = Swapped(), torch.randn(2, 4, 3, 3)
    ready = safely_folded(module, example)
    torch.testing.assert_close(ready(example), module(example))


def test_exact_features_are_the_same_bits_in_any_company(model_folder: Path, moths: Path) -> None:
    model = firstsight.load(model_folder, device="cpu", exact=True)
    pixels = [model.prepare(path) for path in sorted((moths / "stream").rglob("*.jpg"))]
    alone = np.concatenate([model.encode([each]) for each in pixels])
    generator = np.random.default_rng(0)
    for size in (2, 3, 7, 16, 17, len(pixels)):
        order = generator.permutation(len(pixels))[:size]
        assert np.array_equal(model.encode([pixels[i] for i in order]), alone[order]), size
    assert model.provenance.precision == "fp32, exact"


def test_exact_and_fast_are_close(model_folder: Path, moths: Path) -> None:
    exact, fast = (firstsight.load(model_folder, device="cpu", exact=flag) for flag in (True, False))
    pixels = [exact.prepare(path) for path in sorted((moths / "stream").rglob("*.jpg"))]
    np.testing.assert_allclose(exact.encode(pixels), fast.encode(pixels), rtol=1e-3, atol=1e-4)
    assert fast.provenance.precision == "fp32"
