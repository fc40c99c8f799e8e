"""`firstsight explain`: why an image is what it is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from firstsight._version import __version__
from firstsight.cli.console import Device, Json, Quiet, Verbose, configure, printable, say
from firstsight.cli.options import ModelName, Trust
from firstsight.cli.pages import check_new
from firstsight.core.errors import SettingsError
from firstsight.core.files import write_file

if TYPE_CHECKING:
    from firstsight.evidence.evidence import Evidence
    from firstsight.store.store import Store

FORMATS = (".html", ".json")


def explain(
    model: ModelName,
    image: Annotated[str, typer.Argument(help="An image file, or an image's number in a register.", metavar="IMAGE")],
    other: Annotated[str | None, typer.Argument(help="Another, to be shown beside it.", metavar="IMAGE2")] = None,
    register: Annotated[
        str | None,
        typer.Option(help="Let what was discovered take part; the file is only read.", metavar="FILE.db"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="A new file: a page (.html) or data (.json).", metavar="FILE")
    ] = None,
    trust: Trust = False,
    device: Device = "auto",
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Tell why an image is what it is: what it is most like, which categories are near, where the model looked.

    Of an image that a register holds, the answer it was given is told, and beside it what would be answered today.
    """
    configure(quiet, verbose)
    check_new(out, FORMATS)
    from firstsight.evidence.explain import explain as gather
    from firstsight.model.folder import load_model
    from firstsight.store.store import Store

    with nullcontext() if register is None else Store.open(register, write=False) as store:
        trained = load_model(model, device, trust=trust)
        cases = [gather(trained, meant(store, each), store=store) for each in (image, other) if each is not None]
    if as_json:
        print(drawn(cases, ".json").decode(), end="")
    for case in () if as_json else cases:
        print(f"{printable(case.image)}\t{printable(case.sentence)}")
    if out is not None:
        write_file(out, drawn(cases, out.suffix.lower()))
        say(f" wrote {out}")


def meant(store: Store | None, name: str) -> Path | int:
    """A file or, where there is none of that name, an image of the register by its number or by where it was."""
    if Path(name).exists() or (store is None and not name.isdecimal()):
        return Path(name)
    if store is None:
        raise SettingsError(f"{name} is no file", "an image's number is one of a register: name it with --register")
    from firstsight.store.views import image_numbers

    return image_numbers(store.view(), [name])[-1]


def drawn(cases: Sequence[Evidence], suffix: str) -> bytes:
    """Evidence in the format a file's name asks for."""
    if suffix == ".html":
        from firstsight.pages.explanation import as_html

        return as_html(cases)
    from firstsight.evidence.evidence import FORMAT

    content = {"format": FORMAT, "firstsight": __version__, "images": [case.as_dict() for case in cases]}
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return text.encode(errors="backslashreplace")  # half of a character, in a file's name, becomes JSON's own escape
