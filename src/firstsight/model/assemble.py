"""The encoder of a method before any training: a backbone, and the part that is to learn."""

from __future__ import annotations

import torch

from firstsight.core.settings import ImageSettings
from firstsight.encode.backbones import build
from firstsight.encode.encoder import TorchEncoder
from firstsight.methods.catalogue import parts_of


def assemble(settings: ImageSettings, categories: int, device: torch.device, blank: bool) -> TorchEncoder:
    """An untrained encoder for so many categories; `blank` where saved weights will fill it."""
    learner, decision = parts_of(settings.method)
    for part in (learner, decision):
        part.check(categories, settings)
    backbone = build(
        settings.backbone,
        settings.image_size,
        getattr(settings, "train_stages", 0),
        settings.weights,
        blank=blank,
        second_look=getattr(settings, "second_look", False),
    )
    made = learner(backbone.tail, backbone.features, categories, settings)
    return TorchEncoder(
        trunk=backbone.trunk.to(device),
        learner=made.to(device).to(memory_format=torch.channels_last),
        preprocess=backbone.preprocess,
        licence=backbone.licence,
        device=device,
    )
