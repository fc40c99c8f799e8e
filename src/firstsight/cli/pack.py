"""`firstsight pack`: a data set as one file that moves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from firstsight.cli.console import Bars, Json, Quiet, Verbose, configure, print_json, say
from firstsight.core.errors import DataError, SettingsError


def pack(
    source: Annotated[Path, typer.Argument(help="A folder per category, or a benchmark's download.", metavar="DIR")],
    target: Annotated[Path, typer.Argument(help="The pack to make; its index lies beside it.", metavar="OUT.tar")],
    data: Annotated[
        str | None, typer.Option(help="Which benchmark the download is; else a folder per category.")
    ] = None,
    classes: Annotated[
        Path | None, typer.Option(help="Only the categories in this file, one per line, in its order.", metavar="FILE")
    ] = None,
    side: Annotated[int, typer.Option(help="The shorter side of larger images, in pixels.", min=16, max=4096)] = 256,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Make one tar and a JSON index of a data set, with images resized; fit, evaluate and discover read it directly."""
    configure(quiet, verbose)
    from firstsight.data.benchmarks import FOLDER, open_data
    from firstsight.data.pack import write_pack

    if target.suffix != ".tar":
        raise SettingsError(f"{target} does not end in .tar")
    for path in (target, target.with_suffix(".json")):
        if path.exists():
            raise DataError(f"{path} exists already", "name a new file")
    bars = Bars()
    images = open_data(data or FOLDER.name, source, classes)[1]
    for text in images.left_out:
        bars.note(text)
    write_pack(images, target, side, bars)
    size, counts = target.stat().st_size, {"images": len(images.images), "categories": len(images.categories)}
    say(f" {counts['images']:,} images of {counts['categories']} categories in {target} ({size / 1e6:.0f} MB)")
    say(f" Next:  firstsight fit {target} --out MODEL")
    if as_json:
        print_json({"pack": str(target), **counts, "bytes": size})
