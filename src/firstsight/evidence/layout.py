"""Images in the plane by likeness: fitted on a sample, and every other image put among its neighbours of that sample.

The sample is laid out by t-SNE of what the register compares. An image is placed by itself: where depends on the
layout, its feature and its number, so nobody moves when others come. Knows features and numbers; files and pages are
elsewhere.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from firstsight.core.protocols import HasPoints, Register
from firstsight.core.threads import one_thread

Floats: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.int64]
Places: TypeAlias = NDArray[np.uint16]  # (N, 2), across and down

SAMPLE = 4000  # images laid out together: t-SNE takes about half a minute of one core for them
WIDTH = 64  # dimensions that are kept: more add noise, and time
PERPLEXITY, STEPS = 30.0, 750
FEWEST = 8  # images that t-SNE makes sense of; fewer are drawn by their principal axes
NEIGHBOURS, CANDIDATES = 12, 32
SHARP = 8.0  # how fast a neighbour counts less with its distance
APART = 4.0  # neighbours farther than so many spacings from the others, in the plane, do not count
SPREAD, JITTER = 0.5, 0.3  # spacings by which images keep off their neighbours, by their features and by their numbers
BLOCK = 1024  # images placed at once
ROOM, PUSHES = 0.55, 60  # of the plane's side over the root of how many there are, that spots keep off each other
MARGIN = 0.03  # of the plane, left free around the sample
FINEST = 65535


@dataclass(frozen=True, eq=False)
class Layout:
    """Where a sample lies, and what it takes to put others among it."""

    numbers: Numbers  # (S,) of the sample's images, ascending
    origin: Floats  # (D,)
    axes: Floats  # (D, d); (D, 0) where all dimensions are kept as they are
    points: Floats  # (S, d)
    spots: Floats  # (S, 2) in the plane, from 0 to 1

    @cached_property
    def id(self) -> str:
        """Another layout has another."""
        parts = (self.numbers, self.origin, self.axes, self.points, self.spots)
        return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()[:16]

    @cached_property
    def spacing(self) -> float:
        """How far neighbours of the sample lie from each other in the plane."""
        if len(self.spots) < 2:
            return 0.1
        from scipy.spatial import cKDTree

        nearest = cKDTree(self.spots).query(self.spots, k=2)[0][:, 1]
        return float(min(max(np.median(nearest), 1e-3), 0.1))

    @cached_property
    def _rough(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        points = self.points.astype(np.float32)
        return np.ascontiguousarray(-2 * points.T), np.square(points).sum(axis=1)

    @one_thread()
    def place(self, numbers: Numbers, points: Floats) -> Places:
        """Where images are, of these numbers and points: each the same whatever it is placed with."""
        placed = np.empty((len(numbers), 2), dtype=np.uint16)
        for first in range(0, len(numbers), BLOCK):
            some = slice(first, first + BLOCK)
            placed[some] = _quantised(self._spots(numbers[some], self._reduced(points[some])))
        at = np.searchsorted(self.numbers, numbers).clip(max=len(self.numbers) - 1)
        own = self.numbers[at] == numbers
        placed[own] = _quantised(self.spots[at[own]])
        return placed

    def _reduced(self, points: Floats) -> Floats:
        return _reduced(points, self.origin, self.axes)

    def _spots(self, numbers: Numbers, points: Floats) -> Floats:
        near, apart = self._neighbours(points)
        first = apart[:, :1]
        width = (apart - first).mean(axis=1, keepdims=True)
        weights = np.exp(-SHARP * (apart - first) / np.where(width > 0, width, 1))
        spots = self.spots[near]  # (n, k, 2)
        between = np.sqrt(np.square(spots[:, :, None] - spots[:, None]).sum(axis=-1))
        # neighbours of an image nothing is quite like may lie all over the plane, and their mean amid strangers
        middle = (between * weights[:, None]).sum(axis=-1).argmin(axis=1)
        weights = weights * (between[np.arange(len(near)), middle] <= APART * self.spacing)
        weights /= weights.sum(axis=1, keepdims=True)
        mean = (weights[..., None] * spots).sum(axis=1)
        rest = points - (weights[..., None] * self.points[near]).sum(axis=1)
        return np.asarray(mean + self.spacing * (SPREAD * _leaning(rest) + JITTER * _scattered(numbers)))

    def _neighbours(self, points: Floats) -> tuple[NDArray[np.intp], Floats]:
        """The nearest of the sample and their squared distances: roughly and fast, then those few exactly.

        What a product of matrices gives depends on its size in the last digits; an exact distance does not.
        """
        product, squares = self._rough
        rough = points.astype(np.float32) @ product + squares
        most = min(CANDIDATES, len(squares))
        near = np.sort(np.argpartition(rough, most - 1, axis=1)[:, :most], axis=1)
        apart = np.square(self.points[near] - points[:, None]).sum(axis=-1)
        order = np.argsort(apart, axis=1, kind="stable")[:, :NEIGHBOURS]
        return np.take_along_axis(near, order, axis=1), np.take_along_axis(apart, order, axis=1)


def points_of(register: Register, contents: list[bytes]) -> Floats:
    """Features, as a log keeps them, as points that lie as near each other as the register finds them alike."""
    features = np.stack([register.feature_from(content) for content in contents])
    return np.asarray(register.points(features) if isinstance(register, HasPoints) else features, dtype=np.float64)


def sample(owners: NDArray[Any], most: int = SAMPLE) -> NDArray[np.intp]:
    """Which images to lay out, of these categories: of each about as many as the root of how many it has."""
    count = len(owners)
    if count <= most:
        return np.arange(count)
    rng = np.random.default_rng(0)
    shuffled = rng.permutation(count)
    together = shuffled[np.argsort(owners[shuffled], kind="stable")]
    _, first, sizes = np.unique(owners[together], return_index=True, return_counts=True)
    rank = np.arange(count) - np.repeat(first, sizes)
    turn = (rank + rng.random(count)) / np.sqrt(np.repeat(sizes, sizes))
    return np.sort(together[np.argsort(turn, kind="stable")[:most]])


@one_thread()
def fit(numbers: Numbers, points: Floats) -> Layout:
    """Lay out images of these numbers and points. The same again on the same machine."""
    origin = points.mean(axis=0)
    axes = _axes(points - origin)
    reduced = _reduced(points, origin, axes)
    spots = _within(_unstacked(_within(_plane(reduced))))
    return Layout(np.asarray(numbers, dtype=np.int64), origin, axes, reduced, spots)


def _axes(points: Floats) -> Floats:
    """The directions in which points differ most, where they have more dimensions than are kept."""
    if points.shape[1] <= WIDTH:
        return np.zeros((points.shape[1], 0))
    axes = np.linalg.eigh(points.T @ points)[1][:, : -WIDTH - 1 : -1]
    return np.asarray(axes * np.where(axes[np.abs(axes).argmax(axis=0), np.arange(WIDTH)] < 0, -1, 1))


def _reduced(points: Floats, origin: Floats, axes: Floats) -> Floats:
    return np.asarray((points - origin) @ axes if axes.shape[1] else points - origin)


def _plane(points: Floats) -> Floats:
    """Points in the plane: neighbours stay neighbours."""
    count = len(points)
    left, size, _ = np.linalg.svd(points, full_matrices=False)
    flat = np.zeros((count, 2))
    flat[:, : min(2, len(size))] = (left * size)[:, :2]
    flat *= np.where(flat[np.abs(flat).argmax(axis=0), np.arange(2)] < 0, -1, 1)
    if count < FEWEST or not flat.any():
        return flat
    from sklearn.manifold import TSNE

    begin = (1e-4 * flat / flat[:, 0].std()).astype(np.float32)
    perplexity = min(PERPLEXITY, (count - 1) / 3)
    fitted = TSNE(perplexity=perplexity, max_iter=STEPS, init=begin, random_state=0, n_jobs=1).fit_transform(points)
    return np.asarray(fitted, dtype=np.float64)


def _within(spots: Floats) -> Floats:
    """In the middle of the plane, as large as fits."""
    low, high = spots.min(axis=0), spots.max(axis=0)
    extent = float((high - low).max())
    return np.asarray(0.5 + (spots - (low + high) / 2) * ((1 - 2 * MARGIN) / extent if extent > 0 else 0))


def _unstacked(spots: Floats) -> Floats:
    """Spots that keep a distance from each other, as far as there is room: t-SNE puts what is alike on one heap."""
    from scipy.spatial import cKDTree

    apart, spots = ROOM / np.sqrt(len(spots)), spots + 1e-6 * _scattered(np.arange(len(spots)))
    for _ in range(PUSHES):
        one, other = cKDTree(spots).query_pairs(apart, output_type="ndarray").T
        if not len(one):
            break
        away = spots[one] - spots[other]
        length = np.sqrt(np.square(away).sum(axis=1, keepdims=True))
        push = away / np.maximum(length, 1e-12) * (apart - length) / 4
        for axis in range(2):
            spots[:, axis] += np.bincount(one, push[:, axis], len(spots)) - np.bincount(
                other, push[:, axis], len(spots)
            )
    return spots


def _leaning(rest: Floats) -> Floats:
    """An offset of length 1 at most, alike for features that differ alike from their neighbours."""
    width = rest.shape[1]
    turned = np.linalg.qr(np.random.default_rng(0).standard_normal((width, 2)))[0] if width > 1 else np.ones((width, 2))
    leaning = (rest[..., None] * turned).sum(axis=1)
    length = np.sqrt(np.square(leaning).sum(axis=1, keepdims=True))
    usual = np.sqrt(np.square(rest).sum(axis=1, keepdims=True) * 2 / width)
    return np.asarray(np.where(length > 0, leaning / (length + np.where(usual > 0, usual, 1)), 0))


def _scattered(numbers: Numbers) -> Floats:
    """An offset within the unit circle, by the number alone (SplitMix64)."""
    mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    angle = 2 * np.pi * (mixed >> np.uint64(40)).astype(np.float64) / 2**24
    length = np.sqrt((mixed & np.uint64(0xFFFFFF)).astype(np.float64) / 2**24)
    return np.stack([length * np.cos(angle), length * np.sin(angle)], axis=1)


def _quantised(spots: Floats) -> Places:
    return np.asarray(np.rint(spots.clip(0, 1) * FINEST), dtype=np.uint16)
