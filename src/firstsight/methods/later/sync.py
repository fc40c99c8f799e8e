"""SynC (TMLR 2025) without text: a threshold for every category, which new ones inherit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firstsight.core.protocols import Register, SupportFeatures
from firstsight.methods.decisions import CentreDecision, category_means
from firstsight.methods.later.contrasted import Contrasted
from firstsight.register.prototypes import PrototypeRegister

DEVIATIONS = 3.0
HIGHEST = 1 - 1e-6  # a mark, so that an image meets its own


@dataclass(frozen=True, kw_only=True, eq=False)
class Marks(CentreDecision):
    """A category's mark is the mean cosine of its support images with its prototype, less three deviations.

    The image goes to the category whose mark its cosine exceeds most, or founds one, with the mark of the nearest.
    Ours: prototypes are the categories' mean features, as there is no text; nothing is retrained after births.
    """

    marks: NDArray[np.float64]

    @classmethod
    def fit(cls, support: SupportFeatures, settings: Any) -> Self:
        centres = category_means(support)
        lengths = np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12)
        cosines = (support.features * (centres / lengths)[support.labels]).sum(-1).astype(np.float64)
        marks = np.zeros(len(support.names))
        for category in np.unique(support.labels):
            own = cosines[support.labels == category]
            marks[category] = np.clip(own.mean() - DEVIATIONS * own.std(), -1, HIGHEST)
        return cls(names=support.names, centres=centres, reach=0.0, marks=marks)

    def _register(self, radius: float) -> Register:
        return PrototypeRegister(list(self.names), self.centres, self.marks, radius)


class Sync(Contrasted):
    """Cross-entropy and half as much SupCon."""

    contrast = 0.5
    decision = Marks
