"""`firstsight fit`: train on labelled folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firstsight.cli.console import Bars, Device, Quiet, Verbose, a_number, configure, say
from firstsight.cli.options import Trust, with_settings
from firstsight.methods.settings import resolve

if TYPE_CHECKING:
    from firstsight.model.model import Model


@with_settings()
def fit(
    folder: Annotated[Path, typer.Argument(help="Labelled images: one folder per category.", metavar="DIR")],
    out: Annotated[Path, typer.Option(help="Where the model folder will be.", metavar="MODEL")],
    given: dict[str, Any],
    preset: Annotated[str | None, typer.Option(help="default (ours) or paper (the recipe as printed).")] = None,
    config: Annotated[
        Path | None, typer.Option(help="Settings in a TOML file, by the names below.", metavar="FILE")
    ] = None,
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
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Fit a model to labelled images: DIR/<category>/<image>.

    The settings below are those of the method; `fit --method NAME --help` shows another one's.
    """
    configure(quiet, verbose)
    settings = resolve(given, preset, config, trust=trust)
    from firstsight.train.fitting import fit as train

    if verbose:
        for name, value in settings.as_dict().items():
            say(f" {name} = {value}")
    model = train(
        folder,
        out,
        settings,
        device=device,
        resume=resume,
        checkpoint_every=checkpoint_every,
        thumbnails=not no_thumbnails,
        progress=Bars(),
    )
    describe(model, out)
    say(f" Next:  firstsight discover {out} PHOTOS")


def describe(model: Model, out: Path) -> None:
    """How it came out, in a few lines."""
    s = model.settings
    images = sum(category.support for category in model.categories)
    say(f" {len(model.categories)} categories, {images} images, {s.method} with {s.backbone}")
    for line in model.report["lines"]:
        say(f" {line}")
    if model.examples is not None and model.examples.pictures:
        count = len(model.examples.pictures)
        say(f" thumbnails of {count} images are in the folder, to explain answers with (--no-thumbnails keeps none)")
    megabytes = sum(file.stat().st_size for file in out.iterdir()) / 1e6
    say(f" saved {out} ({megabytes:.0f} MB) after {model.report['seconds']:.0f} s")
