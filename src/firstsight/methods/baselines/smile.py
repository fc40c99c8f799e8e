"""SMILE (Du et al., CVPR 2023) and its own baseline: contrastive learning of codes, each code a category."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from firstsight.encode.learner import Learner, Terms, weighted
from firstsight.methods.baselines.contrastive import Projector, contrastive_loss
from firstsight.methods.decisions import ExactCode
from firstsight.methods.phe.heads import BOTTLENECK
from firstsight.methods.phe.losses import quantisation_loss
from firstsight.methods.phe.settings import HashSettings

REGULARISER = 3.0


class Outputs(NamedTuple):
    sign: Tensor  # h, (N, L): its signs are the code
    magnitude: Tensor  # v, (N, L)


class HashBaseline(Learner):
    """SMILE's baseline: SupCon on the hash features of two views.

    Known categories start with the code most of their support images have, so that they answer by name; which images
    share a category does not depend on it.
    """

    settings_type = HashSettings
    decision = ExactCode
    views = 2

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: HashSettings) -> None:
        super().__init__(tail, inputs, categories, settings)
        self.projector = Projector(inputs, settings.hash_hidden)
        self.sign = hash_layer(settings.bits)

    def features(self, stem: Tensor) -> Tensor:
        features: Tensor = self.sign(self.projector(self.tail(stem)))
        return features

    def losses(self, outputs: Any, labels: Tensor, generator: torch.Generator | None = None) -> Terms:
        return weighted({"L_sup": contrastive_loss(outputs.float(), labels)})


class Smile(HashBaseline):
    """Sign-Magnitude dIsentangLEment: SupCon on tanh(h) x |magnitude|, and tanh(h) pushed to -1 and +1.

    Optimiser and schedule are those of all methods here (the authors': SGD, 100 epochs).
    """

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: HashSettings) -> None:
        super().__init__(tail, inputs, categories, settings)
        self.magnitude = hash_layer(settings.bits)

    def forward(self, stem: Tensor) -> Outputs:
        hidden = self.projector(self.tail(stem))
        return Outputs(self.sign(hidden), self.magnitude(hidden))

    def losses(self, outputs: Outputs, labels: Tensor, generator: torch.Generator | None = None) -> Terms:
        sign, v = torch.tanh(outputs.sign.float()), outputs.magnitude.float()
        tiny = v.abs() < 1e-3
        magnitude = torch.where(tiny, 1.0, v / torch.tanh(v.masked_fill(tiny, 1.0)))  # v / tanh v goes to 1
        terms = {"L_sup": contrastive_loss(sign * magnitude, labels), "L_reg": quantisation_loss(sign)}
        return weighted(terms, L_reg=REGULARISER)


def hash_layer(bits: int) -> nn.Sequential:
    """A layer without bias, and BatchNorm, which balances the bits."""
    return nn.Sequential(nn.Linear(BOTTLENECK, bits, bias=False), nn.BatchNorm1d(bits))
