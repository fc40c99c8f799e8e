"""The optimiser, its groups and its schedule (App. A.2 of the paper, deviations 12 to 14)."""

from __future__ import annotations

from math import cos, pi
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from firstsight.core.settings import TrainingSettings

LOWEST_RATE = 1e-5
WARMUP_RATE = 1e-4
LAYER_DECAY = 0.75  # of the rate, for every block of a transformer further below the last


def make_optimiser(groups: dict[str, list[nn.Parameter]], settings: TrainingSettings) -> Optimizer:
    """AdamW with one group per part of the model; the base rate of each is kept beside it.

    `backbone 2` is what is two blocks below the last.
    """
    parts: list[dict[str, Any]] = []
    for name, parameters in groups.items():
        part, _, below = name.partition(" ")
        rate = settings.lr_backbone * LAYER_DECAY ** int(below or 0) if part == "backbone" else settings.lr
        of_features = part in ("backbone", "feature_head")
        decay = settings.weight_decay_features if of_features else settings.weight_decay
        if parameters:
            lr = torch.tensor(rate, device=parameters[0].device) if parameters[0].is_cuda else rate
            parts.append({"params": parameters, "base_lr": rate, "lr": lr, "weight_decay": decay})
    return AdamW(parts, fused=True, capturable=all(part["params"][0].is_cuda for part in parts))


def learning_rate(base: float, epoch: int, settings: TrainingSettings) -> float:
    """Linear warm-up, then a cosine down to 1e-5, per epoch; a lag of one epoch as released, unless switched off.

    Warm-up takes at most a quarter of a short run, and no rate rises above the one asked for.
    """
    at = max(epoch - 1, 0) if settings.schedule_lag else epoch
    start, end = min(WARMUP_RATE, base), min(LOWEST_RATE, base)
    warmup = min(settings.warmup_epochs, settings.epochs // 4)
    if at < warmup:
        return start + at * (base - start) / warmup
    return end + 0.5 * (base - end) * (1 + cos(pi * at / settings.epochs))


def set_learning_rates(optimiser: Optimizer, epoch: int, settings: TrainingSettings) -> None:
    for group in optimiser.param_groups:
        rate = learning_rate(group["base_lr"], epoch, settings)
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate)  # in place: a recorded step reads it there
        else:
            group["lr"] = rate


class Average:
    """An exponential moving average of weights that is useful after few steps: its decay warms up."""

    def __init__(self, learner: nn.Module, decay: float) -> None:
        self.decay = decay
        self.steps = 0
        self.values = {name: value.detach().clone() for name, value in _learned(learner).items()}

    @torch.no_grad()
    def update(self, learner: nn.Module) -> None:
        self.steps += 1
        decay = min(self.decay, (1 + self.steps) / (10 + self.steps))
        learned = _learned(learner)
        torch._foreach_lerp_([self.values[name] for name in learned], list(learned.values()), 1 - decay)

    @torch.no_grad()
    def give_to(self, learner: nn.Module) -> None:
        for name, value in _learned(learner).items():
            value.copy_(self.values[name])


def _learned(learner: nn.Module) -> dict[str, Tensor]:
    """Parameters that learn and the floating-point statistics that follow them."""
    learned: dict[str, Tensor] = {name: p for name, p in learner.named_parameters() if p.requires_grad}
    return learned | {name: b for name, b in learner.named_buffers() if b.is_floating_point()}
