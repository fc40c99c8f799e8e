"""How a backbone learns the support set: to tell its categories by cosines, and to draw their images together.

Cross-entropy and SupCon on two random views of every image. The first half of its blocks stays as it is, which takes
half the time and loses little (reproductions/LOG.md), and so do the statistics of BatchNorm.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from firstsight.core.settings import Settings, TrainingSettings
from firstsight.encode.backbones import is_transformer, parameters_by_depth
from firstsight.encode.learner import Learner, Terms, weighted
from firstsight.methods.baselines.contrastive import contrastive_loss
from firstsight.methods.firstsight.decision import Firstsight

RECIPE = TrainingSettings(
    epochs=40,
    batch_size=64,
    lr_backbone=2e-4,
    lr=2e-3,
    weight_decay_features=1e-3,
    weight_decay=1e-3,
    warmup_epochs=3,
    schedule_lag=False,
    vary=True,
)
HIDDEN, PROJECTED = 512, 128
SHARP = 16.0  # what cosines are multiplied by
SMOOTHING = 0.1
TEMPERATURE = 0.1


class Outputs(NamedTuple):
    features: Tensor
    projected: Tensor


class Adapting(Learner):
    """A backbone whose later half learns; a feature is what it makes of an image at one look."""

    settings_type = TrainingSettings
    decision = Firstsight
    views = 2
    whole_batches = True

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: Settings) -> None:
        super().__init__(tail, inputs, categories, settings)
        self.classifier = nn.Parameter(torch.randn(categories, inputs))
        self.projector = nn.Sequential(nn.Linear(inputs, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, PROJECTED))
        self.depths = parameters_by_depth(tail)
        self.depths = self.depths[len(self.depths) // 2 :]
        tail.requires_grad_(False)
        for parameter in (each for some in self.depths for each in some):
            parameter.requires_grad_(True)

    def train(self, mode: bool = True) -> Adapting:
        super().train(mode)
        self.tail.eval()  # statistics of BatchNorm are not learned
        return self

    def features(self, stem: Tensor) -> Tensor:
        features: Tensor = self.tail(stem)
        return features

    def forward(self, stem: Tensor) -> Outputs:
        features = self.features(stem)
        return Outputs(features, self.projector(features))

    def losses(self, outputs: Outputs, labels: Tensor, generator: torch.Generator | None = None) -> Terms:
        cosines = F.normalize(outputs.features.float(), dim=-1) @ F.normalize(self.classifier, dim=-1).T
        return weighted(
            {
                "L_ce": F.cross_entropy(SHARP * cosines, labels, label_smoothing=SMOOTHING),
                "L_sup": contrastive_loss(outputs.projected.float(), labels, TEMPERATURE),
            }
        )

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        """Blocks of a transformer learn the less the deeper below the last they are."""
        groups = super().parameter_groups()
        if is_transformer(self.tail):
            groups.pop("backbone")
            groups |= {f"backbone {below}": some for below, some in enumerate(reversed(self.depths))}
        return groups
