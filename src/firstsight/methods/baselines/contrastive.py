"""Supervised contrastive learning and the projector it is done on: parts that several methods share."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from firstsight.methods.phe.heads import BOTTLENECK, initialise

TEMPERATURE = 0.07


def contrastive_loss(embeddings: Tensor, labels: Tensor, temperature: float = TEMPERATURE) -> Tensor:
    """SupCon (Khosla et al. 2020): every image is drawn to all others of its category, against all there are.

    With two views and a label for every image of its own, it is the contrastive loss of no labels at all.
    """
    unit = F.normalize(embeddings, dim=-1)
    logits = unit @ unit.T / temperature  # (N, N)
    itself = torch.eye(len(labels), dtype=torch.bool, device=labels.device)
    logits = logits.masked_fill(itself, float("-inf"))
    positive = (labels[:, None] == labels) & ~itself
    log_shares = (logits - logits.logsumexp(1, keepdim=True)).masked_fill(~positive, 0)
    return -(log_shares.sum(1) / positive.sum(1).clamp_min(1)).mean()


class Projector(nn.Sequential):
    """SMILE's projector, which is H_h up to its last layer."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__(
            nn.Linear(inputs, hidden),
            nn.GELU(),
            nn.Linear(hidden, hidden),
            nn.GELU(),
            nn.Linear(hidden, BOTTLENECK),
            nn.BatchNorm1d(BOTTLENECK),
            nn.GELU(),
        )
        initialise(self)
