"""`firstsight discover`: answer images one by one, known or new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO, cast, get_args

import typer

from firstsight.cli.answers import Tally
from firstsight.cli.arriving import named, refuse_if_held, refuse_label, refuse_others, with_features
from firstsight.cli.console import Device, Quiet, Verbose, Wait, a_number, configure, say
from firstsight.cli.options import Label, MatchRule, ModelName, Radius, Trust, check_rule
from firstsight.cli.units import seconds
from firstsight.core.errors import DataError, SettingsError
from firstsight.core.files import disk_errors

if TYPE_CHECKING:
    from firstsight.data.images import ImageLike
    from firstsight.model.model import Model
    from firstsight.store.connection import Sync
    from firstsight.store.store import Store


def discover(
    model: ModelName,
    images: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Image files, folders of them, or files of features; - for a list of paths on standard input."
        ),
    ] = None,
    watch: Annotated[
        Path | None, typer.Option(help="Answer what comes into this folder, until interrupted.", metavar="FOLDER")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line instead of text.")] = False,
    save: Annotated[
        Path | None, typer.Option(help="Also write the JSON lines to this new file.", metavar="FILE.jsonl")
    ] = None,
    register: Annotated[
        str | None,
        typer.Option(
            help="Keep what is found in this file, or at postgresql://..., and go on from it.", metavar="FILE.db"
        ),
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="With --register: recognise images it holds; do not count them again.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="With --register: count images again, even if it holds them all.")
    ] = False,
    no_metadata: Annotated[
        bool, typer.Option("--no-metadata", help="With --register: keep no time, place or camera of an image.")
    ] = False,
    bursts: Annotated[
        str | None,
        typer.Option(help="Decide images together that one camera took at most so far apart.", metavar="10s"),
    ] = None,
    boxes: Annotated[
        Path | None,
        typer.Option(help="Each box of this file is an image: MegaDetector's or COCO's JSON.", metavar="FILE.json"),
    ] = None,
    box_threshold: Annotated[
        float, typer.Option(help="How sure the detector has to be of a box.", min=0, max=1, callback=a_number)
    ] = 0.2,
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
    label: Label = None,
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
    _check_flags(register, once, again, images, watch)
    gap = None if bursts is None else seconds(bursts, "--bursts")
    durable = _sync(sync)
    sources = named([*(images or []), *([] if watch is None else [watch])])
    refuse_label(label, sources)
    from firstsight.data.boxes import read_boxes
    from firstsight.data.feature_files import is_feature_file
    from firstsight.data.source import find_images
    from firstsight.data.watching import watched
    from firstsight.discoverer import Discoverer
    from firstsight.model.folder import load_model
    from firstsight.scale.parts import is_encoded
    from firstsight.store.empties import keep_empty
    from firstsight.store.opening import is_there
    from firstsight.store.store import Store

    tally = Tally(as_json, unsure_below)
    found = None if boxes is None else read_boxes(boxes)

    empty: list[ImageLike] = []

    def arriving(paths: Iterable[Path], counts: Counter[str], without: list[ImageLike]) -> Iterator[ImageLike]:
        every = find_images(paths)
        if found is not None:
            return found.images(every, box_threshold, counts, without)
        brought = any(is_encoded(path) or is_feature_file(path) for path in paths)
        return with_features(paths, trained, label) if brought else every

    with _saving(save) as tally.keep, ExitStack() as held:
        store = None
        if register is not None and is_there(register):  # before the model: a refusal should not take seconds
            store = held.enter_context(Store.open(register, sync=durable, wait=wait))
        trained = load_model(model, device, exact, trust)
        refuse_others(trained, sources)
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
            _agree(store, trained, rule)
            if not once and not again and watch is None:
                refuse_if_held(store, arriving(sources, Counter(), []))
            if radius is not None and radius != store.view().radius:
                store.change_radius(radius)
                say(f" the radius of {register} is {radius} from now on (categories {register} undo takes that back)")
        known = once or (watch is not None and not again)  # a folder that is watched is looked at again and again
        discoverer = Discoverer(trained, start, store, known, not no_metadata, gap)
        rounds: Iterable[Iterable[Path]] = [sources]
        if watch is not None:
            say(f" watching {watch}; Ctrl-C ends that")
            rounds = watched(watch)
        with suppress(KeyboardInterrupt) if watch is not None else nullcontext():
            for paths in rounds:
                decided, told = tee(arriving(paths, tally.counts, empty))
                try:
                    for image, answer in zip(told, discoverer.discover_many(decided, errors="yield"), strict=True):
                        tally.take(image, answer, store)
                finally:  # also of a run that is broken off
                    if store is not None and empty:
                        tally.take_empty(keep_empty(store, empty, not no_metadata, again))
                    empty.clear()
    if not tally.counts and watch is None:
        raise DataError(f"no images in {', '.join(map(str, sources or images or []))}")
    tally.sum_up(register)


def _check_flags(register: str | None, once: bool, again: bool, images: list[Path] | None, watch: Path | None) -> None:
    for flag, given in (("--once", once), ("--again", again)):
        if given and register is None:
            raise SettingsError(f"{flag} needs --register FILE.db: without it nothing is remembered to compare with")
    if once and again:
        raise SettingsError("--once and --again contradict each other", "leave one of them out")
    if bool(images) == (watch is not None):
        raise SettingsError("name images, or a folder with --watch, and not both")
    if watch is not None and not watch.is_dir():
        raise SettingsError(f"--watch {watch} is no folder")


def _sync(value: str) -> Sync:
    from firstsight.store.connection import Sync

    if value not in get_args(Sync):
        raise SettingsError(f"sync is {value!r}; allowed: {', '.join(get_args(Sync))}")
    return cast("Sync", value)


def _agree(store: Store, model: Model, rule: str | None) -> None:
    """A register goes on as it is: its model and its rule are for good."""
    store.check_model(model.provenance)
    path, held = store.name, store.register.header().get("rule", "nearest")
    if rule is not None and rule != held:
        raise SettingsError(f"{path} matches by {held!r}, not {rule!r}", "leave --rule out, or name a new register")


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
