"""From labelled images to a fitted model by torch, with a report of how it came out. (`fitting` has `fit`.)"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from firstsight.core.errors import ModelError, SettingsError
from firstsight.core.files import digest
from firstsight.core.progress import Watcher, watched_by
from firstsight.core.protocols import Features, Progress, Silent, SupportFeatures
from firstsight.core.settings import ImageSettings
from firstsight.core.threads import one_thread
from firstsight.data.folder import LabelledImages, check_support
from firstsight.data.images import crop
from firstsight.data.source import read_images
from firstsight.encode.conversion import for_device
from firstsight.encode.devices import pick_device
from firstsight.encode.encoder import TorchEncoder
from firstsight.methods.firstsight.crossfit import FEWEST
from firstsight.model.assemble import assemble
from firstsight.model.encoder_files import AnyEncoder
from firstsight.model.examples import Examples, choose
from firstsight.model.folder import is_model, load_model, save_model, settings_of
from firstsight.model.model import Model
from firstsight.train.adapt import STRENGTHS, Adaptation, adapt, views_to_train
from firstsight.train.checkpoint import Checkpoint
from firstsight.train.features import fit_decision
from firstsight.train.fitting import check_place
from firstsight.train.loop import Means, train
from firstsight.train.pixels import PixelCache, pixels_of
from firstsight.train.processes import check_same, first, joined, same
from firstsight.train.repair import repair
from firstsight.train.support import STORED, Stems, Support
from firstsight.train.track import Untracked, tracking

TRAINING_COST = (
    1.5  # of a view, in encodings of an image: backwards takes twice as long as forwards, and one looks twice
)


def fit_folder(
    folder: Path,
    out: Path | None,
    chosen: ImageSettings,
    *,
    device: str,
    resume: bool,
    checkpoint_every: float,
    thumbnails: bool,
    track: Path | str | None,
    progress: Watcher,
) -> Model:
    """What `train.fitting.fit` says, where torch makes the encoder."""
    with joined(device) as own:
        progress = watched_by(progress) if first() else Silent()
        data = read_images(folder)
        warnings = check_support(data, folder)
        for warning in warnings:
            progress.note(warning)
        check_same(run := _run(chosen, data))
        place = out if first() else None  # one process reads and writes there
        checkpoint = Checkpoint(place and place.with_name(place.name + ".training"), run, checkpoint_every)
        if out is not None and same(lambda: resume and is_model(out)):
            return _finished(out, own, chosen, data, checkpoint)
        _check_place(place, folder, checkpoint, resume)
        with checkpoint.held(), tracking(track if first() else None) as tracker:
            encoder = untrained(chosen, data, own)
            graph = None if encoder.learner.learns else for_device(encoder, own)
            support = Support(data.labels, pixels_of(data.images, encoder.preprocess, progress), encoder, progress)
            model = _train(chosen, data, support, checkpoint, progress, tracker, graph)
            model.encoder = graph if model.encoder is encoder and graph else for_device(model.torch_encoder, own)
            model.report["lines"] += warnings
            if thumbnails and model.examples is not None:
                model.examples = model.examples.with_pictures(support.pixels.__getitem__)
            if place is not None:
                save_model(model, place, "".join(checkpoint.lines).encode())
                checkpoint.remove()
            tracker.finished(model)
        return model


def fit_images(
    data: LabelledImages,
    settings: ImageSettings,
    device: str = "auto",
    progress: Progress | None = None,
    pixels: PixelCache | None = None,
    stems: Stems | None = None,
) -> Model:
    """Train on images at hand, without a checkpoint and without saving; pixels and stems can be another run's."""
    progress = progress or Silent()
    encoder = untrained(settings, data, device)
    pixels = PixelCache(data.images, encoder.preprocess, progress) if pixels is None else pixels
    if pixels.preprocess != encoder.preprocess:
        raise SettingsError(f"{settings.method} looks at images otherwise than the others", "run it by itself")
    support = Support(data.labels, pixels, encoder, progress, stems)
    return _train(settings, data, support, Checkpoint(None, {}, 0), progress)


def _train(
    settings: ImageSettings,
    data: LabelledImages,
    support: Support,
    checkpoint: Checkpoint,
    progress: Progress,
    tracker: Untracked | None = None,
    graph: AnyEncoder | None = None,
) -> Model:
    """Train the encoder, encode the support set, fit the decision on it, and say how it came out.

    `graph` is the encoder as it will answer, where nothing trains it.
    """
    began, encoder = time.monotonic(), support.encoder
    if encoder.learner.learns:
        with progress.task("training", support.settings.epochs) as advance:

            def on_epoch(epoch: int, means: Means) -> None:
                checkpoint.record({"epoch": epoch + 1, "seconds": round(time.monotonic() - began, 3), **means})
                if tracker is not None:
                    tracker.epoch(epoch, means, encoder.learner)
                advance()

            train(encoder.learner, support, checkpoint, on_epoch)
    started = time.monotonic()
    found, shown = support_features(support, data.categories, progress, graph)
    given = torch.from_numpy(found.features).to(encoder.device)
    if repaired := repair(encoder.learner, support, given, progress):
        found, shown = support_features(support, data.categories, progress)
    adaptation = _adapted(settings, support, found, time.monotonic() - started, progress)
    if adaptation is not None and adaptation.strength:
        encoder = adaptation.encoder
        again = Support(data.labels, support.pixels, encoder, progress)
        made, shown = support_features(again, data.categories, progress)
        found = replace(made, held_out=adaptation.held_out)
    model = replace(fit_decision(found, settings), encoder=encoder)
    model.examples = _examples(model, found, shown)
    model.report["lines"] += repaired
    if adaptation is not None:
        model.report["lines"].append(adaptation.line())
        model.report |= adaptation.report()
    model.report["seconds"] = round(time.monotonic() - began, 3)
    return model


def _adapted(
    settings: ImageSettings, support: Support, found: SupportFeatures, seconds: float, progress: Progress
) -> Adaptation | None:
    """How far the backbone learned, where it was to try; `seconds` is what encoding the support set once took."""
    wanted, categories = getattr(settings, "adapt", "never"), len(found.names)
    if wanted == "never":
        return None
    if wanted == "auto":
        if support.encoder.device.type != "cuda":
            minutes = views_to_train(1) * seconds * TRAINING_COST / 60
            progress.note(
                f"the backbone stays as it came: to adapt it would take some {minutes:,.0f} min without a GPU "
                "(--adapt always does it, --adapt never asks for the same on every machine)"
            )
            return None
        if categories < FEWEST:
            return None
    strengths = STRENGTHS if wanted == "auto" else STRENGTHS[1:]
    return adapt(support.encoder, support.pixels, found.labels, found.features, settings.seed, progress, strengths)


@torch.no_grad()
def support_features(
    support: Support, names: Sequence[str], progress: Progress, graph: AnyEncoder | None = None
) -> tuple[SupportFeatures, Tensor | None]:
    """What the encoder makes of every support image, and what of it explains its answers, if that is something else."""
    if graph is not None:
        labels, made = support.labels.cpu().numpy(), _by_graph(graph, support.pixels, progress)
        return SupportFeatures(made, labels, tuple(names), progress=progress), None
    encoder = support.encoder
    learner = encoder.learner.eval()
    features, shown = [], []
    with progress.task("encoding", len(support)) as advance:
        for stem in support.central():
            features.append(encoder.in_parts(learner.features, stem).float())
            if learner.own_measure:
                shown.append(encoder.in_parts(learner.shown, stem).float())
            for _ in range(len(stem)):
                advance()
    centres = learner.centres()
    found = SupportFeatures(
        features=torch.cat(features).cpu().numpy(),
        labels=support.labels.cpu().numpy(),
        names=tuple(names),
        centres=None if centres is None else centres.cpu().numpy(),
        progress=progress,
    )
    return found, torch.cat(shown) if shown else None


def _by_graph(graph: AnyEncoder, pixels: PixelCache, progress: Progress) -> Features:
    """The features of central crops, as they will be made when the model answers."""
    size, parts = graph.preprocess.crop, list[Features]()
    with progress.task("encoding", len(pixels)) as advance:
        for first in range(0, len(pixels), STORED):
            some = [crop(pixels[i], size) for i in range(first, min(first + STORED, len(pixels)))]
            parts.append(graph.encode(some))
            for _ in some:
                advance()
    return np.concatenate(parts)


@torch.no_grad()
@one_thread()
def _examples(model: Model, support: SupportFeatures, shown: Tensor | None) -> Examples:
    """The support images that stand for what was learned: by the learner's measure, or by the decision's."""
    learner, each = model.torch_encoder.learner, model.settings.prototypes
    if shown is None:
        return choose(support.features, support.labels, len(support.names), model.decision.similarity, each, None)

    def likeness(images: Any, points: Any) -> Any:
        images, points = (torch.from_numpy(part).to(shown.device) for part in (images, points))
        return learner.similarity(images, points).cpu().numpy()

    prototypes = learner.prototypes()
    points = None if prototypes is None else prototypes.detach().cpu().numpy()
    return choose(shown.cpu().numpy(), support.labels, len(support.names), likeness, each, points)


def untrained(settings: ImageSettings, data: LabelledImages, device: str) -> TorchEncoder:
    """The encoder training starts from: pretrained backbone, seeded heads and prototypes."""
    where = pick_device(device)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        encoder = assemble(settings, len(data.categories), where, blank=False)
    if encoder.learner.learns and encoder.learner.settings.cache_trunk and isinstance(encoder.trunk, nn.Identity):
        raise SettingsError(
            f"cache_trunk: {settings.backbone} cannot be cut into a trunk and a tail",
            "train without --cache-trunk, or freeze the backbone with --train-stages 0",
        )
    return encoder


def _run(settings: ImageSettings, data: LabelledImages) -> dict[str, Any]:
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


def _finished(out: Path, device: str, settings: ImageSettings, data: LabelledImages, checkpoint: Checkpoint) -> Model:
    """The model a run to be resumed has made already, if it is the run asked for."""
    other = ModelError(f"{out} is finished, and was made with other settings or categories", "choose another --out")
    if settings_of(out) != settings.as_dict():
        raise other
    model = load_model(out, device, trust=True)  # its method was named just now
    if model.names != list(data.categories):
        raise other
    checkpoint.remove()  # a run killed after saving leaves it behind
    return model


def _check_place(out: Path | None, folder: Path, checkpoint: Checkpoint, resume: bool) -> None:
    check_place(out, folder)
    if out is not None and checkpoint.exists and not resume:
        raise ModelError(
            f"{out} was begun and not finished", f"go on with --resume, or start anew after deleting {out}.training"
        )
