"""Our own method: nothing is trained, categories are statistics, and the rule is a posterior.

A feature, square roots taken and at length 1, is turned by a discriminant projection; a register of statistics weighs
it. One of few values stays a point (`forms`). What the rule needs to know of categories it has not seen (how much they
vary, how readily they are born) is found on the support set, by discovery simulated there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from firstsight.core.decision import Decision, Report
from firstsight.core.errors import SettingsError
from firstsight.core.protocols import Features, HeldOut, Register, SupportFeatures
from firstsight.core.settings import Rule
from firstsight.methods.decisions import check_nearest
from firstsight.methods.firstsight.forms import TINY, even, is_narrow, placed, standard
from firstsight.methods.firstsight.settings import FirstsightSettings
from firstsight.methods.projection import projected, single
from firstsight.methods.simulation import evenly
from firstsight.register.number import NumberModel
from firstsight.register.spread import Spread
from firstsight.register.statistics import StatisticsRegister

if TYPE_CHECKING:
    from firstsight.methods.firstsight.crossfit import CrossFit

DIMENSIONS = 192, 320  # at least and at most; between them a dimension for every so many images
FOR_EACH = 5
MOST = 2000  # images that say how new categories are spread and how readily they are born: more say little more


@dataclass(frozen=True, kw_only=True, eq=False)
class Firstsight(Decision):
    """Discriminant features of any encoder, weighed by a register of statistics. Fitted in seconds."""

    settings_type = FirstsightSettings
    decides = "posterior"

    origin: Features
    basis: Features
    within: NDArray[np.float64]
    between: NDArray[np.float64]
    concentration: float
    decline: float
    sharpness: float
    odds_slope: float
    odds_shift: float
    counts: NDArray[np.float64]  # what the register starts from
    sums: NDArray[np.float64]
    counting: NDArray[np.float64]  # how found categories relate to true ones: a `NumberModel`, or nothing
    outlook: NDArray[np.float64]  # how well it went on simulated streams: an `Outlook`, or nothing
    splitting: NDArray[np.float64]  # of the splits proposed there, how many were right, and how many there were

    @classmethod
    def check(cls, categories: int, settings: Any) -> None:
        from firstsight.methods.firstsight.crossfit import FEWEST

        if settings.adapt == "always" and categories < FEWEST:
            raise SettingsError(
                f"{categories} known categories are too few to adapt a backbone to; {FEWEST} are needed",
                "leave it as it came with --adapt never",
            )

    @classmethod
    def fit(cls, support: SupportFeatures, settings: Any) -> Self:
        """Fit the projection to the features of the support set, and find what the register needs."""
        from firstsight.methods.firstsight.calibration import calibrated  # what fits loads SciPy, what answers does not
        from firstsight.methods.firstsight.space import fit_space

        labels, categories = support.labels, len(support.names)
        narrow = is_narrow(support.features.shape[1])
        if narrow:
            features, middle, unit = standard(support.features)
        else:
            features = even(support.features).astype(np.float64)
        some = evenly(labels, max(MOST, 4 * categories), np.random.default_rng(settings.seed))
        own = np.unique(labels[some], return_inverse=True)[1]  # without a gap, should a category have no image
        dimensions = dimensions_for(len(some))
        if support.held_out:  # the encoder learned these images, so others tell of new categories
            tried = crossed(support.held_out, labels, settings.seed)
            space = fit_space(features[some], own, dimensions, measured=tried.measured)
            calibration = tried.calibration(categories, settings.seed)
        else:
            space = fit_space(features[some], own, dimensions)
            calibration = calibrated(features[some], own, dimensions, settings.seed, progress=support.progress)
        mean, matrix = space.projection.mean, space.projection.matrix
        if narrow:  # their unit is a part of it
            mean, matrix = middle + unit * mean, matrix / unit[:, None]
        origin, basis = single(mean), single(matrix)
        sums = np.zeros((categories, basis.shape[1]))
        np.add.at(sums, labels, _turned(support.features, origin, basis))
        return cls(
            names=support.names,
            origin=origin,
            basis=basis,
            within=space.within,
            between=space.between,
            concentration=calibration.concentration_with(np.unique(labels, return_counts=True)[1]),
            decline=calibration.birth.decline,
            sharpness=calibration.sharpness,
            odds_slope=calibration.slope,
            odds_shift=calibration.shift,
            counts=np.bincount(labels, minlength=categories).astype(np.float64),
            sums=sums,
            counting=np.array(calibration.counting),
            outlook=np.array(calibration.outlook),
            splitting=np.array(calibration.splitting),
        )

    @property
    def width(self) -> int:
        return len(self.origin)

    def project(self, features: Features) -> Features:
        return _turned(features, self.origin, self.basis)

    @property
    def radius(self) -> float:
        """The dial: 0 is as calibrated."""
        return 0.0

    @property
    def spread(self) -> Spread:
        return Spread(
            self.within,
            self.between,
            self.concentration,
            sharpness=self.sharpness,
            slope=self.odds_slope,
            shift=self.odds_shift,
            decline=self.decline,
        )

    def register(self, radius: float | None = None, rule: Rule | None = None) -> Register:
        check_nearest(rule)
        radius = self.radius if radius is None else radius
        counting = NumberModel.from_values(self.counting)
        splitting = tuple(map(int, self.splitting.tolist()))
        start = self.spread, list(self.names), self.counts, self.sums
        return StatisticsRegister(*start, radius, counting, splitting)

    def closed_set(self) -> Register:
        """Never discovers, and still learns from what it is shown."""
        return self.register(inf)

    def report(self, features: Features, labels: NDArray[np.int64]) -> Report:
        """What simulated streams say of it; the images it learned from say nothing."""
        from firstsight.methods.firstsight.outlook import UNTRIED, Outlook

        outlook = Outlook.from_values(self.outlook)
        return {
            "lines": [UNTRIED] if outlook is None else outlook.lines(),
            "radius": self.radius,
            "concentration": self.concentration,
            "decline": self.decline,
            "sharpness": self.sharpness,
            **({} if outlook is None else outlook.figures()),
        }

    def _telling(self, features: Features) -> NDArray[Any]:
        """Projected, each dimension weighed by what it tells of categories."""
        return self.project(features) * self._weight

    def _telling_slope(self, feature: Features, slope: NDArray[Any]) -> Features:
        if is_narrow(self.width):
            return single(self.basis @ (slope * self._weight))
        root = np.sqrt(np.abs(feature) + TINY)
        length = float(np.linalg.norm(root)) or 1.0
        unit = np.sign(feature) * root / length
        in_unit = self.basis @ (slope * self._weight)
        return single((in_unit - (unit @ in_unit) * unit) / length / (2 * root))

    @property
    def _weight(self) -> NDArray[np.float64]:
        return np.asarray(np.sqrt(self.between / (self.within * (self.within + self.between))))


def _turned(features: Features, origin: Features, basis: Features) -> Features:
    """Features where the register compares them."""
    if is_narrow(len(origin)):
        return placed(features, origin, basis)
    return projected(even(features), origin, basis)


def crossed(held_out: Sequence[HeldOut], labels: NDArray[np.int64], seed: int) -> CrossFit:
    """Discovery simulated by encoders that were trained on a part of the support set each."""
    from firstsight.methods.firstsight.crossfit import cross_fit

    some = evenly(labels, max(MOST, 4 * (int(labels.max()) + 1)), np.random.default_rng(seed))
    features = [even(each.features)[some].astype(np.float64) for each in held_out]
    taught = [np.flatnonzero(np.isin(some, each.taught)) for each in held_out]
    return cross_fit(features, taught, labels[some], dimensions_for(len(some)), seed)


def dimensions_for(images: int) -> int:
    """How many dimensions features of so many support images are compared in: more images bear more of them."""
    return int(np.clip(images // FOR_EACH, *DIMENSIONS))
