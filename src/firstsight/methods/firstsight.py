"""Our own method: nothing of the backbone is trained, categories are statistics, and the rule is a posterior.

The backbone's feature, square roots taken and at length 1, is turned into a row by a discriminant projection; a
register of statistics weighs every row. What the rule needs to know of categories it has not seen (how
much they vary, how readily they are born) is found on the support set, by discovery simulated there.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import normalize

from firstsight.config import Rule, Settings
from firstsight.errors import SettingsError
from firstsight.methods.calibration import calibrated
from firstsight.methods.discriminant import fit_projection, held_out_spread
from firstsight.networks import Network
from firstsight.register.statistics import Spread, StatisticsRegister

DIMENSIONS = 192


class Firstsight(Network):
    """Discriminant rows of a frozen backbone, weighed by a register of statistics. Trains in seconds."""

    learns = False
    fitted: Tensor
    mean: Tensor
    projection: Tensor
    within: Tensor
    between: Tensor
    concentration: Tensor
    sharpness: Tensor
    counts: Tensor
    sums: Tensor

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: Settings) -> None:
        super().__init__(tail, inputs, categories, settings)
        width = min(DIMENSIONS, inputs)
        self.register_buffer("fitted", torch.tensor(False))
        self.register_buffer("mean", torch.zeros(inputs))
        self.register_buffer("projection", torch.zeros(inputs, width))
        # the spread, and what the register starts from
        self.register_buffer("within", torch.ones(width, dtype=torch.float64))
        self.register_buffer("between", torch.full((width,), 1e-9, dtype=torch.float64))
        self.register_buffer("concentration", torch.zeros((), dtype=torch.float64))
        self.register_buffer("sharpness", torch.ones((), dtype=torch.float64))
        self.register_buffer("counts", torch.zeros(categories, dtype=torch.float64))
        self.register_buffer("sums", torch.zeros(categories, width, dtype=torch.float64))

    def rows(self, stem: Tensor) -> Tensor:
        features: Tensor = self.tail(stem)
        with torch.autocast(features.device.type, enabled=False):
            features = features.float()
            features = normalize(features.sign() * features.abs().sqrt())
            return self._projected(features) if self.fitted else features

    def finish(self, rows: Tensor, labels: Tensor) -> None:
        """Fit the projection to the features of the support set, and find what the register needs."""
        features, truth = rows.cpu().double().numpy(), labels.cpu().numpy()
        projection = fit_projection(features, truth, self.projection.shape[1])
        within, between = held_out_spread(features, truth, self.projection.shape[1])
        width = len(within)
        calibration = calibrated(features, truth, self.projection.shape[1], self.settings.seed)
        self.mean.copy_(torch.from_numpy(projection.mean))
        self.projection[:, :width] = torch.from_numpy(projection.matrix[:, :width]).to(self.projection)
        self.within[:width], self.between[:width] = torch.from_numpy(within), torch.from_numpy(between)
        self.concentration.fill_(calibration.concentration)
        self.sharpness.fill_(calibration.sharpness)
        self.fitted.fill_(True)
        projected = self._projected(rows).double()
        self.counts.copy_(torch.bincount(labels, minlength=self.categories))
        self.sums.index_add_(0, labels, projected)

    @property
    def radius(self) -> float:
        """The dial: 0 is as calibrated."""
        return 0.0

    @property
    def spread(self) -> Spread:
        within, between = (np.asarray(part.cpu().numpy()) for part in (self.within, self.between))
        return Spread(within, between, float(self.concentration), sharpness=float(self.sharpness))

    def register(
        self, names: Sequence[str], radius: float | None = None, rule: Rule | None = None
    ) -> StatisticsRegister:
        if rule not in (None, "nearest"):
            raise SettingsError(f"rule is {rule!r}; a method that compares features has nearest only")
        radius = self.radius if radius is None else radius
        return StatisticsRegister(self.spread, list(names), self.counts.cpu().numpy(), self.sums.cpu().numpy(), radius)

    def closed_set(self, names: Sequence[str]) -> StatisticsRegister:
        """Never discovers, and still learns from what it is shown."""
        return self.register(names, sys.float_info.max)

    def report(self, rows: NDArray[np.float32], labels: NDArray[np.int64]) -> dict[str, Any]:
        """How much of the support set its register would call by its name; the rows are those `finish` was given."""
        register = self.register([str(i) for i in range(self.categories)])
        projected = self._projected(torch.from_numpy(rows).to(self.mean)).cpu().numpy()
        answers = [register.match(row).category for row in projected]
        own = float(np.mean([category == str(label) for category, label in zip(answers, labels, strict=True)]))
        lines = [f"{own:.0%} of the support is most probably of its own category"]
        return {
            "lines": lines,
            "radius": self.radius,
            "support_within_radius": own,
            "concentration": float(self.concentration),
            "sharpness": float(self.sharpness),
        }

    def _projected(self, features: Tensor) -> Tensor:
        return (features - self.mean) @ self.projection
