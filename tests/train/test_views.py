"""Random views: parts of images in other colours, by what was drawn alone."""

from __future__ import annotations

import torch

from firstsight.train.views import DRAWN, part_of, tinted, varied


def test_views_keep_their_shape_and_differ() -> None:
    images, draws = torch.randn(2, 3, 32, 32), torch.rand(2, DRAWN)
    views = varied(images, draws)
    assert views.shape == images.shape
    assert not torch.equal(views, images)
    assert torch.equal(views, varied(images, draws))


def test_nothing_drawn_changes_nothing() -> None:
    images, whole, zero = torch.randn(2, 3, 8, 8), torch.ones(2), torch.zeros(2)
    assert torch.allclose(tinted(images, whole, zero, whole), images)
    assert torch.allclose(part_of(images, whole, whole, zero, zero), images, atol=1e-5)
    grey = tinted(images, whole, zero, zero)
    assert torch.allclose(grey, images.mean(dim=1, keepdim=True).expand_as(images), atol=1e-6)
