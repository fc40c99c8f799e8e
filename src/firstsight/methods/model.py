"""A trained model: PHE with its frozen trunk and image path as an encoder, and the register it starts from.

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
from firstsight.bounds import ball_radius, minimum_distance
from firstsight.codes import Words, pack
from firstsight.config import Rule, Settings
from firstsight.data.images import ImageLike, Pixels, Preprocess, prepared
from firstsight.errors import SettingsError
from firstsight.phe.model import PHE
from firstsight.protocols import Encoded, Provenance
from firstsight.register.codes import CodeRegister, closed_set


@dataclass(frozen=True)
class Category:
    """A known category: its name and how many support images taught it."""

    name: str
    support: int


@dataclass
class Model:
    """A trained PHE. `prepare` and `encode` make it an encoder; `register()` is where its stream starts."""

    settings: Settings
    categories: tuple[Category, ...]
    preprocess: Preprocess
    licence: str
    trunk: nn.Module
    network: PHE
    device: torch.device
    report: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def assemble(cls, settings: Settings, categories: Sequence[Category], device: torch.device, blank: bool) -> Model:
        """An untrained model for these categories; `blank` where saved weights will fill it."""
        distance = minimum_distance_for(settings, len(categories))
        backbone: Backbone = build(
            settings.backbone, settings.image_size, settings.train_stages, settings.weights, blank=blank
        )
        network = PHE(backbone.tail, backbone.features, len(categories), distance, settings)
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
    def minimum_distance(self) -> int:
        """d_max: how far apart training pushed the centres."""
        return self.network.minimum_distance

    @property
    def radius(self) -> int:
        """The radius its register starts with."""
        return ball_radius(self.minimum_distance, self.settings.ball)

    @property
    def centres(self) -> Words:
        """The code of every known category's centre."""
        return pack(self.network.centres.cpu().numpy())

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
        """Codes and hash features, in fp32 whatever training ran in."""
        self.network.eval()
        with torch.inference_mode():
            hash_features = self.network.hash_features(self.stem(np.stack(prepared))).cpu().numpy()
        return Encoded(features=hash_features, codes=pack(hash_features))

    def stem(self, pixels: NDArray[np.uint8]) -> Tensor:
        """The trunk's output for a batch of uint8 crops (N, H, W, 3)."""
        images = torch.tensor(pixels, device=self.device).permute(0, 3, 1, 2).float()  # channels last in memory
        mean, std = (
            torch.tensor(v, device=self.device).view(3, 1, 1) for v in (self.preprocess.mean, self.preprocess.std)
        )
        stem: Tensor = self.trunk((images / 255 - mean) / std)
        return stem

    def register(self, radius: int | None = None, rule: Rule | None = None) -> CodeRegister:
        """A register holding the known categories: the start of a stream."""
        return CodeRegister(
            bits=self.settings.bits,
            radius=self.radius if radius is None else radius,
            names=self.names,
            centres=self.centres,
            rule=rule or self.settings.rule,
        )

    def closed_set(self) -> CodeRegister:
        """A register that never discovers: the row every accuracy is printed beside."""
        return closed_set(self.settings.bits, self.names, self.centres)


def minimum_distance_for(settings: Settings, known: int) -> int:
    """d_max for the categories expected: as set, or twice the known ones as far as the code has room."""
    if known > 2**settings.bits:
        raise SettingsError(
            f"{known} known categories do not fit in {settings.bits} bits, which give {2**settings.bits} codes",
            f"use --bits {(known - 1).bit_length()} or more",
        )
    expected = settings.expected_categories or min(2 * known, 2**settings.bits)
    if expected < known:
        raise SettingsError(
            f"expected_categories is {expected}, fewer than the {known} known ones", "leave it out, or count those too"
        )
    return minimum_distance(settings.bits, expected, settings.distance_rule)
