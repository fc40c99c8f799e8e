"""Algorithm 2 of the paper, top to bottom; every other method trains by it too.

Sees the support set only. Nothing is evaluated here; the last epoch is the model.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import TypeAlias

from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from firstsight.devices import mixed_precision
from firstsight.errors import TrainingError
from firstsight.networks import Network
from firstsight.train.checkpoint import Checkpoint
from firstsight.train.optim import Average, make_optimiser, set_learning_rates
from firstsight.train.support import Support, seeded

Means: TypeAlias = dict[str, float]


def train(network: Network, support: Support, checkpoint: Checkpoint, on_epoch: Callable[[int, Means], None]) -> None:
    """Train from where the checkpoint stands to the last epoch; `on_epoch` is told the mean of every loss term."""
    settings, device = network.settings, support.model.device
    network.start(support.central(), support.labels)
    optimiser = make_optimiser(network.parameter_groups(), settings)
    average = Average(network, settings.ema) if settings.ema else None
    first = checkpoint.restore(network, optimiser, average)

    for epoch in range(first, settings.epochs):
        set_learning_rates(optimiser, epoch, settings)
        masks = seeded(device, settings.seed, "masks", epoch)
        network.train()
        sums: dict[str, Tensor] = {}

        for stem, labels in support.batches(epoch):
            with mixed_precision(device, settings.precision):
                outputs = network(stem)  # of PHE: z, b, h
            terms = network.losses(outputs, labels, masks)  # of PHE: Eq. 1-10

            optimiser.zero_grad(set_to_none=True)
            terms["total"].backward()  # type: ignore[no-untyped-call]
            if settings.clip:
                clip_grad_norm_(network.parameters(), settings.clip)
            optimiser.step()
            if average:
                average.update(network)
            for name, value in terms.items():
                sums[name] = sums.get(name, 0) + value.detach() * len(labels) / network.views

        means = {name: float(value) / len(support) for name, value in sums.items()}
        if not all(isfinite(value) for value in means.values()):
            raise TrainingError(
                f"training broke down in epoch {epoch + 1}: " + ", ".join(f"{n} {v:.3g}" for n, v in means.items()),
                "try a lower --lr, --precision fp32, or --clip 1",
            )
        on_epoch(epoch, means)
        checkpoint.keep(epoch, network, optimiser, average)

    if average:
        average.give_to(network)
