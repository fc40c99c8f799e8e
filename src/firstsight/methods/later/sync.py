"""SynC (TMLR 2025) without text: a threshold for every category, which new ones inherit."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from firstsight.core.settings import Rule, Settings
from firstsight.methods.later.contrasted import Contrasted
from firstsight.methods.networks import check_nearest
from firstsight.register.features import FeatureRegister
from firstsight.register.learning import LearningRegister
from firstsight.register.prototypes import PrototypeRegister

DEVIATIONS = 3.0
HIGHEST = 1 - 1e-6  # a mark, so that an image meets its own


class Sync(Contrasted):
    """A category's mark is the mean cosine of its support images with its prototype, less three deviations.

    The image goes to the category whose mark its cosine exceeds most, or founds one, with the mark of the nearest.
    Ours: prototypes are the categories' mean features, as there is no text; nothing is retrained after births.
    """

    contrast = 0.5
    marks: Tensor

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: Settings) -> None:
        super().__init__(tail, inputs, categories, settings)
        self.register_buffer("marks", torch.zeros(categories, dtype=torch.float64))

    def finish(self, rows: Tensor, labels: Tensor) -> None:
        super().finish(rows, labels)
        cosines = (rows * nn.functional.normalize(self.centres, dim=-1)[labels]).sum(-1).double()
        for category in sorted({*labels.tolist()}):
            own = cosines[labels == category]
            self.marks[category] = (own.mean() - DEVIATIONS * own.std(correction=0)).clamp(-1, HIGHEST)

    def register(
        self, names: Sequence[str], radius: float | None = None, rule: Rule | None = None
    ) -> FeatureRegister | LearningRegister:
        check_nearest(rule)
        reach = self.radius if radius is None else radius
        return PrototypeRegister(list(names), self._points(), self.marks.cpu().numpy(), reach)
