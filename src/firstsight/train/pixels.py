"""Images decoded and resized once, and the crops that are cut from them: on the device where that is a GPU."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from firstsight.core.errors import BadImages, ImageError
from firstsight.core.files import disk_errors
from firstsight.core.protocols import Progress
from firstsight.data.ahead import ahead, or_error
from firstsight.data.images import CENTRE, ImageLike, Pixels, Preprocess, crop, resized
from firstsight.train.processes import exchanged, group

BUDGET = 4 * 2**30  # bytes of decoded images kept in memory; more are kept in a file that is mapped
WINDOW = 256  # images decoded before they are asked for
DEVICE_SHARE = 0.25  # of a GPU's free memory that images may take


class PixelCache:
    """A sequence of images at training's size, decoded once, one after the other in one array.

    The array is in memory or, beyond a budget or where processes are to share it, in a file.
    """

    def __init__(
        self, images: Sequence[ImageLike], preprocess: Preprocess, progress: Progress, budget: int = BUDGET
    ) -> None:
        """Decode everything; every image that cannot be used is reported in one error."""
        self.preprocess = preprocess
        self.on_device: dict[torch.device, Flat] = {}
        self._own_file: Any = None
        parts: list[NDArray[np.uint8]] = []
        shapes: list[tuple[int, ...]] = []
        bad: list[ImageError] = []
        with progress.task("reading images", len(images)) as advance:
            for pixels in ahead(or_error(partial(resized, preprocess=preprocess)), images, window=WINDOW):
                advance()
                if isinstance(pixels, ImageError):
                    bad.append(pixels)
                elif not bad:
                    shapes.append(pixels.shape[:2])
                    parts.append(pixels.reshape(-1, 3))
                    budget -= pixels.nbytes
                    if budget < 0:
                        self._spill(parts)
        if bad:
            raise BadImages(bad)
        self.shapes = np.array(shapes, dtype=np.int64).reshape(-1, 2)
        self.first = np.cumsum(self.shapes.prod(1)) - self.shapes.prod(1)
        if self._own_file is None:
            self.file: Path | None = None
            self.pixels = np.concatenate([np.zeros((0, 3), np.uint8), *parts])
        else:
            self._own_file.flush()
            self.file = Path(self._own_file.name)
            self.pixels = self._mapped()

    def __len__(self) -> int:
        return len(self.shapes)

    def __getitem__(self, index: int) -> Pixels:
        height, width = self.shapes[index]
        first = self.first[index]
        return self.pixels[first : first + height * width].reshape(height, width, 3)

    def crops(self, indices: Tensor, draws: Tensor, device: torch.device) -> Tensor:
        """Square uint8 crops (N, S, S, 3) on the device; a row of `draws` is where to crop and whether to flip."""
        size = self.preprocess.crop
        if self.fits(device):
            if device not in self.on_device:
                self.on_device[device] = Flat(self.pixels, self.shapes, device)
            return self.on_device[device].crops(indices.to(device), draws.to(device), size)
        cut = [crop(self[i], size, *d) for i, d in zip(indices.tolist(), draws.tolist(), strict=True)]
        return torch.from_numpy(np.stack(cut)).to(device)

    def share(self, file: Path) -> None:
        """Keep the pixels in a file from now on, if they are not, so that pickling takes no copy of them."""
        if self.file is None:
            with disk_errors(file):
                self.pixels.tofile(file)
            self.file = file
            self.pixels = self._mapped()

    def __getstate__(self) -> dict[str, Any]:
        pixels = {} if self.file is None else {"pixels": None}
        return {**self.__dict__, "on_device": {}, "_own_file": None, **pixels}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.file is not None:
            self.pixels = self._mapped()

    def _spill(self, parts: list[NDArray[np.uint8]]) -> None:
        """Move what has been decoded to a file that goes away with this."""
        if self._own_file is None:
            self._own_file = tempfile.NamedTemporaryFile(prefix="firstsight-pixels-")  # noqa: SIM115
        with disk_errors(Path(self._own_file.name)):
            for part in parts:
                self._own_file.write(part.data)
        parts.clear()

    def _mapped(self) -> NDArray[np.uint8]:
        assert self.file is not None
        return np.memmap(self.file, dtype=np.uint8, mode="c").reshape(-1, 3)

    def fits(self, device: torch.device) -> bool:
        """Whether all images are, or can be, kept on this GPU."""
        if device.type != "cuda":
            return False
        return device in self.on_device or self.pixels.nbytes < DEVICE_SHARE * torch.cuda.mem_get_info(device)[0]


def pixels_of(images: Sequence[ImageLike], preprocess: Preprocess, progress: Progress) -> PixelCache:
    """All images, decoded once on every machine: its processes have the same file mapped, which is gone by then."""
    if group().count == 1:
        return PixelCache(images, preprocess, progress)
    with tempfile.TemporaryDirectory(prefix="firstsight-pixels-") as folder:
        own = None
        if group().local == 0:
            own = PixelCache(images, preprocess, progress)
            own.share(Path(folder) / "pixels")
        said = exchanged(pickle.dumps(own))
        pixels: PixelCache = own or pickle.loads(said[group().rank - group().local])
        exchanged(b"")  # all have it now
    return pixels


class Flat:
    """Images of any shape one after the other in one tensor: crops of a whole batch are one lookup."""

    def __init__(self, pixels: NDArray[np.uint8], shapes: NDArray[np.int64], device: torch.device) -> None:
        self.height, self.width = torch.tensor(shapes, device=device).T
        sizes = self.height * self.width
        self.first = sizes.cumsum(0) - sizes
        self.pixels = torch.from_numpy(pixels).to(device)  # (all pixels, 3)

    def crops(self, indices: Tensor, draws: Tensor, size: int) -> Tensor:
        """What `data.images.crop` cuts from each of these images."""
        height, width = self.height[indices], self.width[indices]
        top, left = _offsets(height - size, draws[:, 0]), _offsets(width - size, draws[:, 1])
        steps = torch.arange(size, device=indices.device)
        flip = (draws[:, 2] > CENTRE)[:, None]
        columns = left[:, None] + torch.where(flip, size - 1 - steps, steps)  # (N, S)
        rows = self.first[indices, None] + (top[:, None] + steps) * width[:, None]  # (N, S)
        return self.pixels[rows[:, :, None] + columns[:, None, :]]


def _offsets(room: Tensor, place: Tensor) -> Tensor:
    drawn = torch.minimum((place.double() * (room + 1)).long(), room)
    return torch.where(place == CENTRE, (room / 2).round().long(), drawn)
