"""Evidence as a picture: what the page shows, drawn with Pillow; two images side by side."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cache
from typing import cast

from PIL import Image, ImageDraw, ImageFont

from firstsight.data.images import decode
from firstsight.evidence.evidence import Evidence
from firstsight.pages.page import lit, looked_caption

SCALE = 2  # pixels drawn for each one meant
WIDTH, MARGIN, GAP = 760, 32, 12
PICTURE, THUMBNAIL = 224, 128
PAPER, INK, SOFT, LINE, FOUND, LOW = "#ffffff", "#1c1c1c", "#5b5b57", "#d8d4c8", "#0b6e75", "#b5470f"


def as_png(cases: Sequence[Evidence]) -> bytes:
    """One column for every image."""
    largest = max((abs(one.similarity) for case in cases for one in case.sums), default=1.0)
    columns = [_column(case, largest) for case in cases]
    whole = Image.new("RGB", (sum(c.width for c in columns), max(c.height for c in columns)), PAPER)
    for i, column in enumerate(columns):
        whole.paste(column, (i * column.width, 0))
    buffer = io.BytesIO()
    whole.save(buffer, "PNG")
    return buffer.getvalue()


class Sheet:
    """A column that is filled from the top; places are in units of SCALE pixels."""

    def __init__(self) -> None:
        self.image = Image.new("RGB", (WIDTH * SCALE, 4000), PAPER)
        self.draw = ImageDraw.Draw(self.image)
        self.y = float(MARGIN)

    def write(self, text: str, x: float, y: float, size: int = 14, colour: str = INK, anchor: str = "la") -> None:
        self.draw.text((x * SCALE, y * SCALE), text, colour, _font(size), anchor)

    def paragraph(self, text: str, size: int = 14, colour: str = INK, width: float = WIDTH - 2 * MARGIN) -> None:
        for line in wrapped(text, size, width):
            self.write(line, MARGIN, self.y, size, colour)
            self.y += size * 1.4

    def heading(self, text: str) -> None:
        self.y += 1.5 * GAP
        self.write(text, MARGIN, self.y, 15)
        self.y += 22
        self.box(MARGIN, self.y, WIDTH - 2 * MARGIN, 1, LINE)
        self.y += GAP

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        left, top = x * SCALE, y * SCALE
        self.draw.rectangle((left, top, left + max(width * SCALE - 1, 0), top + max(height * SCALE - 1, 0)), colour)

    def picture(self, picture: Image.Image, x: float, y: float, side: int) -> None:
        resized = picture.resize((side * SCALE, side * SCALE), Image.Resampling.LANCZOS)
        self.image.paste(resized, (round(x * SCALE), round(y * SCALE)))

    def finished(self) -> Image.Image:
        return self.image.crop((0, 0, WIDTH * SCALE, round((self.y + MARGIN) * SCALE)))


def wrapped(text: str, size: int, width: float) -> list[str]:
    """Lines that fit."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and _font(size).getlength(longer) > width * SCALE:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def shortened(text: str, size: int, width: float) -> str:
    """The text, or as much of its beginning as fits."""
    if _font(size).getlength(text) <= width * SCALE:
        return text
    while text and _font(size).getlength(f"{text}…") > width * SCALE:
        text = text[:-1]
    return f"{text}…"


def _column(case: Evidence, largest: float) -> Image.Image:
    sheet = Sheet()
    sheet.paragraph(case.called, 24, LOW if case.answer.is_new else INK)
    sheet.paragraph(shortened(case.image, 12, WIDTH - 2 * MARGIN), 12, SOFT)
    sheet.y += GAP
    sheet.paragraph(case.sentence, 15)
    sheet.y += GAP
    _images(sheet, case)
    _similar(sheet, case)
    _sums(sheet, case, largest)
    _near(sheet, case)
    _code(sheet, case)
    return sheet.finished()


def _images(sheet: Sheet, case: Evidence) -> None:
    shown = [(case.pixels, "as the model saw it")]
    if case.looked is not None:
        shown.append((lit(case.pixels, case.looked, case.closer), looked_caption(case.closer)))
    for i, (pixels, caption) in enumerate(shown):
        x = MARGIN + i * (PICTURE + GAP)
        sheet.picture(Image.fromarray(pixels), x, sheet.y, PICTURE)
        sheet.write(caption, x, sheet.y + PICTURE + 4, 12, SOFT)
    sheet.y += PICTURE + 20


def _similar(sheet: Sheet, case: Evidence) -> None:
    if not case.similar:
        return
    sheet.heading(f"The {len(case.similar)} {case.kind} it is most like")
    for i, one in enumerate(case.similar):
        x = MARGIN + i * (THUMBNAIL + GAP)
        if one.picture is None:
            sheet.box(x, sheet.y, THUMBNAIL, THUMBNAIL, LINE)
            middle = x + THUMBNAIL / 2, sheet.y + THUMBNAIL / 2
            sheet.write(f"{case.kind[:-1]} {one.number}", *middle, 12, INK, "mm")
        else:
            sheet.picture(decode(one.picture), x, sheet.y, THUMBNAIL)
        sheet.write(f"{one.similarity:.2f}", x, sheet.y + THUMBNAIL + 4)
        for line, text in enumerate(wrapped(one.category, 12, THUMBNAIL)[:2]):
            sheet.write(shortened(text, 12, THUMBNAIL), x, sheet.y + THUMBNAIL + 22 + 15 * line, 12, SOFT)
    sheet.y += THUMBNAIL + 52


def _sums(sheet: Sheet, case: Evidence, largest: float) -> None:
    if not case.sums:
        return
    sheet.heading("Their similarity, summed per category")
    for one in case.sums:
        sheet.write(shortened(one.category, 14, 250), MARGIN, sheet.y)
        sheet.box(MARGIN + 260, sheet.y + 2, max(1.0, 250 * one.similarity / largest), 12, FOUND)
        sheet.write(f"{one.similarity:.2f}  ({one.count} of {len(case.similar)})", MARGIN + 520, sheet.y)
        sheet.y += 22


def _near(sheet: Sheet, case: Evidence) -> None:
    if not case.near:
        return
    odds = case.answer.confidence is not None
    reach = f", radius {case.answer.radius:.3g}" if case.answer.radius < 1e300 else ""
    sheet.heading("Log odds of a new category against the nearest ones" if odds else f"The nearest centres{reach}")
    for one in case.near:
        sheet.write(shortened(one.category, 14, 250), MARGIN, sheet.y)
        place = "inside" if one.within else "outside"
        text = f"{one.distance:.3g}" if odds else f"{one.distance:.3g} away, {place}"
        sheet.write(text, MARGIN + 260, sheet.y)
        if one.differing:
            bits = [f"{bit} ({case.values[bit - 1]:+.2f})" for bit in case.most_unsure(one)]
            text = f"differing: {', '.join(bits)}"
            sheet.write(shortened(text, 12, WIDTH - MARGIN - 430), MARGIN + 400, sheet.y + 1, 12, SOFT)
        sheet.y += 22


def _code(sheet: Sheet, case: Evidence) -> None:
    """The values of the bits as bars around zero, and below them the code and the centres'."""
    if not case.values:
        return
    sheet.heading("Its code, and how far from zero each bit is; marked: unlike the nearest centre")
    left, tall = MARGIN + 170, 80
    step, largest = (WIDTH - MARGIN - left) / len(case.values), max(map(abs, case.values)) or 1.0
    middle = sheet.y + tall / 2
    sheet.box(left, middle, WIDTH - MARGIN - left, 1, SOFT)
    for i, value in enumerate(case.values):
        height = abs(value) / largest * tall / 2
        differs = case.near and i + 1 in case.near[0].differing
        top = middle - (height if value > 0 else 0)
        sheet.box(left + i * step + 1, top, max(1.0, step - 2), height, LOW if differs else FOUND)
    sheet.y += tall + GAP
    rows = [("this image", case.code, ()), *((one.category, case.centre_code(one), one.differing) for one in case.near)]
    for name, code, differing in rows:
        sheet.write(shortened(name, 12, 160), MARGIN, sheet.y, 12, SOFT)
        for i, bit in enumerate(code):
            x, colour = left + (i + 0.5) * step, LOW if i + 1 in differing else INK
            sheet.write(bit, x, sheet.y, min(12, round(1.6 * step)), colour, "ma")
            if i + 1 in differing:
                sheet.box(x - step / 4, sheet.y + 14, step / 2, 1.5, LOW)
        sheet.y += 20


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    return cast("ImageFont.FreeTypeFont", ImageFont.load_default(size * SCALE))
