"""Random views of images for training that varies them: a part of each, in slightly other colours."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

DRAWN = 7  # numbers for every view
ZOOM = 0.5  # smallest side of what is looked at
STRETCH = 0.3  # of its logarithm of width over height
CONTRAST, BRIGHTNESS, SATURATION = 0.2, 0.15, 0.3  # changes at most, up or down


def varied(images: Tensor, draws: Tensor) -> Tensor:
    """Light changes of colour, then a random part of each normalised image at the size of the whole."""
    contrast, brightness, saturation, side, stretch, across, down = (2 * draws - 1).T
    changed = tinted(images, 1 + CONTRAST * contrast, BRIGHTNESS * brightness, 1 + SATURATION * saturation)
    half, wide = 1 - ZOOM * (side + 1) / 2, torch.exp(STRETCH / 2 * stretch)
    return part_of(changed, (half * wide).clamp(max=1), (half / wide).clamp(max=1), across, down)


def tinted(images: Tensor, contrast: Tensor, brightness: Tensor, saturation: Tensor) -> Tensor:
    """Normalised images (N, 3, H, W) with other colours: one value of each for every image."""
    contrast, brightness, saturation = (each.view(-1, 1, 1, 1) for each in (contrast, brightness, saturation))
    grey = images.mean(dim=1, keepdim=True)
    return (grey + (images - grey) * saturation) * contrast + brightness


def part_of(images: Tensor, width: Tensor, height: Tensor, across: Tensor, down: Tensor) -> Tensor:
    """A part of every image at the size of the whole; -1 to 1 say where it is, at one edge or the other.

    >>> image = torch.arange(4.0).view(1, 1, 2, 2)
    >>> half, left, top = torch.tensor([0.5]), torch.tensor([-1.0]), torch.tensor([-1.0])
    >>> part_of(image, half, half, left, top)[0, 0].tolist()
    [[0.0, 0.25], [0.5, 0.75]]
    """
    map = images.new_zeros(len(images), 2, 3)
    map[:, 0, 0], map[:, 1, 1] = width, height
    map[:, 0, 2], map[:, 1, 2] = (1 - width) * across, (1 - height) * down
    grid = F.affine_grid(map, list(images.shape), align_corners=False)
    parts = F.grid_sample(images, grid, padding_mode="reflection", align_corners=False)
    return parts.contiguous(memory_format=torch.channels_last)
