"""SimGCD's prototype learning (Wen et al., ICCV 2023) under PHE's category encoding.

Of its losses the unsupervised classification is gone, as are prototypes of new categories: there are no unlabelled
images here. Weights and temperatures are those of its released code; the projector is SMILE's (ours).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from firstsight.methods.baselines.contrastive import Projector, contrastive_loss
from firstsight.methods.baselines.fixed import FixedCentres
from firstsight.methods.phe.heads import BOTTLENECK, HashHead
from firstsight.methods.phe.model import PHE, Outputs, PrototypeLearner

SUPERVISED = 0.35  # the weight of what uses labels
CLASSIFIER_TEMPERATURE = 0.1
VIEWS_TEMPERATURE = 1.0


class SimGcdFeatures(PrototypeLearner):
    """Features by SimGCD's losses, with one prototype per category, which is a classifier's weight."""

    views = 2

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: Any) -> None:
        super().__init__(tail, inputs, categories, settings.changed(prototypes=1))
        self.projector = Projector(settings.feature_dim, settings.hash_hidden)

    def representation_loss(self, shown: Tensor, labels: Tensor, generator: torch.Generator | None) -> Tensor:
        return simgcd_loss(shown, self.projector(shown), self.points, labels)


class SimGcd(SimGcdFeatures, PHE):
    """Its prototypes mapped to hash centres."""


class SimGcdFixed(SimGcdFeatures, FixedCentres):
    """SimGCD-MC: handcrafted centres, and codes of what its projection head makes."""

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: Any) -> None:
        super().__init__(tail, inputs, categories, settings)
        s = settings
        self.hash_head = HashHead(BOTTLENECK, s.bits, s.hash_head, s.hash_norm, s.hash_hidden)

    def forward(self, stem: Tensor) -> Outputs:
        z = self.shown(stem)
        return Outputs(z, self.hash_head(self.projector(z)), self.targets)

    def features(self, stem: Tensor) -> Tensor:
        return self(stem).features  # type: ignore[no-any-return]


def simgcd_loss(shown: Tensor, projected: Tensor, prototypes: Tensor, labels: Tensor) -> Tensor:
    """Contrast of views, SupCon of labels, and cross-entropy of cosines to the prototypes."""
    images = torch.arange(len(labels) // 2, device=labels.device).repeat(2)  # two views of each
    cosines = F.normalize(shown, dim=-1) @ F.normalize(prototypes, dim=-1).T
    classified = F.cross_entropy(cosines / CLASSIFIER_TEMPERATURE, labels)
    unsupervised, supervised = (
        contrastive_loss(projected, images, VIEWS_TEMPERATURE),
        contrastive_loss(projected, labels),
    )
    return (1 - SUPERVISED) * unsupervised + SUPERVISED * (supervised + classified)
