"""A trained model: a method's network with its frozen trunk and image path as an encoder, and its first register.

This is what `firstsight.fit` returns and `firstsight.load` reads.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from firstsight.backbones import Backbone, build
from firstsight.codes import pack
from firstsight.config import Rule, Settings
from firstsight.data.images import ImageLike, Pixels, Preprocess, prepared
from firstsight.devices import mixed_precision, plain_precision
from firstsight.methods.catalogue import network_of
from firstsight.methods.examples import Examples
from firstsight.methods.folding import safely_folded
from firstsight.networks import AnyRegister, HashNetwork, Network
from firstsight.protocols import Encoded, Provenance

CPU_BATCH, GPU_BATCH = 4, 128


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
    examples: Examples | None = None  # the support images that stand for what it learned, if it was fitted with them
    exact: bool = False  # whether an image's row is the same bits whatever images are encoded with it

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
            network=network.to(device).to(memory_format=torch.channels_last),
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
    def batch(self) -> int:
        """How many images are best encoded together: many on a GPU, few where caches are small."""
        return GPU_BATCH if self.device.type == "cuda" else CPU_BATCH

    @property
    def provenance(self) -> Provenance:
        fast = "bf16" if self.device.type == "cuda" else "fp32"
        precision = "fp32, exact" if self.exact else fast
        return Provenance(self.fingerprint, self.preprocess.version, str(self.device), precision)

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
        """Rows, and their codes where signs are what counts."""
        return self.encoded(self.rows(np.stack(prepared)))

    def rows(self, pixels: NDArray[np.uint8] | Tensor) -> Tensor:
        """The network's rows for a batch of uint8 crops (N, H, W, 3)."""
        parts = torch.split(_tensor(pixels), self.batch)
        with torch.inference_mode(), plain_precision() if self.exact else mixed_precision(self.device, "auto"):
            return torch.cat([self._rows(self._padded(part) if self.exact else part)[: len(part)] for part in parts])

    def _rows(self, pixels: Tensor) -> Tensor:
        return self._ready.rows(self.stem(pixels)).float()

    def _padded(self, pixels: Tensor) -> Tensor:
        """The same shape every time, filled up with empty images: the same kernels do the same sums."""
        empty = pixels.new_zeros(self.batch - len(pixels), *pixels.shape[1:])
        return torch.cat([pixels, empty])

    def encoded(self, rows: Tensor) -> Encoded:
        features = rows.cpu().numpy()
        return Encoded(features, codes=pack(features) if isinstance(self.network, HashNetwork) else None)

    def stem(self, pixels: NDArray[np.uint8] | Tensor) -> Tensor:
        """The trunk's output for a batch of uint8 crops."""
        images = _tensor(pixels).to(self.device).permute(0, 3, 1, 2).float()  # channels last in memory
        stem: Tensor = self._trunk((images / 255 - self._mean) / self._std)
        return stem

    def register(self, radius: float | None = None, rule: Rule | None = None) -> AnyRegister:
        """A register holding the known categories: the start of a stream."""
        return self.network.register(self.names, radius, rule)

    def closed_set(self) -> AnyRegister:
        """A register that never discovers: the row every accuracy is printed beside."""
        return self.network.closed_set(self.names)

    @cached_property
    def _trunk(self) -> nn.Module:
        """The trunk as it runs; the one that is saved stays as it came."""
        return safely_folded(self.trunk, self._example)

    @property
    def _example(self) -> Tensor:
        """Two images of nothing in particular, always the same."""
        shape = (2, 3, self.preprocess.crop, self.preprocess.crop)
        return torch.linspace(0, 1e4, prod(shape), device=self.device).sin().view(shape)

    @cached_property
    def _ready(self) -> Network:
        """The trained network as it answers."""
        ready = copy.deepcopy(self.network).eval().requires_grad_(False)
        ready.tail = safely_folded(ready.tail, self._trunk(self._example))
        return ready

    @cached_property
    def _mean(self) -> Tensor:
        return torch.tensor(self.preprocess.mean, device=self.device).view(3, 1, 1)

    @cached_property
    def _std(self) -> Tensor:
        return torch.tensor(self.preprocess.std, device=self.device).view(3, 1, 1)


def _tensor(pixels: NDArray[np.uint8] | Tensor) -> Tensor:
    return pixels if isinstance(pixels, Tensor) else torch.tensor(pixels)
