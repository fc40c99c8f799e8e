"""The two heads: H_f makes image features comparable with prototypes, H_h makes hash features of either.

They own weights and nothing else. H_h is applied to two populations, images and mean prototypes.
"""

from __future__ import annotations

from typing import Literal

from torch import Tensor, nn
from torch.nn import functional as F

from firstsight.config import Form

HIDDEN = 2048
BOTTLENECK = 256


class FeatureHead(nn.Sequential):
    """H_f: one linear layer (paper), followed by GELU (released; deviation 5)."""

    def __init__(self, inputs: int, outputs: int, form: Form = "released") -> None:
        layers: list[nn.Module] = [nn.Linear(inputs, outputs)]
        super().__init__(*layers, *([nn.GELU()] if form == "released" else []))
        _initialise(self)


class HashHead(nn.Module):
    """H_h: three linear layers (paper), or four with BatchNorm before the last (released; deviation 6)."""

    def __init__(
        self,
        inputs: int,
        bits: int,
        form: Form = "released",
        norm: Literal["images", "shared"] = "images",
    ) -> None:
        super().__init__()
        if form == "released":
            self.body = nn.Sequential(
                nn.Linear(inputs, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, BOTTLENECK)
            )
        else:
            self.body = nn.Sequential(nn.Linear(inputs, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, BOTTLENECK))
        self.norm = nn.BatchNorm1d(BOTTLENECK) if form == "released" else None
        self.shared = norm == "shared"
        self.last = nn.Linear(BOTTLENECK, bits, bias=False)
        _initialise(self)

    def forward(self, features: Tensor) -> Tensor:
        """The hash features b of images. A lone image in training is normalised by the running statistics."""
        hidden = self.body(features)
        if self.norm is not None:
            alone = self.training and len(hidden) == 1
            hidden = _normalise(hidden, self.norm, by_batch=self.training and not alone, remember=self.training and not alone)
        return self._output(hidden)

    def centres(self, means: Tensor) -> Tensor:
        """The hash centres h of mean prototypes, normalised among themselves in training and after.

        Their statistics are not the images'; they reach the running ones only where asked to be `shared`
        as in the released code (deviation 4).
        """
        hidden = self.body(means)
        if self.norm is not None:
            hidden = _normalise(hidden, self.norm, by_batch=True, remember=self.training and self.shared)
        return self._output(hidden)

    def _output(self, hidden: Tensor) -> Tensor:
        output: Tensor = self.last(F.gelu(hidden))
        return output


def _normalise(hidden: Tensor, norm: nn.BatchNorm1d, by_batch: bool, remember: bool) -> Tensor:
    """BatchNorm with the choice of statistics, and of remembering them, in the caller's hands."""
    mean, variance = norm.running_mean, norm.running_var
    if by_batch and not remember:
        mean = variance = None
    momentum = norm.momentum if norm.momentum is not None else 0.1
    return F.batch_norm(hidden, mean, variance, norm.weight, norm.bias, by_batch, momentum, norm.eps)


def _initialise(head: nn.Module) -> None:
    for layer in head.modules():
        if isinstance(layer, nn.Linear):
            nn.init.trunc_normal_(layer.weight, std=0.02)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
