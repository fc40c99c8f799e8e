"""The pictures a register was shown: read from where they lay then, if they are still there and still the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from firstsight.core.errors import DataError, ImageError
from firstsight.data.crops import Crop, box_of
from firstsight.data.images import ImageLike, read
from firstsight.data.pack import PackedImage, packed_images
from firstsight.data.source import PACK

GONE, CHANGED, NO_FILE, FORGOTTEN = "no longer there", "another picture now", "not a file", "forgotten"


class Originals:
    """Where pictures are to be read, by what a register calls them. Packs are listed once."""

    def __init__(self) -> None:
        self._packs: dict[str, dict[str, PackedImage]] = {}

    def place(self, source: str, box: Sequence[float] = ()) -> ImageLike:
        """A file, or an image of a pack; a file's name where neither is there. With a box, that part of it."""
        pack, mark, _ = source.partition(f"{PACK}:")
        if mark and pack not in self._packs:
            self._packs[pack] = _listed(Path(f"{pack}{PACK}"))
        found: ImageLike = self._packs[pack].get(source, source) if mark else source
        return Crop(found, box_of(box)) if box else found


def _listed(pack: Path) -> dict[str, PackedImage]:
    try:
        return {str(image): image for image in packed_images(pack)}
    except (DataError, OSError):  # gone, or no longer a pack
        return {}


def original(place: ImageLike, content: str) -> ImageLike:
    """The picture of this content; ImageError where it is not there, in a word or two."""
    if not content:
        raise ImageError(str(place), FORGOTTEN)
    try:
        picture, digest = read(place)
    except ImageError:
        named = not isinstance(place, str) or Path(place).is_absolute()
        raise ImageError(str(place), GONE if named else NO_FILE) from None
    except OSError:  # a pack that was taken away meanwhile
        raise ImageError(str(place), GONE) from None
    if digest.hex() != content:
        raise ImageError(str(place), CHANGED)
    return picture
