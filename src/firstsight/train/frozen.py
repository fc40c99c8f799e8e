"""Fitting with the encoder of an exported model: images are encoded once, the decision is fitted. Loads no torch."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from firstsight.core.errors import SettingsError
from firstsight.core.protocols import Progress, Silent, SupportFeatures
from firstsight.core.settings import ImageSettings
from firstsight.core.threads import one_thread
from firstsight.data.folder import check_support
from firstsight.data.source import read_images
from firstsight.encode.many import encode_many
from firstsight.methods.catalogue import decision_of
from firstsight.model.examples import choose
from firstsight.model.folder import load_model, save_model
from firstsight.model.model import Model
from firstsight.train.features import fit_decision
from firstsight.train.fitting import check_place

SEEN = ("backbone", "image_size", "second_look")  # settings that the encoder was made with


def fit_exported(
    folder: Path, out: Path | None, settings: ImageSettings, device: str, thumbnails: bool, progress: Progress | None
) -> Model:
    """Fit a method that trains nothing on the features of an exported encoder; save to `out` where one is named."""
    began, progress = time.monotonic(), progress or Silent()
    given = load_model(Path(str(settings.weights)), device)
    encoder = given.image_encoder
    _check(settings, given.settings)
    data = read_images(folder)
    warnings = check_support(data, folder)
    for warning in warnings:
        progress.note(warning)
    check_place(out, folder)
    features = encode_many(encoder, data.images, progress)
    labels = np.asarray(data.labels, dtype=np.int64)
    support = SupportFeatures(features, labels, tuple(data.categories), progress=progress)
    model = replace(fit_decision(support, settings), encoder=encoder)
    with one_thread():
        likeness, categories = model.decision.similarity, len(support.names)
        model.examples = choose(features, labels, categories, likeness, settings.prototypes, None)
    if thumbnails:
        model.examples = model.examples.with_pictures(data.images.__getitem__)
    model.report["lines"] += warnings
    model.report["seconds"] = round(time.monotonic() - began, 3)
    if out is not None:
        save_model(model, out)
    return model


def _check(settings: ImageSettings, made_with: Any) -> None:
    """SettingsError where the settings ask for something else than the exported encoder is, or for training."""
    if decision_of(settings.method).settings_type is not type(settings):
        raise SettingsError(
            f"{settings.method} trains an encoder, and {settings.weights} was exported, which cannot be",
            "use firstsight or ncm, or weights for torch",
        )
    if getattr(settings, "adapt", "never") == "always":
        raise SettingsError(f"adapt is 'always', and {settings.weights} was exported: it cannot learn any more")
    for name in SEEN:
        asked, is_so = getattr(settings, name, None), getattr(made_with, name, None)
        if asked != is_so:
            raise SettingsError(
                f"{name} is {asked}, and {settings.weights} was made with {is_so}",
                f"say so with --{name.replace('_', '-')} {is_so}",
            )
