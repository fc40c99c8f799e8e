"""The support set while training: decoded pixels or stored trunk output, in batches that depend on seed and epoch.

All randomness is drawn from generators made of (seed, epoch), so a run can go on from any epoch.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from firstsight.data.ahead import ahead
from firstsight.data.folder import LabelledImages
from firstsight.data.images import Pixels, Preprocess, resized
from firstsight.errors import BadImages, ImageError, SettingsError
from firstsight.methods.model import Model
from firstsight.protocols import Progress

PIXEL_BUDGET = 4 * 2**30  # bytes of decoded images kept; the rest is decoded again when needed
CENTRE = 0.5


class Support:
    """Images, labels, and how they reach the network."""

    def __init__(self, data: LabelledImages, model: Model, progress: Progress) -> None:
        self.model = model
        self.settings = model.settings
        self.labels = torch.tensor(data.labels, device=model.device)
        self.pixels = PixelCache(data.paths, model.preprocess)
        self.pixels.fill(progress)
        self.stems = self._store_trunk(progress) if self.settings.cache_trunk else None

    def __len__(self) -> int:
        return len(self.labels)

    def batches(self, epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
        """One pass in random order: trunk outputs and labels."""
        generator = seeded("cpu", self.settings.seed, epoch)
        order = torch.randperm(len(self), generator=generator)
        draws = torch.rand(len(self), 3, generator=generator)  # where to crop, whether to flip; or which view
        for indices in torch.split(order, self.settings.batch_size):
            yield self._stem(indices, draws[indices]), self.labels[indices.to(self.labels.device)]

    def central(self) -> Iterator[Tensor]:
        """Trunk outputs of the central crops, in data order: what answering sees."""
        for indices in torch.split(torch.arange(len(self)), self.settings.batch_size):
            if self.stems is not None:
                yield self.stems[indices.to(self.stems.device), 0].to(self.model.device)
            else:
                yield self.model.stem(self._crops(indices, torch.full((len(indices), 3), CENTRE)))

    def _stem(self, indices: Tensor, draws: Tensor) -> Tensor:
        if self.stems is None:
            return self.model.stem(self._crops(indices, draws))
        views = (draws[:, 0] * self.stems.shape[1]).long()
        where = self.stems.device
        return self.stems[indices.to(where), views.to(where)].to(self.model.device)

    def _crops(self, indices: Tensor, draws: Tensor) -> NDArray[np.uint8]:
        size = self.model.preprocess.crop
        return np.stack([crop(self.pixels[i], size, *d) for i, d in zip(indices.tolist(), draws.tolist(), strict=True)])

    def _store_trunk(self, progress: Progress) -> Tensor:
        """The trunk's output for the central crop and N - 1 random views of every image."""
        views, indices = self.settings.cache_trunk, torch.arange(len(self))
        stems: Tensor | None = None
        with progress.task("storing trunk output", views * len(self)) as advance:
            for view in range(views):
                generator = seeded("cpu", self.settings.seed, view)
                draws = torch.rand(len(self), 3, generator=generator) if view else torch.full((len(self), 3), CENTRE)
                for some in torch.split(indices, 16):
                    stem = self.model.stem(self._crops(some, draws[some]))
                    if stems is None:
                        stems = _room_for(len(self), views, stem)
                    stems[some.to(stems.device), view] = stem.to(stems.device)
                    for _ in some:
                        advance()
        assert stems is not None
        return stems


class PixelCache:
    """Images decoded and resized once, as many as the budget holds."""

    def __init__(self, paths: tuple[Path, ...], preprocess: Preprocess, budget: int = PIXEL_BUDGET) -> None:
        self.paths = paths
        self.preprocess = preprocess
        self.budget = budget
        self.kept: dict[int, Pixels] = {}

    def fill(self, progress: Progress) -> None:
        """Decode everything once; every image that cannot be used is reported in one error."""
        bad: list[ImageError] = []
        with progress.task("reading images", len(self.paths)) as advance:
            for index, pixels in enumerate(ahead(self._try, self.paths, window=64)):
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
        return kept if kept is not None else resized(self.paths[index], self.preprocess)

    def _try(self, path: Path) -> Pixels | ImageError:
        try:
            return resized(path, self.preprocess)
        except ImageError as error:
            return error


def crop(pixels: Pixels, size: int, down: float, right: float, flip: float) -> Pixels:
    """A square cut at a relative place, mirrored when `flip` is above a half; 0.5, 0.5, 0.5 is the central crop."""
    height, width = pixels.shape[:2]
    top, left = (_offset(side - size, place) for side, place in ((height, down), (width, right)))
    cut = pixels[top : top + size, left : left + size]
    return cut[:, ::-1] if flip > CENTRE else cut


def _offset(room: int, place: float) -> int:
    return round(room / 2) if place == CENTRE else min(int(place * (room + 1)), room)


def seeded(device: torch.device | str, seed: int, epoch: int) -> torch.Generator:
    """A generator for one epoch of one run."""
    return torch.Generator(device).manual_seed(seed * 1_000_003 + epoch)


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
    """Bytes of free memory, as far as the system says."""
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return float("inf")
