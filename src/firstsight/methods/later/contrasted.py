"""Features by cross-entropy and SupCon together, which most rules published after PHE start from."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from firstsight.core.settings import TrainingSettings
from firstsight.encode.learner import Learner, Terms, weighted
from firstsight.methods.baselines.contrastive import TEMPERATURE, contrastive_loss


class Outputs(NamedTuple):
    features: Tensor  # (N, D)
    logits: Tensor  # (N, C)


class Contrasted(Learner):
    """A linear layer on the backbone's features and SupCon of two views; features are at length 1.

    SupCon is on the features themselves, without a projector (ours where a publication does not say), so with nothing
    of the backbone learning only the layer does, and the features are what the backbone makes of images.
    """

    settings_type = TrainingSettings
    views = 2
    temperature: ClassVar[float] = TEMPERATURE
    contrast: ClassVar[float] = 1.0  # the weight of SupCon

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: TrainingSettings) -> None:
        super().__init__(tail, inputs, categories, settings)
        self.layer = nn.Linear(inputs, categories)

    def forward(self, stem: Tensor) -> Outputs:
        features: Tensor = self.tail(stem)
        return Outputs(features, self.layer(features))

    def features(self, stem: Tensor) -> Tensor:
        features: Tensor = self.tail(stem)
        return F.normalize(features.float(), dim=-1)

    def losses(self, outputs: Outputs, labels: Tensor, generator: torch.Generator | None = None) -> Terms:
        terms = {
            "L_ce": self.classification(outputs, labels),
            "L_sup": contrastive_loss(outputs.features.float(), labels, self.temperature),
        }
        return weighted(terms, L_sup=self.contrast)

    def classification(self, outputs: Any, labels: Tensor) -> Tensor:
        return F.cross_entropy(outputs.logits.float(), labels)
