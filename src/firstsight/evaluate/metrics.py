"""How well two groupings agree as a whole, and how accuracy goes over the course of a stream."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firstsight.core.accuracy import Labels, matched, number

STEPS = 20


def mutual_information(truth: Labels, answers: Labels) -> float:
    """Normalised mutual information (by the mean entropy): 1 for the same grouping, 0 for nothing in common."""
    joint, true, answered = _shares(truth, answers)
    entropies = [-float((p * np.log(p)).sum()) for p in (true, answered)]
    if max(entropies) == 0:
        return 1.0
    rows, columns, values = joint
    shared = float((values * np.log(values / (true[rows] * answered[columns]))).sum())
    return max(0.0, shared) / (sum(entropies) / 2)


def rand_index(truth: Labels, answers: Labels) -> float:
    """Adjusted Rand index: the share of pairs both groupings treat alike, 0 on average for a random one."""
    joint, true, answered = _shares(truth, answers)
    images = len(truth)
    together, in_true, in_answers = (float(_pairs(part * images).sum()) for part in (joint[2], true, answered))
    expected = in_true * in_answers / max(_pairs(np.array(images)).item(), 1.0)
    highest = (in_true + in_answers) / 2
    return 1.0 if highest == expected else (together - expected) / (highest - expected)


def course(truth: Labels, answers: Labels) -> list[float]:
    """The share that was right so far after every twentieth of the stream, under the matching of the whole stream."""
    correct = matched(truth, answers)
    return [float(correct[:end].mean()) for end in _ends(len(correct))]


def growth(answers: Labels) -> list[float]:
    """How many categories had answered after every twentieth of the stream."""
    first = np.unique(number(answers)[1], return_index=True)[1]  # where each category answered first
    return [float((first < end).sum()) for end in _ends(len(answers))]


def _ends(count: int) -> NDArray[np.int64]:
    return np.maximum(1, np.linspace(0, count, STEPS + 1).astype(np.int64)[1:])


def _shares(
    truth: Labels, answers: Labels
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]], NDArray[np.float64], NDArray[np.float64]]:
    """The joint distribution where it is not zero (rows, columns, shares), and both margins."""
    categories, true = number(truth)
    clusters, answered = number(answers)
    cells, counts = np.unique(true * clusters + answered, return_counts=True)
    images = len(true)
    margins = [np.bincount(part, minlength=size) / images for part, size in ((true, categories), (answered, clusters))]
    return (cells // clusters, cells % clusters, counts / images), margins[0], margins[1]


def _pairs(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return counts * (counts - 1) / 2
