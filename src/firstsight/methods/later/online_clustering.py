"""Online clustering as DiffGRE (ICCV 2025) answers with: leaders that move, under a threshold that adapts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firstsight.core.protocols import Features, Register, SupportFeatures
from firstsight.methods.decisions import CentreDecision, category_means
from firstsight.methods.later.contrasted import Contrasted
from firstsight.methods.projection import single
from firstsight.methods.reach import chosen_reach
from firstsight.register.prototypes import LeaderRegister


@dataclass(frozen=True, kw_only=True, eq=False)
class MovingLeaders(CentreDecision):
    """Leaders are the mean directions of their images; one demands as much likeness as its images have.

    DiffGRE's inference without its diffusion model, so without images made by one, and its leader loss. No code was
    released and the publication leaves the rest open. Ours: the features themselves, not 12 values made of them; the
    threshold, which is a leader's mean cosine less a distance that is found by simulated discovery for leaders at rest.
    """

    alike: NDArray[np.float64]  # the mean cosine of a category's images with their leader
    counts: Features
    typical: float  # the mean of that over all support images

    @classmethod
    def fit(cls, support: SupportFeatures, settings: Any) -> Self:
        centres = category_means(support)
        alike = np.linalg.norm(centres.astype(np.float64), axis=1)  # as features have length 1
        counts = np.bincount(support.labels, minlength=len(support.names))
        typical = float((alike * counts).sum() / max(counts.sum(), 1))
        reach = chosen_reach(support.features, support.labels, "cosine") - (1 - typical)  # from there, not from 1
        return cls(
            names=support.names, centres=centres, reach=reach, alike=alike, counts=single(counts), typical=typical
        )

    def _register(self, radius: float) -> Register:
        return LeaderRegister(list(self.names), self.centres, self.alike, self.counts, self.typical, radius)


class OnlineClustering(Contrasted):
    decision = MovingLeaders
