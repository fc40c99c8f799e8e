"""What a model's images are compared with to explain an answer: its prototypes, or support images kept for that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firstsight.core.protocols import Features
from firstsight.evidence.evidence import Kind, Similar, Square, Sum
from firstsight.model.model import Model

TOP = 5  # the paper's


@dataclass(frozen=True)
class Look:
    """What of one image is compared, in fp32, and where the encoder looked, where that can be told."""

    shown: Features | None  # (1, D); None where only an image could tell
    places: NDArray[np.float32] | None = None  # 0 to 1, rows from the top
    closer: Square | None = None


class Points:
    """The points of a model, compared by its learner's measure where it has one, else by its decision's."""

    def __init__(self, model: Model) -> None:
        examples, learner = model.examples, model.learner
        prototypes = None if learner is None else learner.prototypes()
        self.kind: Kind = "prototypes" if prototypes is not None else "support images"
        self.model, self.examples, self.learner = model, examples, learner
        self.points: Features = np.zeros((0, 1), dtype=np.float32)
        if prototypes is not None:
            self.points = prototypes.detach().cpu().numpy()
        elif examples is not None and examples.points is not None:
            self.points = examples.points
        each = max(1, len(self.points) // len(model.names))
        self.category = np.arange(len(self.points)) // each if examples is None else examples.category

    def __len__(self) -> int:
        return len(self.points)

    def similarity(self, shown: Features) -> NDArray[np.float32]:
        """How alike what is shown of every image is to every point, (N, m)."""
        if self.learner is None or not self.by_learner:
            return self.model.decision.similarity(shown, self.points)
        import torch

        learner, device = self.learner, self.model.torch_encoder.device
        with torch.no_grad():
            images, points = (torch.from_numpy(part).to(device) for part in (shown, self.points))
            return np.asarray(learner.similarity(images, points).cpu().numpy())

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

    @property
    def by_learner(self) -> bool:
        """Whether the learner has a measure of its own; else images are compared by the decision's."""
        return self.learner is not None and self.learner.own_measure


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
