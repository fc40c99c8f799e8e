"""The two common kinds of decisions: features whose signs are codes, and features that are compared with centres."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from firstsight.core.bounds import ball_radius, minimum_distance
from firstsight.core.codes import Words, hamming, pack, pairwise
from firstsight.core.decision import Decides, Decision, Report
from firstsight.core.errors import SettingsError
from firstsight.core.protocols import Features, Register, SupportFeatures
from firstsight.core.settings import Rule
from firstsight.register.codes import CodeRegister, closed_set
from firstsight.register.features import FeatureRegister, Metric, closed_set_features

COLLAPSED = (
    "share their code with another, and no image can tell them apart: train longer (--epochs), in smaller batches "
    "(--batch-size), or teach more images"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class CodeDecision(Decision):
    """Signs of features are codes, and a category is a ball of codes, or one code."""

    decides: ClassVar[Decides] = "ball"
    ball: ClassVar[bool] = True  # False: only the very same code is the same category

    centres: Features  # h of every known category, (C, L): what the register starts from
    minimum_distance: int
    reach: int
    rule: Rule

    @classmethod
    def check(cls, categories: int, settings: Any) -> None:
        if cls.ball:
            minimum_distance_for(settings, categories)

    @classmethod
    def fit(cls, support: SupportFeatures, settings: Any) -> Self:
        """Centres are those the encoder learned or else, for each category, the code most of its images have."""
        centres = _commonest_codes(support) if support.centres is None else support.centres
        distance = minimum_distance_for(settings, len(support.names)) if cls.ball else 1
        reach = ball_radius(distance, settings.ball) if cls.ball else 0
        return cls(
            names=support.names,
            centres=np.asarray(centres, dtype=np.float32),
            minimum_distance=distance,
            reach=reach,
            rule=settings.rule,
        )

    @property
    def radius(self) -> int:
        return self.reach

    @property
    def bits(self) -> int:
        return int(self.centres.shape[1])

    @property
    def width(self) -> int:
        return self.bits

    @property
    def codes(self) -> Words:
        """The code of every known category's centre."""
        return pack(self.centres)

    def transform(self, features: Features) -> Words:
        return pack(features)

    def register(self, radius: float | None = None, rule: Rule | None = None) -> Register:
        if not self.discovers:
            return self.closed_set()
        radius = self.radius if radius is None else radius
        radius = int(radius) if float(radius).is_integer() else radius
        return CodeRegister(self.bits, radius, list(self.names), self.codes, rule or self.rule)

    def closed_set(self) -> Register:
        return closed_set(self.bits, self.names, self.codes)

    def report(self, features: Features, labels: NDArray[np.int64]) -> Report:
        """Are the centres as far apart as asked, and are images where their centres are?"""
        own = hamming(pack(features), self.codes[labels])
        between = pairwise(self.codes)
        asked, closest, below = self.minimum_distance, int(between.min()), int((between < self.minimum_distance).sum())
        within = float((own <= self.radius).mean())
        reach = f"lie within {_bits(self.radius)} of their own centre" if self.ball else "have their category's code"
        lines = [
            f"centres: closest pair {_bits(closest)} (asked {asked})",
            f"{within:.0%} of the images it learned from {reach}; images to come do worse",
        ]
        if below:
            lines.append(f"{below} of {len(between)} pairs of centres are closer than asked, and more easily confused")
        alone = self._alone()
        if alone < len(self.names):
            lines.append(f"warning: {len(self.names) - alone} of {len(self.names)} known categories {COLLAPSED}")
        return {
            "lines": lines,
            "minimum_distance": asked,
            "closest": closest,
            "pairs": len(between),
            "pairs_below": below,
            "radius": self.radius,
            "support_within_radius": within,
            "centres_alone": alone,
        }

    def _alone(self) -> int:
        """How many known categories have a code that no other has: the others cannot be told apart."""
        counts = np.unique(self.codes, axis=0, return_counts=True)[1]
        return int((counts == 1).sum())


class ExactCode(CodeDecision):
    """Only the very same code is the same category."""

    decides = "exact code"
    ball = False


@dataclass(frozen=True, kw_only=True, eq=False)
class CentreDecision(Decision):
    """A category is what lies near its centre."""

    metric: ClassVar[Metric] = "cosine"

    centres: Features  # (C, D)
    reach: float

    @classmethod
    def fit(cls, support: SupportFeatures, settings: Any) -> Self:
        """Centres are those the encoder learned, or else the means of the categories' images."""
        centres = category_means(support) if support.centres is None else support.centres
        return cls(names=support.names, centres=centres, reach=cls.fitted_reach(support))

    @classmethod
    def fitted_reach(cls, support: SupportFeatures) -> float:
        """How far categories are to reach; not at all, unless a method finds that out."""
        return 0.0

    @property
    def width(self) -> int:
        return int(self.centres.shape[1])

    @property
    def radius(self) -> float:
        return self.reach

    def register(self, radius: float | None = None, rule: Rule | None = None) -> Register:
        check_nearest(rule)
        return self._register(self.radius if radius is None else radius) if self.discovers else self.closed_set()

    def _register(self, radius: float) -> Register:
        return FeatureRegister(self.metric, radius, list(self.names), self.centres)

    def closed_set(self) -> Register:
        return closed_set_features(self.metric, list(self.names), self.centres)

    def report(self, features: Features, labels: NDArray[np.int64]) -> Report:
        """How much of the support set its register would call by its name."""
        answers = self.register().assign_many(self.transform(features))
        own = np.mean([answer.category == self.names[i] for answer, i in zip(answers, labels, strict=True)])
        reach = "are nearest to their own category's centre and within reach of it; images to come do worse"
        lines = [f"{own:.0%} of the images it learned from {reach}"]
        return {"lines": lines, "radius": self.radius, "support_within_radius": float(own)}


def check_nearest(rule: Rule | None) -> None:
    """SettingsError where a rule for codes is asked of features."""
    if rule not in (None, "nearest"):
        raise SettingsError(f"rule is {rule!r}; a method that compares features has nearest only")


def minimum_distance_for(settings: Any, known: int) -> int:
    """d_max for the categories expected: as set, or twice the known ones as far as the code has room."""
    bits: int = settings.bits
    if known > 2**bits:
        raise SettingsError(
            f"{known} known categories do not fit in {bits} bits, which give {2**bits} codes",
            f"use --bits {(known - 1).bit_length()} or more",
        )
    expected = settings.expected_categories or min(2 * known, 2**bits)
    if expected < known:
        raise SettingsError(
            f"expected_categories is {expected}, fewer than the {known} known ones", "leave it out, or count those too"
        )
    return minimum_distance(bits, expected, settings.distance_rule)


def category_means(support: SupportFeatures) -> Features:
    """The mean feature of every category, zeros where one has no image."""
    sums = np.zeros((len(support.names), support.features.shape[1]))
    np.add.at(sums, support.labels, support.features)
    counts = np.bincount(support.labels, minlength=len(support.names))
    return (sums / np.maximum(counts, 1)[:, None]).astype(np.float32)


def _commonest_codes(support: SupportFeatures) -> Features:
    """For every category the code most of its images have, as signs; the smallest on a tie."""
    centres = np.zeros((len(support.names), support.features.shape[1]), dtype=np.float32)
    for category in range(len(support.names)):
        own = np.sign(support.features[support.labels == category])
        if len(own):
            codes, counts = np.unique(own, axis=0, return_counts=True)
            centres[category] = codes[counts.argmax()]
    return centres


def _bits(count: int) -> str:
    return "1 bit" if count == 1 else f"{count} bits"
