"""`firstsight serve`: a model and a register over HTTP, with pages to look at them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from firstsight.cli.console import Device, Json, Quiet, Verbose, configure, say
from firstsight.cli.options import ModelName, Trust
from firstsight.core.errors import SettingsError

Host = Annotated[str, typer.Option(help="Where to listen; beyond this machine only with --tokens.")]
Port = Annotated[int, typer.Option(help="The port; 0 for any that is free.", min=0, max=65_535)]


def serve(
    model: ModelName,
    register: Annotated[
        str,
        typer.Option(help="Keep what is discovered in this file, and go on from what it holds.", metavar="FILE.db"),
    ],
    host: Host = "127.0.0.1",
    port: Port = 8000,
    name: Annotated[
        list[str] | None, typer.Option(help="Another name by which people reach it.", metavar="NAME")
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(help="Who may come in: lines of NAME read|edit|serve TOKEN.", metavar="FILE"),
    ] = None,
    advertise: Annotated[
        str, typer.Option(help="Where other services of the same register reach it.", metavar="ADDRESS")
    ] = "",
    watch: Annotated[
        Path | None, typer.Option(help="Answer what comes into this folder, too.", metavar="FOLDER")
    ] = None,
    no_store_images: Annotated[
        bool, typer.Option("--no-store-images", help="Keep no pictures beside the register, only features.")
    ] = False,
    no_metadata: Annotated[
        bool, typer.Option("--no-metadata", help="Keep no time, place or camera of an image.")
    ] = False,
    trust: Trust = False,
    device: Device = "auto",
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Answer images over HTTP, and show everything in a browser, until interrupted."""
    configure(quiet, verbose)
    if watch is not None and not watch.is_dir():
        raise SettingsError(f"--watch {watch} is no folder")
    try:
        from firstsight.serve.run import serve as run
        from firstsight.serve.settings import ServeSettings
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"serving needs {error.name}, which is not installed", "pip install 'firstsight[serve]'"
        ) from None
    from firstsight.model.folder import load_model

    settings = ServeSettings(
        host=host,
        port=port,
        names=tuple(name or ()),
        tokens=tokens,
        advertise=advertise,
        watch=watch,
        store_images=not no_store_images,
        metadata=not no_metadata,
    )

    def started(address: str) -> None:
        say(f" serving {register} at {address}; Ctrl-C ends that")
        if as_json:
            print(json.dumps({"address": address, "register": register}), flush=True)

    run(lambda: load_model(model, device, trust=trust), register, settings, started)
