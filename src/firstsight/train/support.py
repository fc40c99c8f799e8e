"""The support set while training: decoded pixels or stored trunk output, in batches that depend on seed and epoch.

All randomness is drawn from generators made of (seed, epoch), so a run can go on from any epoch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from firstsight.core.errors import SettingsError
from firstsight.core.protocols import Progress
from firstsight.data.images import CENTRE
from firstsight.encode.devices import mixed_precision
from firstsight.encode.encoder import TorchEncoder
from firstsight.methods.simulation import withheld
from firstsight.train.compiled import fastest_stem
from firstsight.train.pixels import PixelCache
from firstsight.train.processes import group
from firstsight.train.sharing import share, shared_out
from firstsight.train.views import DRAWN, varied

STORED = 128  # trunk outputs made at a time
LEAST = 0.25  # of a batch, for the last one of an epoch: BatchNorm over a few images undoes what the others taught
CROP = 3  # numbers drawn for a crop: where it is, down and across, and whether it is flipped
Stems: TypeAlias = dict[tuple[Any, ...], Tensor]  # trunk outputs that several runs share, by what made them


class Support:
    """Images, labels, and how they reach what learns."""

    def __init__(
        self,
        labels: Sequence[int],
        pixels: PixelCache,
        encoder: TorchEncoder,
        progress: Progress,
        stems: Stems | None = None,
        taught: NDArray[np.int64] | None = None,
    ) -> None:
        """`taught` are the positions of the images that are trained on, if not all are."""
        self.encoder, learner = encoder, encoder.learner
        self.settings = learner.settings
        self.labels = torch.tensor(labels, device=encoder.device)
        self.taught = torch.arange(len(labels)) if taught is None else torch.from_numpy(taught)
        if learner.withholds:
            self.taught = self.taught[torch.from_numpy(~withheld(np.asarray(labels)))[self.taught]]
        self.pixels = pixels
        self.stems: Tensor | None = None
        if learner.learns:
            views = self.settings.cache_trunk or self.settings.epochs * learner.views
            alike = 0 if self.settings.vary else len(labels) * views  # crops that go straight through the trunk
            self._run_trunk = fastest_stem(encoder, alike, progress)
            if self.settings.cache_trunk:
                self.stems = self._stored({} if stems is None else stems, progress)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def replayable(self) -> bool:
        """Whether a batch is made on a GPU alone, so that making it can be recorded."""
        if self.encoder.device.type != "cuda":
            return False
        return self.stems.is_cuda if self.stems is not None else self.pixels.fits(self.encoder.device)

    def batches(self, epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
        """One pass in random order: which images, and what is drawn for every view of them."""
        generator = seeded("cpu", self.settings.seed, "order and crops", epoch)
        order = self.taught[torch.randperm(len(self.taught), generator=generator)]
        learner, size = self.encoder.learner, self.settings.batch_size
        draws = torch.rand(len(self), learner.views, self._drawn_for_each, generator=generator)[order]
        rest = len(order) % size
        if len(order) > size and (learner.whole_batches or rest < LEAST * size):  # they wait for another epoch
            order, draws = order[: len(order) - rest], draws[: len(order) - rest]
        where = self.encoder.device if self.replayable else torch.device("cpu")
        yield from zip(*(torch.split(part.to(where), size) for part in (order, draws)), strict=True)

    def batch(self, indices: Tensor, draws: Tensor) -> tuple[Tensor, Tensor]:
        """Trunk outputs and labels, all views of the batch one after the other; of several processes, the own share.

        Labels are those of the whole batch. What is drawn says where to crop, whether to flip and how to vary, or which
        of the stored views to take.
        """
        views, drawn = draws.shape[1], draws.transpose(0, 1).flatten(0, 1)
        stem = self._stem(share(indices.repeat(views)), share(drawn))
        return stem, self.labels[indices.to(self.labels.device)].repeat(views)

    def central(self) -> Iterator[Tensor]:
        """Trunk outputs of the central crops in fp32, in data order: what answering sees."""
        for indices in torch.split(torch.arange(len(self)), STORED):
            if self.stems is not None and self.stems.dtype == torch.float32:
                yield self.stems[indices.to(self.stems.device), 0].to(self.encoder.device)
            else:
                yield shared_out(partial(self.encoder.in_parts, self._central), indices)

    def _central(self, indices: Tensor) -> Tensor:
        return self.encoder.stem(self._crops(indices, torch.full((len(indices), CROP), CENTRE)))

    def _stem(self, indices: Tensor, draws: Tensor) -> Tensor:
        if self.stems is None:
            return self._trunk(indices, draws)
        views = (draws[:, 0] * self.stems.shape[1]).long()
        where = self.stems.device
        stem = self.stems[indices.to(where), views.to(where)].to(self.encoder.device)
        return stem.contiguous(memory_format=torch.channels_last) if stem.ndim == 4 else stem

    def _drawn(self, draws: Tensor, indices: Tensor) -> Tensor:
        return self._trunk(indices, draws[indices])

    @property
    def _drawn_for_each(self) -> int:
        """How many numbers are drawn for a view."""
        return CROP + (DRAWN if self.settings.vary else 0)

    def _trunk(self, indices: Tensor, draws: Tensor) -> Tensor:
        crops, other = self._crops(indices, draws[:, :CROP]), draws[:, CROP:]
        if not other.shape[1]:
            with mixed_precision(self.encoder.device, self.settings.precision):
                return self._run_trunk(crops)
        ready = self.encoder.ready_stem
        images = varied(ready.normalised(crops), other.to(crops.device))  # in fp32: bf16 would misplace the parts
        with mixed_precision(self.encoder.device, self.settings.precision):
            stem: Tensor = ready.trunk(images)
        return stem

    def _crops(self, indices: Tensor, draws: Tensor) -> Tensor:
        return self.pixels.crops(indices, draws, self.encoder.device)

    def _stored(self, stems: Stems, progress: Progress) -> Tensor:
        """The trunk's outputs from an earlier run, if it had the same trunk and drew the same views."""
        s = self.settings
        key = (s.backbone, s.weights, s.image_size, s.train_stages, s.cache_trunk, s.precision, s.seed, s.vary)
        if key not in stems:
            stems.clear()  # room for these
            stems[key] = self._store_trunk(progress)
        return stems[key]

    def _store_trunk(self, progress: Progress) -> Tensor:
        """The trunk's output for the central crop and N - 1 random views of every image."""
        views, indices = self.settings.cache_trunk, torch.arange(len(self))
        stems: Tensor | None = None
        with progress.task("storing trunk output", views * len(self)) as advance:
            for view in range(views):
                generator = seeded("cpu", self.settings.seed, "view", view)
                draws = torch.rand(len(self), self._drawn_for_each, generator=generator)
                draws = draws if view else torch.full((len(self), CROP), CENTRE)
                for some in torch.split(indices, STORED):
                    stem = shared_out(partial(self.encoder.in_parts, partial(self._drawn, draws)), some)
                    if stems is None:
                        stems = _room_for(len(self), views, stem)
                    stems[some.to(stems.device), view] = stem.to(stems.device)
                    for _ in some:
                        advance()
        assert stems is not None
        return stems


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
    here = wanted * group().here
    if here > 0.8 * _free_memory():
        raise SettingsError(
            f"cache_trunk {views}: {images} images x {views} views need {here / 2**30:.1f} GiB, more than is free",
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
