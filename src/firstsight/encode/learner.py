"""The part of an encoder that may learn: from the trunk's output to features.

A method that trains gives one, with its losses; others take the backbone's features as they are (`FrozenFeatures`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, TypeAlias

import torch
from torch import Tensor, nn

from firstsight.core.decision import Decision
from firstsight.core.settings import Settings

Terms: TypeAlias = dict[str, Tensor]


class Learner(nn.Module, ABC):
    """What learns, for C known categories; `tail` is the part of the backbone that does.

    A new method gives `features` and `losses`, its settings, and the decision that is fitted on its features.
    """

    settings_type: ClassVar[type[Settings]]
    decision: ClassVar[type[Decision]]
    learns: ClassVar[bool] = True
    views: ClassVar[int] = 1  # random crops of every image in a step
    whole_batches: ClassVar[bool] = False  # True: images that fill no batch wait for the next epoch
    recordable: ClassVar[bool] = True  # False: shapes in its losses depend on the data, so a GPU cannot replay a step
    own_measure: ClassVar[bool] = False  # True: evidence is made of `shown`, compared by `similarity`
    withholds: ClassVar[bool] = False  # True: a fifth of the support set is kept from training

    settings: Any  # of its `settings_type`

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: Settings) -> None:
        super().__init__()
        self.settings = settings
        self.categories = categories
        self.tail = tail

    @classmethod
    def check(cls, categories: int, settings: Any) -> None:
        """SettingsError where these settings cannot do for so many categories; asked before weights are loaded."""

    @abstractmethod
    def features(self, stem: Tensor) -> Tensor:
        """One feature per image, from the trunk's output: what a decision is fitted on."""

    def forward(self, stem: Tensor) -> Any:
        """What the losses are made of; runs in the precision of training."""
        return self.features(stem)

    def losses(self, outputs: Any, labels: Tensor, generator: torch.Generator | None = None) -> Terms:
        """Every loss term of a batch by name, and their `total`; none where nothing learns. Views come in turn."""
        return {}

    def start(self, stems: Iterable[Tensor], labels: Tensor) -> None:
        """Before training: the trunk's output for the support set, in batches, to be gone through once."""

    def centres(self) -> Tensor | None:
        """After training: where it put the known categories among its features, if it learned that; else None."""
        return None

    def apart(self, features: Tensor, labels: Tensor) -> float:
        """After training: the share of the support images that lie nearest to their own centre; 1 if it has none."""
        return 1.0

    def harder(self) -> Any | None:
        """Settings to train on with where too few are told apart; None: it is left as it is."""
        return None

    # What evidence is made of, where answers are explained by something else than the decision's measure of features

    def prototypes(self) -> Tensor | None:
        """The prototypes it learned, as many for every category, one category after the other; None: it has none."""
        return None

    def shown(self, stem: Tensor) -> Tensor:
        """What of an image is compared with prototypes, or with support images: its feature, if nothing else."""
        return self.features(stem)

    def similarity(self, shown: Tensor, points: Tensor) -> Tensor:
        """How alike what is shown of every image is to every point, (N, m); only where `own_measure` is set."""
        raise NotImplementedError

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        """What learns, by the names the optimiser's settings speak of."""
        groups: dict[str, list[nn.Parameter]] = {"backbone": [], "feature_head": [], "heads": []}
        for name, parameter in self.named_parameters():
            part = {"tail": "backbone", "feature_head": "feature_head"}.get(name.split(".")[0], "heads")
            if parameter.requires_grad:
                groups[part].append(parameter)
        return groups


class FrozenFeatures(Learner):
    """Nothing learns: a feature is what the backbone makes of an image."""

    learns = False

    def features(self, stem: Tensor) -> Tensor:
        features: Tensor = self.tail(stem)
        return features


def weighted(terms: Mapping[str, Tensor], **weights: float) -> Terms:
    """The terms with their `total`: each as it is, unless a weight is given."""
    total = torch.stack([weights.get(name, 1.0) * value for name, value in terms.items()]).sum()
    return {**terms, "total": total}
