"""Proposing: what may be the same, what may be two, and what would be answered otherwise by now."""

from __future__ import annotations

from dataclasses import asdict
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Column

from firstsight.cli.categories.shared import Json, app, done, reading, start, views, writing
from firstsight.cli.cells import from_here, measured
from firstsight.cli.console import Bars, Grid, print_json, print_table, say
from firstsight.cli.lazy import lazy

if TYPE_CHECKING:
    from firstsight.store import reconsider, splits, suggest
else:
    reconsider, splits, suggest = (lazy(f"firstsight.store.{name}") for name in ("reconsider", "splits", "suggest"))


@app.command(name="suggest")
def suggest_(
    context: typer.Context,
    limit: Annotated[int, typer.Option(help="How many pairs at most.", min=1, max=1_000_000)] = 20,
    as_json: Json = False,
) -> None:
    """Pairs of categories that may be the same, the likeliest first, with the reason."""
    with reading(context) as store:
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
    first, into = (quote(part) for part in (found[0].category, found[0].into))
    say(f" Look:  {start(context)} show {first}")
    say(f" Do:    {start(context)} merge {first} --into {into}")
    return None


@app.command(name="splits")
def splits_(
    context: typer.Context,
    limit: Annotated[int, typer.Option(help="How many categories at most.", min=1, max=1_000_000)] = 20,
    as_json: Json = False,
) -> None:
    """Categories worth a look, as they may hold two things, with the reason; what lies farthest apart first."""
    with reading(context) as store:
        view = store.view()
        found = splits.suggest_splits(view, limit)
    if as_json:
        return print_json([asdict(each) for each in found])
    if not found:
        say(" no category seems to hold two things")
        return None
    grid = Grid("category", "split off", "leave", "because")
    for each in found:
        parts = (f"{len(part)}: {', '.join(map(str, part[:4]))}" for part in (each.images, each.rest))
        grid.add_row(views.label(view, each.category), *parts, each.reason)
    print_table(grid)
    if (sure := found[0].rehearsed) is not None:
        say(f" How sure: {sure.in_words}")
    first = quote(found[0].category)
    say(f" Look:  {start(context)} show {first}")
    say(f" Do:    {start(context)} split --auto {first}")
    return None


@app.command(name="reconsider")
def reconsider_(
    context: typer.Context,
    limit: Annotated[int, typer.Option(help="How many images at most.", min=1, max=1_000_000)] = 20,
    apply: Annotated[bool, typer.Option("--apply", help="Move those that are listed.")] = False,
    as_json: Json = False,
) -> None:
    """Images that would be answered otherwise by now, the surest first; not those someone placed or confirmed."""
    with writing(context) if apply else reading(context) as store:
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
            done(store, made)
            say(f" Undo:  {start(context)} undo {made[0].number}")
        else:
            say(f" Do:    {start(context)} reconsider --limit {len(every)} --apply")
