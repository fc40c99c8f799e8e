"""The images that were sent to a register, as they came, and small copies of any: in a folder beside it.

They are found by the digest that the log has of them. Names that people gave them are never part of a path.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from threading import Lock
from typing import TypeAlias

from PIL import Image

from firstsight.core.errors import BadRequest, DiskError, ImageError, SettingsError
from firstsight.core.files import disk_errors, write_file
from firstsight.data.images import ImageLike
from firstsight.data.strip import stripped
from firstsight.data.thumbnails import LARGE, SIDE, small

Digest: TypeAlias = bytes | str  # as an event has it, or in hexadecimal

UPLOAD = "upload:"  # how the sources begin of images that were sent, and are no files of anybody
BARE = ".bare"  # ends the names of copies without metadata
SIDES = (SIDE, LARGE)  # of small copies, in pixels
MOST = 1_000_000  # bytes of a small copy
TURNS = 64  # small copies that can be made at once
GONE, NOT_KEPT = "no longer there", "not kept"


@dataclass(frozen=True)
class Kept:
    """A picture in the folder of a register, whether it is there or not. It can be read as any image."""

    name: str  # as people call it
    path: Path | None

    @property
    def bare(self) -> bool:
        """Whether it was kept without metadata, so that it is not the file that came."""
        return self.path is not None and self.path.suffix == BARE

    def read_bytes(self) -> bytes:
        if self.path is None:
            raise ImageError(self.name, NOT_KEPT)
        try:
            return self.path.read_bytes()
        except OSError:
            raise ImageError(self.name, GONE) from None

    def __str__(self) -> str:
        return self.name


class Pictures:
    """The folder of a register's pictures; without a folder, as for a register in memory, there are none.

    Threads may share one. A kill leaves whole pictures only.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._turns = [Lock() for _ in range(TURNS)]

    def put(self, content: bytes, digest: Digest, withheld: bool = False) -> Path:
        """Keep what came under its digest, durably; without metadata where that is withheld."""
        if self.folder is None:
            raise SettingsError("a register in memory keeps no pictures", "make one in a file")
        target = self._place(self.folder, digest, BARE if withheld else "")
        if not target.is_file():
            write_file(target, stripped(content)[0] if withheld else content)
        return target

    def path(self, digest: Digest) -> Path | None:
        """The picture of this digest: as it came, or else without metadata; None where there is none."""
        if self.folder is None or not digest:
            return None
        places = (self._place(self.folder, digest, ending) for ending in ("", BARE))
        return next((each for each in places if each.is_file()), None)

    def kept(self, digest: Digest, name: str) -> Kept:
        """The same, to be read when it is wanted."""
        return Kept(name, self.path(digest))

    def thumbnail(self, digest: Digest, picture: Callable[[], ImageLike], side: int = SIDE) -> bytes:
        """A small square of what `picture` finds, which is made once, by one thread, and found again.

        ImageError where there is no picture, or it cannot be decoded.
        """
        if side not in SIDES:
            raise BadRequest(f"side is {side}; allowed: {', '.join(map(str, SIDES))}")
        if self.folder is None or not digest:
            return small(picture(), side)
        place = self._place(self.folder, digest, f".{side}.webp")
        if (found := _thumbnail(place, side)) is not None:
            return found
        with self._turns[hash(place) % TURNS]:
            if (found := _thumbnail(place, side)) is None:
                found = small(picture(), side)
                with suppress(DiskError):  # one that is not kept is made again
                    write_file(place, found)
            return found

    def remove(self, digest: Digest) -> None:
        """Remove a picture, its small copies, and what a kill left of them."""
        if self.folder is None or not digest:
            return
        place = self._place(self.folder, digest)
        with disk_errors(place):
            for each in (*place.parent.glob(f"{place.name}*"), *place.parent.glob(f".{place.name}*")):
                each.unlink(missing_ok=True)

    def copy_to(self, folder: Path) -> None:
        """Have the same pictures in another folder: links where the disk can, as no picture ever changes."""
        for each in self.folder.glob("??/*") if self.folder is not None else ():
            if each.suffix in ("", BARE) and not each.name.startswith(".") and each.is_file():
                target = folder / each.parent.name / each.name
                with disk_errors(target):
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with suppress(OSError):
                        os.link(each, target)
                if not target.is_file():
                    write_file(target, each.read_bytes())

    @staticmethod
    def _place(folder: Path, digest: Digest, ending: str = "") -> Path:
        name = (bytes.fromhex(digest) if isinstance(digest, str) else digest).hex()
        return folder / name[:2] / f"{name}{ending}"


def file_name(source: str) -> str:
    """What the file of an image is called, or was by whoever sent it: for people to read, not to open."""
    return PurePath(source.removeprefix(UPLOAD)).name


def _thumbnail(place: Path, side: int) -> bytes | None:
    """A small copy as it was written; None where there is none, or something else is in its place."""
    try:
        about = place.stat(follow_symlinks=False)
        if not stat.S_ISREG(about.st_mode) or about.st_size > MOST:
            return None
        content = place.read_bytes()
        with Image.open(io.BytesIO(content), formats=("WEBP", "JPEG")) as image:
            return content if image.size == (side, side) else None
    except Exception:  # decoders raise whatever they come upon
        return None
