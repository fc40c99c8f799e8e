"""The page that shows what was found: one self-contained HTML file, no scripts, light and dark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

import numpy as np

from firstsight.core.codes import pairwise
from firstsight.core.files import write_file
from firstsight.data.images import thumbnail
from firstsight.evaluate.stream import Answered, Evaluation
from firstsight.methods.decisions import CodeDecision
from firstsight.model.model import Model
from firstsight.pages.page import image, page

WALL = 14  # pictures shown of one category


def write_report(path: Path, model: Model, result: Evaluation, stream: Sequence[Answered]) -> None:
    """Write the page about one stream."""
    style = files("firstsight.pages").joinpath("report.css").read_text(encoding="utf-8")
    body = "\n".join(
        [
            "<h1>What was found</h1>",
            _summary(model, result, stream),
            "<h2>Accuracy</h2>",
            _table(result),
            "<h2>New categories, in the order they were registered</h2>",
            "<p>A dashed frame marks an image that is not what its category mostly holds, or stands for.</p>",
            _walls(stream, new=True),
            "<h2>Known categories</h2>",
            _walls(stream, new=False),
            "<h2>How many categories there are, as the stream goes on</h2>",
            _growth(model, stream),
            *(_histogram(model.decision) if isinstance(model.decision, CodeDecision) else []),
        ]
    )
    write_file(path, page("Firstsight: what was found", body, style))


def _summary(model: Model, result: Evaluation, stream: Sequence[Answered]) -> str:
    born = sum(each.answer.created for each in stream)
    unknown = result.true_categories - len({each.truth for each in stream} & set(model.names))
    s = model.settings
    return (
        f"<p>{result.images} images arrived one by one in random order. The model had been taught "
        f"{len(model.categories)} categories; {unknown} more were in the stream. It registered {born} new categories "
        f"on the way. {escape(s.method)} with {escape(s.backbone)}; what is outside every "
        f"category's radius of {model.radius:g} founds one.</p>\n<p>{escape('; '.join(model.report['lines']))}.</p>"
    )


def _table(result: Evaluation) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in ("stream", "All", "Old", "New", "categories found"))
    rows = "".join(
        f'<tr><th scope="row">{escape(row.name)}</th>'
        + "".join(f"<td>{cell}</td>" for cell in row.cells())
        + f"<td>{row.categories:.1f}</td></tr>"
        for row in result.rows
    )
    return (
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>\n<p>Per cent of images in the cluster "
        "that was matched to their category (Strict-Hungarian). Old are the known categories, New the others. "
        f"There are {result.true_categories} categories in truth. The closed-set row never discovers: it names the "
        "nearest known category every time.</p>"
    )


def _walls(stream: Sequence[Answered], new: bool) -> str:
    groups: dict[str, list[Answered]] = {}
    for each in stream:
        if each.answer.is_new == new:
            groups.setdefault(str(each.answer.category), []).append(each)
    names = list(groups) if new else sorted(groups)
    return "\n".join(_wall(name, groups[name], new) for name in names) or "<p>None.</p>"


def _wall(name: str, members: list[Answered], new: bool) -> str:
    """A category with its pictures; those that are not what it stands for, or mostly holds if new, are marked."""
    counts = Counter(each.truth for each in members)
    main = counts.most_common(1)[0][0] if new else name
    count = counts[main]
    pictures = "".join(_picture(each, stranger=each.truth != main) for each in members[:WALL])
    more = f"<p>and {len(members) - WALL} more</p>" if len(members) > WALL else ""
    plural = "image" if len(members) == 1 else "images"
    return (
        f"<section><h3>{escape(name)}</h3><p>{len(members)} {plural}, {count} of <em>{escape(main)}</em></p>"
        f'<div class="wall">{pictures}</div>{more}</section>'
    )


def _picture(each: Answered, stranger: bool) -> str:
    label = each.truth + (", does not belong here" if stranger else "")
    mark = ' class="stranger"' if stranger else ""
    return (
        f"<figure{mark}>{image(thumbnail(each.image), label, 96)}<figcaption>{escape(each.truth)}</figcaption></figure>"
    )


def _growth(model: Model, stream: Sequence[Answered]) -> str:
    found = np.cumsum([each.answer.created for each in stream]) + len(model.categories)
    truth: set[str] = set(model.names)
    real = [len(truth := truth | {each.truth}) for each in stream]
    width, height, top = 640, 200, max(int(found[-1]), real[-1])

    def line(values: Iterable[float]) -> str:
        points = [
            f"{40 + (width - 60) * i / max(len(stream) - 1, 1):.1f},{height - 30 - (height - 50) * v / top:.1f}"
            for i, v in enumerate(values)
        ]
        return " ".join(points)

    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{found[-1]} registered, {real[-1]} in truth">'
        f'<polyline class="truth" points="{line(real)}"/><polyline class="found" points="{line(found.tolist())}"/>'
        f'<text x="0" y="{height - 30 - (height - 50) * 1.0:.0f}">{top}</text><text x="0" y="{height - 26}">0</text>'
        f'<text x="40" y="{height - 8}">first image</text>'
        f'<text x="{width - 80}" y="{height - 8}">last image</text></svg>'
        f"<p>Solid: categories in the register, {found[-1]} at the end. Dashed: in truth, {real[-1]}.</p>"
    )


def _histogram(decision: CodeDecision) -> list[str]:
    distances = pairwise(decision.codes)
    counts = np.bincount(distances, minlength=decision.bits + 1)
    width, height, step = 640, 200, 600 / len(counts)
    bars = []
    for distance, count in enumerate(counts):
        tall = (height - 50) * count / counts.max()
        kind = "low" if distance < decision.minimum_distance else "found"
        x, y = 20 + distance * step, height - 30 - tall
        bars.append(f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{step * 0.8:.1f}" height="{tall:.1f}"/>')
        if count:
            bars.append(f'<text x="{x:.1f}" y="{y - 4:.1f}">{count}</text>')
        if len(counts) <= 33 or distance % 8 == 0:
            bars.append(f'<text x="{x:.1f}" y="{height - 10}">{distance}</text>')
    closest = int(distances.min())
    return [
        "<h2>How far apart the known centres are</h2>",
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="Distances of centres, closest {closest} bits">'
        f"{''.join(bars)}</svg><p>Pairs of centres by their distance in bits. Asked: at least "
        f"{decision.minimum_distance}; closest: {closest}.</p>",
    ]
