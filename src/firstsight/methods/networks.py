"""What every method is to training, to models and to the harness: a network that makes rows of images.

It learns from the trunk's output, and says what register its rows are decided by. The two kinds: rows whose signs are
codes, and rows that are features.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from firstsight.core.bounds import ball_radius, minimum_distance
from firstsight.core.codes import Words, hamming, pack, pairwise
from firstsight.core.errors import SettingsError
from firstsight.core.settings import Rule, Settings
from firstsight.register.codes import CodeRegister, closed_set
from firstsight.register.features import FeatureRegister, Metric, closed_set_features
from firstsight.register.learning import LearningRegister

Terms: TypeAlias = dict[str, Tensor]
AnyRegister: TypeAlias = CodeRegister | FeatureRegister | LearningRegister

FIFTH = 5


class Network(nn.Module, ABC):
    """The part of a method that learns, for C known categories; `tail` is the part of the backbone that does.

    A new method gives `rows` and `losses`, and what it must keep of the support set in `finish`.
    """

    views: ClassVar[int] = 1  # random crops of every image in a step
    learns: ClassVar[bool] = True  # False: nothing to train, `finish` does everything
    looks_twice: ClassVar[bool] = False  # True: what stands out is encoded as well; only where nothing learns
    recordable: ClassVar[bool] = True  # False: shapes in its losses depend on the data, so a GPU cannot replay a step
    withholds: ClassVar[bool] = False  # True: a fifth of the support set is kept from training (`withheld`)
    discovers: ClassVar[bool] = True  # False: only ever answers with known categories

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: Settings) -> None:
        super().__init__()
        self.settings = settings
        self.categories = categories
        self.tail = tail

    @classmethod
    def check(cls, categories: int, settings: Settings) -> None:
        """SettingsError where these settings cannot do for so many categories; asked before weights are loaded."""

    @abstractmethod
    def rows(self, stem: Tensor) -> Tensor:
        """One row per image, from the trunk's output: what a register compares."""

    def forward(self, stem: Tensor) -> Any:
        """What the losses are made of; runs in the precision of training."""
        return self.rows(stem)

    # What evidence is made of: an image's features compared with points that a picture can stand for

    def points(self) -> Tensor | None:
        """The prototypes it learned, as many for every category, one category after the other; None: it has none."""
        return None

    def features(self, stem: Tensor) -> Tensor:
        """One row per image: what is compared with prototypes or, where there are none, with support images."""
        return self.rows(stem)

    def similarity(self, features: Tensor, points: Tensor) -> Tensor:
        """How alike every image is to every point (N, m): the cosine, unless a method has its own measure."""
        return F.normalize(features, dim=-1) @ F.normalize(points, dim=-1).T

    def losses(self, outputs: Any, labels: Tensor, generator: torch.Generator | None = None) -> Terms:
        """Every loss term of a batch by name, and their `total`; none where nothing learns. Views come in turn."""
        return {}

    def start(self, stems: Iterable[Tensor], labels: Tensor) -> None:
        """Before training: the trunk's output for the support set, in batches, to be gone through once."""

    def finish(self, rows: Tensor, labels: Tensor) -> None:
        """After training: keep what the register needs of the support set's rows."""

    @abstractmethod
    def register(self, names: Sequence[str], radius: float | None = None, rule: Rule | None = None) -> AnyRegister:
        """A register of the known categories, where a stream starts."""

    @abstractmethod
    def closed_set(self, names: Sequence[str]) -> AnyRegister:
        """A register that never discovers: the row every accuracy is printed beside."""

    @abstractmethod
    def report(self, rows: NDArray[np.float32], labels: NDArray[np.int64]) -> dict[str, Any]:
        """How it came out on the support set; `lines` are for people."""

    @property
    @abstractmethod
    def radius(self) -> float:
        """How far a known category reaches."""

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        """What learns, by the names the optimiser's settings speak of."""
        groups: dict[str, list[nn.Parameter]] = {"backbone": [], "feature_head": [], "heads": []}
        for name, parameter in self.named_parameters():
            part = {"tail": "backbone", "feature_head": "feature_head"}.get(name.split(".")[0], "heads")
            if parameter.requires_grad:
                groups[part].append(parameter)
        return groups


class HashNetwork(Network):
    """Rows are hash features: their signs are the image's code, and a category is a ball of codes, or one code."""

    ball: ClassVar[bool] = True  # False: only the very same code is the same category
    centres: Tensor

    def __init__(
        self, tail: nn.Module, inputs: int, categories: int, settings: Settings, bits: int | None = None
    ) -> None:
        super().__init__(tail, inputs, categories, settings)
        self.bits = bits or settings.bits
        self.minimum_distance = minimum_distance_for(settings, categories, self.bits) if self.ball else 1
        # h of every known category, frozen after training: what the register starts from
        self.register_buffer("centres", torch.zeros(categories, self.bits))

    @classmethod
    def check(cls, categories: int, settings: Settings) -> None:
        if cls.ball:
            minimum_distance_for(settings, categories)

    @property
    def radius(self) -> int:
        return ball_radius(self.minimum_distance, self.settings.ball) if self.ball else 0

    @property
    def codes(self) -> Words:
        """The code of every known category's centre."""
        return pack(self.centres.cpu().numpy())

    def finish(self, rows: Tensor, labels: Tensor) -> None:
        """The centre of a category is the code most of its support images have."""
        for category in range(self.categories):
            own = rows[labels == category].sign()
            if len(own):
                codes, counts = torch.unique(own, dim=0, return_counts=True)
                self.centres[category] = codes[counts.argmax()]

    def register(self, names: Sequence[str], radius: float | None = None, rule: Rule | None = None) -> CodeRegister:
        if not self.discovers:
            return self.closed_set(names)
        radius = self.radius if radius is None else radius
        radius = int(radius) if float(radius).is_integer() else radius
        return CodeRegister(self.bits, radius, list(names), self.codes, rule or self.settings.rule)

    def closed_set(self, names: Sequence[str]) -> CodeRegister:
        return closed_set(self.bits, names, self.codes)

    def report(self, rows: NDArray[np.float32], labels: NDArray[np.int64]) -> dict[str, Any]:
        """Are the centres as far apart as asked, and are images where their centres are?"""
        own = hamming(pack(rows), self.codes[labels])
        between = pairwise(self.codes)
        asked, closest, below = self.minimum_distance, int(between.min()), int((between < self.minimum_distance).sum())
        within = float((own <= self.radius).mean())
        reach = f"within {_bits(self.radius)} of its own centre" if self.ball else "has its category's code"
        lines = [f"centres: closest pair {_bits(closest)} (asked {asked})", f"{within:.0%} of the support {reach}"]
        if below:
            lines.append(f"{below} of {len(between)} pairs of centres are closer than asked, and more easily confused")
        return {
            "lines": lines,
            "minimum_distance": asked,
            "closest": closest,
            "pairs": len(between),
            "pairs_below": below,
            "radius": self.radius,
            "support_within_radius": within,
        }


class FeatureNetwork(Network):
    """Rows are features: a category is what lies near its centre."""

    metric: ClassVar[Metric] = "cosine"
    centres: Tensor
    reach: Tensor

    def __init__(
        self, tail: nn.Module, inputs: int, categories: int, settings: Settings, dimensions: int | None = None
    ) -> None:
        super().__init__(tail, inputs, categories, settings)
        self.register_buffer("centres", torch.zeros(categories, dimensions or inputs))
        self.register_buffer("reach", torch.zeros((), dtype=torch.float64))

    @property
    def radius(self) -> float:
        return float(self.reach)

    def finish(self, rows: Tensor, labels: Tensor) -> None:
        """The centre of a category is the mean of its support images."""
        for category in range(self.categories):
            if (own := rows[labels == category]).numel():
                self.centres[category] = own.mean(0)

    def register(
        self, names: Sequence[str], radius: float | None = None, rule: Rule | None = None
    ) -> FeatureRegister | LearningRegister:
        check_nearest(rule)
        if not self.discovers:
            return self.closed_set(names)
        return FeatureRegister(self.metric, self.radius if radius is None else radius, list(names), self._points())

    def closed_set(self, names: Sequence[str]) -> FeatureRegister | LearningRegister:
        return closed_set_features(self.metric, list(names), self._points())

    def report(self, rows: NDArray[np.float32], labels: NDArray[np.int64]) -> dict[str, Any]:
        """How much of the support set its register would call by its name."""
        names = [str(i) for i in range(self.categories)]
        answers = self.register(names).assign_many(rows)
        own = float((answers.category == labels).mean())
        lines = [f"{own:.0%} of the support is nearest to its own category's centre and within reach of it"]
        return {"lines": lines, "radius": self.radius, "support_within_radius": own}

    def _points(self) -> NDArray[np.float32]:
        return np.asarray(self.centres.cpu().numpy())


def withheld(labels: Tensor) -> Tensor:
    """Which images a network that withholds some is not trained on: every fifth of each category."""
    out = torch.zeros_like(labels, dtype=torch.bool)
    for category in sorted({*labels.tolist()}):
        out[(labels == category).nonzero()[FIFTH - 1 :: FIFTH, 0]] = True
    return out


def check_nearest(rule: Rule | None) -> None:
    """SettingsError where a rule for codes is asked of features."""
    if rule not in (None, "nearest"):
        raise SettingsError(f"rule is {rule!r}; a method that compares features has nearest only")


def minimum_distance_for(settings: Settings, known: int, bits: int | None = None) -> int:
    """d_max for the categories expected: as set, or twice the known ones as far as the code has room."""
    bits = bits or settings.bits
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


def weighted(terms: Mapping[str, Tensor], **weights: float) -> Terms:
    """The terms with their `total`: each as it is, unless a weight is given."""
    total = torch.stack([weights.get(name, 1.0) * value for name, value in terms.items()]).sum()
    return {**terms, "total": total}


def _bits(count: int) -> str:
    return "1 bit" if count == 1 else f"{count} bits"
