"""H_f and H_h: their layers, and whose statistics BatchNorm remembers."""

from __future__ import annotations

import torch
from torch import nn
from torch.testing import assert_close

from firstsight.methods.phe.heads import FeatureHead, HashHead


def linears(head: nn.Module) -> list[tuple[int, int]]:
    return [(m.in_features, m.out_features) for m in head.modules() if isinstance(m, nn.Linear)]


def test_h_f_is_linear_with_gelu_or_plain() -> None:
    assert linears(FeatureHead(1280, 768)) == [(1280, 768)]
    x = torch.randn(3, 8)
    released, paper = FeatureHead(8, 4, "released"), FeatureHead(8, 4, "paper")
    paper.load_state_dict(released.state_dict())
    assert_close(released(x), nn.functional.gelu(paper(x)))


def test_h_h_has_four_linear_layers_or_three() -> None:
    assert linears(HashHead(768, 12)) == [(768, 2048), (2048, 2048), (2048, 256), (256, 12)]
    assert linears(HashHead(768, 12, "paper")) == [(768, 2048), (2048, 256), (256, 12)]


def test_h_h_has_the_released_models_number_of_weights() -> None:
    assert sum(p.numel() for p in HashHead(768, 12).parameters()) == 6_299_416 - 2 * 12  # less its unused BatchNorm(12)


def running_mean(head: HashHead) -> torch.Tensor:
    mean = head.norm.running_mean
    assert mean is not None
    return mean.clone()


def test_by_default_only_images_move_the_running_statistics() -> None:
    head, means = HashHead(8, 4).train(), torch.randn(5, 8)
    before = running_mean(head)
    head.centres(means)
    assert_close(running_mean(head), before)
    head(torch.randn(6, 8))
    assert not torch.equal(running_mean(head), before)


def test_shared_mixes_both_populations_as_released() -> None:
    head, means = HashHead(8, 4, norm="shared").train(), torch.randn(5, 8)
    before = running_mean(head)
    head.centres(means)
    assert not torch.equal(running_mean(head), before)


def test_centres_are_the_same_in_training_and_after() -> None:
    head, means = HashHead(8, 4), torch.randn(5, 8)
    assert_close(head.train().centres(means), head.eval().centres(means))


def test_a_batch_of_one_image_trains() -> None:
    head = HashHead(8, 4).train()
    head(torch.randn(1, 8)).sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in head.parameters())
