"""Drawings of lines, polygons and texts, as SVG and as PNG: the one style of all figures.

Tones are told apart by colour-blind readers (Okabe and Ito) and in print, where charts add dashes and shapes. The SVG
turns dark where its reader is dark; the PNG is light, on white.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from math import hypot
from typing import Literal, TypeAlias

from PIL import Image, ImageDraw, ImageFont

Point: TypeAlias = tuple[float, float]
Anchor: TypeAlias = Literal["start", "middle", "end"]

# name: on light, on dark
TONES = {
    "ink": ("#1a1a1a", "#e8e8e8"),
    "faint": ("#d9d9d9", "#404040"),
    "paper": ("#ffffff", "#141414"),
    "blue": ("#0072b2", "#56b4e9"),
    "red": ("#d55e00", "#ff8c4a"),
    "green": ("#009e73", "#2fd3a5"),
    "purple": ("#a3528a", "#e29ac4"),
    "orange": ("#b37a00", "#f0b83c"),
    "grey": ("#6b6b6b", "#a6a6a6"),
}
SERIES = ("blue", "red", "green", "purple", "orange", "grey", "ink")
SIZE = 12  # of text
DETAIL = 4  # pixels a PNG is drawn with where one is asked, before it is made twice as large as asked


@dataclass(frozen=True)
class Shape:
    """A line, or where `opacity` is given a filled polygon."""

    points: tuple[Point, ...]
    tone: str
    width: float = 1.5
    dash: tuple[float, ...] = ()
    opacity: float | None = None


@dataclass(frozen=True)
class Words:
    """A text whose middle height is at y; turned, it reads upwards."""

    x: float
    y: float
    text: str
    anchor: Anchor
    size: float
    turned: bool


class Drawing:
    """Shapes and texts on a page."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self.width, self.height, self.title = round(width), round(height), title
        self.parts: list[Shape | Words] = []

    def line(
        self, points: Sequence[Point], tone: str = "ink", width: float = 1.5, dash: tuple[float, ...] = ()
    ) -> None:
        self.parts.append(Shape(tuple(points), tone, width, dash))

    def polygon(self, points: Sequence[Point], tone: str, opacity: float = 1.0) -> None:
        self.parts.append(Shape(tuple(points), tone, opacity=opacity))

    def box(self, x: float, y: float, width: float, height: float, tone: str, opacity: float = 1.0) -> None:
        self.polygon([(x, y), (x + width, y), (x + width, y + height), (x, y + height)], tone, opacity)

    def text(
        self, x: float, y: float, text: str, anchor: Anchor = "start", size: float = SIZE, turned: bool = False
    ) -> None:
        self.parts.append(Words(x, y, text, anchor, size, turned))

    def svg(self) -> str:
        """Self-contained, without scripts, its title read aloud."""
        tones = {part.tone for part in self.parts if isinstance(part, Shape)} | {"ink", "paper"}
        light, dark = ("".join(_rule(tone, which) for tone in TONES if tone in tones) for which in (0, 1))
        title = escape(self.title)
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
                f'width="{self.width}" height="{self.height}" role="img" aria-label="{title}">',
                f"<title>{title}</title>",
                f"<style>text{{font-family:system-ui,sans-serif}}{light}"
                f"@media(prefers-color-scheme:dark){{{dark}}}</style>",
                f'<rect class="paper f" width="{self.width}" height="{self.height}"/>',
                *(_svg(part) for part in self.parts),
                "</svg>\n",
            ]
        )

    def png(self) -> bytes:
        """Twice as many pixels as the SVG is wide and high."""
        image = Image.new("RGB", (DETAIL * self.width, DETAIL * self.height), TONES["paper"][0])
        for part in self.parts:
            _paint(image, part)
        content = io.BytesIO()
        image.resize((2 * self.width, 2 * self.height), Image.Resampling.BOX).save(content, "PNG", optimize=True)
        return content.getvalue()


def _rule(tone: str, which: int) -> str:
    colour = TONES[tone][which]
    return f".{tone}{{stroke:{colour};fill:none}}.{tone}.f{{fill:{colour};stroke:none}}"


def _svg(part: Shape | Words) -> str:
    if isinstance(part, Words):
        x, y = _short(part.x), _short(part.y)
        baseline = f'x="{x}" y="{y}" dy=".35em"'
        turn = f' transform="rotate(-90 {x} {y})"' if part.turned else ""
        return (
            f'<text class="ink f" {baseline} font-size="{_short(part.size)}" text-anchor="{part.anchor}"{turn}>'
            f"{escape(part.text)}</text>"
        )
    path = "M" + "L".join(f"{_short(x)} {_short(y)}" for x, y in part.points)
    if part.opacity is not None:
        shade = "" if part.opacity == 1 else f' fill-opacity="{_short(part.opacity, 2)}"'
        return f'<path class="{part.tone} f" d="{path}z"{shade}/>'
    dash = f' stroke-dasharray="{" ".join(map(_short, part.dash))}"' if part.dash else ""
    return f'<path class="{part.tone}" d="{path}" stroke-width="{_short(part.width)}"{dash}/>'


def _short(number: float, digits: int = 1) -> str:
    return f"{number:.{digits}f}".rstrip("0").rstrip(".") or "0"


def _paint(image: Image.Image, part: Shape | Words) -> None:
    pen = ImageDraw.Draw(image)
    if isinstance(part, Words):
        _write(image, part)
        return
    points = [(DETAIL * x, DETAIL * y) for x, y in part.points]
    if part.opacity is not None:
        pen.polygon(points, fill=_blended(part.tone, part.opacity))
        return
    for piece in _dashes(points, [DETAIL * length for length in part.dash]):
        pen.line(piece, fill=TONES[part.tone][0], width=round(DETAIL * part.width), joint="curve")


def _write(image: Image.Image, words: Words) -> None:
    font = ImageFont.load_default(DETAIL * words.size)
    x, y, down = DETAIL * words.x, DETAIL * words.y, 0.35 * DETAIL * words.size
    letter = {"start": "l", "middle": "m", "end": "r"}[words.anchor]
    if not words.turned:
        ImageDraw.Draw(image).text((x, y + down), words.text, TONES["ink"][0], font, f"{letter}s")
        return
    length = int(font.getlength(words.text)) + 2
    mask = Image.new("L", (length, int(2 * DETAIL * words.size)))
    ImageDraw.Draw(mask).text((0, mask.height / 2 + down), words.text, 255, font, "ls")
    turned = mask.rotate(90, expand=True)
    before = {"start": length, "middle": length / 2, "end": 0}[words.anchor]  # what is written lies above y
    image.paste(TONES["ink"][0], (round(x - turned.width / 2), round(y - before)), turned)


def _blended(tone: str, opacity: float) -> tuple[int, ...]:
    """The tone over white."""
    colour = (int(TONES[tone][0][i : i + 2], 16) for i in (1, 3, 5))
    return tuple(round(255 + opacity * (value - 255)) for value in colour)


def _dashes(points: Sequence[Point], dash: Sequence[float]) -> Iterator[list[Point]]:
    """The line in pieces: drawn, not drawn, and so on."""
    if not dash:
        yield list(points)
        return
    place, left, drawn, piece = 0, dash[0], True, [points[0]]
    for start, end in pairwise(points):
        while (rest := hypot(end[0] - start[0], end[1] - start[1])) > left:
            start = (start[0] + (end[0] - start[0]) * left / rest, start[1] + (end[1] - start[1]) * left / rest)
            if drawn:
                yield [*piece, start]
            place, drawn, piece = (place + 1) % len(dash), not drawn, [start]
            left = dash[place]
        left -= rest
        piece.append(end)
    if drawn and len(piece) > 1:
        yield piece
