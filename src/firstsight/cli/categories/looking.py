"""Looking: what a register holds, category by category, what a person should look at, and what was discarded."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Column

from firstsight.cli.categories.shared import CategoryName, Json, app, reading, start, views
from firstsight.cli.cells import from_here, measured, runner_up, who
from firstsight.cli.console import Grid, print_json, print_table, say
from firstsight.cli.lazy import lazy
from firstsight.cli.options import Below

if TYPE_CHECKING:
    from firstsight.store import number as numbers
else:
    numbers = lazy("firstsight.store.number")


@app.command(name="list")
def list_(context: typer.Context, as_json: Json = False) -> None:
    """All categories: id, name, known or new, how many images, how many of them placed by people."""
    with reading(context) as store:
        view = store.view()
        found, number = views.summaries(view), numbers.number_of_categories(view)
        empty, made_with = view.catalogue.empty_frames(), store.made_with
    if as_json:
        listed = [{**asdict(each), "tentative": each.tentative} for each in found]
        about = {"made_with": made_with or None, "number": number.as_json(), "empty_frames": len(empty)}
        return print_json({**about, "categories": listed})
    grid = Grid("id", "name", "")
    for column in ("images", "by people"):
        grid.add_column(column, justify="right")
    grid.add_column("merged into it")
    for each in found:
        kind = "known" if each.known else "tentative" if each.tentative else "new"
        also = ", ".join(each.merged)
        name = each.name if each.name != each.id else ""
        grid.add_row(each.id, name, kind, each.images or "", each.placed or "", also)
    print_table(grid)
    images, new = sum(each.images for each in found), sum(not each.known for each in found)
    guesses = sum(each.tentative for each in found)
    tentative = f" ({guesses} tentative)" if guesses else ""
    as_of = f"radius {view.radius:g}, {view.last} events"
    say(f" {images} images in {len(found)} categories, {new} new{tentative}; {as_of}")
    say(f" estimate of what is there: {number}")
    if made_with:
        say(f" made with {made_with}, from the hub")
    if empty:
        say(f" {len(empty)} empty {'frame' if len(empty) == 1 else 'frames'}")
    return None


@app.command()
def show(context: typer.Context, category: CategoryName, as_json: Json = False) -> None:
    """The images of a category, with how each came there."""
    with reading(context) as store:
        view = store.view()
        found = view.category(category)
        images = list(views.images(view, found.id))
    if as_json:
        return print_json([asdict(image) for image in images])
    measure = "how sure" if view.confident else "distance"
    grid = Grid("image", Column("file", overflow="fold"), measure, "next")
    for image in images:
        near = measured(image) if image.author == "rule" else who(image)
        grid.add_row(image.image, from_here(image.source), near, runner_up(view, image))
    print_table(grid)
    say(f" {found.id}, called {found.name!r}, {'known' if found.known else 'new'}: {len(images)} images")
    return None


@app.command()
def unsure(
    context: typer.Context,
    below: Below = 0.5,
    limit: Annotated[int, typer.Option(help="How many images at most.", min=1, max=1_000_000)] = 20,
    as_json: Json = False,
) -> None:
    """Images a person should look at, the least sure first; not those someone placed or confirmed."""
    with reading(context) as store:
        view = store.view()
        found, silent = views.unsure(view, below, limit)
    if silent:
        say(f" {silent} images do not say how sure their answer was: they were re-encoded")
    if as_json:
        return print_json([asdict(image) for image in found])
    if not found:
        say(f" no answer is less than {below:.0%} sure, of those no person has decided")
        return None
    grid = Grid("image", Column("file", overflow="fold"), "category", "how sure", "next")
    for image in found:
        cells = (image.image, from_here(image.source), image.name, measured(image), runner_up(view, image))
        grid.add_row(*cells)
    print_table(grid)
    say(f" Right:  {start(context)} confirm {found[0].image}")
    say(f" Wrong:  {start(context)} move {found[0].image} --to CATEGORY")
    return None


@app.command()
def discarded(context: typer.Context, as_json: Json = False) -> None:
    """Images that a person discarded, with the event that undo takes to bring them back."""
    with reading(context) as store:
        found = views.discarded(store.view())
    if as_json:
        return print_json([asdict(each) for each in found])
    if not found:
        say(" nothing is discarded")
        return None
    grid = Grid("image", Column("file", overflow="fold"), "was in", "by", "event")
    for each in found:
        grid.add_row(each.image, from_here(each.source), each.category, who(each), each.event)
    print_table(grid)
    say(f" Back:  {start(context)} undo {found[-1].event}")
    return None
