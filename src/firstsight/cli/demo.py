"""`firstsight demo`: the whole of it in two minutes, on drawn moths, without a network."""

from __future__ import annotations

import time
from collections import Counter
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.live import Live
from rich.table import Table

from firstsight.cli.console import (
    Bars,
    Device,
    Json,
    Quiet,
    Verbose,
    configure,
    err,
    on_terminal,
    out,
    print_json,
    say,
    shown,
)
from firstsight.cli.evaluate import table
from firstsight.core.errors import DataError
from firstsight.core.files import write_file

if TYPE_CHECKING:
    from firstsight.core.protocols import Features
    from firstsight.evaluate.stream import Answered, Evaluation
    from firstsight.model.model import Model

SPECIES, SUPPORT, STREAM = 24, 20, 10  # species in the guide, support images per known one, stream images per species
SEED = 0
NAME = "firstsight-demo"  # the folder, unless another is named
SETTINGS: dict[str, Any] = {"backbone": "efficientnet-lite2"}
BATCH = 8


def demo(
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="A new folder for images, model and report; with --serve, one that is there goes on.",
            metavar="DIR",
        ),
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Let the moths arrive in a service, and watch in a browser.")
    ] = False,
    port: Annotated[int, typer.Option(help="The port with --serve; 0 for any that is free.", min=0, max=65_535)] = 8000,
    device: Device = "auto",
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Draw moths, learn 12 species, stream 24, and write a page that shows what was found; or serve them."""
    configure(quiet, verbose)
    if serve:
        from firstsight.cli.demo_serving import serve_demo

        return serve_demo(folder or Path(NAME), port, device)
    result = run_demo(folder or _free_name(NAME), device, show=not as_json)
    if as_json:
        print_json(result.as_json())
    return None


def run_demo(folder: Path, device: str, show: bool = True) -> Evaluation:
    """The demo, from drawing to the page; what it measured on the way."""
    began = time.monotonic()
    if folder.exists():
        raise DataError(f"{folder} exists already", "name a new folder with --out")
    draw(folder)
    from firstsight.cli.fit import describe
    from firstsight.evaluate.stream import score
    from firstsight.pages.report import report_page
    from firstsight.train.fitting import fit

    model = fit(folder / "support", folder / "model", device=device, progress=Bars(), **SETTINGS)
    describe(model, folder / "model")
    stream, features = _stream(model, folder / "stream")
    in_order = sorted(range(len(stream)), key=lambda i: str(stream[i].image))
    result = score(model, features[in_order], [stream[i].truth for i in in_order])
    if show:
        out.print(table(result))
    page = folder / "report.html"
    write_file(page, report_page(result, stream, model.names, made_by(model)))
    say(f" {time.monotonic() - began:.0f} s in all. Open {page} to see what was found.")
    say(f" Next:  firstsight discover {folder / 'model'} {folder / 'stream'}")
    return result


def made_by(model: Model) -> list[str]:
    """How the model was made and came out, in sentences."""
    settings = model.settings
    return [f"Made by {settings.method} with {settings.backbone}.", *(f"{line}." for line in model.report["lines"])]


def draw(folder: Path) -> None:
    """Support images of the known species, and a stream of all species."""
    from firstsight.data.synthetic import known_and_new, species, write_folder

    guide = species(SPECIES, SEED)
    known, _ = known_and_new(guide)
    with Bars().task("drawing moths", len(known) * SUPPORT + len(guide) * STREAM) as advance:
        write_folder(folder / "support", known, range(SUPPORT), seed=SEED, progress=advance)
        write_folder(folder / "stream", guide, range(SUPPORT, SUPPORT + STREAM), seed=SEED, progress=advance)


def _stream(model: Model, folder: Path) -> tuple[list[Answered], Features]:
    """Show the images one after another, in random order, and what is made of each."""
    import numpy as np

    from firstsight.data.folder import read_folder
    from firstsight.evaluate.stream import Answered

    data = read_folder(folder)
    order = np.random.default_rng(SEED).permutation(len(data.images))
    register = model.register()
    stream: list[Answered] = []
    parts: list[Features] = []
    began = time.monotonic()
    with Live(console=err, refresh_per_second=8, transient=True) as live:
        for start in range(0, len(order), BATCH):
            indices = order[start : start + BATCH]
            parts.append(model.encode([model.prepare(data.images[i]) for i in indices]))
            for i, answer in zip(indices, register.assign_many(model.transform(parts[-1])), strict=True):
                stream.append(Answered(data.images[i], data.categories[data.labels[i]], answer))
            if on_terminal(err) and not shown.quiet:
                live.update(_so_far(stream, len(order)))
    say(f" streaming: {len(stream)} in {time.monotonic() - began:.1f} s")
    return stream, np.concatenate(parts)


def _so_far(stream: list[Answered], total: int) -> Table:
    """The latest answers and the tally."""
    tally = Counter("new" if each.answer.is_new else "known" for each in stream)
    born = sum(each.answer.created for each in stream)
    grid = Table(
        "shows",
        "answer",
        "",
        "sure",
        title=f"{len(stream)}/{total} images, {tally['known']} known, {tally['new']} in {born} new categories",
        title_justify="left",
    )
    for each in stream[-12:]:
        mark = "registered now" if each.answer.created else "new" if each.answer.is_new else "known"
        sure = "" if each.answer.confidence is None else f"{each.answer.confidence:.0%}"
        grid.add_row(each.truth, each.answer.category, mark, sure)
    return grid


def _free_name(name: str) -> Path:
    """The name, or the name with the first number that is free."""
    candidates = (Path(name if number == 1 else f"{name}-{number}") for number in count(1))
    return next(path for path in candidates if not path.exists())
