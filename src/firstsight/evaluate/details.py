"""Category by category and image by image: how often each was right, and what was made of it when it was not.

Everything is over the random orders, the headline's. An answer counts as the true category that its category was
matched to; one that was matched to none is one too many.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class TakenFor:
    """What images were taken for: a true category, or None for a category too many; and how many, on average."""

    category: str | None
    images: float


@dataclass(frozen=True)
class CategoryScore:
    """How right the images of one true category were answered."""

    name: str
    known: bool
    images: int
    accuracy: float  # mean over orders,
    deviation: float  # and how far it varied
    taken_for: list[TakenFor]  # when wrong, the most frequent first


@dataclass(frozen=True)
class Wrong:
    """An image that was wrong in some orders, and what it was taken for most often then."""

    index: int  # its place in the stream
    image: str
    truth: str
    wrong: int  # in so many orders,
    orders: int  # of so many
    taken_for: str | None


@dataclass(frozen=True)
class Details:
    """All categories, the least right first, and all images that went wrong, the most often first."""

    categories: list[CategoryScore]
    wrong: list[Wrong]


def details_of(
    placed: NDArray[np.int64], truth: Sequence[str], images: Sequence[str], known: AbstractSet[str]
) -> Details:
    """From what every order placed images in, (orders, N): the number of a true category, or -1 for one too many.

    >>> placed = np.array([[0, 1, 1, -1], [0, 0, 1, -1]])
    >>> found = details_of(placed, ["ant", "ant", "bee", "bee"], ["a", "b", "c", "d"], {"ant"})
    >>> [(each.name, each.accuracy, each.taken_for) for each in found.categories]
    [('bee', 0.5, [TakenFor(category=None, images=1.0)]), ('ant', 0.75, [TakenFor(category='bee', images=0.5)])]
    >>> [(each.image, each.wrong, each.taken_for) for each in found.wrong]
    [('d', 2, None), ('b', 1, 'bee')]
    """
    names = list(dict.fromkeys(truth))
    numbers = {name: i for i, name in enumerate(names)}
    true = np.array([numbers[name] for name in truth], dtype=np.int64)
    scores = [_category(placed[:, true == i], i, names, names[i] in known) for i in range(len(names))]
    failures = (placed != true).sum(axis=0)
    wrong = [
        Wrong(
            i, images[i], truth[i], int(failures[i]), len(placed), _taken_for(placed[:, i], int(true[i]), names)[0][0]
        )
        for i in np.argsort(-failures, kind="stable").tolist()
        if failures[i]
    ]
    return Details(sorted(scores, key=lambda each: (each.accuracy, each.name)), wrong)


def _category(placed: NDArray[np.int64], own: int, names: Sequence[str], known: bool) -> CategoryScore:
    """`placed` has the images of this category alone."""
    right = (placed == own).mean(axis=1)
    taken = [TakenFor(name, count / len(placed)) for name, count in _taken_for(placed, own, names)]
    return CategoryScore(names[own], known, placed.shape[1], float(right.mean()), float(right.std()), taken)


def _taken_for(placed: NDArray[np.int64], own: int, names: Sequence[str]) -> list[tuple[str | None, int]]:
    """What wrong ones were taken for and how often, the most frequent first; one too many is the last of equals."""
    numbers, counts = np.unique(placed[placed != own], return_counts=True)
    found = sorted(zip(counts.tolist(), numbers.tolist(), strict=True), key=lambda each: (-each[0], each[1] < 0))
    return [(names[number] if number >= 0 else None, count) for count, number in found]
