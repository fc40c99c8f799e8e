"""`firstsight discover`: answer images one by one, known or new."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from itertools import tee
from math import isinf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, cast, get_args

import typer

from firstsight.cli.console import Device, Quiet, Verbose, Wait, a_number, configure, printable, say, warn
from firstsight.cli.options import MatchRule, Radius, Trust, check_rule
from firstsight.core.errors import DataError, ImageError, SettingsError
from firstsight.core.files import disk_errors

if TYPE_CHECKING:
    from firstsight.core.assignments import Assignment
    from firstsight.model.model import Model
    from firstsight.store.connection import Sync
    from firstsight.store.store import Store


def discover(
    model: Annotated[Path, typer.Argument(help="A model folder made by fit.", metavar="MODEL")],
    images: Annotated[list[Path], typer.Argument(help="Image files, or folders of them.", metavar="IMAGES...")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line instead of text.")] = False,
    save: Annotated[
        Path | None, typer.Option(help="Also write the JSON lines to this new file.", metavar="FILE.jsonl")
    ] = None,
    register: Annotated[
        Path | None,
        typer.Option(help="Keep what is discovered in this file, and go on from what it holds.", metavar="FILE.db"),
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="With --register: recognise images it holds; do not count them again.")
    ] = False,
    wait: Wait = 0.0,
    sync: Annotated[
        str, typer.Option(help="With --register: full, or normal, which a power cut may cost the last images.")
    ] = "full",
    unsure_below: Annotated[
        float | None,
        typer.Option(
            help="Mark answers less probable than this as unsure; for methods that can tell.",
            min=0,
            max=1,
            callback=a_number,
        ),
    ] = None,
    radius: Radius = None,
    rule: MatchRule = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="The same bits for an image whatever comes with it; fp32, slower.")
    ] = False,
    trust: Trust = False,
    device: Device = "auto",
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Tell what each image shows: a known category, one discovered earlier, or a new one.

    Without --register, what is discovered is forgotten at the end.
    """
    configure(quiet, verbose)
    rule = check_rule(rule)
    if once and register is None:
        raise SettingsError("--once needs --register FILE.db: without it nothing is remembered to compare with")
    if missing := [str(source) for source in images if not source.exists()]:
        several = f"{len(missing)} of {len(images)} paths do not exist:\n  " + "\n  ".join(missing)
        what = f"{missing[0]} does not exist" if len(missing) == 1 else several
        raise DataError(what, "nothing was done yet: name what is there, and run again")
    from firstsight.data.source import find_images
    from firstsight.discoverer import Discoverer
    from firstsight.model.folder import load_model
    from firstsight.store.store import Store

    durable = _sync(sync)
    counts: Counter[str] = Counter()
    decided, named = tee(find_images(images))
    with _saving(save) as keep, ExitStack() as held:
        store = None
        if register is not None and register.exists():  # before the model: a refusal should not take seconds
            store = held.enter_context(Store.open(register, sync=durable, wait=wait))
        trained = load_model(model, device, exact, trust)
        trained.image_encoder  # noqa: B018 - a model of features is refused once, not at every image
        if radius is not None and not trained.decision.discovers:
            raise SettingsError(f"{model} never discovers, so it has no --radius")
        start = trained.register(radius, rule)
        if unsure_below is not None and not start.confident:
            raise SettingsError(
                f"{trained.settings.method} cannot tell how sure it is, so --unsure-below marks nothing"
            )
        if store is None and register is not None:
            store = held.enter_context(Store.create(register, start, trained.provenance, durable, wait, or_open=True))
        if store is not None:
            _agree(store, trained, radius, rule)
        discoverer = Discoverer(trained, start, store, once)
        for path, answer in zip(named, discoverer.discover_many(decided, errors="yield"), strict=True):
            unsure = _is_unsure(answer, unsure_below)
            counts["unsure"] += unsure
            line = json.dumps(_fields(path, answer) | ({"unsure": unsure} if unsure_below is not None else {}))
            keep(line)
            if isinstance(answer, ImageError):
                counts["bad"] += 1
                warn(f"skipped: {answer.what}")
            elif answer.decided_by in ("record", "discarded"):
                counts["again" if answer.decided_by == "record" else "discarded"] += 1
            else:
                counts["new" if answer.is_new else "known"] += 1
                counts["created"] += answer.created
            if as_json:
                print(line, flush=True)
            elif not isinstance(answer, ImageError):
                print(_text(path, answer, store) + ("\tunsure" if unsure else ""), flush=True)
    if not counts:
        raise DataError(f"no images in {', '.join(map(str, images))}")
    bad = f"; {counts['bad']} could not be read" if counts["bad"] else ""
    again = f"; {counts['again']} there already" if counts["again"] else ""
    junk = f"; {counts['discarded']} discarded before" if counts["discarded"] else ""
    say(f" {counts['known']} images of known categories, {counts['new']} of new ones{again}{junk}{bad}")
    if counts["created"]:
        say(f" {counts['created']} new {'category' if counts['created'] == 1 else 'categories'} registered")
    if counts["unsure"]:
        look = f"firstsight categories {register or 'FILE.db'} unsure --below {unsure_below}"
        unsure_ones = "1 answer is" if counts["unsure"] == 1 else f"{counts['unsure']} answers are"
        say(f" {unsure_ones} unsure.  {'Look' if register else 'With --register, look'}:  {look}")
    if register is not None:
        say(f" kept in {register}.  Next:  firstsight categories {register}")
    if bad:
        raise typer.Exit(1)


def _sync(value: str) -> Sync:
    from firstsight.store.connection import Sync

    if value not in get_args(Sync):
        raise SettingsError(f"sync is {value!r}; allowed: {', '.join(get_args(Sync))}")
    return cast("Sync", value)


def _agree(store: Store, model: Model, radius: float | None, rule: str | None) -> None:
    """A register goes on as it is: its model and its rule are for good, a radius given changes it."""
    store.check_model(model.provenance)
    path, held = store.name, store.register.header().get("rule", "nearest")
    if rule is not None and rule != held:
        raise SettingsError(f"{path} matches by {held!r}, not {rule!r}", "leave --rule out, or name a new register")
    if radius is not None and radius != store.view().radius:
        store.change_radius(radius)
        say(f" the radius of {path} is {radius} from now on (categories {path} undo takes that back)")


def _text(path: object, answer: Assignment, store: Store | None) -> str:
    if answer.decided_by == "discarded":
        return f"{printable(str(path))}\tdiscarded\tby a person before\timage {answer.image}"
    kind = "new, just registered" if answer.created else "new" if answer.is_new else "known"
    if answer.decided_by == "record":
        kind += ", there already"
    near = "the first" if answer.created else "placed there by a person"
    if answer.distance is not None:
        counted = isinstance(answer.distance, int)
        unit = "" if not counted else " bit" if answer.distance == 1 else " bits"
        reach = "no radius" if isinf(answer.radius) else f"radius {_number(answer.radius)}"
        near = f"{_number(answer.distance)}{unit} away, {reach}"
    if answer.confidence is not None:
        near = f"{answer.confidence:.0%} sure"
    second = answer.runner_up
    at = "" if second is None or answer.confidence is not None else f" at {_number(second.distance)}"
    other = f"next {_called(second.category, store)}{at}" if second else "no other"
    parts = [str(path), answer.name or str(answer.category), kind, near, other]
    if answer.image is not None:
        parts.append(f"image {answer.image}")
    return "\t".join(printable(part) for part in parts)


def _called(category: str, store: Store | None) -> str:
    """A category as people call it."""
    return category if store is None else store.view().name_of(category)


def _is_unsure(answer: Assignment | ImageError, limit: float | None) -> bool:
    if limit is None or isinstance(answer, ImageError) or answer.decided_by != "rule":
        return False
    return answer.confidence is not None and answer.confidence < limit


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.3g}"


def _fields(path: object, answer: Assignment | ImageError) -> dict[str, Any]:
    if isinstance(answer, ImageError):
        return {"image": str(path), "error": answer.reason}
    fields = asdict(answer)
    del fields["lesson"]  # the register's own affair
    fields["radius"] = None if isinf(answer.radius) else answer.radius  # JSON has no infinity
    return {"image": str(path), "number": fields.pop("image"), **fields}


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
