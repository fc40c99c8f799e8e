"""What a detector found in frames: MegaDetector's results, in either of their forms, or COCO annotations, all JSON.

Every box becomes an image of its own, with its frame. Boxes of people and vehicles, which MegaDetector names as such,
are not what anybody wants to discover.
"""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from firstsight.core.errors import DataError, ImageError
from firstsight.core.files import read_json
from firstsight.data.crops import Crop, box_of
from firstsight.data.images import ImageLike, decode, formats, read

LARGEST = 512_000_000  # bytes of a file that is read: some million frames
OTHERS = ("person", "human", "vehicle")
TURNED, ORIENTATION = (5, 6, 7, 8), 0x0112  # how EXIF says that a picture lies on its side
FORMATS = "expected MegaDetector's results (file and detections of every image) or COCO (images and annotations)"


class Detection(NamedTuple):
    """A box as it stands in the file, how sure the detector was, and what it calls that."""

    box: Any
    sure: float | None
    kind: str


@dataclass
class Frame:
    """What was found in one file; `failure` is why the detector could not tell."""

    parts: tuple[str, ...]  # of its name
    found: list[Detection] = field(default_factory=list)
    failure: str = ""
    size: tuple[float, float] | None = (1.0, 1.0)  # that boxes are measured by; the file's own, in pixels, where none


@dataclass(frozen=True)
class Refused:
    """An image that is not to be answered, in its place in the stream: whoever reads it is told why."""

    image: Any
    reason: str

    def read_bytes(self) -> bytes:
        raise ImageError(str(self.image), self.reason)

    def __str__(self) -> str:
        return str(self.image)


class Boxes:
    """The frames of a file of boxes, by name."""

    def __init__(self, path: Path, frames: Iterable[Frame]) -> None:
        self.path = path
        self._by_name: dict[str, list[Frame]] = {}
        for frame in frames:
            if frame.parts:
                self._by_name.setdefault(frame.parts[-1], []).append(frame)

    def images(
        self, sources: Iterable[ImageLike], threshold: float, counts: Counter[str], empty: list[ImageLike] | None = None
    ) -> Iterator[ImageLike]:
        """The boxes in these files that are at least so sure, in turn.

        `counts` says how many frames had none, and how many boxes are of people or vehicles; `empty` gets the frames.
        """
        for source in sources:
            frame = self._frame(source)
            if isinstance(frame, str):
                yield Refused(source, frame)
                continue
            sure = [each for each in frame.found if each.sure is None or each.sure >= threshold]
            wanted = [each for each in sure if each.kind.lower() not in OTHERS]
            counts["empty"] += not sure
            if empty is not None and not sure:
                empty.append(source)
            counts["others"] += len(sure) - len(wanted)
            size = frame.size
            if wanted and size is None:
                try:
                    size = _sides(source)
                except ImageError as error:
                    yield Refused(source, error.reason)
                    continue
            for each in wanted:
                yield _part(source, each, size or (1.0, 1.0))

    def _frame(self, source: ImageLike) -> Frame | str:
        """What was found in a file, or why that is not known."""
        typed = _parts(str(source))
        whole = _parts(str(Path(source).absolute())) if isinstance(source, str | Path) else typed
        near = self._by_name.get(typed[-1], ()) if typed else ()
        found = [each for each in near if _ends(whole, each.parts) or _ends(each.parts, typed)]
        if not found:
            return f"is not in {self.path.name}: no detector has looked at it"
        longest = max(len(each.parts) for each in found)
        best = [each for each in found if len(each.parts) == longest]
        if len(best) > 1:
            return f"may be any of {len(best)} files of that name in {self.path.name}; name its folder too"
        return f"the detector could not read it: {best[0].failure}" if best[0].failure else best[0]


def read_boxes(path: Path) -> Boxes:
    """A file of boxes; DataError where it is none."""
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise DataError(f"{path} has {size:,} bytes; at most {LARGEST:,} are read", "split it by folder")
        content = read_json(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        raise DataError(f"{path} is not JSON: {error}", FORMATS) from None
    try:
        form = _listed if isinstance(content, list) else _coco if "annotations" in content else _megadetector
        return Boxes(path, list(form(content)))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DataError(f"{path} is no file of boxes: {type(error).__name__} {str(error)[:80]}", FORMATS) from None


def _megadetector(content: Any) -> Iterator[Frame]:
    kinds = {str(key): str(name) for key, name in content.get("detection_categories", {}).items()}
    for image in content["images"]:
        frame = Frame(_parts(image["file"]), failure=str(image.get("failure") or "")[:80])
        for each in image.get("detections") or ():
            kind = str(each.get("category", ""))
            frame.found.append(Detection(each["bbox"], _sure(each["conf"]), kinds.get(kind, kind)))
        yield frame


def _listed(content: Any) -> Iterator[Frame]:
    """MegaDetector's newer form: a list of images, boxes by their corners in pixels, kinds by name."""
    for image in content:
        frame = Frame(_parts(image["file"]), failure=str(image.get("failure") or "")[:80], size=None)
        for each in image.get("detections") or ():
            left, top, right, bottom = map(float, each["bbox"])
            box = [left, top, right - left, bottom - top]
            frame.found.append(Detection(box, _sure(each["confidence"]), str(each.get("category", ""))))
        yield frame


def _coco(content: Any) -> Iterator[Frame]:
    kinds = {each["id"]: str(each.get("name", "")) for each in content.get("categories", ())}
    frames = {}
    for image in content["images"]:
        frames[image["id"]] = Frame(_parts(image["file_name"]), size=(float(image["width"]), float(image["height"])))
        if not all(math.isfinite(float(image[side])) and image[side] > 0 for side in ("width", "height")):
            raise ValueError(f"image {image['id']!r:.20} has no size")
    for each in content["annotations"]:
        frame, sure = frames[each["image_id"]], each.get("score")
        kind = kinds.get(each.get("category_id"), "")
        frame.found.append(Detection(each["bbox"], None if sure is None else _sure(sure), kind))
    yield from frames.values()


def _sure(value: Any) -> float:
    if not isinstance(value, int | float) or not 0 <= value <= 1:  # nor where it is no number
        raise ValueError(f"a confidence is {value!r:.20}; expected 0 to 1")
    return float(value)


def _part(source: ImageLike, found: Detection, size: tuple[float, float]) -> Crop | Refused:
    try:
        values = found.box
        if isinstance(values, Sequence) and len(values) == 4 and all(type(each) in (int, float) for each in values):
            values = [each / size[i % 2] for i, each in enumerate(values)]
        return Crop(source, box_of(values), found.sure)
    except (ValueError, TypeError, OverflowError) as error:
        return Refused(source, f"left out: {error}")


def _sides(source: ImageLike) -> tuple[float, float]:
    """How wide and high an upright picture is."""
    picture, _ = read(source)
    try:
        if not isinstance(picture, bytes):
            return decode(picture).size
        with Image.open(io.BytesIO(picture), formats=formats()) as image:
            width, height = image.size
            return (height, width) if image.getexif().get(ORIENTATION) in TURNED else (width, height)
    except Exception as error:  # whatever a decoder comes upon
        raise ImageError(str(source), f"cannot be decoded: {error}") from None


def _parts(name: str) -> tuple[str, ...]:
    """The folders and the name of a file, whoever's separators these are."""
    return tuple([part for part in name.replace("\\", "/").split("/") if part not in ("", ".")])


def _ends(whole: tuple[str, ...], end: tuple[str, ...]) -> bool:
    return len(end) <= len(whole) and whole[len(whole) - len(end) :] == end
