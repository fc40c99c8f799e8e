"""Two rows that never discover, which every accuracy is printed beside; and what a linear layer learns."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from firstsight.core.settings import TrainingSettings
from firstsight.encode.learner import Learner, Terms, weighted
from firstsight.methods.decisions import CentreDecision, CodeDecision
from firstsight.methods.phe.model import PHE


class NearestKnownCode(CodeDecision):
    """The nearest known centre, however far."""

    discovers = False


class ClosedSet(PHE):
    """PHE forced to the nearest known category."""

    decision = NearestKnownCode


class LinearLearner(Learner):
    """A linear layer on the backbone's features, trained by cross-entropy; the features are the backbone's."""

    settings_type = TrainingSettings

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: TrainingSettings) -> None:
        super().__init__(tail, inputs, categories, settings)
        self.layer = nn.Linear(inputs, categories)

    def forward(self, stem: Tensor) -> Tensor:
        logits: Tensor = self.layer(self.tail(stem))
        return logits

    def features(self, stem: Tensor) -> Tensor:
        features: Tensor = self.tail(stem)
        return features

    def losses(self, outputs: Tensor, labels: Tensor, generator: torch.Generator | None = None) -> Terms:
        return weighted({"L_ce": F.cross_entropy(outputs.float(), labels)})


class NearestKnown(CentreDecision):
    """The nearest known centre, however far."""

    metric = "euclidean"
    discovers = False


class Classifier(LinearLearner):
    """The linear layer's most probable category.

    A feature holds the probabilities of all known categories and a centre is certainty of one, so that the nearest
    centre is the most probable category.
    """

    decision = NearestKnown

    def features(self, stem: Tensor) -> Tensor:
        return torch.softmax(self(stem), -1)

    def centres(self) -> Tensor:
        return torch.eye(self.categories)
