"""Taking back, bringing back, and what happened."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from firstsight.cli import completion
from firstsight.cli.categories.shared import By, Json, app, done, reading, views, writing
from firstsight.cli.cells import event_numbers, who
from firstsight.cli.console import Grid, print_json, print_table

if TYPE_CHECKING:
    from firstsight.store.draft import Draft

EventNumber = Annotated[int | None, typer.Argument(help="An event's number; the last one if not given.", min=1)]


@app.command()
def undo(
    context: typer.Context,
    events: Annotated[
        list[str] | None,
        typer.Argument(help="Event numbers, or ranges of them such as 120-180.", metavar="[EVENTS]..."),
    ] = None,
    with_followers: Annotated[
        bool, typer.Option("--with-followers", help="Take back later events that depend on them, too.")
    ] = False,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Take back events, each with its whole command, or the last command; refused where later events depend on one."""
    with writing(context) as store:
        wanted = event_numbers(events or [], store.view().last)

        def take_back(draft: Draft) -> None:
            meant = [number for number in wanted if len(wanted) == 1 or draft.can_be_undone(number)]
            if meant or not events:
                draft.undo(*meant, followers=with_followers)

        done(store, store.edit(take_back, by), as_json)


@app.command()
def redo(context: typer.Context, event: EventNumber = None, by: By = None, as_json: Json = False) -> None:
    """Bring back what was undone."""
    with writing(context) as store:
        done(store, [store.redo(event, by)], as_json)


@app.command()
def history(
    context: typer.Context,
    category: Annotated[
        str | None, typer.Option(help="Only events about this category.", autocompletion=completion.categories)
    ] = None,
    image: Annotated[int | None, typer.Option(help="Only events about this image.")] = None,
    limit: Annotated[int, typer.Option(help="How many, the latest.", min=1, max=1_000_000)] = 50,
    as_json: Json = False,
) -> None:
    """What happened, the latest last, with the numbers undo and redo take."""
    with reading(context) as store:
        view = store.view()
        id = None if category is None else view.category(category).id
        newest = (e for e in view.newest() if views.touches(e, id, image))
        lines = [{**views.line(view, e), "undone": view.is_undone(e.number)} for e in islice(newest, limit)][::-1]
    if as_json:
        return print_json(lines)
    grid = Grid("event", "when", "", "what", "by", "")
    for line in lines:
        said = [line[name] for name in ("event", "time", "kind", "what")]
        grid.add_row(*said, who(line), "undone" if line["undone"] else "")
    print_table(grid)
    return None
