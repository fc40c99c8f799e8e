"""What the verbs of `firstsight categories` share: the group, arguments, and a register opened to look or to write."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from firstsight.cli import completion
from firstsight.cli.console import Json, print_json, say
from firstsight.cli.lazy import lazy

if TYPE_CHECKING:
    from firstsight.store import events, views
    from firstsight.store import store as stores
else:
    events, views, stores = (lazy(f"firstsight.store.{name}") for name in ("events", "views", "store"))

__all__ = [
    "By",
    "CategoryName",
    "Images",
    "Json",
    "app",
    "done",
    "events",
    "reading",
    "start",
    "stores",
    "views",
    "writing",
]


class Verbs(TyperGroup):
    """Verbs after FILE.db; where there is none, options may follow it as they may follow anything else."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.allow_interspersed_args = not any(each in self.commands for each in args)
        return super().parse_args(ctx, args)


app = typer.Typer(cls=Verbs, no_args_is_help=True, rich_markup_mode=None, invoke_without_command=True)

CategoryName = Annotated[
    str,
    typer.Argument(
        help="A category's id or name, whatever its capitals.",
        metavar="CATEGORY",
        autocompletion=completion.categories,
    ),
]
Images = Annotated[list[str], typer.Argument(help="Images by number, or by file.", metavar="IMAGES...")]
By = Annotated[
    str | None, typer.Option("--by", help="Who says so, for the history.", envvar="FIRSTSIGHT_BY", metavar="NAME")
]
SHOWN = 5  # events that are told one by one


def start(context: typer.Context) -> str:
    """How a command on this register begins, to be typed."""
    return f"firstsight categories {quote(str(context.obj[0]))}"


def reading(context: typer.Context) -> stores.Store:
    file, _, trust = context.obj
    return stores.Store.open(file, write=False, trust=trust)


def writing(context: typer.Context) -> stores.Store:
    file, wait, trust = context.obj
    return stores.Store.open(file, wait=wait, trust=trust)


def done(store: stores.Store, made: Sequence[events.Recorded], as_json: bool = False) -> None:
    """Say what was recorded, or print it as JSON; of an undo or redo, also of what."""
    view = store.view()
    for recorded in made:
        what = views.describe(recorded.event)
        if isinstance(recorded.event, events.Undone):
            every = list(views.toggled(view, recorded))
            more = f"; and {len(every) - SHOWN} more" if len(every) > SHOWN else ""
            what = f"{every[0][0]}: {'; '.join(views.describe(event) for _, event in every[:SHOWN])}{more}"
        say(f" event {recorded.number}: {what}")
    if as_json:
        print_json([views.line(view, recorded) for recorded in made])
