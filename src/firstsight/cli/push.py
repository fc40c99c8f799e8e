"""`firstsight push`: a model on the hub, for others."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from firstsight.cli import completion
from firstsight.cli.console import Json, Quiet, Verbose, configure, print_json, say
from firstsight.core.errors import DataError


def push(
    model: Annotated[
        Path, typer.Argument(help="A model folder made by fit.", metavar="MODEL", autocompletion=completion.models)
    ],
    name: Annotated[str, typer.Argument(help="What to call it on the hub.", metavar="OWNER/NAME")],
    private: Annotated[bool, typer.Option("--private", help="A new repository is for its owner only.")] = False,
    licence: Annotated[
        str | None, typer.Option(help="Its licence, as the hub calls it; that of the weights if not given.")
    ] = None,
    evaluation: Annotated[
        Path | None, typer.Option(help="Figures for the card, as `evaluate --json` wrote them.", metavar="FILE.json")
    ] = None,
    no_thumbnails: Annotated[
        bool, typer.Option("--no-thumbnails", help="Leave out the small copies of support images.")
    ] = False,
    message: Annotated[str, typer.Option(help="What is new, for the history there.")] = "",
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Publish a model on the hub with a card; others then name it OWNER/NAME wherever a model is taken.

    Sign in first, with `hf auth login` or HF_TOKEN.
    """
    configure(quiet, verbose)
    from firstsight.model.publish import push as publish

    given = None if evaluation is None else _read(evaluation)
    made = publish(
        model,
        name,
        private=private,
        licence=licence,
        evaluation=given,
        thumbnails=not no_thumbnails,
        message=message,
    )
    if as_json:
        return print_json(asdict(made))
    say(f" {len(made.files)} files, {made.bytes / 1e6:.1f} MB, licence {made.licence}, at {made.address}")
    if made.thumbnails:
        say(f" {made.thumbnails} thumbnails of support images are among them (--no-thumbnails leaves them out)")
    print(f"{made.repository}@{made.commit}")
    say(f" Next:  firstsight discover {made.repository} PHOTOS")
    return None


def _read(path: Path) -> dict[str, object]:
    from firstsight.core.files import read_json

    try:
        content = read_json(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError:
        raise DataError(f"{path} is no JSON", "make it with: firstsight evaluate MODEL FOLDER --json") from None
    if not isinstance(content, dict):
        raise DataError(f"{path} is no evaluation", "make it with: firstsight evaluate MODEL FOLDER --json")
    return content
