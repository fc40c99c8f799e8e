"""Our own method: nothing of the backbone is trained, categories are statistics, and the rule is a posterior.

The backbone's feature, square roots taken and at length 1, is turned into a row by a discriminant projection; a
register of statistics weighs every row. What the rule needs to know of categories it has not seen (how
much they vary, how readily they are born) is found on the support set, by discovery simulated there.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import normalize

from firstsight.core.settings import Rule, Settings
from firstsight.methods.firstsight.calibration import calibrated
from firstsight.methods.firstsight.space import fit_space
from firstsight.methods.later.projected import Projected
from firstsight.methods.networks import check_nearest
from firstsight.methods.simulation import evenly
from firstsight.register.statistics import Spread, StatisticsRegister

DIMENSIONS = 192
MOST = 2000  # images that say how new categories are spread and how readily they are born: more say little more


class Firstsight(Projected):
    """Discriminant rows of a frozen backbone, weighed by a register of statistics. Trains in seconds."""

    learns = False
    looks_twice = True
    within: Tensor
    between: Tensor
    concentration: Tensor
    sharpness: Tensor
    counts: Tensor
    sums: Tensor

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: Settings) -> None:
        super().__init__(tail, inputs, categories, settings, dimensions=DIMENSIONS)
        # the spread; dimensions that few images leave unused say nothing
        self.register_buffer("within", torch.ones(self.dimensions, dtype=torch.float64))
        self.register_buffer("between", torch.full((self.dimensions,), 1e-9, dtype=torch.float64))
        self.register_buffer("concentration", torch.zeros((), dtype=torch.float64))
        self.register_buffer("sharpness", torch.ones((), dtype=torch.float64))
        # what the register starts from
        self.register_buffer("counts", torch.zeros(categories, dtype=torch.float64))
        self.register_buffer("sums", torch.zeros(categories, self.dimensions, dtype=torch.float64))

    def features(self, stem: Tensor) -> Tensor:
        features = super().features(stem).float()
        return normalize(features.sign() * (features.abs() + 1e-12).sqrt())  # whose slope at 0 is a number

    def rows(self, stem: Tensor) -> Tensor:
        return self.projected(self.features(stem))

    def similarity(self, features: Tensor, points: Tensor) -> Tensor:
        """The cosine of rows, each dimension weighed by what it tells of categories."""
        weight = (self.between / (self.within * (self.within + self.between))).sqrt().float()
        return super().similarity(self.projected(features) * weight, self.projected(points) * weight)

    def finish(self, rows: Tensor, labels: Tensor) -> None:
        """Fit the projection to the features of the support set, and find what the register needs."""
        features, truth = rows.cpu().double().numpy(), labels.cpu().numpy()
        some = evenly(truth, max(MOST, 4 * self.categories), np.random.default_rng(self.settings.seed))
        own = np.unique(truth[some], return_inverse=True)[1]  # without a gap, should a category have no image
        space = fit_space(features[some], own, self.dimensions)
        calibration = calibrated(features[some], own, self.dimensions, self.settings.seed)
        basis = np.zeros(self.basis.shape)
        width = space.projection.matrix.shape[1]
        basis[:, :width] = space.projection.matrix
        self.project(space.projection.mean, basis)
        self.within[:width] = torch.from_numpy(space.within)
        self.between[:width] = torch.from_numpy(space.between)
        self.concentration.fill_(calibration.concentration_with(np.unique(truth, return_counts=True)[1]))
        self.sharpness.fill_(calibration.sharpness)
        self.counts.copy_(torch.bincount(labels, minlength=self.categories))
        sums = np.zeros(self.sums.shape)
        np.add.at(sums, truth, self.renewed(rows).cpu().numpy())  # in order: a GPU adds as it likes
        self.sums.copy_(torch.from_numpy(sums))
        super().finish(self.renewed(rows), labels)

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
        check_nearest(rule)
        radius = self.radius if radius is None else radius
        return StatisticsRegister(self.spread, list(names), self.counts.cpu().numpy(), self.sums.cpu().numpy(), radius)

    def closed_set(self, names: Sequence[str]) -> StatisticsRegister:
        """Never discovers, and still learns from what it is shown."""
        return self.register(names, inf)

    def report(self, rows: NDArray[np.float32], labels: NDArray[np.int64]) -> dict[str, Any]:
        """How much of the support set its register would call by its name; the rows are those `finish` was given."""
        register = self.register([str(i) for i in range(self.categories)])
        projected = self.renewed(torch.from_numpy(rows).to(self.origin)).cpu().numpy()
        answers = [register.match(row).category for row in projected]
        own = float(np.mean([category == str(label) for category, label in zip(answers, labels, strict=True)]))
        lines = [f"{own:.0%} of the images it learned from are most probably of their own category"]
        if own < 0.5:
            lines.append("that is too little to trust: teach it more images of each category")
        return {
            "lines": lines,
            "radius": self.radius,
            "support_within_radius": own,
            "concentration": float(self.concentration),
            "sharpness": float(self.sharpness),
        }
