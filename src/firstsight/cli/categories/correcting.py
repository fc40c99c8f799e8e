"""Correcting: what people say of categories and images. Each command is one undo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from firstsight.cli import completion
from firstsight.cli.categories.shared import (
    By,
    CategoryName,
    Images,
    Json,
    app,
    done,
    events,
    start,
    stores,
    views,
    writing,
)
from firstsight.cli.console import say
from firstsight.cli.lazy import lazy
from firstsight.core.errors import Conflict, SettingsError

if TYPE_CHECKING:
    from firstsight.store import splits
else:
    splits = lazy("firstsight.store.splits")

SomeImages = Annotated[list[str] | None, typer.Argument(help="Images by number, or by file.", metavar="[IMAGES]...")]


@app.command()
def rename(
    context: typer.Context,
    category: CategoryName,
    name: Annotated[str, typer.Argument()],
    by: By = None,
    as_json: Json = False,
) -> None:
    """Give a category a name; its id stays and keeps working."""
    with writing(context) as store:
        done(store, [store.rename(category, name, by)], as_json)


@app.command()
def promote(
    context: typer.Context,
    category: CategoryName,
    name: Annotated[str | None, typer.Option(help="What to call it; the name it has if not given.")] = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Make a discovered category a known one, without fitting anew: it keeps all it has learned."""
    with writing(context) as store:
        done(store, store.edit(lambda draft: draft.promote(category, name), by), as_json)


@app.command()
def merge(
    context: typer.Context,
    sources: Annotated[
        list[str],
        typer.Argument(help="Categories by id or name.", metavar="CATEGORIES...", autocompletion=completion.categories),
    ],
    into: Annotated[
        str,
        typer.Option(
            help="The category they become part of.", metavar="CATEGORY", autocompletion=completion.categories
        ),
    ],
    by: By = None,
    as_json: Json = False,
) -> None:
    """Make categories part of another; whatever matches them from now on goes there."""
    with writing(context) as store:
        meant = dict.fromkeys(store.view().category(each).id for each in sources)
        made = store.edit(lambda draft: [draft.merge(each, into) for each in meant], by)
        done(store, made, as_json)


@app.command()
def split(
    context: typer.Context,
    images: SomeImages = None,
    auto: Annotated[
        str | None,
        typer.Option(
            "--auto",
            help="Split this one in two, as splits proposes.",
            metavar="CATEGORY",
            autocompletion=completion.categories,
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="What to call the new category.")] = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Give images a new category of their own, with its own centre."""
    if (auto is None) == (not images):
        raise SettingsError("name images to split off, or --auto CATEGORY", "one of the two")
    with writing(context) as store:
        numbers = views.image_numbers(store.view(), images or []) if auto is None else _proposed(context, store, auto)
        recorded = store.split(numbers, name, by)
        done(store, [recorded], as_json)
        assert isinstance(recorded.event, events.Split)
        view = store.view()
        for rival in () if view.register.learns else views.rivals(view, recorded.event):  # which weighs, not counts
            called = views.label(view, rival)
            say(f" {called} has the same centre: images at it go to {recorded.event.category} from now on")


def _proposed(context: typer.Context, store: stores.Store, category: str) -> list[int]:
    """The images to split off from a category that holds two things."""
    found = splits.suggest_splits(store.view(), 1, category)
    if not found:
        called = views.label(store.view(), store.view().category(category).id)
        raise Conflict(f"{called} does not seem to hold two things", f"name the images: {start(context)} split IMAGES")
    say(f" {len(found[0].images)} of {len(found[0].images) + len(found[0].rest)} images: {found[0].reason}")
    if (sure := found[0].rehearsed) is not None:
        say(f" {sure.in_words}")
    return list(found[0].images)


@app.command()
def move(
    context: typer.Context,
    images: Images,
    to: Annotated[str, typer.Option(help="Where to.", metavar="CATEGORY", autocompletion=completion.categories)],
    by: By = None,
    as_json: Json = False,
) -> None:
    """Put images into a category; they stay there, and the same image offered again follows."""
    with writing(context) as store:
        done(store, [store.move(views.image_numbers(store.view(), images), to, by)], as_json)


@app.command()
def confirm(context: typer.Context, images: Images, by: By = None, as_json: Json = False) -> None:
    """Say that images are where they belong."""
    with writing(context) as store:
        done(store, [store.confirm(views.image_numbers(store.view(), images), by)], as_json)


@app.command()
def discard(
    context: typer.Context,
    images: SomeImages = None,
    category: Annotated[
        str | None,
        typer.Option(help="A discovered category, with all its images.", autocompletion=completion.categories),
    ] = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Say that images are of nothing: they leave, teach nothing, and are recognised when they come again."""
    if (category is None) == (not images):
        raise SettingsError("name images to discard, or --category CATEGORY", "one of the two")
    with writing(context) as store:
        if category is not None:
            made = store.discard_category(category, by)
        else:
            made = store.discard(views.image_numbers(store.view(), images or []), by)
        done(store, [made], as_json)


@app.command(context_settings={"ignore_unknown_options": True})  # -3 is a number
def radius(
    context: typer.Context,
    value: Annotated[
        float,
        typer.Argument(help="In bits, as a distance, or as log odds: below 0 splits, above merges.", metavar="RADIUS"),
    ],
    by: By = None,
    as_json: Json = False,
) -> None:
    """Set how far categories reach, for the images to come."""
    with writing(context) as store:
        done(store, [store.change_radius(int(value) if value.is_integer() else value, by)], as_json)
