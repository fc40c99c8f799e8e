"""Where the images of `firstsight discover` come from: files, folders, a list on standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firstsight.cli.console import warn
from firstsight.core.errors import DataError, ImageError, SettingsError

if TYPE_CHECKING:
    from firstsight.data.feature_files import FeatureFile
    from firstsight.model.model import Model
    from firstsight.store.store import Store

STDIN = Path("-")


def named(paths: list[Path]) -> list[Path]:
    """The paths people named, `-` replaced by the lines of standard input; an error where one is not there."""
    if missing := [str(path) for path in paths if path != STDIN and not path.exists()]:
        several = f"{len(missing)} of {len(paths)} paths do not exist:\n  " + "\n  ".join(missing)
        what = f"{missing[0]} does not exist" if len(missing) == 1 else several
        raise DataError(what, "nothing was done yet: name what is there, and run again")
    found: list[Path] = []
    for path in paths:
        if path == STDIN:
            lines = sys.stdin.buffer.read().splitlines()
            found += [Path(line.decode("utf-8", "surrogateescape")) for line in lines if line.strip()]
        else:
            found.append(path)
    return found


def with_features(paths: Iterable[Path], model: Model, label: str | None = None) -> Iterator[Any]:
    """What `encode` made, where a path is a folder of that, or what a file of features holds; else images."""
    from firstsight.data.feature_files import is_feature_file
    from firstsight.data.source import find_images
    from firstsight.scale.parts import features_in, is_encoded, read_about

    for path in paths:
        if is_feature_file(path):
            yield from _held(path, label)
            continue
        if not is_encoded(path):
            yield from find_images([path])
            continue
        if read_about(path).encoder != model.image_encoder.fingerprint:
            raise DataError(f"{path} was made by another model's encoder", "encode with this model")
        for each in features_in(path):
            if isinstance(each, ImageError):
                warn(f"skipped: {each.what}")
            else:
                yield each


@cache
def _held(path: Path, label: str | None) -> FeatureFile:
    """A file is read once, though a register is asked first whether it holds all of it."""
    from firstsight.data.feature_files import read_features

    return read_features(path, label)


def refuse_label(label: str | None, paths: Iterable[Path]) -> None:
    """Only files of features have a column to name."""
    from firstsight.data.feature_files import is_feature_file

    if label is not None and (other := next((path for path in paths if not is_feature_file(path)), None)):
        raise SettingsError(f"--label names a column of features, and {other} is no file of them", "leave it out")


def refuse_others(model: Model, paths: Iterable[Path]) -> None:
    """A model of features is asked about features; refused once, not at every image."""
    from firstsight.data.feature_files import is_feature_file

    if any(not is_feature_file(path) for path in paths):
        model.image_encoder  # noqa: B018 - an error where there is none


def refuse_if_held(store: Store, images: Iterable[Any]) -> None:
    """Refuse images that the register holds already, every one of them; a single other one ends the looking."""
    from firstsight.data.features import Feature
    from firstsight.data.images import decode, read

    held, view = 0, store.view()
    for image in images:
        try:
            picture, content = (image, image.content) if isinstance(image, Feature) else read(image)
            if view.discarded_before(content) is not None:  # which is not counted, however often it comes
                continue
            if not view.with_content(content):
                if not isinstance(picture, Feature):
                    decode(picture)
                return
        except ImageError:  # a file that is no image is never held; it is said when its turn comes
            continue
        held += 1
    if held:
        what = "the image is" if held == 1 else f"all {held} images are"
        raise SettingsError(
            f"{what} in {store.name} already; nothing was recorded",
            "--once recognises them and counts none again, --again counts them once more",
        )
