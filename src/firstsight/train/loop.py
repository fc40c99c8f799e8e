"""Algorithm 2 of the paper, top to bottom; every other method trains by it too.

Sees the support set only. Nothing is evaluated here; the last epoch is the model.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import TypeAlias

from firstsight.core.errors import TrainingError
from firstsight.encode.learner import Learner
from firstsight.train.checkpoint import Checkpoint
from firstsight.train.optim import Average, make_optimiser, set_learning_rates
from firstsight.train.sharing import alike
from firstsight.train.step import Step
from firstsight.train.support import Support

Means: TypeAlias = dict[str, float]


def train(learner: Learner, support: Support, checkpoint: Checkpoint, on_epoch: Callable[[int, Means], None]) -> None:
    """Train from where the checkpoint stands to the last epoch; `on_epoch` is told the mean of every loss term."""
    settings = learner.settings
    alike(learner)
    learner.start(support.central(), support.labels)
    optimiser = make_optimiser(learner.parameter_groups(), settings)
    average = Average(learner, settings.ema) if settings.ema else None
    first = checkpoint.restore(learner, optimiser, average)
    step = Step(learner, support, optimiser)

    for epoch in range(first, settings.epochs):
        set_learning_rates(optimiser, epoch, settings)
        step.begin(epoch)
        seen = 0
        for indices, draws in support.batches(epoch):
            step(indices, draws)
            seen += len(indices)
            if average:
                average.update(learner)

        means = {name: float(value) / seen for name, value in step.sums.items()}
        if not all(isfinite(value) for value in means.values()):
            raise TrainingError(
                f"training broke down in epoch {epoch + 1}: " + ", ".join(f"{n} {v:.3g}" for n, v in means.items()),
                "try a lower --lr, --precision fp32, or --clip 1",
            )
        on_epoch(epoch, means)
        checkpoint.keep(epoch, learner, optimiser, average)

    if average:
        average.give_to(learner)
