"""Strict-Hungarian accuracy (Sec. 4.1, App. A.1): one assignment of clusters to categories over all images.

The columns keep the paper's names: Old are known categories, New the others.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment


@dataclass(frozen=True)
class Accuracy:
    """Shares of correctly placed images; NaN where there are no such images."""

    all: float
    old: float
    new: float


def strict_accuracy(
    truth: Sequence[Hashable],
    answers: Sequence[Hashable],
    known: Sequence[bool] | NDArray[np.bool_],
    keep_largest: int | None = None,
) -> Accuracy:
    """All / Old / New under the one best matching of clusters to true categories.

    `known` marks the images of known categories. `keep_largest` is the variant in the paper's text: only that many
    of the largest clusters may match, the rest counts as wrong (deviation 15).
    """
    if not len(truth) == len(answers) == len(known):
        raise ValueError(f"{len(truth)} truths, {len(answers)} answers and {len(known)} known marks differ in number")
    correct = matched(truth, answers, keep_largest)
    old = np.asarray(known, dtype=bool)
    return Accuracy(_share(correct), _share(correct[old]), _share(correct[~old]))


def matched(
    truth: Sequence[Hashable], answers: Sequence[Hashable], keep_largest: int | None = None
) -> NDArray[np.bool_]:
    """Which images lie in the cluster that was matched to their category."""
    categories, true = _number(truth)
    clusters, answered = _number(answers)
    counts = np.zeros((clusters, categories), dtype=np.int64)
    np.add.at(counts, (answered, true), 1)
    if keep_largest is not None:
        sizes = counts.sum(1)
        counts[np.argsort(-sizes, kind="stable")[keep_largest:]] = 0
    rows, columns = linear_sum_assignment(counts, maximize=True)
    category_of = np.full(clusters, -1)
    category_of[rows] = np.where(counts[rows, columns] > 0, columns, -1)
    return np.asarray(category_of[answered] == true)


def _number(labels: Sequence[Hashable]) -> tuple[int, NDArray[np.int64]]:
    numbers: dict[Hashable, int] = {}
    numbered = np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)
    return len(numbers), numbered


def _share(correct: NDArray[np.bool_]) -> float:
    return float(correct.mean()) if correct.size else float("nan")
