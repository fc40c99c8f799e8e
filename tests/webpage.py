"""A page as a tree, so that tests ask for what is on it rather than for strings."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from html.parser import HTMLParser

PICTURES = ("data:image/jpeg;base64,", "data:image/webp;base64,")
ALONE = ("meta", "link", "img", "br", "wbr", "input")  # elements that have no end


@dataclass
class Element:
    """A tag with its attributes and what is inside."""

    tag: str
    attributes: dict[str, str | None] = field(default_factory=dict)
    inside: list[Element | str] = field(default_factory=list)

    def __iter__(self) -> Iterator[Element]:
        """All elements inside, in the order of the page."""
        for each in self.inside:
            if isinstance(each, Element):
                yield each
                yield from each

    def all(self, tag: str, kind: str | None = None) -> list[Element]:
        """The elements of this tag, and of this class if one is given."""
        return [each for each in self if each.tag == tag and (kind is None or kind in each.kinds)]

    def one(self, tag: str, kind: str | None = None) -> Element:
        (found,) = self.all(tag, kind)
        return found

    def __getitem__(self, attribute: str) -> str:
        return self.attributes[attribute] or ""

    @property
    def kinds(self) -> list[str]:
        return (self.attributes.get("class") or "").split()

    @property
    def text(self) -> str:
        """What is written in it, with single spaces."""
        return " ".join(self._letters().split())

    def _letters(self) -> str:
        return "".join(each if isinstance(each, str) else each._letters() for each in self.inside)

    @property
    def code(self) -> str:
        """What is written in it, as it is."""
        return self._letters()

    def shape(self) -> list[tuple[str, tuple[str, ...]]]:
        """Which elements with which attributes there are, whatever they say; a place to break a line is none."""
        return [(each.tag, tuple(each.attributes)) for each in self if each.tag != "wbr"]


def read_page(content: bytes, scripted: bool = False) -> Element:
    """A page that is whole, fetches nothing, runs nothing but our script if that, and says what its pictures are."""
    reader = _Reader()
    assert content.startswith(b"<!doctype html>")
    reader.feed(content.decode())
    (page,) = reader.open
    assert page.one("html")["lang"] == "en"
    assert page.one("head").one("title").text == page.one("h1").text
    policy = [each["content"] for each in page.all("meta") if "http-equiv" in each.attributes]
    scripts = [b64encode(sha256(each.code.encode()).digest()).decode() for each in page.all("script")]
    assert len(scripts) == scripted
    allowed = "".join(f"; script-src 'sha256-{each}'" for each in scripts)
    assert policy == [f"default-src 'none'; img-src data:; style-src 'unsafe-inline'{allowed}"]
    for each in page:
        assert each.tag not in ("link", "iframe", "object", "form")
        assert not {name for name in each.attributes if name.startswith("on") or name == "style"}
        assert each.tag != "img" or (each["alt"] and each["src"].startswith(PICTURES))
        assert each.tag != "svg" or each.attributes.get("aria-hidden") or (each["role"] == "img" and each["aria-label"])
        assert each.attributes.get("href", "#").startswith("#")  # type: ignore[union-attr]
    return page


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("page")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs))
        self.open[-1].inside.append(element)
        if tag not in ALONE:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].inside.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag, "tags end in the order they began"

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)
