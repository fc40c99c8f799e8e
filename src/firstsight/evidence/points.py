"""What a model's images are compared with to explain an answer: its prototypes, or support images kept for that."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from firstsight.evidence.evidence import Kind, Similar, Sum
from firstsight.model.model import Model

TOP = 5  # the paper's


class Points:
    """The points of a model, none where a folder of an earlier release has neither prototypes nor support images."""

    def __init__(self, model: Model) -> None:
        prototypes, examples = model.network.points(), model.examples
        self.kind: Kind = "prototypes" if prototypes is not None else "support images"
        self.network, self.examples = model.network, examples
        if prototypes is not None:
            self.rows = prototypes.detach()
        elif examples is not None and examples.points is not None:
            self.rows = torch.tensor(examples.points, device=model.device)
        else:
            self.rows = torch.zeros(0, 1, device=model.device)
        each = max(1, len(self.rows) // len(model.names))
        self.category = np.arange(len(self.rows)) // each if examples is None else examples.category

    def __len__(self) -> int:
        return len(self.rows)

    def similarity(self, features: Tensor) -> Tensor:
        """How alike every image is to every point, (N, m)."""
        return self.network.similarity(features, self.rows)

    def picture(self, point: int) -> bytes | None:
        return None if self.examples is None else self.examples.picture(point)

    def number(self, point: int) -> int:
        """Which of its category's a point is, from 1."""
        return point - int(np.flatnonzero(self.category == self.category[point])[0]) + 1

    def ranked(self, scores: NDArray[np.float32], name: Callable[[int], str]) -> tuple[Similar, ...]:
        """The points an image with these similarities is most like; `name` says what a category is called."""
        return tuple(
            Similar(name(int(self.category[i])), self.number(i), float(scores[i]), self.picture(i))
            for i in top(scores).tolist()
        )


def top(scores: NDArray[np.float32], count: int = TOP) -> NDArray[np.intp]:
    """Where the highest scores are along the last axis: the highest first, the earlier on a tie."""
    return np.argsort(-scores, axis=-1, kind="stable")[..., :count]


def summed(similar: Sequence[Similar]) -> tuple[Sum, ...]:
    """The similarity per category over the most similar, the largest first."""
    groups: dict[str, list[float]] = {}
    for each in similar:
        groups.setdefault(each.category, []).append(each.similarity)
    sums = [Sum(category, len(values), sum(values)) for category, values in groups.items()]
    return tuple(sorted(sums, key=lambda each: -each.similarity))
