"""`firstsight categories FILE.db`: look at what was discovered, and correct it. A file per group of verbs."""

from __future__ import annotations

from typing import Annotated

import typer

from firstsight.cli import completion, gallery
from firstsight.cli.categories import correcting, keeping, looking, proposing, taking_back, teaching
from firstsight.cli.categories.shared import app
from firstsight.cli.console import Json, Quiet, Verbose, Wait, configure
from firstsight.cli.export import export
from firstsight.cli.options import Trust
from firstsight.cli.sightings import days, forget, places
from firstsight.core.errors import SettingsError

__all__ = ["app", "correcting", "keeping", "looking", "proposing", "taking_back", "teaching"]


@app.callback()
def categories(
    context: typer.Context,
    file: Annotated[
        str,
        typer.Argument(
            help="A register: a file, or postgresql://...", metavar="FILE.db", autocompletion=completion.registers
        ),
    ],
    wait: Wait = 0.0,
    trust: Trust = False,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """List what a register holds; with a command after FILE.db, look closer or correct it."""
    configure(quiet, verbose)
    context.obj = (file, wait, trust)
    if context.invoked_subcommand is None:
        looking.list_(context, as_json)
    elif as_json:
        raise SettingsError("--json belongs to the command", f"say: {context.invoked_subcommand} ... --json")


app.command(name="gallery")(gallery.found)
for verb in (export, days, places, forget):
    app.command()(verb)
