"""A trained model: a method's network with its frozen trunk and image path as an encoder, and its first register.

This is what `firstsight.fit` returns and `firstsight.load` reads.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from firstsight.backbones import Backbone, build
from firstsight.codes import pack
from firstsight.config import Rule, Settings
from firstsight.data.images import ImageLike, Pixels, Preprocess, prepared
from firstsight.methods.catalogue import network_of
from firstsight.networks import AnyRegister, HashNetwork, Network
from firstsight.protocols import Encoded, Provenance


@dataclass(frozen=True)
class Category:
    """A known category: its name and how many support images taught it."""

    name: str
    support: int


@dataclass
class Model:
    """A trained method. `prepare` and `encode` make it an encoder; `register()` is where its stream starts."""

    settings: Settings
    categories: tuple[Category, ...]
    preprocess: Preprocess
    licence: str
    trunk: nn.Module
    network: Network
    device: torch.device
    report: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def assemble(cls, settings: Settings, categories: Sequence[Category], device: torch.device, blank: bool) -> Model:
        """An untrained model for these categories; `blank` where saved weights will fill it."""
        kind = network_of(settings.method)
        kind.check(len(categories), settings)
        stages = settings.train_stages if kind.learns else 0
        backbone: Backbone = build(settings.backbone, settings.image_size, stages, settings.weights, blank=blank)
        network = kind(backbone.tail, backbone.features, len(categories), settings)
        return cls(
            settings=settings,
            categories=tuple(categories),
            preprocess=backbone.preprocess,
            licence=backbone.licence,
            trunk=backbone.trunk.to(device),
            network=network.to(device),
            device=device,
        )

    @property
    def names(self) -> list[str]:
        return [category.name for category in self.categories]

    @property
    def radius(self) -> float:
        """The radius its register starts with."""
        return self.network.radius

    @property
    def provenance(self) -> Provenance:
        return Provenance(self.fingerprint, self.preprocess.version, str(self.device), "fp32")

    @cached_property
    def fingerprint(self) -> str:
        """A SHA-256 of all that decides which code an image gets: the weights and the image path."""
        seal = hashlib.sha256(json.dumps(self.preprocess.as_dict()).encode())
        for module in (self.trunk, self.network):
            for name, tensor in sorted(module.state_dict().items()):
                seal.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
                seal.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
        return seal.hexdigest()

    def prepare(self, image: ImageLike) -> Pixels:
        return prepared(image, self.preprocess)

    def encode(self, prepared: Sequence[NDArray[np.uint8]]) -> Encoded:
        """Rows, and their codes where signs are what counts, in fp32 whatever training ran in."""
        return self.encoded(self.rows(np.stack(prepared)))

    def rows(self, pixels: NDArray[np.uint8] | Tensor) -> Tensor:
        """The network's rows for a batch of uint8 crops (N, H, W, 3)."""
        self.network.eval()
        with torch.inference_mode():
            return self.network.rows(self.stem(pixels)).float()

    def encoded(self, rows: Tensor) -> Encoded:
        features = rows.cpu().numpy()
        return Encoded(features, codes=pack(features) if isinstance(self.network, HashNetwork) else None)

    def stem(self, pixels: NDArray[np.uint8] | Tensor) -> Tensor:
        """The trunk's output for a batch of uint8 crops."""
        images = (
            (pixels if isinstance(pixels, Tensor) else torch.tensor(pixels)).to(self.device).permute(0, 3, 1, 2).float()
        )  # channels last in memory
        stem: Tensor = self.trunk((images / 255 - self._mean) / self._std)
        return stem

    def register(self, radius: float | None = None, rule: Rule | None = None) -> AnyRegister:
        """A register holding the known categories: the start of a stream."""
        return self.network.register(self.names, radius, rule)

    def closed_set(self) -> AnyRegister:
        """A register that never discovers: the row every accuracy is printed beside."""
        return self.network.closed_set(self.names)

    @cached_property
    def _mean(self) -> Tensor:
        return torch.tensor(self.preprocess.mean, device=self.device).view(3, 1, 1)

    @cached_property
    def _std(self) -> Tensor:
        return torch.tensor(self.preprocess.std, device=self.device).view(3, 1, 1)
