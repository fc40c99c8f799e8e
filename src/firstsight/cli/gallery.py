"""`firstsight gallery` and `firstsight categories FILE.db gallery`: what a model learned, and what a register found."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from firstsight.cli.console import Bars, Device, Json, Quiet, Verbose, configure, print_json, say
from firstsight.cli.options import Below, ModelName, Trust
from firstsight.cli.pages import check_new
from firstsight.core.files import write_file

Page = Annotated[Path, typer.Option(help="A new file for the page.", metavar="FILE.html")]


def gallery(
    model: ModelName,
    out: Page,
    trust: Trust = False,
    device: Device = "auto",
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Write a page of all prototypes of every category, and point out duplicates and those that are never needed."""
    configure(quiet, verbose)
    check_new(out, (".html",))
    from firstsight.model.folder import load_model
    from firstsight.pages.gallery import as_page

    page, summary = as_page(load_model(model, device, trust=trust), model.name)
    write_file(out, page)
    say(f" {summary}")
    say(f" wrote {out}")
    if as_json:
        print_json({"page": str(out), "bytes": len(page), "summary": summary})


def found(
    context: typer.Context,
    out: Page,
    model: Annotated[
        Path | None, typer.Option(help="Its model, to show what known categories were taught by.", metavar="MODEL")
    ] = None,
    below: Below = 0.5,
    device: Device = "auto",
    as_json: Json = False,
) -> None:
    """Write a page of every category with its images, what it is near, what is unsure, and what to merge or split."""
    check_new(out, (".html",))
    from firstsight.evidence.overview import overview
    from firstsight.model.folder import load_model
    from firstsight.pages.found import found_page
    from firstsight.store.store import Store

    file, _, trust = context.obj
    began = time.monotonic()
    with Store.open(file, write=False, trust=trust) as store:
        trained = None if model is None else load_model(model, device, trust=trust)
        if trained is not None:
            store.check_model(trained.provenance)
        everything = overview(store.view(), below)
    page = found_page(everything, trained, Bars())
    write_file(out, page)
    images = sum(each.summary.images for each in everything.categories)
    size = f"{len(page) / 1e6:.1f} MB"
    say(f" {images} images in {len(everything.categories)} categories: {size} in {time.monotonic() - began:.0f} s")
    say(f" wrote {out}")
    if as_json:
        print_json({"page": str(out), "bytes": len(page), "images": images, "categories": len(everything.categories)})
