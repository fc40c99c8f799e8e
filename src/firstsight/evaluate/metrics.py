"""How well two groupings agree as a whole, and how accuracy goes over the course of a stream.

scikit-learn is imported when it is asked, not before.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firstsight.core.accuracy import Labels, matched, number

STEPS = 20


def mutual_information(truth: Labels, answers: Labels) -> float:
    """Normalised mutual information (by the mean entropy): 1 for the same grouping, 0 for nothing in common."""
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(number(truth)[1], number(answers)[1]))


def rand_index(truth: Labels, answers: Labels) -> float:
    """Adjusted Rand index: the share of pairs both groupings treat alike, 0 on average for a random one."""
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(number(truth)[1], number(answers)[1]))


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
