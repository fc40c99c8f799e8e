"""Two rows that never discover, which every accuracy is printed beside."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from firstsight.core.settings import Settings
from firstsight.methods.networks import FeatureNetwork, Terms, weighted
from firstsight.methods.phe.model import PHE


class ClosedSet(PHE):
    """PHE forced to the nearest known category."""

    discovers = False


class LinearNetwork(FeatureNetwork):
    """A linear layer on the backbone's features, trained by cross-entropy; the rows are the features."""

    def __init__(
        self, tail: nn.Module, inputs: int, categories: int, settings: Settings, dimensions: int | None = None
    ) -> None:
        super().__init__(tail, inputs, categories, settings, dimensions)
        self.layer = nn.Linear(inputs, categories)

    def forward(self, stem: Tensor) -> Tensor:
        logits: Tensor = self.layer(self.tail(stem))
        return logits

    def rows(self, stem: Tensor) -> Tensor:
        features: Tensor = self.tail(stem)
        return features

    def losses(self, outputs: Tensor, labels: Tensor, generator: torch.Generator | None = None) -> Terms:
        return weighted({"L_ce": F.cross_entropy(outputs.float(), labels)})


class Classifier(LinearNetwork):
    """The linear layer's most probable category.

    A row holds the probabilities of all known categories and a centre is certainty of one, so that the nearest centre
    is the most probable category.
    """

    metric = "euclidean"
    discovers = False

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: Settings) -> None:
        super().__init__(tail, inputs, categories, settings, dimensions=categories)

    def rows(self, stem: Tensor) -> Tensor:
        return torch.softmax(self(stem), -1)

    def finish(self, rows: Tensor, labels: Tensor) -> None:
        self.centres.copy_(torch.eye(self.categories))
