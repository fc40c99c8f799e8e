"""`firstsight discover`: answer images one by one, known or new."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from itertools import tee
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from firstsight.cli.console import Device, Quiet, Verbose, configure, printable, say, warn
from firstsight.cli.options import MatchRule, Radius, check_rule
from firstsight.errors import DataError, ImageError, SettingsError
from firstsight.files import disk_errors
from firstsight.protocols import Assignment


def discover(
    model: Annotated[Path, typer.Argument(help="A model folder made by fit.", metavar="MODEL")],
    images: Annotated[list[Path], typer.Argument(help="Image files, or folders of them.", metavar="IMAGES...")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line instead of text.")] = False,
    save: Annotated[
        Path | None, typer.Option(help="Also write the JSON lines to this new file.", metavar="FILE.jsonl")
    ] = None,
    radius: Radius = None,
    rule: MatchRule = None,
    device: Device = "auto",
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Tell what each image shows: a known category, one discovered earlier in this run, or a new one."""
    configure(quiet, verbose)
    rule = check_rule(rule)
    for source in images:
        if not source.exists():
            raise DataError(f"{source} does not exist")
    from firstsight.data.folder import find_images
    from firstsight.discover.discoverer import Discoverer
    from firstsight.methods.folder import load_model

    trained = load_model(model, device)
    discoverer = Discoverer(trained, trained.register(radius, rule))
    counts: Counter[str] = Counter()
    decided, named = tee(find_images(images))
    with _saving(save) as keep:
        for path, answer in zip(named, discoverer.discover_many(decided, errors="yield"), strict=True):
            line = json.dumps(_fields(path, answer))
            keep(line)
            if isinstance(answer, ImageError):
                counts["bad"] += 1
                warn(f"skipped: {answer.what}")
            else:
                counts["new" if answer.is_new else "known"] += 1
                counts["created"] += answer.created
            if as_json:
                print(line, flush=True)
            elif not isinstance(answer, ImageError):
                print(_text(path, answer), flush=True)
    if not counts:
        raise DataError(f"no images in {', '.join(map(str, images))}")
    bad = f"; {counts['bad']} could not be read" if counts["bad"] else ""
    say(f" {counts['known']} images of known categories, {counts['new']} in {counts['created']} new ones{bad}")
    if bad:
        raise typer.Exit(1)


def _text(path: Path, answer: Assignment) -> str:
    kind = "new, just registered" if answer.created else "new" if answer.is_new else "known"
    near = f"{answer.distance} bits away, radius {answer.radius}" if answer.distance is not None else "the first"
    other = f"next {answer.runner_up.category} at {answer.runner_up.distance}" if answer.runner_up else "no other"
    return "\t".join(printable(part) for part in (str(path), str(answer.category), kind, near, other))


def _fields(path: Path, answer: Assignment | ImageError) -> dict[str, Any]:
    if isinstance(answer, ImageError):
        return {"image": str(path), "error": answer.reason}
    return {"image": str(path), **asdict(answer)}


@contextmanager
def _saving(path: Path | None) -> Iterator[Callable[[str], None]]:
    """A function that keeps lines in a new file, or nowhere."""
    if path is None:
        yield lambda line: None
        return
    if path.exists():
        raise SettingsError(f"{path} exists already", "name a new file: ids of two runs would be mixed up in one")
    file: TextIO | None = None

    def keep(line: str) -> None:
        nonlocal file
        with disk_errors(path):
            file = file or path.open("x", encoding="utf-8")
            file.write(line + "\n")
            file.flush()

    try:
        yield keep
    finally:
        if file is not None:
            with disk_errors(path):
                file.close()
