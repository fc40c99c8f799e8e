"""The one image path: decode, orient, RGB, resize, crop. Training, commands and services all go through here.

A pixel of skew flips bits, so the path is versioned and its settings are saved with every model. Pillow decodes;
no torch here: what comes out is uint8, normalised on the device by whoever encodes.
"""

from __future__ import annotations

import hashlib
import io
import stat
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from firstsight.errors import ImageError, ModelError

VERSION = 1
MAX_PIXELS = 128_000_000
CENTRE = 0.5
ORIENTATION = 0x0112  # of a photograph, in its EXIF data
SUFFIXES = frozenset(
    {".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff", ".ppm", ".pgm", ".jp2", ".avif"}
)

warnings.filterwarnings("ignore", category=Image.DecompressionBombWarning)  # the limit is ours, and an error

Pixels: TypeAlias = NDArray[np.uint8]  # (height, width, 3)


@runtime_checkable
class Stored(Protocol):
    """An image kept somewhere that is not a file of its own, such as a pack."""

    def read_bytes(self) -> bytes: ...


ImageLike: TypeAlias = "str | Path | bytes | Image.Image | NDArray[Any] | Stored"


@dataclass(frozen=True)
class Preprocess:
    """What travels with the weights: the geometry and the colour normalisation."""

    resize: int
    crop: int
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    interpolation: str = "bicubic"
    version: int = VERSION

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Preprocess:
        if values.get("version") != VERSION:
            raise ModelError(
                f"this model's image path is version {values.get('version')}; this release has version {VERSION}",
                "use the Firstsight release that made it, or fit it again",
            )
        return cls(**{**values, "mean": tuple(values["mean"]), "std": tuple(values["std"])})


def read(source: ImageLike) -> tuple[ImageLike, bytes]:
    """An image as it is to be decoded, and the SHA-256 of its content: a file's bytes, or an upright picture's pixels.

    A file is read once, so that what is decoded is what the digest is of.
    """
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
    name = describe(source)
    try:
        if isinstance(source, np.ndarray):
            return _from_array(source, name)
        if isinstance(source, Image.Image):
            return _upright_rgb(source)
        if isinstance(source, Stored) and not isinstance(source, Path):
            source = source.read_bytes()
        if not isinstance(source, bytes):
            _check_regular(Path(source), name)
        with Image.open(io.BytesIO(source) if isinstance(source, bytes) else source) as image:
            if image.width * image.height > MAX_PIXELS:
                raise ImageError(name, f"has {image.width} x {image.height} pixels; at most {MAX_PIXELS:,} are read")
            return _upright_rgb(image)
    except UnidentifiedImageError:
        raise ImageError(name, "is not an image Pillow can read") from None
    except Image.DecompressionBombError:
        raise ImageError(name, f"has far more pixels than the {MAX_PIXELS:,} that are read") from None
    except TypeError:
        raise ImageError(name, "is no image, and no name of one") from None
    except (OSError, SyntaxError, ValueError, IndexError, OverflowError, MemoryError) as error:  # what decoders raise
        raise ImageError(name, _reason(error)) from None


def resized(source: ImageLike, preprocess: Preprocess) -> Pixels:
    """The image with its shorter side at `resize`: what training crops from."""
    image = decode(source)
    short, target = min(image.size), preprocess.resize
    width, height = (max(target, int(side * target / short)) for side in image.size)
    if width * height > MAX_PIXELS:
        raise ImageError(describe(source), f"is too long and thin: {image.width} x {image.height} pixels")
    if (width, height) != image.size:
        resample = Image.Resampling[preprocess.interpolation.upper()]
        image = image.resize((width, height), resample)
    return np.asarray(image)


def prepared(source: ImageLike, preprocess: Preprocess) -> Pixels:
    """The central crop of the resized image: what is encoded."""
    return crop(resized(source, preprocess), preprocess.crop)


def crop(pixels: Pixels, size: int, down: float = CENTRE, right: float = CENTRE, flip: float = CENTRE) -> Pixels:
    """A square cut at a relative place, mirrored when `flip` is above a half; the central crop if not told."""
    height, width = pixels.shape[:2]
    top, left = (_offset(side - size, place) for side, place in ((height, down), (width, right)))
    cut = pixels[top : top + size, left : left + size]
    return cut[:, ::-1] if flip > CENTRE else cut


def thumbnail(source: ImageLike, side: int = 96) -> bytes:
    """A small square JPEG of the middle of an image, without metadata, for pages."""
    square = ImageOps.fit(decode(source), (side, side), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    square.save(buffer, "JPEG", quality=82)
    return buffer.getvalue()


def describe(source: ImageLike) -> str:
    """How to call an image in a message."""
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


def _upright_rgb(image: Image.Image) -> Image.Image:
    image.load()
    if image.getexif().get(ORIENTATION, 1) != 1:
        image = ImageOps.exif_transpose(image)
    if image.mode.startswith("I;16") or image.mode == "I":  # 16-bit grey: Pillow would clip it to white
        image = Image.fromarray((np.asarray(image).astype(np.uint32) >> 8).clip(0, 255).astype(np.uint8))
    if image.mode in ("RGBA", "LA", "PA") or (image.mode == "P" and "transparency" in image.info):
        white = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(white, image.convert("RGBA"))
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
    return _upright_rgb(Image.fromarray(array))
