"""The strategy ablation: PHE with handcrafted centres (Fixed-h) instead of learned ones, on three kinds of features."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from firstsight.encode.learner import Terms, weighted
from firstsight.methods.baselines.contrastive import contrastive_loss
from firstsight.methods.baselines.handcrafted import separated_codes
from firstsight.methods.decisions import minimum_distance_for
from firstsight.methods.phe.losses import feature_loss
from firstsight.methods.phe.model import Outputs, PrototypeLearner
from firstsight.methods.phe.settings import FixedSettings, PrototypeSettings


class FixedCentres(PrototypeLearner):
    """PHE without L_c: images are drawn to codes that are d_max apart by construction."""

    settings_type: ClassVar[type[PrototypeSettings]] = FixedSettings
    targets: Tensor

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: Any) -> None:
        super().__init__(tail, inputs, categories, settings)
        codes = self.handcrafted(categories, settings).astype(np.float32)
        self.register_buffer("targets", torch.from_numpy(codes))

    @classmethod
    def check(cls, categories: int, settings: Any) -> None:
        cls.handcrafted(categories, settings)

    @classmethod
    def handcrafted(cls, categories: int, settings: Any) -> NDArray[np.int8]:
        """A code of -1 and +1 for every category."""
        distance = minimum_distance_for(settings, categories)
        return separated_codes(settings.bits, categories, distance, settings.seed)

    def hash_centres(self) -> Tensor:
        return self.targets

    def losses(self, outputs: Outputs, labels: Tensor, generator: torch.Generator | None = None) -> Terms:
        z, b = outputs.shown.float(), outputs.features.float()
        terms = {"L_p": self.representation_loss(z, labels, generator), "L_f": self.code_loss(b, labels)}
        return weighted(terms, L_p=self.settings.gamma, L_f=self.code_weight)

    @property
    def code_weight(self) -> float:
        """The weight of the loss that draws images to their codes."""
        return float(self.settings.beta)

    def code_loss(self, features: Tensor, labels: Tensor) -> Tensor:
        """What draws every image to its category's code."""
        return feature_loss(features, self.targets, labels, self.settings.feature_scale)

    def centres(self) -> Tensor:
        """Where they always were."""
        return self.targets


class WithoutPrototypes(FixedCentres):
    """Features learned otherwise: the prototypes it was born with stay as they were, and are no evidence."""

    def prototypes(self) -> None:
        return None


class LinearFeatures(WithoutPrototypes):
    """Linear Cls.: features learned by a linear classifier instead of prototypes."""

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: Any) -> None:
        super().__init__(tail, inputs, categories, settings)
        self.layer = nn.Linear(settings.feature_dim, categories)

    def representation_loss(self, shown: Tensor, labels: Tensor, generator: torch.Generator | None) -> Tensor:
        return F.cross_entropy(self.layer(shown), labels)


class ContrastiveFeatures(WithoutPrototypes):
    """Supcon Cls.: features learned by SupCon on two views instead of prototypes."""

    views = 2

    def representation_loss(self, shown: Tensor, labels: Tensor, generator: torch.Generator | None) -> Tensor:
        return contrastive_loss(shown, labels)
