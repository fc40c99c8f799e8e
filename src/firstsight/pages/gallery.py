"""The gallery: every prototype of every category as a page, with those that are of little use pointed out."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from firstsight.core.errors import ModelError
from firstsight.evidence.points import Points
from firstsight.model.examples import Examples
from firstsight.model.model import Model
from firstsight.pages.page import figure, page

NEARLY = 0.999  # the cosine of two prototypes that are nearly the same
KINDS = (
    ("duplicate", "duplicates", "shown by the same image as another of the category before, or nearly the same vector"),
    ("dead", "dead", "not the most activated one of any support image"),
    ("stray", "strays", "most like a support image of another category"),
)
CHOICES = (("all", "all"), *((word, plural) for word, plural, _ in KINDS))


@dataclass(frozen=True)
class Remarks:
    """What is to be said of every point, True where it applies."""

    duplicate: NDArray[np.bool_]  # of one before it in its category: nearly the same vector, or shown by the same image
    dead: NDArray[np.bool_]  # not the most activated one of any support image
    stray: NDArray[np.bool_]  # most like a support image of another category


def remarks(rows: NDArray[np.float32], examples: Examples) -> Remarks:
    """Duplicates, dead ones and strays among the points of a model."""
    directions = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    duplicate = np.zeros(len(rows), dtype=bool)
    for category in np.unique(examples.category):
        own = np.flatnonzero(examples.category == category)
        alike = directions[own] @ directions[own].T >= NEARLY
        alike |= examples.image[own][:, None] == examples.image[own]
        duplicate[own] = np.tril(alike, -1).any(1)
    return Remarks(duplicate, examples.wins == 0, examples.category != examples.image_category)


def as_page(model: Model, name: str) -> tuple[bytes, str]:
    """The page, and what it says in a line."""
    if model.examples is None:
        raise ModelError(
            f"{name} was made by an earlier release, which kept no examples of what it learned",
            "fit it again to have a gallery",
        )
    examples, points = model.examples, Points(model)
    said = remarks(points.points, examples)
    counts = {word: int(getattr(said, word).sum()) for word, _, _ in KINDS}
    total = f"{len(points)} {points.kind} of {len(model.names)} categories"
    summary = f"{total}: {', '.join(f'{count} {word}' for word, count in counts.items())}"
    links = " ".join(f'<li><a href="#c{i}">{escape(each)}</a></li>' for i, each in enumerate(model.names))
    body = "\n".join(
        [
            f"<h1>What {escape(name)} learned</h1>",
            f"<p>{total}. {_meaning(points)}</p>",
            "<ul>",
            *(f"<li><b>{counts[word]} {plural}</b>: {meaning}.</li>" for word, plural, meaning in KINDS),
            "</ul>",
            f"<fieldset><legend>Show only</legend>{''.join(_choice(*each) for each in CHOICES)}</fieldset>",
            f'<nav aria-label="Categories"><ul class="index">{links}</ul></nav>',
            *(_section(model, points, said, i) for i in range(len(model.names))),
        ]
    )
    return page(f"What {name} learned", body), summary


def _choice(value: str, label: str) -> str:
    mark = " checked" if value == "all" else ""
    return f'<label><input type="radio" name="only" id="only-{value}"{mark}> {label}</label>'


def _meaning(points: Points) -> str:
    if points.kind == "prototypes":
        return "Each is shown by the support image most like it."
    return "The method has no prototypes: these are the support images most like the mean of their category."


def _section(model: Model, points: Points, said: Remarks, category: int) -> str:
    own = np.flatnonzero(points.category == category).tolist()
    figures = "".join(_figure(model, points, said, i) for i in own)
    return (
        f'<section id="c{category}"><h2>{escape(model.names[category])}</h2><div class="wall">{figures}</div></section>'
    )


def _figure(model: Model, points: Points, said: Remarks, i: int) -> str:
    examples = model.examples
    assert examples is not None
    number, stray = points.number(i), model.names[examples.image_category[i]] if said.stray[i] else None
    words = [word for word in ("duplicate", "dead") if getattr(said, word)[i]]
    words += [f"shows {stray}"] if stray else []
    wins = f"first for {examples.wins[i]} image{'' if examples.wins[i] == 1 else 's'}"
    kind = " ".join(word for word, _, _ in KINDS if getattr(said, word)[i])
    caption = f"<b>{number}</b> {wins}" + (f"<br><em>{escape(', '.join(words))}</em>" if words else "")
    alt = f"Support image of {model.names[examples.image_category[i]]}"
    return figure(points.picture(i), alt, caption, kind, blank=f"{points.kind[:-1]} {number}")
