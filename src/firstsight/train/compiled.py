"""The frozen trunk compiled, on a GPU, where so many images will go through it that this pays."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn.functional import pad

from firstsight.core.protocols import Progress
from firstsight.encode.backbones import TransformerTail
from firstsight.encode.devices import mixed_precision
from firstsight.encode.encoder import GPU_PART, TorchEncoder
from firstsight.train.processes import group

Stem: TypeAlias = Callable[[Tensor], Tensor]

PAYS = 600_000  # images from which on the seconds of compiling come back, even the first time


def fastest_stem(encoder: TorchEncoder, images: int, progress: Progress) -> Stem:
    """`encoder.stem` for so many crops to come: compiled where that was seen to pay, else as it is.

    What torch compiled is kept in the user's cache, so that the next run has it in a few seconds.
    """
    processes = group().count
    transformer = isinstance(encoder.learner.tail, TransformerTail)
    if encoder.device.type != "cuda" or not transformer or images < PAYS * processes:
        return encoder.stem
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(cache / "firstsight" / "compiled"))
    settings = encoder.learner.settings
    share = -(-settings.batch_size * encoder.learner.views // processes)
    size, side = min(GPU_PART, share), encoder.preprocess.crop
    stem = in_one_size(torch.compile(encoder.ready_stem, dynamic=False), size)
    try:
        with (
            progress.task("compiling", 1) as advance,
            mixed_precision(encoder.device, settings.precision),
        ):
            stem(torch.zeros(size, side, side, 3, dtype=torch.uint8, device=encoder.device))
            advance()
    except Exception as error:  # no compiler on this machine, or one that cannot do it
        progress.note(f"the trunk is not compiled: {(str(error).strip() or type(error).__name__).splitlines()[0]}")
        return encoder.stem
    return stem


def in_one_size(stem: Stem, size: int) -> Stem:
    """The same for any number of crops, by calls with this number: every other one would be compiled anew."""

    def run(pixels: Tensor) -> Tensor:
        parts = torch.split(pixels, size)
        filled = [pad(part, (0, 0, 0, 0, 0, 0, 0, size - len(part))) for part in parts]
        return torch.cat([stem(each)[: len(part)] for each, part in zip(filled, parts, strict=True)])

    return run
