"""`firstsight fit`: train on labelled folders, or on features that somebody has already."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firstsight.cli.arriving import refuse_label
from firstsight.cli.console import Bars, Device, Json, Quiet, Verbose, a_number, configure, print_json, say
from firstsight.cli.options import Label, Trust, with_settings
from firstsight.core.errors import SettingsError
from firstsight.methods.settings import resolve

ABOUT_IMAGES = ("backbone", "weights", "image_size", "second_look", "adapt")

if TYPE_CHECKING:
    from firstsight.core.settings import Settings
    from firstsight.model.model import Model


@with_settings()
def fit(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Labelled images, one folder per category; or labelled features: .npz, .parquet, .csv.", metavar="DIR"
        ),
    ],
    out: Annotated[Path, typer.Option(help="Where the model folder will be.", metavar="MODEL")],
    given: dict[str, Any],
    preset: Annotated[str | None, typer.Option(help="default (ours) or paper (the recipe as printed).")] = None,
    config: Annotated[
        Path | None, typer.Option(help="Settings in a TOML file, by the names below.", metavar="FILE")
    ] = None,
    label: Label = None,
    trust: Trust = False,
    device: Device = "auto",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was interrupted.")] = False,
    checkpoint_every: Annotated[
        float,
        typer.Option(
            help="Seconds between checkpoints, taken at the end of an epoch; 0 is every epoch.",
            min=0,
            callback=a_number,
        ),
    ] = 30.0,
    no_thumbnails: Annotated[
        bool, typer.Option("--no-thumbnails", help="Keep no pictures of support images in the model folder.")
    ] = False,
    track: Annotated[
        Path | None, typer.Option(help="Write the run for TensorBoard to this folder, too.", metavar="DIR")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Fit a model to labelled images: DIR/<category>/<image>; or to features, in a file with their labels.

    The settings below are those of the method; `fit --method NAME --help` shows another one's.
    """
    configure(quiet, verbose)
    from firstsight.data.feature_files import is_feature_file

    refuse_label(label, [folder])
    settings = resolve(given, preset, config, trust=trust)
    if verbose:
        for name, value in settings.as_dict().items():
            say(f" {name} = {value}")
    if is_feature_file(folder):
        refuse_image_settings(folder, given)
        model = fit_file(folder, label, out, settings)
        if as_json:
            print_json(told(model, out))
        return
    from firstsight.train.fitting import fit as train

    model = train(
        folder,
        out,
        settings,
        device=device,
        resume=resume,
        checkpoint_every=checkpoint_every,
        thumbnails=not no_thumbnails,
        track=track,
        progress=Bars(),
    )
    describe(model, out)
    if track is not None:
        say(f" Look:  tensorboard --logdir {track}")
    say(f" Next:  firstsight discover {out} PHOTOS")
    if as_json:
        print_json(told(model, out))


def told(model: Model, out: Path) -> dict[str, Any]:
    """The same as an object."""
    settings = model.settings.as_dict()
    return {"model": str(out), "categories": model.names, "settings": settings, "report": model.report}


def fit_file(file: Path, label: str | None, out: Path, settings: Settings) -> Model:
    """Fit a model to the features of a file."""
    from firstsight.data.feature_files import read_features
    from firstsight.train.features import fit_features

    began = time.monotonic()
    held = read_features(file, label)
    model = fit_features(held.features, held.truth, out, settings, progress=Bars())
    describe(model, out, time.monotonic() - began)
    say(f" Next:  firstsight discover {out} FEATURES{file.suffix}")
    return model


def refuse_image_settings(file: Path, given: dict[str, Any]) -> None:
    if about := [name for name in given if name in ABOUT_IMAGES]:
        flag = f"--{about[0].replace('_', '-')}"
        raise SettingsError(f"{flag} is about images, and {file} holds features", "leave it out")


def describe(model: Model, out: Path, seconds: float | None = None) -> None:
    """How it came out, in a few lines."""
    s = model.settings
    images = sum(category.support for category in model.categories)
    what = f"features of {model.decision.width} values" if model.encoder is None else "images"
    sees = "" if model.encoder is None else f" with {s.backbone}"
    say(f" {len(model.categories)} categories, {images} {what}, {s.method}{sees}")
    for line in model.report["lines"]:
        say(f" {line}")
    if model.examples is not None and model.examples.pictures:
        count = len(model.examples.pictures)
        say(f" thumbnails of {count} images are in the folder, to explain answers with (--no-thumbnails keeps none)")
    megabytes = sum(file.stat().st_size for file in out.iterdir()) / 1e6
    say(f" saved {out} ({megabytes:.0f} MB) after {seconds or model.report['seconds']:.0f} s")
