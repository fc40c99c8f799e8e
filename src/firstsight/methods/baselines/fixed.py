"""The strategy ablation: PHE with handcrafted centres (Fixed-h) instead of learned ones, on three kinds of features."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from firstsight.core.settings import Settings
from firstsight.methods.baselines.contrastive import contrastive_loss
from firstsight.methods.baselines.handcrafted import separated_codes
from firstsight.methods.networks import Terms, minimum_distance_for, weighted
from firstsight.methods.phe.losses import feature_loss
from firstsight.methods.phe.model import PHE, Outputs


class FixedCentres(PHE):
    """PHE without L_c: images are drawn to codes that are d_max apart by construction."""

    code_weight: ClassVar[float | None] = None  # of the loss that draws images to their code; beta where None

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: Settings) -> None:
        super().__init__(tail, inputs, categories, settings)
        self.centres.copy_(torch.from_numpy(self.handcrafted(categories, settings).astype(np.float32)))

    @classmethod
    def check(cls, categories: int, settings: Settings) -> None:
        cls.handcrafted(categories, settings)

    @classmethod
    def handcrafted(cls, categories: int, settings: Settings) -> NDArray[np.int8]:
        """A code of -1 and +1 for every category."""
        distance = minimum_distance_for(settings, categories)
        return separated_codes(settings.bits, categories, distance, settings.seed)

    def hash_centres(self) -> Tensor:
        return self.centres

    def losses(self, outputs: Outputs, labels: Tensor, generator: torch.Generator | None = None) -> Terms:
        z, b = outputs.features.float(), outputs.hash_features.float()
        terms = {"L_p": self.representation_loss(z, labels, generator), "L_f": self.code_loss(b, labels)}
        weight = self.settings.beta if self.code_weight is None else self.code_weight
        return weighted(terms, L_p=self.settings.gamma, L_f=weight)

    def code_loss(self, hash_features: Tensor, labels: Tensor) -> Tensor:
        """What draws every image to its category's code."""
        return feature_loss(hash_features, self.centres, labels, self.settings.feature_scale)

    def finish(self, rows: Tensor, labels: Tensor) -> None:
        """The centres are what they were."""


class WithoutPrototypes(FixedCentres):
    """Features learned otherwise: the prototypes it was born with stay as they were, and are no evidence."""

    def points(self) -> None:
        return None


class LinearFeatures(WithoutPrototypes):
    """Linear Cls.: features learned by a linear classifier instead of prototypes."""

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: Settings) -> None:
        super().__init__(tail, inputs, categories, settings)
        self.layer = nn.Linear(settings.feature_dim, categories)

    def representation_loss(self, features: Tensor, labels: Tensor, generator: torch.Generator | None) -> Tensor:
        return F.cross_entropy(self.layer(features), labels)


class ContrastiveFeatures(WithoutPrototypes):
    """Supcon Cls.: features learned by SupCon on two views instead of prototypes."""

    views = 2

    def representation_loss(self, features: Tensor, labels: Tensor, generator: torch.Generator | None) -> Tensor:
        return contrastive_loss(features, labels)
