"""`firstsight encode`: features in bulk, here or on a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from firstsight.cli.arriving import named
from firstsight.cli.console import Bars, Device, Json, Quiet, Verbose, configure, print_json, say
from firstsight.cli.options import ModelName, Trust
from firstsight.core.errors import SettingsError

ENGINES = ("here", "ray")


def encode(
    model: ModelName,
    sources: Annotated[
        list[str],
        typer.Argument(help="Folders, packs, files, addresses such as s3://...; - for a list.", metavar="SOURCE..."),
    ],
    out: Annotated[Path, typer.Option(help="The folder of parts to make, or to go on with.", metavar="DIR")],
    engine: Annotated[str, typer.Option(help="here, or ray: on a cluster, or a local one.")] = "here",
    address: Annotated[str | None, typer.Option(help="With --engine ray: the cluster's address.")] = None,
    workers: Annotated[int | None, typer.Option(help="With --engine ray: how many workers.", min=1)] = None,
    part: Annotated[int, typer.Option(help="Images in a part.", min=1, max=1_000_000)] = 1_000,
    exact: Annotated[
        bool, typer.Option("--exact", help="The same bits for an image whatever comes with it; fp32, slower.")
    ] = False,
    trust: Trust = False,
    device: Device = "auto",
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Make features of many images, in parts that are kept as they are done; run again, it goes on."""
    configure(quiet, verbose)
    if engine not in ENGINES:
        raise SettingsError(f"--engine is {engine!r}; allowed: {', '.join(ENGINES)}")
    if engine != "ray" and (address or workers):
        raise SettingsError("--address and --workers are for --engine ray")
    from firstsight.data.remote import is_address
    from firstsight.model.folder import load_model
    from firstsight.scale.encoding import encode_here, listed

    local = named([Path(each) for each in sources if not is_address(each)])
    images = listed([*local, *(each for each in sources if is_address(each))])
    trained = load_model(model, device, exact, trust)
    if engine == "ray":
        from firstsight.scale.cluster import encode_by_ray

        made = encode_by_ray(model, trained, images, out, part, Bars(), address, workers, trust)
    else:
        made = encode_here(trained, images, out, part, Bars())
    there = f", {len(images) - made:,} were there" if made < len(images) else ""
    say(f" {made:,} of {len(images):,} images encoded into {out}{there}")
    say(f" Next:  firstsight discover {model} {out} --register FILE.db")
    if as_json:
        print_json({"out": str(out), "encoded": made, "images": len(images)})
