"""The two heads: H_f makes image features comparable with prototypes, H_h makes hash features of either.

They own weights and nothing else. H_h is applied to two populations, images and mean prototypes.
"""

from __future__ import annotations

from typing import Literal

from torch import Tensor, nn
from torch.nn import functional as F

from firstsight.core.settings import Form

BOTTLENECK = 256
MOMENTUM = 0.1


class FeatureHead(nn.Sequential):
    """H_f: one linear layer (paper), followed by GELU (released; deviation 5)."""

    def __init__(self, inputs: int, outputs: int, form: Form = "released") -> None:
        layers: list[nn.Module] = [nn.Linear(inputs, outputs)]
        super().__init__(*layers, *([nn.GELU()] if form == "released" else []))
        initialise(self)


class HashHead(nn.Module):
    """H_h: three linear layers (paper) or four (released; deviation 6), with BatchNorm before the last.

    The paper is silent on BatchNorm, but without it the centres of all categories stay one and the same code: mean
    prototypes start almost equal, and nothing else spreads them (reproductions/LOG.md).
    """

    def __init__(
        self,
        inputs: int,
        bits: int,
        form: Form = "released",
        norm: Literal["images", "shared"] = "images",
        hidden: int = 2048,
    ) -> None:
        super().__init__()
        middle = [nn.Linear(hidden, hidden), nn.GELU()] if form == "released" else []
        self.body = nn.Sequential(nn.Linear(inputs, hidden), nn.GELU(), *middle, nn.Linear(hidden, BOTTLENECK))
        self.norm = nn.BatchNorm1d(BOTTLENECK, momentum=MOMENTUM)
        self.last = nn.Linear(BOTTLENECK, bits, bias=False)
        self.shared = norm == "shared"
        initialise(self)

    def forward(self, features: Tensor) -> Tensor:
        """The hash features b of images. A lone image in training is normalised by the running statistics."""
        hidden = self.body(features)
        learning = self.training and len(hidden) > 1
        return self._output(hidden, by_batch=learning, remember=learning)

    def centres(self, means: Tensor) -> Tensor:
        """The hash centres h of mean prototypes, normalised among themselves in training and after.

        Their statistics are not the images'; they reach the running ones only where asked to be `shared`
        as in the released code (deviation 4).
        """
        return self._output(self.body(means), by_batch=True, remember=self.training and self.shared)

    def _output(self, hidden: Tensor, by_batch: bool, remember: bool) -> Tensor:
        """BatchNorm by the batch's statistics or the running ones, remembered or not; then the last layer."""
        norm = self.norm
        running = (None, None) if by_batch and not remember else (norm.running_mean, norm.running_var)
        hidden = F.batch_norm(hidden, *running, norm.weight, norm.bias, by_batch, MOMENTUM, norm.eps)
        output: Tensor = self.last(F.gelu(hidden))
        return output


def initialise(head: nn.Module) -> None:
    """Small normal weights, no bias."""
    for layer in head.modules():
        if isinstance(layer, nn.Linear):
            nn.init.trunc_normal_(layer.weight, std=0.02)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
