"""What every page about a model is made of: the frame, the style, pictures inside the page. No scripts."""

from __future__ import annotations

import base64
import io
from html import escape
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from firstsight.data.images import Pixels
from firstsight.evidence.evidence import Square

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
DIM = 0.45  # brightness where a model did not look


def page(title: str, body: str, style: str | None = None) -> bytes:
    """A self-contained page, in the style of evidence or another."""
    style = files("firstsight.pages").joinpath("page.css").read_text(encoding="utf-8") if style is None else style
    return PAGE.format(title=escape(title), style=style, body=body).encode()


def breakable(name: str) -> str:
    """A name for a narrow place: it may go on in a new line after an underscore."""
    return escape(name).replace("_", "_<wbr>")


def figure(picture: bytes | None, alt: str, caption: str, kind: str = "", blank: str = "") -> str:
    """A picture with a caption, which is HTML; where there is no picture, a frame that says `blank`."""
    shown = image(picture, alt) if picture is not None else f'<div class="blank">{escape(blank)}</div>'
    return f"<figure{f' class={kind!r}' if kind else ''}>{shown}<figcaption>{caption}</figcaption></figure>"


def image(picture: bytes, alt: str, side: int = 128) -> str:
    """A JPEG inside the page."""
    data = base64.b64encode(picture).decode()
    return (
        f'<img src="data:image/jpeg;base64,{data}" alt="{escape(alt)}" width="{side}" height="{side}" '
        'loading="lazy" decoding="async">'
    )


def jpeg(pixels: Pixels) -> bytes:
    """Pixels as a JPEG without metadata."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=88)
    return buffer.getvalue()


def lit(pixels: Pixels, looked: NDArray[np.float32], closer: Square | None = None) -> Pixels:
    """The image as it is where a model looked, dim and grey where it did not; a frame around its second look."""
    height, width = pixels.shape[:2]
    smooth = Image.fromarray(looked.astype(np.float32)).resize((width, height), Image.Resampling.BICUBIC)
    light = np.sqrt(np.asarray(smooth).clip(0, 1))[..., None]  # half as much looked at is not half as bright
    grey = pixels.mean(-1, keepdims=True)
    shown = Image.fromarray((light * pixels + (1 - light) * DIM * grey).round().astype(np.uint8))
    if closer is not None:
        left, top, side = closer
        box = (left * width, top * height, (left + side) * width - 1, (top + side) * height - 1)
        for colour, line in (("black", 4), ("white", 2)):  # seen on whatever is beneath
            ImageDraw.Draw(shown).rectangle(box, outline=colour, width=line)
    return np.asarray(shown)


def looked_caption(closer: Square | None) -> str:
    return "bright: where it looked" + ("; framed: its second look" if closer else "")
