"""The paper's losses, one pure function per equation, in the order of the paper: Eq. 2, 3, 4, 5, 8, 9, 10.

N images, C categories, k prototypes each, L bits. Eq. 1 is in prototypes.py, Eq. 6-7 in firstsight/bounds.py.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from firstsight.core.settings import Form
from firstsight.methods.phe.prototypes import category_logits, mask_prototypes

RELEASED_SLACK = 0.95


def prototype_loss(
    similarities: Tensor, labels: Tensor, per_category: int, theta: float, generator: torch.Generator | None = None
) -> Tensor:
    """Classify images by their masked prototype similarities (Eq. 2, L_p)."""
    masked = mask_prototypes(similarities, theta, generator)
    return F.cross_entropy(category_logits(masked, per_category), labels)


def feature_loss(hash_features: Tensor, centres: Tensor, labels: Tensor, scale: float = 1.0) -> Tensor:
    """Draw every image's hash feature to its category's centre (Eq. 3, L_f): cross-entropy of cosines.

    Eq. 3 has no `scale`. With 1 the loss cannot fall below log(1 + (C - 1) / e^2) and its gradient never tires of
    images that are right already; more lets it turn to those that are not.
    """
    cosines = F.normalize(hash_features, dim=-1) @ F.normalize(centres, dim=-1).T  # (N, C)
    return F.cross_entropy(scale * cosines, labels)


def smooth_sign(values: Tensor, tau: float = 3.0) -> Tensor:
    """The sign with a gradient (Eq. 4, sign*): (e^{a tau} - e^{-a tau}) / (e^{a tau} + e^{-a tau}) = tanh(a tau)."""
    return torch.tanh(tau * values)


def soft_hamming(soft_codes: Tensor, slack: float = 1.0) -> Tensor:
    """The Hamming distance of every two codes in (-1, 1): (slack L - <a, b>) / 2, exact for -1 and +1."""
    bits = soft_codes.shape[1]
    return (slack * bits - soft_codes @ soft_codes.T) / 2  # (C, C)


def separation_loss(soft_codes: Tensor, minimum_distance: int, form: Form = "released") -> Tensor:
    """Push every two centres at least `minimum_distance` bits apart (Eq. 5, L_sep).

    `paper` is the double sum as printed, i = j included: for soft codes that term pulls bits back from -1 and +1.
    `released` leaves it out, averages over centres, and takes 0.95 L for L, so asks for 0.025 L bits more
    (deviation 9).
    """
    if form == "paper":
        return (minimum_distance - soft_hamming(soft_codes)).clamp_min(0).sum()
    shortfall = (minimum_distance - soft_hamming(soft_codes, RELEASED_SLACK)).clamp_min(0)
    return (shortfall - torch.diag(shortfall.diagonal())).sum(1).mean()


def quantisation_loss(soft_codes: Tensor, form: Form = "released") -> Tensor:
    """Keep soft bits close to -1 and +1 (Eq. 8, L_q): 1 - |h|, averaged (released) or summed (paper)."""
    gap = 1 - soft_codes.abs()
    return gap.mean() if form == "released" else gap.sum()


def centre_loss(separation: Tensor, quantisation: Tensor) -> Tensor:
    """What keeps centres good codes (Eq. 9): L_c = L_sep + L_q."""
    return separation + quantisation


def total_loss(prototype: Tensor, centre: Tensor, feature: Tensor, alpha: float = 0.1, beta: float = 3.0) -> Tensor:
    """The whole objective (Eq. 10): L = L_p + alpha L_c + beta L_f."""
    return prototype + alpha * centre + beta * feature
