"""Category-aware prototype generation (Sec. 3.1): Eq. 1, the mask of Eq. 2 and the frozen FC layer.

Pure functions of tensors. N images, C categories, k prototypes each, m = C * k, D dimensions.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from firstsight.core.settings import Form

EPSILON = 1e-4


def prototype_similarity(features: Tensor, prototypes: Tensor, form: Form = "released") -> Tensor:
    """How alike images and prototypes are (Eq. 1): log((d + 1) / (d + epsilon)).

    `paper` takes d = |z - p|^2 of the vectors as they are; `released` takes d = |z - p|, not squared, of unit
    vectors (deviation 7). One matrix product either way: |z - p|^2 = |z|^2 + |p|^2 - 2 <z, p>.
    """
    if form == "released":
        features, prototypes = F.normalize(features, dim=-1), F.normalize(prototypes, dim=-1)
    squared = (
        features.square().sum(-1, keepdim=True) + prototypes.square().sum(-1) - 2 * features @ prototypes.T
    )  # (N, m)
    distance = squared.clamp_min(1e-12).sqrt() if form == "released" else squared.clamp_min(0)
    return torch.log((distance + 1) / (distance + EPSILON))


def mask_prototypes(similarities: Tensor, theta: float, generator: torch.Generator | None = None) -> Tensor:
    """Silence each prototype of each image with probability theta (the B(theta) of Eq. 2), without rescaling."""
    chance = torch.rand(similarities.shape, generator=generator, device=similarities.device)
    return similarities * (chance >= theta)


def category_logits(similarities: Tensor, per_category: int) -> Tensor:
    """The frozen FC layer of Eq. 2: +1 from a category's own prototypes, -0.5 from all others."""
    own = similarities.view(len(similarities), -1, per_category).sum(-1)  # (N, C)
    others = own.sum(-1, keepdim=True) - own
    return own - 0.5 * others


def category_means(prototypes: Tensor, per_category: int) -> Tensor:
    """The mean prototype of each category, sum P_c / k: what H_h maps to hash centres (Sec. 3.2)."""
    return prototypes.view(-1, per_category, prototypes.shape[1]).mean(1)  # (C, D)


def support_prototypes(features: Tensor, labels: Tensor, categories: int, per_category: int) -> Tensor:
    """Features of each category's support images, taken in turn: somewhere for its prototypes to start (ours)."""
    starts = []
    for category in range(categories):
        own = features[labels == category]
        starts.append(own[torch.arange(per_category, device=own.device) % len(own)])
    return torch.cat(starts)  # (m, D)
