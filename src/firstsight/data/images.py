"""The one image path: decode, orient, RGB, resize, crop. Training, commands and services all go through here.

A pixel of skew flips bits, so the path is versioned and its settings are saved with every model. Pillow decodes;
no torch here: what comes out is uint8, normalised on the device by whoever encodes.
"""

from __future__ import annotations

import hashlib
import io
import math
import stat
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from firstsight.core.errors import ImageError, ModelError
from firstsight.data.crops import Crop, framed
from firstsight.data.depth import eight_bits
from firstsight.data.memory import decoding

VERSION = 1
CENTRE = 0.5
ORIENTATION = 0x0112  # of a photograph, in its EXIF data
TILE_SIZE = (322, 323)  # of a TIFF, in pixels
FORMATS = {  # all that are read, by Pillow's names, and how their files are called; some of its others run programs
    "JPEG": (".jpg", ".jpeg"),
    "PNG": (".png",),
    "WEBP": (".webp",),
    "TIFF": (".tif", ".tiff"),
    "GIF": (".gif",),
    "BMP": (".bmp",),
    "PPM": (".ppm", ".pgm"),
    "JPEG2000": (".jp2",),
    "AVIF": (".avif",),
    "HEIF": (".heic", ".heif", ".hif"),  # where pillow-heif is installed
}
HEIF_EXTRA = "install the extra heif: pip install 'firstsight[heif]'"
SUFFIXES = frozenset(suffix for suffixes in FORMATS.values() for suffix in suffixes)

MAX_BYTES = 1_024_000_000  # that decoding one image may take
BYTES = {
    "AVIF": 10,
    "HEIF": 16,
    "WEBP": 16,
    "JPEG2000": 20,
}  # a pixel, in decoders that keep more than a picture and a copy of it
COPIED = 8
MAX_PIXELS = MAX_BYTES // COPIED
LARGEST = 4096  # pixels that the shorter side may be resized to

warnings.filterwarnings("ignore", category=Image.DecompressionBombWarning)  # the limit is ours, and an error

Pixels: TypeAlias = NDArray[np.uint8]  # (height, width, 3)


@runtime_checkable
class Stored(Protocol):
    """An image kept somewhere that is not a file of its own, such as a pack."""

    def read_bytes(self) -> bytes: ...


ImageLike: TypeAlias = "str | Path | bytes | Image.Image | NDArray[Any] | Stored | Crop"


@dataclass(frozen=True)
class Preprocess:
    """What travels with the weights: the geometry and the colour normalisation."""

    resize: int
    crop: int
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    interpolation: str = "bicubic"
    version: int = VERSION
    oversampled: int = 0  # a large JPEG is decoded no larger than need be to have so many times `resize`; 0: whole

    def as_dict(self) -> dict[str, Any]:
        """As it is saved; models from before images could be decoded smaller say nothing of it."""
        values = asdict(self)
        if not self.oversampled:
            del values["oversampled"]
        return values

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Preprocess:
        if values.get("version") != VERSION:
            raise ModelError(
                f"this model's image path is version {values.get('version')}; this release has version {VERSION}",
                "use the Firstsight release that made it, or fit it again",
            )
        found = cls(**{**values, "mean": tuple(values["mean"]), "std": tuple(values["std"])})
        found._check()
        return found

    def _check(self) -> None:
        """ValueError where no image could be made ready so."""
        sides = (self.crop, self.resize)
        if not all(type(side) is int for side in sides) or not 1 <= self.crop <= self.resize <= LARGEST:
            raise ValueError(f"crop is {self.crop!r} and resize {self.resize!r}; allowed: 1 to {LARGEST}, crop first")
        if type(self.oversampled) is not int or not 0 <= self.oversampled <= LARGEST:
            raise ValueError(f"oversampled is {self.oversampled!r}; allowed: 0 to {LARGEST}")
        for name, values in (("mean", self.mean), ("std", self.std)):
            if len(values) != 3 or not all(isinstance(v, float | int) and math.isfinite(v) for v in values):
                raise ValueError(f"{name} is {values!r}; expected three numbers")
        if min(self.std) <= 0:
            raise ValueError(f"std is {self.std!r}; expected numbers above 0")
        if str(self.interpolation).upper() not in Image.Resampling.__members__:
            raise ValueError(f"interpolation is {self.interpolation!r}")


def readable() -> frozenset[str]:
    """How files are called that can be decoded here: HEIC only where pillow-heif is installed."""
    return SUFFIXES if "HEIF" in formats() else SUFFIXES - {*FORMATS["HEIF"]}


def read(source: ImageLike) -> tuple[ImageLike, bytes]:
    """An image as it is to be decoded, and the SHA-256 of its content: a file's bytes, or an upright picture's pixels.

    A file is read once, so that what is decoded is what the digest is of. A part of a frame has a digest of its own.
    """
    if isinstance(source, Crop):
        frame, content = read(source.frame)
        return replace(source, frame=frame), source.content(content)
    if isinstance(source, (str, Path)):
        name, path = describe(source), Path(source)
        try:
            _check_regular(path, name)
            source = path.read_bytes()
        except OSError as error:
            raise ImageError(name, _reason(error)) from None
    elif isinstance(source, Stored):
        source = source.read_bytes()
    if isinstance(source, (bytes, bytearray)):
        source = bytes(source)
        return source, hashlib.sha256(source).digest()
    picture = decode(source)
    return picture, hashlib.sha256(f"{picture.size}".encode() + picture.tobytes()).digest()


def decode(source: ImageLike) -> Image.Image:
    """An upright RGB image from a path, the bytes of a file, a PIL image or an array."""
    with decoded(source) as image:
        return image


@contextmanager
def decoded(source: ImageLike, shorter: int = 0, at_least: int = 0) -> Iterator[Image.Image]:
    """The image as `decode` gives it, for a block that makes a small one of it, with its shorter side at `shorter`.

    Memory for both is taken until the block ends; others wait for it. A block must not decode another image.
    Where `at_least` is given, a large JPEG may come smaller, its sides no shorter than that: it is decoded many times
    faster. A part of a frame is always cut from the whole.
    """
    name, whole = describe(source), source.frame if isinstance(source, Crop) else source
    with _as_image_errors(name):
        image = _opened(whole, name)
        needed = _needed(image, name, shorter)  # of the whole: a progressive JPEG is kept so, however small it is made
        if at_least and image is not whole and whole is source:
            image.draft(None, (at_least, at_least))
    with image if image is not whole else nullcontext(), decoding(needed):
        with _as_image_errors(name):
            upright = _upright_rgb(image)
        if isinstance(source, Crop):
            upright = source.cut(upright)
            _check_shape(upright, name, shorter)
        yield upright


def fitted(size: tuple[int, int], shorter: int) -> tuple[int, int]:
    """A size with the shorter side as asked and the same proportions."""
    width, height = (max(shorter, int(side * shorter / min(size))) for side in size)
    return width, height


def resized(source: ImageLike, preprocess: Preprocess) -> Pixels:
    """The image with its shorter side at `resize`: what training crops from."""
    with decoded(source, preprocess.resize, preprocess.oversampled * preprocess.resize) as image:
        size = fitted(image.size, preprocess.resize)
        resample = Image.Resampling[preprocess.interpolation.upper()]
        return np.asarray(image if size == image.size else image.resize(size, resample))


def prepared(source: ImageLike, preprocess: Preprocess) -> Pixels:
    """The central crop of the resized image: what is encoded."""
    return crop(resized(source, preprocess), preprocess.crop).copy()  # a view would keep the whole


def crop(pixels: Pixels, size: int, down: float = CENTRE, right: float = CENTRE, flip: float = CENTRE) -> Pixels:
    """A square cut at a relative place, mirrored when `flip` is above a half; the central crop if not told."""
    height, width = pixels.shape[:2]
    top, left = (_offset(side - size, place) for side, place in ((height, down), (width, right)))
    cut = pixels[top : top + size, left : left + size]
    return cut[:, ::-1] if flip > CENTRE else cut


def thumbnail(source: ImageLike, side: int = 96) -> bytes:
    """A small square JPEG of the middle of an image, without metadata, for pages."""
    with decoded(source, at_least=2 * side) as image:
        square = ImageOps.fit(image, (side, side), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    square.save(buffer, "JPEG", quality=82)
    return buffer.getvalue()


def in_frame(source: ImageLike, side: int = 640) -> bytes:
    """A JPEG of a whole image without metadata, its longer side no longer than this; of a part, the frame it is in."""
    with decoded(source.frame if isinstance(source, Crop) else source) as image:
        shown = framed(image, source.box) if isinstance(source, Crop) else image.copy()
    shown.thumbnail((side, side), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    shown.save(buffer, "JPEG", quality=82)
    return buffer.getvalue()


def suffix_of(path: Path) -> str:
    """How a file of this format is called, by what is in it; nothing where it is no image."""
    try:
        with Image.open(path, formats=formats()) as image:
            return FORMATS[str(image.format)][0]
    except Exception:  # decoders raise whatever they come upon
        return ""


def describe(source: ImageLike) -> str:
    """How to call an image in a message."""
    if isinstance(source, Crop):
        return str(replace(source, frame=describe(source.frame)))
    if isinstance(source, (str, Path, Stored)):
        return str(source)
    return f"<{type(source).__name__}>"


def _check_regular(path: Path, name: str) -> None:
    if not stat.S_ISREG(path.stat().st_mode):
        raise ImageError(name, "is not a file")  # opening a pipe would wait for ever


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "does not exist"
    return f"cannot be decoded: {getattr(error, 'strerror', None) or str(error) or type(error).__name__}"


def _offset(room: int, place: float) -> int:
    return round(room / 2) if place == CENTRE else min(int(place * (room + 1)), room)


@contextmanager
def _as_image_errors(name: str) -> Iterator[None]:
    """What Pillow raises at a bad file, in words."""
    try:
        yield
    except UnidentifiedImageError:
        if Path(name).suffix.lower() in FORMATS["HEIF"] and "HEIF" not in formats():
            raise ImageError(name, f"is HEIC, which is not read yet: {HEIF_EXTRA}") from None
        raise ImageError(name, f"is not an image that is read: {', '.join(formats())}") from None
    except Image.DecompressionBombError:
        raise ImageError(name, f"has far more pixels than the {MAX_PIXELS:,} that are read") from None
    except ImageError:
        raise
    except TypeError:
        raise ImageError(name, "is no image, and no name of one") from None
    except Exception as error:  # decoders raise whatever they come upon
        raise ImageError(name, _reason(error)) from None


def _opened(source: ImageLike, name: str) -> Image.Image:
    """An image of which the head was read, and nothing decoded."""
    if isinstance(source, np.ndarray):
        return _from_array(source, name)
    if isinstance(source, Image.Image):
        return source
    if isinstance(source, Stored) and not isinstance(source, Path):
        source = source.read_bytes()
    if isinstance(source, Crop):
        raise ImageError(name, "is a part of a part")
    if not isinstance(source, bytes):
        _check_regular(Path(source), name)
    return Image.open(io.BytesIO(source) if isinstance(source, bytes) else source, formats=formats())


@cache
def formats() -> tuple[str, ...]:
    """Those of the formats that this Pillow has, by itself or by pillow-heif."""
    Image.init()
    with suppress(ImportError):
        from pillow_heif import register_heif_opener

        register_heif_opener()
    return tuple(name for name in FORMATS if name in Image.OPEN)


def _needed(image: Image.Image, name: str, shorter: int) -> int:
    """The bytes that decoding and resizing it take; refused where those are too many."""
    if not all(image.size):
        raise ImageError(name, "has no pixels")
    pixels, each = _pixels(image), BYTES.get(image.format or "", COPIED)
    if pixels * each > MAX_BYTES:
        most = f"at most {MAX_BYTES // each:,} are read of {image.format or 'an image'}"
        raise ImageError(name, f"has {pixels:,} pixels; {most}", "save it smaller, or cut it up")
    return pixels * each + _check_shape(image, name, shorter) * COPIED


def _check_shape(image: Image.Image, name: str, shorter: int) -> int:
    """The pixels it will have when it is resized; refused where those are too many."""
    grown = math.prod(fitted(image.size, shorter)) if shorter else 0
    if grown > MAX_PIXELS:
        raise ImageError(name, f"is too long and thin: {image.width} x {image.height} pixels")
    return grown


def _pixels(image: Image.Image) -> int:
    """How many are decoded; a tile of a TIFF can be far larger than its picture."""
    tile = [getattr(image, "tag_v2", {}).get(tag) for tag in TILE_SIZE]
    sides = [side for side in tile if isinstance(side, int)]
    return max(math.prod(image.size), math.prod(sides) if len(sides) == 2 else 0)


def _upright_rgb(image: Image.Image) -> Image.Image:
    image.load()
    format = image.format  # which an upright copy does not have
    if image.getexif().get(ORIENTATION, 1) != 1:
        image = ImageOps.exif_transpose(image)
    if image.mode.startswith("I;16") or image.mode in ("I", "F"):
        image = eight_bits(image, format)
    if image.mode in ("PA", "P") and (image.mode == "PA" or "transparency" in image.info):
        image = image.convert("RGBA")
    if image.mode in ("RGBA", "LA"):
        white = Image.new("RGB", image.size, "white")
        white.paste(image, mask=image)
        return white
    return image if image.mode == "RGB" else image.convert("RGB")


def _from_array(array: NDArray[Any], name: str) -> Image.Image:
    """uint8 (H, W), (H, W, 3) or (H, W, 4); floats are refused, their range is anybody's guess."""
    grey_or_colour = array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (3, 4))
    if array.dtype != np.uint8 or not grey_or_colour or 0 in array.shape:
        raise ImageError(
            name,
            f"is an array of {array.dtype} of shape {array.shape}",
            "expected uint8 of shape (H, W), (H, W, 3) or (H, W, 4)",
        )
    return Image.fromarray(array)
