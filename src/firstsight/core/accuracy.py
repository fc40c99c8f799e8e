"""Accuracy of found clusters against true categories, in the three ways the literature computes it, never mixed.

The columns keep the paper's names: Old are images of known categories, New the others.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Sized
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Labels: TypeAlias = "Sequence[Hashable] | NDArray[np.generic]"


@dataclass(frozen=True)
class Accuracy:
    """Shares of correctly placed images; NaN where there are no such images."""

    all: float
    old: float
    new: float


def strict_accuracy(
    truth: Labels,
    answers: Labels,
    known: Sequence[bool] | NDArray[np.bool_],
    keep_largest: int | None = None,
) -> Accuracy:
    """Strict-Hungarian (Sec. 4.1, App. A.1): the one best matching of clusters to categories over all images.

    `known` marks the images of known categories. `keep_largest` is the variant in the paper's text: only that many
    of the largest clusters may match, the rest counts as wrong (deviation 15).
    """
    _check_lengths(truth, answers, known)
    correct = matched(truth, answers, keep_largest)
    old = np.asarray(known, dtype=bool)
    return Accuracy(_share(correct), _share(correct[old]), _share(correct[~old]))


def separate_accuracy(
    truth: Labels,
    answers: Labels,
    known: Sequence[bool] | NDArray[np.bool_],
) -> Accuracy:
    """Old and New matched each by itself (Greedy-Hungarian in some papers): always at least as high as strict."""
    _check_lengths(truth, answers, known)
    old = np.asarray(known, dtype=bool)
    true, answered = number(truth)[1], number(answers)[1]
    correct = np.zeros(len(old), dtype=bool)
    for part in (old, ~old):
        if part.any():
            correct[part] = matched(true[part], answered[part])
    return Accuracy(_share(correct), _share(correct[old]), _share(correct[~old]))


def matched(
    truth: Labels,
    answers: Labels,
    keep_largest: int | None = None,
) -> NDArray[np.bool_]:
    """Which images lie in the cluster that was matched to their category."""
    return np.asarray(placed(truth, answers, keep_largest) == number(truth)[1])


def placed(truth: Labels, answers: Labels, keep_largest: int | None = None) -> NDArray[np.int64]:
    """The category, by number, that the cluster of each image was matched to; -1 where it was matched to none."""
    categories, true = number(truth)
    clusters, answered = number(answers)
    counts = np.zeros((clusters, categories), dtype=np.int32)
    np.add.at(counts, (answered, true), 1)
    if keep_largest is not None:
        sizes = counts.sum(1)
        counts[np.argsort(-sizes, kind="stable")[keep_largest:]] = 0
    from scipy.optimize import linear_sum_assignment  # which only scoring needs

    rows, columns = linear_sum_assignment(counts, maximize=True)
    category_of = np.full(clusters, -1)
    category_of[rows] = np.where(counts[rows, columns] > 0, columns, -1)
    return np.asarray(category_of[answered], dtype=np.int64)


def number(labels: Labels) -> tuple[int, NDArray[np.int64]]:
    """How many different labels there are, and a number for each image's."""
    if isinstance(labels, np.ndarray):
        distinct, numbered = np.unique(labels, return_inverse=True)
        return len(distinct), numbered.astype(np.int64)
    numbers: dict[Hashable, int] = {}
    numbered = np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)
    return len(numbers), numbered


def _share(correct: NDArray[np.bool_]) -> float:
    return float(correct.mean()) if correct.size else float("nan")


def _check_lengths(truth: Sized, answers: Sized, known: Sized) -> None:
    if not len(truth) == len(answers) == len(known):
        raise ValueError(f"{len(truth)} truths, {len(answers)} answers and {len(known)} known marks differ in number")
