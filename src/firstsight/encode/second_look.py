"""A second look: what stands out in an image is enlarged and encoded as well, and both features count alike.

What people photograph seldom fills the picture. Where the feature map of a CNN is strong there is something to see; the
square around that, at the size of the whole image, shows it in more detail.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

REACH = 2.0  # half the square's side, in standard deviations of what stands out
SMALLEST = 0.4  # of the image's side


class TwoLooks(nn.Module):
    """A timm model that looks twice. Those without a feature map, such as transformers, look once."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, images: Tensor) -> Tensor:
        features, found = self._look(images)
        if found.ndim != 4 or found.shape[1] != features.shape[1]:
            return features
        closer, _ = self._look(enlarged(images, found.float().norm(dim=1)))
        return F.normalize(features.float(), dim=-1) + F.normalize(closer.float(), dim=-1)

    def _look(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """The feature of every image, and what it was pooled from."""
        found: Tensor = self.model.forward_features(images)
        return self.model.forward_head(found, pre_logits=True), found


def enlarged(images: Tensor, places: Tensor) -> Tensor:
    """The square around what stands out, at the size of the whole image; `places` (N, H, W) say how much does where."""
    across, down, half = square(places)
    height, width = images.shape[2:]
    columns, rows = _places(width, places), _places(height, places)
    # as torch's affine_grid makes it, which no other runtime has
    x = (across[:, None] + half[:, None] * columns)[:, None, :, None].expand(-1, height, -1, -1)
    y = (down[:, None] + half[:, None] * rows)[:, :, None, None].expand(-1, -1, width, -1)
    grid = torch.cat([x, y], dim=-1).to(images.dtype)
    return F.grid_sample(images, grid, mode="bicubic", padding_mode="reflection", align_corners=False)


def square(places: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Its middle across and down and half its side, in an image that reaches from -1 to 1; it never leaves that.

    >>> spot = torch.zeros(1, 5, 5)
    >>> spot[0, 1, 4] = 1.0  # at the right edge, in the second row
    >>> [round(float(value), 2) for value in square(spot)]
    [0.6, -0.4, 0.4]
    """
    weight = (places - places.amin(dim=(1, 2), keepdim=True)).square() + 1e-12  # where nothing does, everything does
    weight = weight / weight.sum(dim=(1, 2), keepdim=True)
    across, down = (_spread(weight.sum(dim=other)) for other in (1, 2))
    half = (REACH * torch.maximum(across[1], down[1])).clamp(SMALLEST, 1)
    return across[0].clamp(half - 1, 1 - half), down[0].clamp(half - 1, 1 - half), half


def _spread(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of places from -1 to 1, by their weights (N, places)."""
    at = _places(weight.shape[1], weight)
    mean = (weight * at).sum(dim=1)
    return mean, (weight * (at - mean[:, None]).square()).sum(dim=1).sqrt()


def _places(count: int, like: Tensor) -> Tensor:
    """The middles of so many parts of what reaches from -1 to 1."""
    return (torch.arange(count, device=like.device, dtype=like.dtype) + 0.5) * 2 / count - 1
