"""Templates become pages here. Whatever a file or a category is called, it is text on the page and no more."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from firstsight._version import __version__
from firstsight.evidence.words import briefly, day

# controls, what turns the reading direction around, and halves of characters, which UTF-8 cannot hold
ODD = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufffe\uffff\ud800-\udfff]")
OURS = {"style": "css", "script": "js"}  # written into a page; a service serves them as the files they are


def render(template: str, **values: Any) -> bytes:
    """A page from a template. Values are escaped; what would not show is written out, as in a string of Python."""
    text = environment().get_template(template).render(values)
    return ODD.sub(lambda found: found[0].encode("unicode_escape").decode(), text).encode()


@cache
def environment() -> Environment:
    """All templates, strict: a value that is missing is an error."""
    made = Environment(
        loader=PackageLoader("firstsight.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "anchor": anchor, "breakable": breakable, "category_address": category_address, "counted": counted,
        "data_uri": data_uri, "day": day, "digest": digest, "first_up": first_up, "moment": moment,
    }  # fmt: skip
    ours = {name: files("firstsight.pages").joinpath("static", f"firstsight.{kind}") for name, kind in OURS.items()}
    made.globals |= {name: Markup(file.read_text(encoding="utf-8")) for name, file in ours.items()}  # so trusted
    made.globals |= {"briefly": briefly, "scripted": False, "version": __version__}
    return made


def data_uri(picture: bytes | None) -> Markup | None:
    """A JPEG or WebP as an address that holds it."""
    if picture is None:
        return None
    kind = "webp" if picture.startswith(b"RIFF") else "jpeg"
    return Markup(f"data:image/{kind};base64,{base64.b64encode(picture).decode()}")  # nothing in it to be escaped


def digest(script: str) -> str:
    """What a policy calls a script by: nothing but that very script is run.

    >>> digest("1")
    'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='
    """
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def anchor(id: str) -> str:
    """The place of a category on a page, whatever its id is.

    >>> anchor("new-7"), anchor("Blue Morpho")
    ('c-new-7', 'c-Blue~20Morpho')
    """
    return "c-" + re.sub("[^A-Za-z0-9_-]", lambda found: f"~{ord(found[0]):x}", id)


def category_address(id: str) -> str:
    """The page of a category, in a service.

    >>> category_address("Blue Morpho")
    '/categories/Blue%20Morpho'
    """
    return f"/categories/{quote(id)}"


def breakable(name: str) -> Markup:
    """A name for a narrow place: it may go on in a new line after an underscore or a slash.

    >>> breakable("<b>_a")
    Markup('&lt;b&gt;_<wbr>a')
    """
    return Markup(re.sub("([_/])", r"\1<wbr>", str(escape(name))))


def first_up(text: str) -> str:
    """Words as the start of a sentence; names in it stay as they are.

    >>> first_up("nearest to Blue Morpho")
    'Nearest to Blue Morpho'
    """
    return text[:1].upper() + text[1:]


def moment(time: str, other: str) -> str:
    """A moment in ISO 8601 for people: the day or, where another is on the same day, the time.

    >>> moment("2026-06-05T14:02:09Z", "2026-06-05T15:30:00Z"), moment("2026-06-05T14:02:09Z", "2026-07-01T15:30:00Z")
    ('14:02 UTC', '5 June 2026')
    """
    return f"{time[11:16]} UTC" if time[:10] == other[:10] else day(time)


def counted(count: int, one: str, many: str | None = None) -> str:
    """
    >>> counted(1, "image"), counted(2, "image"), counted(2, "category", "categories")
    ('1 image', '2 images', '2 categories')
    """
    return f"{count} {one if count == 1 else many or one + 's'}"
