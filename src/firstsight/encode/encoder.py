"""An encoder in torch: a frozen trunk, the part that may have learned, and the image path that belongs to them.

Stateless, batched, and on a CPU by threads of one core each.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property, partial
from math import prod
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from firstsight.core.errors import ModelError
from firstsight.core.threads import computing_threads
from firstsight.data.images import ImageLike, Pixels, Preprocess, prepared
from firstsight.encode.devices import mixed_precision, plain_precision
from firstsight.encode.folding import safely_folded
from firstsight.encode.learner import Learner

CPU_PART, GPU_PART = 2, 128  # images that go through together

Crops: TypeAlias = NDArray[np.uint8] | Tensor  # (N, H, W, 3)


@dataclass
class TorchEncoder:
    """Makes one feature of every image. `prepare` is per image and may run in threads, `encode` is per batch."""

    trunk: nn.Module
    learner: Learner
    preprocess: Preprocess
    licence: str  # of the backbone's weights
    device: torch.device
    exact: bool = False  # whether an image's feature is the same bits whatever images are encoded with it

    @property
    def prepare(self) -> Callable[[ImageLike], Pixels]:
        """The pixels of one image; a function that other processes can be told of."""
        return partial(prepared, preprocess=self.preprocess)

    def encode(self, images: Sequence[NDArray[np.uint8]] | Crops) -> NDArray[np.float32]:
        """One feature per image, of prepared images or of a batch of crops."""
        crops = images if isinstance(images, (np.ndarray, Tensor)) else np.stack(list(images))
        features = self.features(crops).cpu().numpy()
        if not np.isfinite(features).all():  # whose signs would still be a code
            raise ModelError(
                "the model makes values that are not numbers of an image",
                "its weights are damaged or too large for this precision: fit again, or load it with exact",
            )
        return features

    def features(self, crops: Crops) -> Tensor:
        """The features of a batch of crops, where the weights are."""
        self._ready  # noqa: B018 - made by one thread, not by several at once
        with plain_precision() if self.exact else mixed_precision(self.device, "auto"):
            return self.in_parts(self._features, _tensor(crops))

    def in_parts(self, function: Callable[[Tensor], Tensor], items: Tensor) -> Tensor:
        """What a function makes of items, a part at a time; on a CPU by threads of one core each, which share no work.

        A single part has all cores, unless it must come out as it would among others. Nothing is kept for gradients.
        """
        self.ready_stem  # noqa: B018 - likewise
        parts = torch.split(items, self._part)
        by_threads = self.device.type == "cpu" and (len(parts) > 1 or self.exact)
        run = _one_core_each().map if by_threads else map
        return torch.cat(list(run(torch.no_grad()(function), parts)))

    def stem(self, crops: Crops) -> Tensor:
        """The trunk's output for a batch of crops."""
        stem: Tensor = self.ready_stem(_tensor(crops).to(self.device))
        return stem

    @property
    def batch(self) -> int:
        """How many images are best encoded together: many on a GPU, two for every core of a CPU."""
        return computing_threads() * self._part if self.device.type == "cpu" else self._part

    @property
    def torch(self) -> TorchEncoder:
        """Itself; other encoders know the one in torch they were made of."""
        return self

    @property
    def device_name(self) -> str:
        return str(self.device)

    @property
    def runs_on(self) -> str:
        """The device to ask for elsewhere to have the same."""
        return "torch" if self.device.type == "cpu" else self.device.type

    @property
    def precision(self) -> str:
        if self.exact:
            return "fp32, exact"
        return "bf16" if self.device.type == "cuda" else "fp32"

    @cached_property
    def fingerprint(self) -> str:
        """A SHA-256 of all that decides which feature an image has: the weights and the image path."""
        seal = hashlib.sha256(json.dumps(self.preprocess.as_dict()).encode())
        for name, tensor in self.tensors().items():
            seal.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
            seal.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
        return seal.hexdigest()

    def tensors(self) -> dict[str, Tensor]:
        """Everything that is saved, by name."""
        parts = {"trunk": self.trunk, "learner": self.learner}
        return {
            f"{part}.{name}": t for part, module in parts.items() for name, t in sorted(module.state_dict().items())
        }

    def fill(self, tensors: dict[str, Tensor]) -> None:
        """Take over what `tensors` gave."""
        for part, module in (("trunk.", self.trunk), ("learner.", self.learner)):
            module.load_state_dict({n.removeprefix(part): t for n, t in tensors.items() if n.startswith(part)})

    @cached_property
    def ready_stem(self) -> Stem:
        """The trunk as it runs; the one that is saved stays as it came."""
        return Stem(safely_folded(self.trunk, self._example), self.preprocess).to(self.device)

    def _features(self, crops: Tensor) -> Tensor:
        with torch.inference_mode():
            features = self._ready.features(self.stem(self._padded(crops) if self.exact else crops))
            return features[: len(crops)].float()

    def _padded(self, crops: Tensor) -> Tensor:
        """The same shape every time, filled up with empty images: the same kernels do the same sums."""
        empty = crops.new_zeros(self._part - len(crops), *crops.shape[1:])
        return torch.cat([crops, empty])

    @property
    def _part(self) -> int:
        return CPU_PART if self.device.type == "cpu" else GPU_PART

    @property
    def _example(self) -> Tensor:
        """Two images of nothing in particular, always the same."""
        shape = (2, 3, self.preprocess.crop, self.preprocess.crop)
        return torch.linspace(0, 1e4, prod(shape), device=self.device).sin().view(shape)

    @cached_property
    def _ready(self) -> Learner:
        """What learned, as it answers."""
        ready = copy.deepcopy(self.learner).eval().requires_grad_(False)
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

    def forward(self, crops: Tensor) -> Tensor:
        stem: Tensor = self.trunk(self.normalised(crops))
        return stem

    def normalised(self, crops: Tensor) -> Tensor:
        images = crops.permute(0, 3, 1, 2).float()  # channels last in memory
        return (images / 255 - self.mean) / self.std


@cache
def _one_core_each() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(computing_threads(), "firstsight-encode", torch.set_num_threads, (1,))


def _tensor(crops: Any) -> Tensor:
    return crops if isinstance(crops, Tensor) else torch.tensor(crops)
