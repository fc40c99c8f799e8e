"""The gallery: every prototype of every category as a page, with those that are of little use pointed out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firstsight.core.errors import ModelError
from firstsight.evidence.points import Points
from firstsight.model.examples import Examples
from firstsight.model.model import Model
from firstsight.pages.render import render

NEARLY = 0.999  # the cosine of two prototypes that are nearly the same
KINDS = ("duplicate", "dead", "stray")


@dataclass(frozen=True)
class Remarks:
    """What is to be said of every point, True where it applies."""

    duplicate: NDArray[np.bool_]  # of one before it in its category: nearly the same, or shown by the same image
    dead: NDArray[np.bool_]  # not the most activated one of any support image
    stray: NDArray[np.bool_]  # most like a support image of another category


@dataclass(frozen=True)
class Shown:
    """A point as the page shows it."""

    number: int  # which of its category's, from 1
    picture: bytes | None
    of: str  # the category of the support image that shows it
    wins: int  # support images it is nearest to
    kinds: tuple[str, ...]  # of KINDS


def remarks(points: NDArray[np.float32], examples: Examples) -> Remarks:
    """Duplicates, dead ones and strays among the points of a model."""
    directions = points / np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-12)
    duplicate = np.zeros(len(points), dtype=bool)
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
            f"{name} has no support images that stand for what it learned",
            "fit it on images to have a gallery",
        )
    points = Points(model)
    said = remarks(points.points, model.examples)
    counts = {kind: int(getattr(said, kind).sum()) for kind in KINDS}
    total = f"{len(points)} {points.kind} of {len(model.names)} categories"
    categories: list[tuple[str, list[Shown]]] = [(each, []) for each in model.names]
    for i, category in enumerate(points.category.tolist()):
        categories[category][1].append(_shown(model.names, points, model.examples, said, i))
    page = render("gallery.html.j2", model=name, total=total, kind=points.kind, counts=counts, categories=categories)
    return page, f"{total}: {', '.join(f'{count} {kind}' for kind, count in counts.items())}"


def _shown(names: list[str], points: Points, examples: Examples, said: Remarks, i: int) -> Shown:
    kinds = tuple(kind for kind in KINDS if getattr(said, kind)[i])
    of = names[examples.image_category[i]]
    return Shown(points.number(i), points.picture(i), of, int(examples.wins[i]), kinds)
