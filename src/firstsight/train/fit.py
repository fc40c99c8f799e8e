"""`fit`: from a folder of labelled images to a trained, saved model, with a report of how it came out."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import Any

import torch
from torch import nn

from firstsight.core.errors import ModelError, SettingsError
from firstsight.core.files import digest
from firstsight.core.protocols import Progress, Silent
from firstsight.core.settings import Settings
from firstsight.core.threads import one_thread
from firstsight.data.folder import LabelledImages, check_support
from firstsight.data.source import read_images
from firstsight.encode.devices import pick_device
from firstsight.methods.catalogue import named
from firstsight.model.examples import choose
from firstsight.model.folder import is_model, load_model, save_model, settings_of
from firstsight.model.model import Category, Model
from firstsight.train.checkpoint import Checkpoint
from firstsight.train.loop import Means, train
from firstsight.train.pixels import PixelCache
from firstsight.train.support import Stems, Support


def fit(
    folder: Path | str,
    out: Path | str | None = None,
    settings: Settings | None = None,
    *,
    device: str = "auto",
    resume: bool = False,
    checkpoint_every: float = 30.0,
    thumbnails: bool = True,
    progress: Progress | None = None,
    **changes: Any,
) -> Model:
    """Train on FOLDER/<category>/<image>, or on a pack; save to `out` where one is named.

    `changes` are settings by name on top of `settings`. A run that was killed goes on with `resume`; on a CPU it
    ends with the weights an uninterrupted run would have. `checkpoint_every` is in seconds. With `thumbnails`, small
    copies of some support images are kept with the model, for explaining its answers.
    """
    settings = named(Settings.of({**(settings or Settings()).as_dict(), **changes}))
    out = Path(out).absolute() if out is not None else None
    progress = progress or Silent()
    data = read_images(folder)
    warnings = check_support(data, folder)
    for warning in warnings:
        progress.note(warning)
    checkpoint = Checkpoint(out and out.with_name(out.name + ".training"), _run(settings, data), checkpoint_every)
    if out is not None and resume and is_model(out):
        return _finished(out, device, settings, data, checkpoint)
    _check_place(out, Path(folder), checkpoint, resume)
    with checkpoint.held():
        model = untrained(settings, data, device)
        support = Support(data.labels, PixelCache(data.images, model.preprocess, progress), model, progress)
        _train(model, support, checkpoint, warnings, progress)
        if thumbnails and model.examples is not None:
            model.examples = model.examples.with_pictures(support.pixels.__getitem__)
        if out is not None:
            save_model(model, out, "".join(checkpoint.rows).encode())
            checkpoint.remove()
    return model


def fit_images(
    data: LabelledImages,
    settings: Settings,
    device: str = "auto",
    progress: Progress | None = None,
    pixels: PixelCache | None = None,
    stems: Stems | None = None,
) -> Model:
    """Train on images at hand, without a checkpoint and without saving; pixels and stems can be another run's."""
    progress = progress or Silent()
    model = untrained(settings, data, device)
    pixels = PixelCache(data.images, model.preprocess, progress) if pixels is None else pixels
    if pixels.preprocess != model.preprocess:
        raise SettingsError(f"{settings.method} looks at images otherwise than the others", "run it by itself")
    support = Support(data.labels, pixels, model, progress, stems)
    _train(model, support, Checkpoint(None, {}, 0), [], progress)
    return model


def _train(model: Model, support: Support, checkpoint: Checkpoint, warnings: list[str], progress: Progress) -> None:
    """Train, let the network keep what its register needs of the support set, and say how it came out."""
    began = time.monotonic()
    if model.network.learns:
        with progress.task("training", model.settings.epochs) as advance:

            def on_epoch(epoch: int, means: Means) -> None:
                checkpoint.record({"epoch": epoch + 1, "seconds": round(time.monotonic() - began, 3), **means})
                advance()

            train(model.network, support, checkpoint, on_epoch)
    network = model.network.eval()
    read = [[model.in_parts(part, stem) for part in (network.rows, network.features)] for stem in support.central()]
    rows, features = (torch.cat(part).float() for part in zip(*read, strict=True))
    with torch.no_grad(), one_thread():
        network.finish(rows, support.labels)
        model.examples = choose(network, features, support.labels)
        report = network.report(rows.cpu().numpy(), support.labels.cpu().numpy())
    report["lines"] += warnings
    model.report = report | {"seconds": round(time.monotonic() - began, 3)}


def untrained(settings: Settings, data: LabelledImages, device: str) -> Model:
    """The model training starts from: pretrained backbone, seeded heads and prototypes."""
    categories = [Category(name, count) for name, count in zip(data.categories, data.counts(), strict=True)]
    where = pick_device(device)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        model = Model.assemble(settings, categories, where, blank=False)
    if settings.cache_trunk and model.network.learns and isinstance(model.trunk, nn.Identity):
        raise SettingsError(
            f"cache_trunk: {settings.backbone} cannot be cut into a trunk and a tail",
            "train without --cache-trunk, or freeze the backbone with --train-stages 0",
        )
    return model


def _run(settings: Settings, data: LabelledImages) -> dict[str, Any]:
    """What makes two runs the same run: the settings, the weights' content, the images' places and sizes."""
    listing = hashlib.sha256()
    for name, image in zip(data.names, data.images, strict=True):
        size = image.stat().st_size if isinstance(image, Path) and image.exists() else "elsewhere"
        listing.update(f"{name}:{size}\n".encode())
    weights = Path(settings.weights) if settings.weights else None
    return {
        **settings.as_dict(),
        "the support set": listing.hexdigest()[:12],
        "the weights' content": digest(weights)[:12] if weights and weights.is_file() else None,
    }


def _finished(out: Path, device: str, settings: Settings, data: LabelledImages, checkpoint: Checkpoint) -> Model:
    """The model a run to be resumed has made already, if it is the run asked for."""
    other = ModelError(f"{out} is finished, and was made with other settings or categories", "choose another --out")
    if settings_of(out) != settings:
        raise other
    model = load_model(out, device, trust=True)  # its method was named just now
    if model.names != list(data.categories):
        raise other
    checkpoint.remove()  # a run killed after saving leaves it behind
    return model


def _check_place(out: Path | None, folder: Path, checkpoint: Checkpoint, resume: bool) -> None:
    if out is None:
        return
    if out.is_relative_to(folder.absolute()):
        raise SettingsError(f"{out} is inside the support set {folder}", "choose a place outside it with --out")
    if out.exists():
        raise ModelError(f"{out} exists already", "choose another name with --out, or remove it first")
    if checkpoint.exists and not resume:
        raise ModelError(
            f"{out} was begun and not finished", f"go on with --resume, or start anew after deleting {out}.training"
        )
