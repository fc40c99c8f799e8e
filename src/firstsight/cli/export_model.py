"""`firstsight export`: a model for machines without torch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from firstsight.cli.console import Json, Quiet, Verbose, configure, print_json, say
from firstsight.cli.options import Trust
from firstsight.core.errors import SettingsError

if TYPE_CHECKING:
    from firstsight.encode.graph import Precision


def export(
    model: Annotated[Path, typer.Argument(help="A model folder made by fit.", metavar="MODEL")],
    out: Annotated[Path, typer.Option(help="Where the exported model folder will be.", metavar="DIR")],
    precision: Annotated[
        str, typer.Option(help="fp32, which answers as torch does; bf16 or int8, faster and a little worse.")
    ] = "fp32",
    support: Annotated[
        Path | None, typer.Option(help="For int8: the folder or pack it was fitted on.", metavar="DIR")
    ] = None,
    trust: Trust = False,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Write a model for machines without torch: its encoder as ONNX and OpenVINO IR, answering as before.

    It is a whole model folder: discover, explain, serve and evaluate take it like any other.
    """
    configure(quiet, verbose)
    if (support is not None) != (precision == "int8"):
        raise SettingsError("--support DIR belongs to --precision int8, which is made with its images")
    from firstsight.data.source import read_images
    from firstsight.model.export import export_model
    from firstsight.model.folder import load_model

    images = () if support is None else read_images(support).images
    made = export_model(load_model(model, "torch", trust=trust), out, cast("Precision", precision), images)
    megabytes = sum(file.stat().st_size for file in out.iterdir()) / 1e6
    say(f" {precision}; features within {made.apart:.1e} of torch's" + (f", {made.images} images" * bool(images)))
    say(f" saved {out} ({megabytes:.0f} MB)")
    say(f" Next, also where only firstsight-core is installed:  firstsight discover {out} PHOTOS")
    if as_json:
        print_json({"model": str(out), "precision": precision, "apart": made.apart, "megabytes": megabytes})
