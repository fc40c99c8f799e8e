"""A trained model: a method's network with its frozen trunk and image path as an encoder, and its first register.

This is what `firstsight.fit` returns and `firstsight.load` reads.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from math import prod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from firstsight.core.codes import pack
from firstsight.core.errors import ModelError
from firstsight.core.protocols import Encoded, Provenance
from firstsight.core.settings import Rule, Settings
from firstsight.core.threads import computing_threads
from firstsight.data.images import ImageLike, Pixels, Preprocess, prepared
from firstsight.encode.backbones import Backbone, build
from firstsight.encode.devices import mixed_precision, plain_precision
from firstsight.encode.folding import safely_folded
from firstsight.methods.catalogue import network_of
from firstsight.methods.networks import AnyRegister, HashNetwork, Network
from firstsight.model.examples import Examples

CPU_PART, GPU_PART = 2, 128  # images that go through the network together


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
        backbone: Backbone = build(
            settings.backbone,
            settings.image_size,
            stages,
            settings.weights,
            blank=blank,
            second_look=kind.looks_twice and settings.second_look,
        )
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
        """How many images are best encoded together: many on a GPU, two for every core of a CPU."""
        return computing_threads() * self._part if self.device.type == "cpu" else self._part

    @property
    def _part(self) -> int:
        return CPU_PART if self.device.type == "cpu" else GPU_PART

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

    @property
    def prepare(self) -> Callable[[ImageLike], Pixels]:
        """The pixels of one image; a function that other processes can be told of."""
        return partial(prepared, preprocess=self.preprocess)

    def encode(self, prepared: Sequence[NDArray[np.uint8]]) -> Encoded:
        """Rows, and their codes where signs are what counts."""
        return self.encoded(self.rows(np.stack(prepared)))

    def rows(self, pixels: NDArray[np.uint8] | Tensor) -> Tensor:
        """The network's rows for a batch of uint8 crops (N, H, W, 3)."""
        self._ready  # noqa: B018 - made by one thread, not by several at once
        with plain_precision() if self.exact else mixed_precision(self.device, "auto"):
            return self.in_parts(self._rows, _tensor(pixels))

    def in_parts(self, function: Callable[[Tensor], Tensor], items: Tensor) -> Tensor:
        """What a function makes of items, a part at a time; on a CPU by threads of one core each, which share no work.

        A single part has all cores, unless it must come out as it would among others. Nothing is kept for gradients.
        """
        self.ready_stem  # noqa: B018 - likewise
        parts = torch.split(items, self._part)
        by_threads = self.device.type == "cpu" and (len(parts) > 1 or self.exact)
        run = _one_core_each().map if by_threads else map
        return torch.cat(list(run(torch.no_grad()(function), parts)))

    def _rows(self, pixels: Tensor) -> Tensor:
        with torch.inference_mode():
            rows = self._ready.rows(self.stem(self._padded(pixels) if self.exact else pixels))
            return rows[: len(pixels)].float()

    def _padded(self, pixels: Tensor) -> Tensor:
        """The same shape every time, filled up with empty images: the same kernels do the same sums."""
        empty = pixels.new_zeros(self._part - len(pixels), *pixels.shape[1:])
        return torch.cat([pixels, empty])

    def encoded(self, rows: Tensor) -> Encoded:
        features = rows.cpu().numpy()
        if not np.isfinite(features).all():  # whose signs would still be a code
            raise ModelError(
                "the model makes values that are not numbers of an image",
                "its weights are damaged or too large for this precision: fit again, or load it with exact",
            )
        return Encoded(features, codes=pack(features) if isinstance(self.network, HashNetwork) else None)

    def stem(self, pixels: NDArray[np.uint8] | Tensor) -> Tensor:
        """The trunk's output for a batch of uint8 crops."""
        stem: Tensor = self.ready_stem(_tensor(pixels).to(self.device))
        return stem

    def register(self, radius: float | None = None, rule: Rule | None = None) -> AnyRegister:
        """A register holding the known categories: the start of a stream."""
        return self.network.register(self.names, radius, rule)

    def closed_set(self) -> AnyRegister:
        """A register that never discovers: the row every accuracy is printed beside."""
        return self.network.closed_set(self.names)

    @cached_property
    def ready_stem(self) -> Stem:
        """The trunk as it runs; the one that is saved stays as it came."""
        return Stem(safely_folded(self.trunk, self._example), self.preprocess).to(self.device)

    @property
    def _example(self) -> Tensor:
        """Two images of nothing in particular, always the same."""
        shape = (2, 3, self.preprocess.crop, self.preprocess.crop)
        return torch.linspace(0, 1e4, prod(shape), device=self.device).sin().view(shape)

    @cached_property
    def _ready(self) -> Network:
        """The trained network as it answers."""
        ready = copy.deepcopy(self.network).eval().requires_grad_(False)
        ready.tail = safely_folded(ready.tail, self.ready_stem.trunk(self._example))
        return ready


class Stem(nn.Module):
    """From uint8 crops to the trunk's output."""

    mean: Tensor
    std: Tensor

    def __init__(self, trunk: nn.Module, preprocess: Preprocess) -> None:
        super().__init__()
        self.trunk = trunk
        self.register_buffer("mean", torch.tensor(preprocess.mean).view(3, 1, 1))
        self.register_buffer("std", torch.tensor(preprocess.std).view(3, 1, 1))

    def forward(self, pixels: Tensor) -> Tensor:
        images = pixels.permute(0, 3, 1, 2).float()  # channels last in memory
        stem: Tensor = self.trunk((images / 255 - self.mean) / self.std)
        return stem


@cache
def _one_core_each() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(computing_threads(), "firstsight-encode", torch.set_num_threads, (1,))


def _tensor(pixels: NDArray[np.uint8] | Tensor) -> Tensor:
    return pixels if isinstance(pixels, Tensor) else torch.tensor(pixels)
