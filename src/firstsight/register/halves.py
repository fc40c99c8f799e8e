"""Two halves of one category: where its features fall apart best, and how far.

Knows points alone. Whether two halves are two categories is weighed by the register, where it can.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from firstsight.core.protocols import Halves

Floats: TypeAlias = NDArray[np.float64]

ROUNDS = 30  # of moving points to the nearer half
SOME = 512  # points that are measured, of many
CLEAR = 0.25  # by how much points are nearer to their own half, where that is a sign of two categories


def two_means(points: Floats) -> NDArray[np.bool_] | None:
    """Which points are in the smaller half, on a tie in that without the first point; None where all are one."""
    if len(points) < 2:
        return None
    from_mean = points - points.mean(axis=0)
    _, _, directions = np.linalg.svd(from_mean[:: -(-len(points) // SOME)], full_matrices=False)
    side = from_mean @ directions[0] > 0
    for _ in range(ROUNDS):
        if side.all() or not side.any():
            return None
        means = points[side].mean(axis=0), points[~side].mean(axis=0)
        before, side = side, np.less(*(np.square(points - mean).sum(axis=1) for mean in means))
        if (side == before).all():
            break
    if side.all() or not side.any():
        return None
    first, second = int(side.sum()), int((~side).sum())
    smaller = first < second or (first == second and not side[0])
    return np.asarray(side if smaller else ~side)


def silhouette(points: Floats, second: NDArray[np.bool_]) -> float:
    """By what share points are nearer to the points of their own half than to those of the other, on average."""
    step = -(-len(points) // SOME)
    kept = np.zeros(len(points), dtype=bool)
    for half in (second, ~second):  # both halves are kept, however small one is
        kept[np.flatnonzero(half)[::step]] = True
    points, second = points[kept], second[kept]
    squares = np.square(points).sum(axis=1)
    apart = np.sqrt(np.maximum(squares[:, None] + squares - 2 * points @ points.T, 0))
    np.fill_diagonal(apart, 0)
    same = second[:, None] == second
    others = same.sum(axis=1) - 1
    own = np.where(same, apart, 0).sum(axis=1) / np.maximum(others, 1)
    other = np.where(same, 0, apart).sum(axis=1) / (~same).sum(axis=1)
    share = (other - own) / np.maximum(np.maximum(own, other), np.finfo(np.float64).tiny)
    return float(np.where(others > 0, share, 0).mean())


def halves(points: Floats) -> Halves | None:
    """The two halves of points that lie clearly apart; None where they do not."""
    second = two_means(points)
    clear = 0.0 if second is None else silhouette(points, second)
    if second is None or clear < CLEAR:
        return None
    return Halves(second, clear, f"images are {clear:.0%} nearer to their own part than to the other")
