"""`firstsight categories FILE.db`: look at what was discovered, and correct it."""

from __future__ import annotations

from dataclasses import asdict
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Column

from firstsight.cli import gallery
from firstsight.cli.cells import event_numbers, from_here, measured, runner_up
from firstsight.cli.console import (
    Bars,
    Device,
    Grid,
    Quiet,
    Verbose,
    Wait,
    configure,
    print_json,
    print_table,
    say,
)
from firstsight.cli.export import export
from firstsight.cli.lazy import lazy
from firstsight.cli.options import Below, Trust
from firstsight.cli.sightings import days, forget, places

if TYPE_CHECKING:
    from firstsight.store import events, reconsider, suggest, views
    from firstsight.store import number as numbers
    from firstsight.store import store as stores
    from firstsight.store.draft import Draft
else:
    events, numbers, reconsider, suggest, views, stores = (
        lazy(f"firstsight.store.{name}") for name in ("events", "number", "reconsider", "suggest", "views", "store")
    )

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, invoke_without_command=True)

Json = Annotated[bool, typer.Option("--json", help="JSON instead of a table.")]
CategoryName = Annotated[str, typer.Argument(help="A category's id or name.", metavar="CATEGORY")]
Images = Annotated[list[str], typer.Argument(help="Images by number, or by file.", metavar="IMAGES...")]
EventNumber = Annotated[int | None, typer.Argument(help="An event's number; the last one if not given.", min=1)]


@app.callback()
def categories(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A register made by discover --register.", metavar="FILE.db")],
    wait: Wait = 0.0,
    trust: Trust = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """List what a register holds; with a command after FILE.db, look closer or correct it."""
    configure(quiet, verbose)
    context.obj = (file, wait, trust)
    if context.invoked_subcommand is None:
        list_(context)


@app.command(name="list")
def list_(context: typer.Context, as_json: Json = False) -> None:
    """All categories: id, name, known or new, how many images, how many of them placed by people."""
    with _reading(context) as store:
        view = store.view()
        found, number = views.summaries(view), numbers.number_of_categories(view)
    if as_json:
        listed = [{**asdict(each), "tentative": each.tentative} for each in found]
        return print_json({"number": number.as_json(), "categories": listed})
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
    return None


@app.command()
def show(context: typer.Context, category: CategoryName, as_json: Json = False) -> None:
    """The images of a category, with how each came there."""
    with _reading(context) as store:
        view = store.view()
        found = view.category(category)
        images = list(views.images(view, found.id))
    if as_json:
        return print_json([asdict(image) for image in images])
    measure = "distance" if all(image.confidence is None for image in images) else "how sure"
    grid = Grid("image", Column("file", overflow="fold"), measure, "next")
    for image in images:
        near = "a person" if image.by_person else measured(image)
        grid.add_row(image.image, from_here(image.source), near, runner_up(view, image))
    print_table(grid)
    say(f" {found.id}, called {found.name!r}, {'known' if found.known else 'new'}: {len(images)} images")
    return None


@app.command()
def rename(context: typer.Context, category: CategoryName, name: Annotated[str, typer.Argument()]) -> None:
    """Give a category a name; its id stays and keeps working."""
    with _writing(context) as store:
        _done(store.rename(category, name))


@app.command()
def merge(
    context: typer.Context,
    sources: Annotated[list[str], typer.Argument(help="Categories by id or name.", metavar="CATEGORIES...")],
    into: Annotated[str, typer.Option(help="The category they become part of.", metavar="CATEGORY")],
) -> None:
    """Make categories part of another; whatever matches them from now on goes there."""
    with _writing(context) as store:
        meant = dict.fromkeys(store.view().category(each).id for each in sources)
        for recorded in store.edit(lambda draft: [draft.merge(each, into) for each in meant]):
            _done(recorded)


@app.command()
def split(
    context: typer.Context,
    images: Images,
    name: Annotated[str | None, typer.Option(help="What to call the new category.")] = None,
) -> None:
    """Give images a new category of their own, with its own centre."""
    with _writing(context) as store:
        recorded = store.split(views.image_numbers(store.view(), images), name)
        _done(recorded)
        assert isinstance(recorded.event, events.Split)
        view = store.view()
        for rival in () if view.register.learns else views.rivals(view, recorded.event):  # which weighs, not counts
            called = views.label(view, rival)
            say(f" {called} has the same centre: images at it go to {recorded.event.category} from now on")


@app.command()
def move(
    context: typer.Context, images: Images, to: Annotated[str, typer.Option(help="Where to.", metavar="CATEGORY")]
) -> None:
    """Put images into a category; they stay there, and the same image offered again follows."""
    with _writing(context) as store:
        _done(store.move(views.image_numbers(store.view(), images), to))


@app.command()
def confirm(context: typer.Context, images: Images) -> None:
    """Say that images are where they belong."""
    with _writing(context) as store:
        _done(store.confirm(views.image_numbers(store.view(), images)))


@app.command(context_settings={"ignore_unknown_options": True})  # -3 is a number
def radius(
    context: typer.Context,
    value: Annotated[
        float,
        typer.Argument(help="In bits, as a distance, or as log odds: below 0 splits, above merges.", metavar="RADIUS"),
    ],
) -> None:
    """Set how far categories reach, for the images to come."""
    with _writing(context) as store:
        _done(store.change_radius(int(value) if value.is_integer() else value))


@app.command()
def undo(
    context: typer.Context,
    events: Annotated[
        list[str] | None,
        typer.Argument(help="Event numbers, or ranges of them such as 120-180.", metavar="[EVENTS]..."),
    ] = None,
) -> None:
    """Take back events, the latest first, or the last edit; refused where later events depend on one."""
    with _writing(context) as store:
        wanted = event_numbers(events or [], store.view().last)

        def take_back(draft: Draft) -> None:
            for number in wanted:
                if len(wanted) == 1 or draft.can_be_undone(number):
                    draft.undo(number)
            if not events:
                draft.undo()

        for recorded in store.edit(take_back):
            _done(recorded, store)


@app.command()
def redo(context: typer.Context, event: EventNumber = None) -> None:
    """Bring back what was undone."""
    with _writing(context) as store:
        _done(store.redo(event), store)


@app.command()
def history(
    context: typer.Context,
    category: Annotated[str | None, typer.Option(help="Only events about this category.")] = None,
    image: Annotated[int | None, typer.Option(help="Only events about this image.")] = None,
    limit: Annotated[int, typer.Option(help="How many, the latest.", min=1, max=1_000_000)] = 50,
    as_json: Json = False,
) -> None:
    """What happened, the latest last, with the numbers undo and redo take."""
    with _reading(context) as store:
        view = store.view()
        id = None if category is None else view.category(category).id
        newest = (e for e in view.newest() if views.touches(e, id, image))
        lines = [{**views.line(view, e), "undone": view.is_undone(e.number)} for e in islice(newest, limit)][::-1]
    if as_json:
        return print_json(lines)
    grid = Grid("event", "when", "", "what", "")
    for line in lines:
        grid.add_row(*list(line.values())[:-1], "undone" if line["undone"] else "")
    print_table(grid)
    return None


@app.command(name="suggest")
def suggest_(
    context: typer.Context,
    limit: Annotated[int, typer.Option(help="How many pairs at most.", min=1, max=1_000_000)] = 20,
    as_json: Json = False,
) -> None:
    """Pairs of categories that may be the same, the likeliest first, with the reason."""
    file = context.obj[0]
    with _reading(context) as store:
        view = store.view()
        found = suggest.suggest(view, limit)
    if as_json:
        return print_json([asdict(each) for each in found])
    if not found:
        say(" no two categories look the same")
        return None
    grid = Grid("merge", "into", "because")
    for each in found:
        grid.add_row(views.label(view, each.category), views.label(view, each.into), each.reason)
    print_table(grid)
    start, first, into = (quote(str(part)) for part in (file, found[0].category, found[0].into))
    say(f" Look:  firstsight categories {start} show {first}")
    say(f" Do:    firstsight categories {start} merge {first} --into {into}")
    return None


@app.command()
def unsure(
    context: typer.Context,
    below: Below = 0.5,
    limit: Annotated[int, typer.Option(help="How many images at most.", min=1, max=1_000_000)] = 20,
    as_json: Json = False,
) -> None:
    """Images a person should look at, the least sure first; not those someone placed or confirmed."""
    with _reading(context) as store:
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
    start = f"firstsight categories {quote(str(context.obj[0]))}"
    say(f" Right:  {start} confirm {found[0].image}")
    say(f" Wrong:  {start} move {found[0].image} --to CATEGORY")
    return None


@app.command(name="reconsider")
def reconsider_(
    context: typer.Context,
    limit: Annotated[int, typer.Option(help="How many images at most.", min=1, max=1_000_000)] = 20,
    apply: Annotated[bool, typer.Option("--apply", help="Move those that are listed.")] = False,
    as_json: Json = False,
) -> None:
    """Images that would be answered otherwise by now, the surest first; not those someone placed or confirmed."""
    start = f"firstsight categories {quote(str(context.obj[0]))}"
    with _writing(context) if apply else _reading(context) as store:
        view = store.view()
        every = reconsider.reconsider(view, Bars())
        found = every[:limit]
        if as_json:
            print_json([asdict(each) for each in found])
        elif found:
            grid = Grid("image", Column("file", overflow="fold"), "is in", "would be", "")
            for each in found:
                names = (views.label(view, id) for id in (each.category, each.now))
                grid.add_row(each.image, from_here(each.source), *names, measured(each))
            print_table(grid)
        if not found:
            say(" no image would be answered otherwise by now")
            return
        say(f" {len(found)} of {len(every)} that would be answered otherwise by now")
        if apply:
            made = reconsider.apply(store, found)
            for recorded in made:
                _done(recorded)
            say(f" Undo:  {start} undo {made[0].number}-{made[-1].number}")
        else:
            say(f" Do:    {start} reconsider --limit {len(every)} --apply")


app.command(name="gallery")(gallery.found)


@app.command()
def backup(
    context: typer.Context,
    target: Annotated[Path, typer.Argument(help="The copy to make.", metavar="COPY.db")],
) -> None:
    """Copy the register as it is now, also while it is being written, and check the copy."""
    with _reading(context) as store:
        store.back_up(target, Bars())
    say(f" {target} holds everything up to now")


@app.command()
def verify(context: typer.Context) -> None:
    """Check every event of the register; opening it checks only the latest."""
    with _reading(context) as store:
        store.verify(Bars())
        last = store.view().last
    say(f" {context.obj[0]} is sound: {last} events, each as it was written")


@app.command()
def reencode(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(help="The model to go on with.", metavar="MODEL")],
    target: Annotated[Path, typer.Argument(help="The register to make.", metavar="NEW.db")],
    trust: Trust = False,
    device: Device = "auto",
) -> None:
    """Make the same register for another model: same ids, images and edits, encoded anew."""
    from firstsight.model.folder import load_model
    from firstsight.store.reencode import reencode as make

    with _reading(context) as store:
        count = make(store, load_model(model, device, trust=trust), target, Bars())
    say(f" {count} events in {target}.  Next:  firstsight discover {model} IMAGES --register {target}")


for command in (export, days, places, forget):
    app.command()(command)


def _reading(context: typer.Context) -> stores.Store:
    file, _, trust = context.obj
    return stores.Store.open(file, write=False, trust=trust)


def _writing(context: typer.Context) -> stores.Store:
    file, wait, trust = context.obj
    return stores.Store.open(file, wait=wait, trust=trust)


def _done(recorded: events.Recorded, store: stores.Store | None = None) -> None:
    """Say what was recorded; of an undo or redo, also of what."""
    what = views.describe(recorded.event)
    if store is not None:
        what = "; ".join(f"{verb}: {views.describe(event)}" for verb, event in views.toggled(store.view(), recorded))
    say(f" event {recorded.number}: {what}")
