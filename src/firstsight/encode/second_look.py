"""A second look: what stands out in an image is enlarged and encoded as well, and both features count alike.

What people photograph seldom fills the picture. Where the feature map of a CNN is strong there is something to see; the
square around that, at the size of the whole image, shows it in more detail.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import handle_torch_function, has_torch_function

REACH = 2.0  # half the square's side, in standard deviations of what stands out
SMALLEST = 0.4  # of the image's side
CUBIC = -0.75  # torch's bicubic interpolation has this slope at the next pixel


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
    """The square around what stands out, at the size of the whole image; `places` (N, H, W) say how much does where.

    It can be watched like a function of torch's own.
    """
    if has_torch_function((images,)):
        watched: Tensor = handle_torch_function(enlarged, (images,), images, places)
        return watched
    across, down, half = square(places)
    height, width = images.shape[2:]
    columns, rows = _places(width, places), _places(height, places)
    right, below = (middle[:, None] - (1 - half[:, None]) * at for middle, at in ((across, columns), (down, rows)))
    if images.device.type == "cpu" and not torch.onnx.is_in_onnx_export():  # which has any number of images
        return torch.stack(
            [_sampled(*each) for each in zip(images, right * width / 2, below * height / 2, strict=True)]
        )
    x = (columns + right)[:, None, :, None].expand(-1, height, -1, -1)
    y = (rows + below)[:, :, None, None].expand(-1, -1, width, -1)
    grid = torch.cat([x, y], dim=-1).to(images.dtype)
    return F.grid_sample(images, grid, mode="bicubic", padding_mode="reflection", align_corners=False)


def _sampled(image: Tensor, right: Tensor, below: Tensor) -> Tensor:
    """The same for one image, rows first and then columns: a quarter of the time where nothing does it all at once.

    What is told is how many pixels beside its own place each column and row is found.
    """
    (rows, by_row), (columns, by_column) = _taps(below), _taps(right)
    tall = _summed(image.index_select(1, row) * by[:, None] for row, by in zip(rows, by_row, strict=True))
    return _summed(tall.index_select(2, column) * by for column, by in zip(columns, by_column, strict=True))


def _summed(parts: Iterable[Tensor]) -> Tensor:
    first, *others = parts
    for each in others:
        first = first + each
    return first


def _taps(beside: Tensor) -> tuple[Tensor, Tensor]:
    """For each of some pixels the four around a place beside it, mirrored at the edges, and their cubic weights.

    Whole numbers are told apart from parts of a pixel early, since bf16 has but eight bits for both.

    >>> taps, weights = _taps(torch.tensor([0.5, 0.0, 0.0, 0.0]))  # the first is to be found between the first two
    >>> taps[:, 0].tolist(), weights[:, 0].tolist()
    ([0, 0, 1, 2], [-0.09375, 0.59375, 0.59375, -0.09375])
    """
    whole, count = beside.floor(), len(beside)
    taps = whole.long() + torch.arange(count) + torch.arange(-1, 3)[:, None]
    taps = torch.where(taps < 0, -1 - taps, taps)
    taps = torch.where(taps > count - 1, 2 * count - 1 - taps, taps)
    part = beside - whole
    far = torch.stack([part + 1, part, 1 - part, 2 - part])
    near = ((CUBIC + 2) * far - (CUBIC + 3)) * far.square() + 1
    return taps, torch.where(far <= 1, near, CUBIC * (((far - 5) * far + 8) * far - 4))


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
