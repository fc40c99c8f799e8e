"""Teaching: labelled photographs for known or new categories, without fitting anew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from firstsight.cli.categories.shared import By, Json, app, events, start, views, writing
from firstsight.cli.console import Device, print_json, say, warn
from firstsight.cli.options import ModelName, Trust


@app.command()
def teach(
    context: typer.Context,
    model: ModelName,
    folder: Annotated[Path, typer.Argument(help="Labelled images, as FOLDER/<category>/...", metavar="FOLDER")],
    no_metadata: Annotated[
        bool, typer.Option("--no-metadata", help="Keep no time, place or camera of an image.")
    ] = False,
    by: By = None,
    trust: Trust = False,
    device: Device = "auto",
    as_json: Json = False,
) -> None:
    """Add labelled images to known or new categories, without fitting anew; all or none."""
    from firstsight.data.folder import read_folder
    from firstsight.discoverer import Discoverer
    from firstsight.model.folder import load_model

    given = read_folder(folder)
    with writing(context) as store:
        before = store.view().last
        discoverer = Discoverer(load_model(model, device, trust=trust), store=store, metadata=not no_metadata)
        answers = discoverer.teach(given.images, [given.categories[label] for label in given.labels], by)
        view = store.view()
        made = list(view.events(before))
        told = [views.line(view, each) for each in made]
    for what in given.left_out:
        warn(f" warning: {what}")
    founded = [each.event.name for each in made if isinstance(each.event, events.Founded)]
    new = [name for name in founded if name in given.categories]
    names = {answer.name or answer.category for answer in answers}
    count = "1 category" if len(names) == 1 else f"{len(names)} categories"
    say(f" {len(answers)} images taught to {count}" + (f"; new: {', '.join(new)}" if new else ""))
    if made:
        say(f" Undo:  {start(context)} undo {made[0].number}")
    if as_json:
        print_json({"images": len(answers), "categories": sorted(names), "new": new, "events": told})
