"""The support set while training: decoded pixels or stored trunk output, in batches that depend on seed and epoch.

All randomness is drawn from generators made of (seed, epoch), so a run can go on from any epoch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from firstsight.data.ahead import ahead, or_error
from firstsight.data.folder import LabelledImages
from firstsight.data.images import CENTRE, ImageLike, Pixels, Preprocess, crop, resized
from firstsight.devices import mixed_precision
from firstsight.errors import BadImages, ImageError, SettingsError
from firstsight.methods.model import Model
from firstsight.protocols import Progress

TRUNK_BATCH = 16
PIXEL_BUDGET = 4 * 2**30  # bytes of decoded images kept; the rest is decoded again when needed


class Support:
    """Images, labels, and how they reach the network."""

    def __init__(self, data: LabelledImages, model: Model, progress: Progress) -> None:
        self.model = model
        self.settings = model.settings
        self.labels = torch.tensor(data.labels, device=model.device)
        self.pixels = PixelCache(data.images, model.preprocess)
        self.pixels.fill(progress)
        self.stems = self._store_trunk(progress) if self.settings.cache_trunk else None

    def __len__(self) -> int:
        return len(self.labels)

    def batches(self, epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
        """One pass in random order: trunk outputs and labels."""
        generator = seeded("cpu", self.settings.seed, "order and crops", epoch)
        order = torch.randperm(len(self), generator=generator)
        draws = torch.rand(len(self), 3, generator=generator)  # where to crop, whether to flip; or which view
        for indices in torch.split(order, self.settings.batch_size):
            yield self._stem(indices, draws[indices]), self.labels[indices.to(self.labels.device)]

    def central(self) -> Iterator[Tensor]:
        """Trunk outputs of the central crops in fp32, in data order: what answering sees."""
        for indices in torch.split(torch.arange(len(self)), self.settings.batch_size):
            if self.stems is not None and self.stems.dtype == torch.float32:
                yield self.stems[indices.to(self.stems.device), 0].to(self.model.device)
            else:
                yield self.model.stem(self._crops(indices, torch.full((len(indices), 3), CENTRE)))

    def _stem(self, indices: Tensor, draws: Tensor) -> Tensor:
        if self.stems is None:
            return self._trunk(indices, draws)
        views = (draws[:, 0] * self.stems.shape[1]).long()
        where = self.stems.device
        return self.stems[indices.to(where), views.to(where)].to(self.model.device)

    def _trunk(self, indices: Tensor, draws: Tensor) -> Tensor:
        with mixed_precision(self.model.device, self.settings.precision):
            return self.model.stem(self._crops(indices, draws))

    def _crops(self, indices: Tensor, draws: Tensor) -> NDArray[np.uint8]:
        size = self.model.preprocess.crop
        return np.stack([crop(self.pixels[i], size, *d) for i, d in zip(indices.tolist(), draws.tolist(), strict=True)])

    def _store_trunk(self, progress: Progress) -> Tensor:
        """The trunk's output for the central crop and N - 1 random views of every image."""
        views, indices = self.settings.cache_trunk, torch.arange(len(self))
        stems: Tensor | None = None
        with progress.task("storing trunk output", views * len(self)) as advance:
            for view in range(views):
                generator = seeded("cpu", self.settings.seed, "view", view)
                draws = torch.rand(len(self), 3, generator=generator) if view else torch.full((len(self), 3), CENTRE)
                for some in torch.split(indices, TRUNK_BATCH):
                    stem = self._trunk(some, draws[some])
                    if stems is None:
                        stems = _room_for(len(self), views, stem)
                    stems[some.to(stems.device), view] = stem.to(stems.device)
                    for _ in some:
                        advance()
        assert stems is not None
        self.pixels.kept.clear()
        return stems


class PixelCache:
    """Images decoded and resized once, as many as the budget holds."""

    def __init__(self, images: Sequence[ImageLike], preprocess: Preprocess, budget: int = PIXEL_BUDGET) -> None:
        self.images = images
        self.preprocess = preprocess
        self.budget = budget
        self.kept: dict[int, Pixels] = {}

    def fill(self, progress: Progress) -> None:
        """Decode everything once; every image that cannot be used is reported in one error."""
        bad: list[ImageError] = []
        with progress.task("reading images", len(self.images)) as advance:
            decoded = ahead(or_error(lambda image: resized(image, self.preprocess)), self.images, window=64)
            for index, pixels in enumerate(decoded):
                advance()
                if isinstance(pixels, ImageError):
                    bad.append(pixels)
                elif pixels.nbytes <= self.budget:
                    self.budget -= pixels.nbytes
                    self.kept[index] = pixels
        if bad:
            raise BadImages(bad)

    def __getitem__(self, index: int) -> Pixels:
        kept = self.kept.get(index)
        return kept if kept is not None else resized(self.images[index], self.preprocess)


def seeded(device: torch.device | str, seed: int, purpose: str, number: int) -> torch.Generator:
    """A generator of its own for every purpose and epoch of a run."""
    digest = hashlib.sha256(f"{seed} {purpose} {number}".encode()).digest()
    return torch.Generator(device).manual_seed(int.from_bytes(digest[:7], "big"))


def _room_for(images: int, views: int, stem: Tensor) -> Tensor:
    """An empty store for trunk outputs: on the device where it fits, else in memory, else refused."""
    shape = (images, views, *stem.shape[1:])
    wanted = images * views * stem[0].numel() * stem.element_size()
    if stem.is_cuda and wanted < 0.8 * torch.cuda.mem_get_info(stem.device)[0]:
        return torch.empty(shape, dtype=stem.dtype, device=stem.device)
    if wanted > 0.8 * _free_memory():
        raise SettingsError(
            f"cache_trunk {views}: {images} images x {views} views need {wanted / 2**30:.1f} GiB, more than is free",
            "use fewer views, or train without --cache-trunk",
        )
    return torch.empty(shape, dtype=stem.dtype)


def _free_memory() -> float:
    """Bytes that can be had without swapping, as far as the system says."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return float(next(line.split()[1] for line in lines if line.startswith("MemAvailable"))) * 1024
    except (OSError, StopIteration, ValueError, IndexError):
        return float("inf")
