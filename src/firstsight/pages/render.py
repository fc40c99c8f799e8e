"""Templates become pages here. Whatever a file or a category is called, it is text on the page and no more."""

from __future__ import annotations

import base64
import re
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from firstsight._version import __version__

# controls, what turns the reading direction around, and halves of characters, which UTF-8 cannot hold
ODD = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufffe\uffff\ud800-\udfff]")


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
    made.filters |= {"data_uri": data_uri, "breakable": breakable, "counted": counted}
    style = files("firstsight.pages").joinpath("firstsight.css").read_text(encoding="utf-8")
    made.globals |= {"style": Markup(style), "version": __version__}  # ours, so trusted
    return made


def data_uri(jpeg: bytes | None) -> str | None:
    """A JPEG as an address that holds it."""
    return None if jpeg is None else f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}"


def breakable(name: str) -> Markup:
    """A name for a narrow place: it may go on in a new line after an underscore or a slash.

    >>> breakable("<b>_a")
    Markup('&lt;b&gt;_<wbr>a')
    """
    return Markup(re.sub("([_/])", r"\1<wbr>", str(escape(name))))


def counted(count: int, one: str, many: str | None = None) -> str:
    """
    >>> counted(1, "image"), counted(2, "image"), counted(2, "category", "categories")
    ('1 image', '2 images', '2 categories')
    """
    return f"{count} {one if count == 1 else many or one + 's'}"
