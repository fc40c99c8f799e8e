"""Keeping: what leaves a register, what checks it, and what follows files and models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from firstsight.cli.categories.shared import By, Json, app, done, reading, writing
from firstsight.cli.console import Bars, Device, print_json, say, warn
from firstsight.cli.lazy import lazy
from firstsight.cli.options import ModelName, Trust

if TYPE_CHECKING:
    from firstsight.store import relocate as moved
else:
    moved = lazy("firstsight.store.relocate")

NAMED = 10  # files named one by one


@app.command()
def backup(
    context: typer.Context,
    target: Annotated[str, typer.Argument(help="The copy to make, a file or postgresql://...", metavar="COPY.db")],
    as_json: Json = False,
) -> None:
    """Copy the register as it is now, also while it is being written, and check the copy."""
    with reading(context) as store:
        store.back_up(target, Bars())
        last = store.view().last
    say(f" {target} holds everything up to now")
    if as_json:
        print_json({"backup": target, "events": last})


@app.command()
def verify(context: typer.Context, as_json: Json = False) -> None:
    """Check every event of the register; opening it checks only the latest."""
    with reading(context) as store:
        store.verify(Bars())
        last = store.view().last
    say(f" {context.obj[0]} is sound: {last} events, each as it was written")
    if as_json:
        print_json({"register": str(context.obj[0]), "events": last, "sound": True})


@app.command()
def reencode(
    context: typer.Context,
    model: ModelName,
    target: Annotated[Path, typer.Argument(help="The register to make.", metavar="NEW.db")],
    trust: Trust = False,
    device: Device = "auto",
    by: By = None,
    as_json: Json = False,
) -> None:
    """Make the same register for another model: same ids, images and edits, encoded anew."""
    from firstsight.model.folder import load_model
    from firstsight.store.reencode import reencode as make

    with reading(context) as store:
        made = make(store, load_model(model, device, trust=trust), target, Bars(), by)
    for category, name in made.joined:
        say(f" {category} is part of {name!r} now, which the new model knows")
    say(f" {made.events} events in {target}.  Next:  firstsight discover {model} IMAGES --register {target}")
    if as_json:
        joined = [{"category": category, "into": name} for category, name in made.joined]
        print_json({"register": str(target), "events": made.events, "joined": joined})


@app.command()
def relocate(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="Where the files are now, however deep.", metavar="FOLDER")],
    by: By = None,
    as_json: Json = False,
) -> None:
    """Find the files of images that were moved or renamed, by their content."""
    with writing(context) as store:
        search = moved.find(store.view(), folder, Bars())
        if search.found:
            done(store, [store.relocate(search.found, by)])
    if as_json:
        print_json({"found": search.found, "missing": list(map(str, search.missing))})
    if not search.found and not search.missing:
        say(" every file is where it was")
        return
    say(f" {len(search.found)} images found below {folder}")
    for source in search.missing[:NAMED]:
        warn(f"still missing: {source}")
    if len(search.missing) > NAMED:
        warn(f"and {len(search.missing) - NAMED} more")
    if search.missing:
        raise typer.Exit(1)
