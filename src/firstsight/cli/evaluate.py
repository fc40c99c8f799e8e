"""`firstsight evaluate`: how well a model does on a labelled folder, or on labelled features."""

from __future__ import annotations

import json
from functools import partial
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from firstsight.cli.arriving import refuse_label
from firstsight.cli.console import Bars, Device, Grid, Quiet, Verbose, configure, out, say
from firstsight.cli.options import Label, MatchRule, ModelName, Radius, Trust, check_rule
from firstsight.cli.pages import check_new
from firstsight.core.files import write_file
from firstsight.core.packages import need

if TYPE_CHECKING:
    from firstsight.evaluate.stream import Evaluation


def evaluate(
    model: ModelName,
    folder: Annotated[
        Path,
        typer.Argument(
            help="Labelled images, one folder per category, or a pack; or labelled features: .npz, .parquet, .csv.",
            metavar="DIR",
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a table, image by image.")] = False,
    page: Annotated[
        Path | None,
        typer.Option(help="A new file for a page: every category, and pictures that went wrong.", metavar="FILE.html"),
    ] = None,
    radius: Radius = None,
    rule: MatchRule = None,
    label: Label = None,
    trust: Trust = False,
    device: Device = "auto",
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Score a model on labelled images: All/Old/New accuracy, and the row that never discovers anything.

    Folders named like a known category count as Old, all others as New.
    """
    configure(quiet, verbose)
    need("evaluating", "scipy", "sklearn")  # before the work of encoding
    check_new(page, (".html",))
    refuse_label(label, [folder])
    from firstsight.data.feature_files import is_feature_file, read_features
    from firstsight.data.images import ImageLike
    from firstsight.data.source import read_images
    from firstsight.evaluate.stream import evaluate as score
    from firstsight.evaluate.stream import score as score_features
    from firstsight.model.folder import load_model
    from firstsight.pages.evaluation import evaluation_page

    rule = check_rule(rule)
    bars = Bars()
    if is_feature_file(folder):
        held = read_features(folder, label)
        truth, images = held.truth, list[ImageLike](held.features)
        trained = load_model(model, device, trust=trust)
        start = partial(trained.register, radius, rule)
        start()  # a wrong radius is refused before the work
        result = score_features(trained, held.features, truth, start, names=held.names, progress=bars)
    else:
        data, trained = read_images(folder), load_model(model, device, trust=trust)
        trained.image_encoder  # noqa: B018 - a model of features is refused once, not at every image
        for text in data.left_out:
            bars.note(text)
        result = score(trained, data, bars, radius, rule)
        truth, images = tuple(data.categories[label] for label in data.labels), list(data.images)
    if page is not None:
        write_file(page, evaluation_page(result, images, truth, bars))
        say(f" wrote {page}")
    if as_json:
        print(json.dumps(result.as_json(), indent=2, allow_nan=False))
    else:
        out.print(table(result))


def table(result: Evaluation) -> Grid:
    """All/Old/New in per cent with the deviation over orders, the categories found, and what accuracy does not say."""
    title = f"{result.images} images of {result.true_categories} categories, {result.known_images} of known ones"
    grid = Grid("order", title=title, title_justify="left", padding=(0, 1, 0, 0))
    told = "k-means sees the whole stream at once and is told how many categories there are"
    grid.caption = f"{told}\n{estimated(result)}"
    grid.caption_justify = "left"
    for column in ("All", "Old", "New", "found", "named", "births", "NMI", "ARI"):
        grid.add_column(column, justify="right")
    for row in result.rows:
        grid.add_row(
            row.name.removeprefix("offline "),
            *(cell.replace(" ± ", "±") for cell in row.cells()),
            f"{row.categories:.1f}".removesuffix(".0"),
            *row.more(),
        )
    return grid


def estimated(result: Evaluation) -> str:
    """How many categories there are by the register's own account, with those known that did not come."""
    row = result.rows[0]
    interval = "" if isnan(row.estimate_low) else f" (90 %: {row.estimate_low:.0f} to {row.estimate_high:.0f})"
    return f"by its own account, in random orders, there are about {row.estimate:.0f} categories{interval}"
