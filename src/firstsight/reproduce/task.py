"""What all runs of a benchmark share: the images of its split, decoded once, and how they are encoded."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from firstsight.core.errors import DataError
from firstsight.core.files import digest
from firstsight.core.protocols import Features, Progress, Silent
from firstsight.data.folder import LabelledImages
from firstsight.data.images import CENTRE
from firstsight.encode.backbones import build, check_weights
from firstsight.model.model import Model
from firstsight.reproduce.provenance import MadeBy, provenance
from firstsight.reproduce.results import MadeOf
from firstsight.train.pixels import PixelCache

QUERY_BUDGET = 12 * 2**30  # bytes of the stream's decoded images that are kept in memory for all runs
BATCH = 128
CENTRAL = (CENTRE, CENTRE, CENTRE)  # where to crop, down and across, and whether to mirror


@dataclass(frozen=True)
class Task:
    """Support set and query stream with their pixels, and what results say about where they come from."""

    support: LabelledImages
    pixels: PixelCache
    truth: tuple[str, ...]
    stream: PixelCache
    device: str
    made_of: MadeOf
    made_by: MadeBy
    encoded: dict[str, Features] = field(default_factory=dict)  # the stream, by the encoder that was last


def prepare(
    parts: tuple[LabelledImages, LabelledImages], settings: Any, orders: int, device: str, progress: Progress
) -> Task:
    """Decode all images once, at the size the backbone wants."""
    support, query = parts
    check_weights(settings.backbone, settings.weights)  # before the work of decoding
    preprocess = build(settings.backbone, settings.image_size, 0, settings.weights, blank=True).preprocess
    return Task(
        support=support,
        pixels=PixelCache(support.images, preprocess, progress),
        truth=tuple(query.categories[label] for label in query.labels),
        stream=PixelCache(query.images, preprocess, progress, QUERY_BUDGET),
        device=device,
        made_of=made_of(parts, settings.weights, orders),
        made_by=provenance(device),
    )


def encode_stream(task: Task, model: Model, progress: Progress) -> Features:
    """The stream's features; seeds that leave the encoder as it came share them."""
    encoder = f"{model.settings.method} {model.image_encoder.fingerprint}"  # another method may make others of the same
    if encoder not in task.encoded:
        task.encoded.clear()
        task.encoded[encoder] = encode_pixels(model, task.stream, progress=progress)
    return task.encoded[encoder]


def encode_pixels(
    model: Model,
    pixels: PixelCache,
    images: Tensor | None = None,
    draws: tuple[float, float, float] = CENTRAL,
    change: Callable[[Tensor], Tensor] | None = None,
    progress: Progress | None = None,
) -> Features:
    """Features of images that are decoded already, or of some of them, from their central crops if not told else.

    `change` is what is done to crops of (N, S, S, 3) in 0..255 before they are encoded.
    """
    batches = crops_of(pixels, model.torch_encoder.device, images, draws)
    if change is not None:
        batches = (change(crops.float()).round().clamp(0, 255).byte() for crops in batches)
    features = []
    with (progress or Silent()).task("encoding the stream", len(pixels) if images is None else len(images)) as advance:
        for crops in batches:
            features.append(model.encode(crops))
            for _ in range(len(crops)):
                advance()
    return np.concatenate(features)


def crops_of(
    pixels: PixelCache,
    device: torch.device,
    images: Tensor | None = None,
    draws: tuple[float, float, float] = CENTRAL,
) -> Iterator[Tensor]:
    """Crops of images that are decoded already, a batch at a time."""
    for some in torch.split(torch.arange(len(pixels)) if images is None else images, BATCH):
        yield pixels.crops(some, torch.tensor(draws).expand(len(some), 3), device)


def check_parts(support: LabelledImages, query: LabelledImages) -> None:
    """Refuse a split that nothing can be learned from or scored on."""
    if empty := [name for name, count in zip(support.categories, support.counts(), strict=True) if not count]:
        raise DataError(
            f"{len(empty)} known categories got no support image, such as {empty[0]!r}",
            "use --stratified, which takes half of each category, or leave small categories out",
        )
    if len(support.categories) < 2 or not query.images:
        raise DataError(
            f"{len(support.categories)} known categories and {len(query.images)} images to arrive",
            "at least 2 known categories and 1 image are needed",
        )


def made_of(parts: tuple[LabelledImages, LabelledImages], weights: str | None, orders: int) -> MadeOf:
    """What must be equal for results to be compared."""
    path = Path(weights) if weights else None
    return MadeOf(split_digest(*parts), digest(path)[:16] if path and path.is_file() else None, orders)


def split_digest(support: LabelledImages, query: LabelledImages) -> str:
    """What tells one split of one data set from another."""
    seal = hashlib.sha256()
    for part in (support, query):
        for name, label in zip(part.names, part.labels, strict=True):
            seal.update(f"{name}\t{part.categories[label]}\n".encode())
        seal.update(b"\n")
    return seal.hexdigest()[:16]
