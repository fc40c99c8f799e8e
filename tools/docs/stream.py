"""The picture of a stream in docs/discovery.md: what was taught, what arrives, and what ought to be answered.

Known and new differ by colour (blue and orange, which all eyes tell apart), by the frame's line, and in words.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from firstsight.data.synthetic import Species, draw, species

WIDTH, MARGIN, ACROSS = 720, 16, 5
CELL = (WIDTH - 2 * MARGIN) / ACROSS
SIDE = 112  # of a picture
INK, SOFT, PAPER, CARD, KNOWN, NEW = "#1c1c1c", "#5b5b57", "#fdfcf8", "#f1ede1", "#0b5cad", "#b04a00"
TAUGHT = ((0, 1), (1, 0), (2, 0))  # genus and number in the field guide
ARRIVING = ((1, 0), (2, 0), (1, 1), (0, 1), (1, 1), (4, 0), (2, 0), (4, 0), (1, 0), (1, 1))
TITLE = "Three species of moths are taught; ten photographs arrive one by one, and two new species are discovered"


class Answer(NamedTuple):
    """What ought to be said of one photograph."""

    name: str
    known: bool
    founded: bool


def stream() -> bytes:
    """The picture, as SVG with the photographs inside."""
    answers = list(_answers())
    body = "\n".join([*_taught(), *_arriving(answers), *_register(answers)])
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} 726" role="img" aria-label="{TITLE}"'
    style = 'font-family="system-ui, sans-serif" font-size="15"'
    return f'{head} {style}>\n<rect width="{WIDTH}" height="726" rx="10" fill="{PAPER}"/>\n{body}\n</svg>\n'.encode()


def _kind(genus: int, number: int) -> Species:
    return species(24)[4 * genus + number]


def _answers() -> Iterator[Answer]:
    found: dict[tuple[int, int], str] = {}
    for kind in ARRIVING:
        founded = kind not in TAUGHT and kind not in found
        if founded:
            found[kind] = f"new-{len(found) + 1}"
        yield Answer(found.get(kind, _kind(*kind).name), kind in TAUGHT, founded)


def _taught() -> Iterator[str]:
    yield _text(MARGIN, 32, "Taught: photographs with a name", size=17, weight=650)
    for place, kind in enumerate(TAUGHT):
        left = MARGIN + place * 234
        yield f'<rect x="{left}" y="46" width="220" height="134" rx="8" fill="{CARD}"/>'
        for index in range(2):
            yield _photograph(kind, index, left + 8 + 104 * index, 54, 100)
        yield _text(left + 110, 172, _kind(*kind).name, KNOWN, weight=600, middle=True)


def _arriving(answers: list[Answer]) -> Iterator[str]:
    yield _text(MARGIN, 222, "Then they arrive, one at a time, and each is answered at once", size=17, weight=650)
    for place, (kind, answer) in enumerate(zip(ARRIVING, answers, strict=True)):
        down, across = divmod(place, ACROSS)
        left, top = MARGIN + across * CELL + (CELL - SIDE) / 2, 240 + 188 * down
        colour, line = (KNOWN, "") if answer.known else (NEW, ' stroke-dasharray="9 5"')
        yield _photograph(kind, 30 + place, left, top, SIDE)
        frame = f'x="{left:g}" y="{top}" width="{SIDE}" height="{SIDE}" rx="6"'
        yield f'<rect {frame} fill="none" stroke="{colour}" stroke-width="4"{line}/>'
        middle = left + SIDE / 2
        yield _badge(left + 16, top + 17, str(place + 1))
        yield _text(middle, top + SIDE + 22, answer.name, colour, weight=650, middle=True)
        said = "known" if answer.known else "new: founded now" if answer.founded else "seen before"
        yield _text(middle, top + SIDE + 41, said, SOFT, size=13.5, middle=True)


def _register(answers: list[Answer]) -> Iterator[str]:
    """What is known in the end, by how many photographs."""
    yield _text(MARGIN, 636, "The register afterwards", size=17, weight=650)
    names = list(dict.fromkeys([*(_kind(*kind).name for kind in TAUGHT), *(answer.name for answer in answers)]))
    for place, name in enumerate(names):
        left, known = MARGIN + place * CELL, place < len(TAUGHT)
        colour, line = (KNOWN, "") if known else (NEW, ' stroke-dasharray="9 5"')
        box = f'x="{left + 4:g}" y="650" width="{CELL - 8:g}" height="60" rx="8"'
        yield f'<rect {box} fill="{CARD}" stroke="{colour}" stroke-width="2"{line}/>'
        yield _text(left + CELL / 2, 675, name, colour, size=13, weight=650, middle=True)
        count = sum(answer.name == name for answer in answers)
        yield _text(left + CELL / 2, 696, f"{count} arrived", SOFT, size=13.5, middle=True)


def _photograph(kind: tuple[int, int], index: int, left: float, top: float, side: int) -> str:
    file = io.BytesIO()
    draw(_kind(*kind), index, 3 * side // 2).save(file, "JPEG", quality=78)
    data = base64.b64encode(file.getvalue()).decode()
    where = f'x="{left:g}" y="{top:g}" width="{side}" height="{side}"'
    return f'<image {where} href="data:image/jpeg;base64,{data}"/>'


def _badge(x: float, y: float, text: str) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="11" fill="{PAPER}"/>' + _text(x, y + 5, text, size=13.5, middle=True)


def _text(
    x: float, y: float, text: str, colour: str = INK, size: float = 15, weight: int = 400, middle: bool = False
) -> str:
    anchor = ' text-anchor="middle"' if middle else ""
    how = f'fill="{colour}" font-size="{size:g}" font-weight="{weight}"{anchor}'
    return f'<text x="{x:g}" y="{y:g}" {how}>{escape(text)}</text>'
