"""Evidence as a page of its own: one image, or two side by side."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from firstsight.evidence.evidence import Evidence, Near
from firstsight.pages.page import breakable, figure, image, jpeg, lit, looked_caption, page

LABEL, TALL = 150, 90  # room for names left of a code, and for bars above it


def as_html(cases: Sequence[Evidence]) -> bytes:
    """A self-contained page."""
    title = f"Why is this {cases[0].called}?" if len(cases) == 1 else "Why are these two answered as they are?"
    largest = max((abs(one.similarity) for each in cases for one in each.sums), default=1.0)
    articles = "\n".join(_case(each, largest) for each in cases)
    return page(title, f'<h1>{escape(title)}</h1>\n<div class="cases">\n{articles}\n</div>')


def _case(each: Evidence, largest: float) -> str:
    kind = "new" if each.answer.is_new else "known"
    return "\n".join(
        [
            f'<article>\n<h2 class="{kind}">{escape(each.called)}</h2>',
            f"<p>{escape(each.image)}</p>",
            f'<p class="sentence">{escape(each.sentence)}</p>',
            f'<div class="wall">{_image(each)}</div>',
            _similar(each),
            _sums(each, largest),
            _near(each),
            _code(each),
            "</article>",
        ]
    )


def _image(each: Evidence) -> str:
    shown = figure(jpeg(each.pixels), "The image as the model saw it", "as the model saw it", "large")
    if each.looked is None:
        return shown
    alt = "The same image, dim where the model did not look"
    if each.closer is not None:
        alt += ", with a frame around what it looked at a second time"
    return shown + figure(jpeg(lit(each.pixels, each.looked, each.closer)), alt, looked_caption(each.closer), "large")


def _similar(each: Evidence) -> str:
    if not each.similar:
        return "<p>This model keeps nothing to compare images with: fit it again to see what they are most like.</p>"
    pictures = "".join(
        figure(
            one.picture,
            f"Support image of {one.category}, number {one.number}",
            f"<b>{one.similarity:.2f}</b><br>{breakable(one.category)}",
            blank=f"{each.kind[:-1]} {one.number}",
        )
        for one in each.similar
    )
    return f'<h3>The {len(each.similar)} {each.kind} it is most like</h3>\n<div class="five">{pictures}</div>'


def _sums(each: Evidence, largest: float) -> str:
    if not each.sums:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(one.category)}</th><td>{one.count}</td><td>{one.similarity:.2f} '
        f'<span class="bar" style="width:{6 * max(0.0, one.similarity) / largest:.2f}rem"></span></td></tr>'
        for one in each.sums
    )
    return (
        f'<h3>Their similarity, summed per category</h3>\n<table><thead><tr><th scope="col">category</th>'
        f'<th scope="col">how many</th><th scope="col">similarity in all</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _near(each: Evidence) -> str:
    if not each.near:
        return ""
    head = "".join(f'<th scope="col">{name}</th>' for name in ("category", "distance", "reach", *_bits_head(each)))
    rows = "".join(_near_row(each, one) for one in each.near)
    return (
        f"<h3>The nearest centres</h3>\n<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
        f"<caption>{_caption(each)}</caption></table>"
    )


def _bits_head(each: Evidence) -> list[str]:
    return ["bits that differ, closest to zero first"] if each.values else []


def _near_row(each: Evidence, one: Near) -> str:
    shown = image(one.picture, f"Image of {one.category}", 40) if one.picture is not None else ""
    bits = f"<td>{_bits(each, one)}</td>" if each.values else ""
    distance = one.distance if each.values else f"{one.distance:.3g}"
    name = breakable(one.category) + (" (discovered)" if one.is_new else "")
    head = f'<th scope="row"><span class="named">{shown}{name}</span></th>'
    return f"<tr>{head}<td>{distance}</td><td>{'inside' if one.within else 'outside'}</td>{bits}</tr>"


def _bits(each: Evidence, one: Near) -> str:
    shown = each.most_unsure(one)
    words = [f"{bit} ({each.values[bit - 1]:+.2f}{', unsure' if each.is_unsure(bit) else ''})" for bit in shown]
    more = [f"{len(one.differing) - len(shown)} more"] if len(one.differing) > len(shown) else []
    return ", ".join([*words, *more]) or "none"


def _caption(each: Evidence) -> str:
    a, other = each.answer, each.answer.runner_up
    if a.confidence is not None:
        return f"A distance is the log odds of a new category; up to {a.radius:.3g} the category can answer."
    radius = f"A ball reaches {a.radius:.3g} from its centre." if a.radius < 1e300 else "Balls have no end here."
    runner_up = f" Runner-up: {escape(other.category)}, {other.distance:.3g} away." if other else ""
    unsure = " A value close to zero is unsure: a small change of the image would flip that bit." if each.values else ""
    return f"{radius}{runner_up}{unsure}"


def _code(each: Evidence) -> str:
    """The values of all bits as bars around zero, and below them the code and the centres'."""
    if not each.values:
        return ""
    step = max(8.0, 490 / len(each.values))
    rows = [("this image", each.code, ()), *((one.category, each.centre_code(one), one.differing) for one in each.near)]
    parts = [_bars(each, step), *(_digits(*row, TALL + 18 * i, step) for i, row in enumerate(rows, start=1))]
    width, height = LABEL + step * len(each.values), TALL + 24 + 18 * len(rows)
    heading = "Its code, and how far from zero each bit is; marked: unlike the nearest centre"
    return (
        f'<h3>{heading}</h3>\n<svg viewBox="0 0 {width:.0f} {height}" role="img" '
        f'aria-label="The code of the image is {each.code}">{"".join(parts)}</svg>'
    )


def _bars(each: Evidence, step: float) -> str:
    largest = max(abs(value) for value in each.values) or 1.0
    differing = each.near[0].differing if each.near else ()
    parts = [f'<line x1="{LABEL}" x2="{LABEL + step * len(each.values):.0f}" y1="{TALL / 2}" y2="{TALL / 2}"/>']
    for i, value in enumerate(each.values):
        height = abs(value) / largest * (TALL / 2 - 4)
        x, y = LABEL + i * step + 1, TALL / 2 - (height if value > 0 else 0)
        mark = _mark(i + 1 in differing)
        parts.append(f'<rect{mark} x="{x:.1f}" y="{y:.1f}" width="{step - 2:.1f}" height="{height:.1f}"/>')
    return "".join(parts)


def _digits(name: str, code: str, differing: Sequence[int], y: int, step: float) -> str:
    shown = name if len(name) < 26 else f"{name[:24]}…"
    digits = (
        f'<text{_mark(i + 1 in differing)} x="{LABEL + (i + 0.5) * step:.1f}" y="{y}" text-anchor="middle">{bit}</text>'
        for i, bit in enumerate(code)
    )
    return f'<text x="0" y="{y}">{escape(shown)}</text>{"".join(digits)}'


def _mark(differs: bool) -> str:
    return ' class="differs"' if differs else ""
