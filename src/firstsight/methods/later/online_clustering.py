"""Online clustering as DiffGRE (ICCV 2025) answers with: leaders that move, under a threshold that adapts."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from firstsight.core.settings import Rule, Settings
from firstsight.methods.baselines.leader import chosen_reach
from firstsight.methods.later.contrasted import Contrasted
from firstsight.methods.networks import check_nearest
from firstsight.register.features import FeatureRegister
from firstsight.register.learning import LearningRegister
from firstsight.register.prototypes import LeaderRegister


class OnlineClustering(Contrasted):
    """Leaders are the mean directions of their images; one demands as much likeness as its images have.

    DiffGRE's inference without its diffusion model, so without images made by one, and its leader loss. No code was
    released and the publication leaves the rest open. Ours: the features themselves, not 12 values made of them; the
    threshold, which is a leader's mean cosine less a distance that is found by simulated discovery for leaders at rest.
    """

    alike: Tensor
    counts: Tensor

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: Settings) -> None:
        super().__init__(tail, inputs, categories, settings)
        self.register_buffer("alike", torch.zeros(categories, dtype=torch.float64))
        self.register_buffer("counts", torch.zeros(categories))

    def finish(self, rows: Tensor, labels: Tensor) -> None:
        super().finish(rows, labels)
        self.alike.copy_(self.centres.double().norm(dim=-1))  # the mean cosine of rows of length 1 with their mean
        self.counts.copy_(torch.bincount(labels, minlength=self.categories))
        reach = chosen_reach(rows.cpu().numpy(), labels.cpu().numpy(), "cosine")
        self.reach.fill_(reach - (1 - self.typical))  # measured from the mean cosine, not from 1

    @property
    def typical(self) -> float:
        """The mean cosine of a support image with its leader."""
        return float((self.alike * self.counts).sum() / self.counts.sum().clamp_min(1))

    def register(
        self, names: Sequence[str], radius: float | None = None, rule: Rule | None = None
    ) -> FeatureRegister | LearningRegister:
        check_nearest(rule)
        reach = self.radius if radius is None else radius
        alike, counts = self.alike.cpu().numpy(), self.counts.cpu().numpy()
        return LeaderRegister(list(names), self._points(), alike, counts, self.typical, reach)
