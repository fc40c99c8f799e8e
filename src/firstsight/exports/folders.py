"""Image files in folders: one per category, with what a photograph tells of itself left out where it should be."""

from __future__ import annotations

import io
import os
import re
import shutil
from collections.abc import Callable
from itertools import chain
from itertools import count as numbers
from pathlib import Path

from firstsight.core.errors import ImageError, SettingsError
from firstsight.data.crops import picture_of
from firstsight.data.images import SUFFIXES, decode, read, suffix_of
from firstsight.data.strip import stripped
from firstsight.exports.records import UNWRITABLE, Frame, Options, Record, records
from firstsight.store.originals import Originals
from firstsight.store.view import View
from firstsight.store.views import summaries

COPY: dict[str, Callable[[Path, Path], object]] = {
    "copy": shutil.copyfile,
    "link": lambda source, target: target.symlink_to(source.resolve()),
    "hardlink": os.link,
}
QUALITY = 95  # of a part of a frame, as JPEG


def check_how(options: Options) -> None:
    if options.how not in COPY:
        raise SettingsError(f"how is {options.how!r}; allowed: {', '.join(COPY)}")
    if options.how != "copy" and options.strips:
        raise SettingsError(f"--how {options.how} leaves the files as they are, with their metadata", "copy them")


def fill_folder(view: View, folder: Path, options: Options) -> tuple[int, list[str]]:
    """A folder per category below this one; how many images, and the sources that are no longer there.

    A file keeps its name, after the image's number: two folders may each have had a 1.jpg. Of a part of a frame, the
    part is written, so that the folders can be learned from.
    """
    missing: list[str] = []
    count = 0
    names, originals = folder_names(view), Originals(view.pictures)
    for each in records(view, options):
        if each.forgotten:
            continue
        home = folder / names[each.image.category]
        home.mkdir(exist_ok=True)
        try:
            write_image(each, originals, home / f"{each.image.image:06d}-{each.file}", options)
            count += 1
        except ImageError as error:
            missing.append(error.what)
    for home in folder.iterdir():
        if home.is_dir() and not any(home.iterdir()):
            home.rmdir()
    return count, missing


def write_image(
    each: Record | Frame, originals: Originals, target: Path, options: Options, whole: bool = False
) -> Path:
    """Write an image's file, or the frame it is a part of; where to, since what is decoded has another suffix."""
    source = originals.file(each.image)
    if source is None:
        raise ImageError(each.image.source, "is no longer there")
    if each.image.box and not whole:
        target = target.with_suffix(".jpg")
        buffer = io.BytesIO()
        decode(picture_of(str(source), each.image.box)).save(buffer, "JPEG", quality=QUALITY)
        target.write_bytes(buffer.getvalue())
    elif each.image.withheld or options.strips:
        content, suffix = stripped(read(source)[0])
        target = target if target.suffix.lower() in (suffix, ".jpeg") else target.with_suffix(suffix)
        target.write_bytes(content)
    else:
        if target.suffix.lower() not in SUFFIXES:  # what is sent may have any name
            target = target.with_name(target.name + suffix_of(source))
        COPY[options.how](source, target)
    return target


def folder_names(view: View) -> dict[str, str]:
    """A folder name for every category: its own name where the system can write it, else that and its id."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for summary in summaries(view):
        name = re.sub(UNWRITABLE, "_", summary.name).strip(". ") or "_"
        candidates = chain([name], (f"{name} ({i})" for i in numbers(2)))
        unique = next(each for each in candidates if each.casefold() not in taken)
        taken.add(unique.casefold())
        names[summary.id] = unique
    return names
