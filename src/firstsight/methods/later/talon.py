"""TALON (CVPR 2026) without its update of the encoder: nearest prototype by cosine, on features with a margin."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from firstsight.core.protocols import Register
from firstsight.core.settings import TrainingSettings
from firstsight.methods.baselines.leader import Leaders
from firstsight.methods.later.contrasted import Contrasted, Outputs
from firstsight.register.prototypes import GatedRegister

SCALE, MARGIN = 30.0, 0.2


class Talon(Contrasted):
    """Cross-entropy of angles to learned directions, an angle of 0.2 added to the right one, and SupCon.

    An image goes to the nearest prototype by cosine, or founds one. The publication sets the threshold for every data
    set; ours is found by discovery simulated on the support set. Optimiser and schedule are those of all methods here.
    """

    decision = Leaders
    temperature = 0.08

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: TrainingSettings) -> None:
        super().__init__(tail, inputs, categories, settings)
        self.layer = nn.Linear(inputs, categories, bias=False)

    def classification(self, outputs: Outputs, labels: Tensor) -> Tensor:
        with torch.autocast(outputs.features.device.type, enabled=False):
            cosines = F.normalize(outputs.features.float(), dim=-1) @ F.normalize(self.layer.weight.float(), dim=-1).T
        return margin_loss(cosines, labels)


class MovingPrototypes(Leaders):
    """TALON's update of the prototypes, which it makes after every batch of 64 images.

    Here images come one by one, so after every 64th: prototypes with two or more of them move towards their mean, by a
    step that grows with how many they are and with their mean cosine to the prototype (what is meant by confidence is
    our reading).
    """

    def _register(self, radius: float) -> Register:
        weights = np.ones(len(self.centres), dtype=np.float32)
        return GatedRegister(list(self.names), self.centres, weights, radius)


class TalonUpdated(Talon):
    """TALON with its update of the prototypes."""

    decision = MovingPrototypes


def margin_loss(cosines: Tensor, labels: Tensor, scale: float = SCALE, margin: float = MARGIN) -> Tensor:
    """Cross-entropy of cosines, the right one that of an angle larger by the margin (ArcFace, Deng et al. 2019)."""
    right = F.one_hot(labels, cosines.shape[1]).bool()
    angles = torch.acos(cosines.clamp(-1 + 1e-6, 1 - 1e-6))
    return F.cross_entropy(scale * torch.where(right, torch.cos(angles + margin), cosines), labels)
