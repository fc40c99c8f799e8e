"""`firstsight categories FILE.db export`: what a register holds, for other programs and other people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from firstsight.cli.console import Json, print_json, say, warn
from firstsight.cli.units import metres


def export(
    context: typer.Context,
    target: Annotated[Path, typer.Argument(help="The file or folder to make.", metavar="OUT")],
    format: Annotated[
        str | None,
        typer.Option(help="csv, json, parquet, xlsx, dwc, camtrap or folder; by OUT's name if not given."),
    ] = None,
    how: Annotated[str, typer.Option(help="For image files: copy, link or hardlink them.")] = "copy",
    round_places: Annotated[
        str | None, typer.Option(help="Give places no more precisely than this, and say so.", metavar="10km")
    ] = None,
    no_metadata: Annotated[
        bool, typer.Option("--no-metadata", help="No time, place or camera, and none in copies of files.")
    ] = False,
    sites: Annotated[
        Path | None,
        typer.Option(help="Where cameras stood: folder,latitude,longitude.", metavar="FILE.csv"),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what an export made before.")] = False,
    as_json: Json = False,
) -> None:
    """Write a table (CSV, JSON, Parquet, xlsx), Darwin Core, Camtrap DP, or a folder per category."""
    size = None if round_places is None else metres(round_places, "--round-places")
    from firstsight.exports.export import export as write
    from firstsight.exports.records import Options
    from firstsight.exports.sites import read_sites
    from firstsight.store.store import Store

    known = {} if sites is None else read_sites(sites)
    options = Options(how, overwrite, size, not no_metadata, known)
    file, _, trust = context.obj
    with Store.open(file, write=False, trust=trust) as store:
        made = write(store.view(), target, format, options)
    for what in made.missing:
        warn(f"skipped: {what}")
    say(f" {made.count} images in {target}")
    for note in made.notes:
        say(f" {note}")
    if as_json:
        print_json({"out": str(target), "images": made.count, "missing": made.missing, "notes": made.notes})
    if made.missing:
        raise typer.Exit(1)
