"""The pictures a register was shown: kept beside it, or where they lay then, if they are still there and the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from firstsight.core.errors import DataError, ImageError
from firstsight.data.crops import Crop, box_of
from firstsight.data.images import ImageLike, read
from firstsight.data.pack import PackedImage, packed_images
from firstsight.data.source import PACK
from firstsight.store.pictures import GONE, NOT_KEPT, UPLOAD, Kept, Pictures

CHANGED, NO_FILE, FORGOTTEN = "another picture now", "not a file", "forgotten"


class Told(Protocol):
    """What a register says of an image: the event that assigned it, or a member of a category."""

    @property
    def source(self) -> str: ...
    @property
    def box(self) -> Sequence[float]: ...
    @property
    def content(self) -> bytes | str: ...


class Originals:
    """Where the pictures of a register are to be read. Packs are listed once."""

    def __init__(self, pictures: Pictures) -> None:
        self.pictures = pictures
        self._packs: dict[str, dict[str, PackedImage]] = {}

    def place(self, image: Told) -> ImageLike:
        """A kept picture, a file, or an image of a pack; a file's name where none is there. With a box, that part."""
        frame = self._frame(image)
        return Crop(frame, box_of(image.box)) if image.box else frame

    def picture(self, image: Told) -> ImageLike:
        """The picture of an image; ImageError where it is not there, in a word or two."""
        return original(self.place(image), _hex(image))

    def file(self, image: Told) -> Path | None:
        """The file of an image, or of the frame it is a part of; None where there is none."""
        frame = self._frame(image)
        place = frame.path if isinstance(frame, Kept) else Path(str(frame))
        return place if place is not None and place.is_absolute() and place.is_file() else None

    def thumbnail(self, image: Told, side: int) -> bytes:
        """A small square of it, kept for the next time; ImageError where there is no picture to make it of."""
        return self.pictures.thumbnail(image.content, lambda: self.picture(image), side)

    def _frame(self, image: Told) -> ImageLike:
        kept = self.pictures.kept(image.content, image.source)
        if kept.path is not None or image.source.startswith(UPLOAD):  # whose name is nobody's file
            return kept
        pack, mark, _ = image.source.partition(f"{PACK}:")
        if mark and pack not in self._packs:
            self._packs[pack] = _listed(Path(f"{pack}{PACK}"))
        return self._packs[pack].get(image.source, image.source) if mark else image.source


def original(place: ImageLike, content: str) -> ImageLike:
    """The picture of this content, which is in hexadecimal; ImageError where it is not there, in a word or two."""
    if not content:
        raise ImageError(str(place), FORGOTTEN)
    frame = place.frame if isinstance(place, Crop) else place
    if isinstance(frame, str) and (why := absent(frame)) == NO_FILE:
        raise ImageError(str(place), why)
    try:
        picture, digest = read(place)
    except ImageError as error:
        if isinstance(frame, Kept):
            raise error
        raise ImageError(str(place), GONE) from None
    except OSError:  # a pack that was taken away meanwhile
        raise ImageError(str(place), GONE) from None
    if digest.hex() != content and not (isinstance(frame, Kept) and frame.bare):
        raise ImageError(str(place), CHANGED)
    return picture


def absent(source: str) -> str:
    """Why there is no picture of an image from here, in a word or two: files are told with all folders above them."""
    if source.startswith(UPLOAD):
        return NOT_KEPT
    return GONE if Path(source).is_absolute() else NO_FILE


def _hex(image: Told) -> str:
    return image.content if isinstance(image.content, str) else image.content.hex()


def _listed(pack: Path) -> dict[str, PackedImage]:
    try:
        return {str(image): image for image in packed_images(pack)}
    except (DataError, OSError):  # gone, or no longer a pack
        return {}
