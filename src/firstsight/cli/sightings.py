"""`firstsight categories FILE.db days`, `places`, `forget`: when and where images were taken, and their removal."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from firstsight.cli import completion
from firstsight.cli.console import Grid, Json, print_json, print_table, say, warn
from firstsight.cli.units import metres

if TYPE_CHECKING:
    from firstsight.store.sightings import Count
    from firstsight.store.store import Store

NAMED = 10  # images named one by one

Only = Annotated[
    str | None,
    typer.Option(
        "--category",
        help="Only the images of this category.",
        metavar="CATEGORY",
        autocompletion=completion.categories,
    ),
]


def days(context: typer.Context, category: Only = None, as_json: Json = False) -> None:
    """How many images of each category were taken on each day."""
    from firstsight.store.sightings import by_day

    with _reading(context) as store:
        found, unknown = by_day(store.view(), category)
    _print(found, "day", as_json)
    if unknown:
        say(f" {unknown} of {_all(found, unknown)} images do not say when they were taken")


def places(
    context: typer.Context,
    within: Annotated[str, typer.Option(help="How large a square counts as one place.", metavar="1km")] = "1km",
    category: Only = None,
    as_json: Json = False,
) -> None:
    """How many images of each category were taken at each place."""
    from firstsight.store.sightings import by_place

    size = metres(within, "--within")
    with _reading(context) as store:
        found, unknown = by_place(store.view(), size, category)
    _print(found, "place", as_json)
    if unknown:
        say(f" {unknown} of {_all(found, unknown)} images do not say where they were taken")


def forget(
    context: typer.Context,
    images: Annotated[list[str], typer.Argument(help="Images by number, or by file.", metavar="IMAGES...")],
    as_json: Json = False,
) -> None:
    """Remove for good where images came from, their content, time, place and camera; it cannot be undone."""
    from firstsight.store.forget import of_the_same_file
    from firstsight.store.store import Store
    from firstsight.store.views import describe, image_numbers

    file, wait, trust = context.obj
    with Store.open(file, wait=wait, trust=trust) as store:
        numbers = image_numbers(store.view(), images, empty=True)
        others = of_the_same_file(store.view(), set(numbers))
        mark = store.forget(numbers)
    say(f" event {mark.number}: {describe(mark.event)}" if mark else " they were forgotten already")
    if others:
        some = " ".join(map(str, others[:NAMED])) + (" ..." if len(others) > NAMED else "")
        warn(f" other images are of the same file.  Next:  firstsight categories {quote(str(file))} forget {some}")
    say(f" your own files, backups and exports of {Path(file).name} are as they were: remove those yourself")
    if as_json:
        print_json({"event": mark.number if mark else None, "images": numbers, "of_the_same_file": list(others)})


def _reading(context: typer.Context) -> Store:
    from firstsight.store.store import Store

    file, _, trust = context.obj
    return Store.open(file, write=False, trust=trust)


def _all(found: list[Count], unknown: int) -> int:
    return sum(each.images for each in found if each.category) + unknown


def _print(found: list[Count], what: str, as_json: bool) -> None:
    if as_json:
        rows = [each._asdict() for each in found]
        return print_json([{what: row.pop("where"), **row} for row in rows])
    grid = Grid(what, "category")
    grid.add_column("images", justify="right")
    before = None
    for each in found:
        grid.add_row("" if each.where == before else each.where, each.name, each.images)
        before = each.where
    print_table(grid)
    return None
