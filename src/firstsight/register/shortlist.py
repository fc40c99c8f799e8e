"""Which of very many categories can matter to a feature: a rough distance to each, and a bound where that is spared.

A distance is linear in the weights of a category but for what its kind adds: c - o - w.x. Here w is kept in float32,
in the order of how much its dimensions tell. The first of them are summed up for all categories. The others can add
|w'| |x'| at most (Cauchy and Schwarz), so they are only summed up where that could bring a category within reach.

What this says depends on the categories there are, by position, and on nothing that went before: a register that is
opened again answers to the bit as the one that grew.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from math import exp, inf
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Rough: TypeAlias = NDArray[np.float32]
Places: TypeAlias = NDArray[np.intp]

TILE = 4096  # categories kept together: what a copy has to copy to change one of them
HEAD = 24  # dimensions summed up for every category
FEW = 4  # one in so many categories of a tile: more of them are faster taken with the rest than picked out
FAR = np.float32(1e30)  # farther than any category that can answer
UNIT = 2.0**-24  # rounding of one operation in float32, relative
UP = 1 + 1e-6  # makes a rounded length an upper bound
CONTENDERS = 256  # categories that are weighed exactly to find the nearest, at most
LARGEST = 600.0  # exponent that leaves room for a sum
LOOSE = 1.0  # slack from which rough distances are of no use
ROUNDED = 1e-4  # more than the terms of a sum are off by, as float32 gives them
TINY = 1e-30  # more than is lost where numbers are too small to write down


class Reached(NamedTuple):
    """Rough distances of all categories; FAR where one is proven to be farther away than `within`."""

    rough: Rough
    slack: float  # how wrong a rough distance can be
    within: float
    compared: int  # categories of which all dimensions were summed up

    def nearest(self, exact: Callable[[Places], Floats]) -> tuple[int, float] | None:
        """By exact distances of those that can be it, the first on a tie; (-1, inf) for none, None where too many can.

        If that is farther away than `within`, another may be nearer.
        """
        least = float(self.rough.min(initial=FAR))
        if least >= FAR / 2:
            return -1, inf
        near = np.flatnonzero(self.rough <= np.nextafter(np.float32(least + 2 * self.slack), FAR))
        if len(near) > CONTENDERS:
            return None
        distances = exact(near)
        best = int(distances.argmin())
        return int(near[best]), float(distances[best])

    def odds(self, at: float, sharpness: float) -> tuple[float, float]:
        """Of all that are within reach together, against one at this distance: between which numbers they are."""
        terms = np.exp(np.float32(sharpness) * (np.float32(at) - self.rough))
        odds, off = float(terms.sum(dtype=np.float64)), sharpness * (self.slack + UNIT * abs(at)) + ROUNDED
        return odds * exp(-min(off, LARGEST)), odds * exp(min(off, LARGEST))

    def leave_out(self, which: Sequence[int]) -> None:
        self.rough[[at for at in which if at < len(self.rough)]] = FAR


class Shortlist:
    """Weights, offsets and kinds by position, in tiles that copies share until one changes them."""

    def __init__(self, scale: Floats, tells: Floats) -> None:
        """`scale` makes the values of weights and features as large as each other, `tells` orders dimensions."""
        self._order = np.argsort(-tells, kind="stable")
        self._scale = scale[self._order]
        self._head = min(HEAD, (len(scale) + 1) // 2)
        self._tiles: list[_Tile] = []
        self._own: set[int] = set()  # tiles nobody else sees

    def copy(self) -> Shortlist:
        other = copy.copy(self)
        other._tiles, other._own, self._own = list(self._tiles), set(), set()
        return other

    def put(self, which: Places, weights: Floats, offsets: Floats, kinds: Places) -> None:
        """What the categories at these positions, one or more, have become."""
        while which.max() >= len(self._tiles) * TILE:
            self._own.add(len(self._tiles))
            self._tiles.append(_Tile(self._head, len(self._order)))
        with np.errstate(over="ignore", invalid="ignore"):  # what is too large for float32 has no bound
            scaled = weights[:, self._order] * self._scale
        number = which // TILE
        for index in np.unique(number).tolist():
            if index not in self._own:
                self._tiles[index] = self._tiles[index].copy()
                self._own.add(index)
            some = number == index
            self._tiles[index].put(which[some] % TILE, scaled[some], offsets[some], kinds[some])

    def reached(self, feature: Floats, constants: Floats, radius: float, reach: float) -> Reached | None:
        """All categories within `reach` of the nearest, or of the radius where that is nearer; None without a bound.

        `constants` is what the feature adds to a distance, for each kind.
        """
        given = feature[self._order] / self._scale
        slack = self._slack(float(np.linalg.norm(given)), float(np.abs(constants).max()))
        if not slack < LOOSE:
            return None
        x, c = given.astype(np.float32), constants.astype(np.float32)
        head, rest = x[: self._head], x[self._head :]
        length = np.float32(UP * np.linalg.norm(given[self._head :]))
        rough = np.empty((len(self._tiles), TILE), dtype=np.float32)
        least = np.empty_like(rough)
        nearest = inf
        for tile, own, low in zip(self._tiles, rough, least, strict=True):
            tile.begin(head, c, own)
            np.subtract(own, tile.rest_length * length, out=low)
            likely = low.argmin()
            nearest = min(nearest, float(own[likely] - np.vecdot(tile.rest[likely], rest)))
        within = min(nearest + slack, radius) + reach
        keep = least <= np.nextafter(np.float32(np.clip(within + slack, -FAR, FAR)), FAR)
        compared = sum(tile.finish(rest, *each) for tile, *each in zip(self._tiles, rough, keep, strict=True))
        return Reached(rough.reshape(-1), slack, within, compared)

    def rough_of(self, features: Floats, constants: Floats, room: int) -> Rough:
        """Rough distances of many features to all categories, with room for so many: products of matrices."""
        given = (features[:, self._order] / self._scale).astype(np.float32)
        rough = np.full((len(features), max(room, len(self._tiles) * TILE)), FAR, dtype=np.float32)
        head, rest, c = given[:, : self._head], given[:, self._head :], constants.astype(np.float32)
        by_head, by_rest = (np.empty((len(features), TILE), dtype=np.float32) for _ in range(2))
        for number, tile in enumerate(self._tiles):
            np.matmul(head, tile.head, out=by_head)
            np.matmul(rest, tile.rest.T, out=by_rest)
            by_head += by_rest
            by_head += tile.offsets
            alike = tile.kinds[0] if (tile.kinds == tile.kinds[0]).all() else None
            constant = np.take(c, tile.kinds, axis=1) if alike is None else c[:, alike, None]
            np.subtract(constant, by_head, out=rough[:, number * TILE : (number + 1) * TILE])
        return rough

    def all_of(self, rough: Rough, feature: Floats, constants: Floats) -> Reached | None:
        """What rough distances of a feature to all categories say; None without a bound."""
        length = float(np.linalg.norm(feature[self._order] / self._scale))
        slack = self._slack(length, float(np.abs(constants).max()))
        return Reached(rough, slack, inf, len(rough)) if slack < LOOSE else None

    def _slack(self, length: float, constant: float) -> float:
        """How wrong a rough distance can be for a feature of this length.

        A sum of n products is off by n roundings of |w| |x| at most, in whatever order it is made. Eight more are for
        the rounding of w and x themselves, and of the few sums after; those are made of o and c as well.
        """
        longest = max((tile.longest for tile in self._tiles), default=0.0)
        largest = max((tile.largest for tile in self._tiles), default=0.0)
        return TINY + UNIT * UP * ((len(self._order) + 8) * length * longest + 8 * (largest + constant))


class _Tile:
    """So many categories: the first dimensions by dimension, where one after the other is summed up, others by line."""

    __slots__ = ("head", "kinds", "largest", "lengths", "longest", "offsets", "rest", "rest_length")

    def __init__(self, head: int, width: int) -> None:
        self.head: Rough = np.zeros((head, TILE), dtype=np.float32)
        self.rest: Rough = np.zeros((TILE, width - head), dtype=np.float32)
        self.offsets: Rough = np.full(TILE, -FAR, dtype=np.float32)
        self.lengths, self.rest_length = np.zeros(TILE), np.zeros(TILE, dtype=np.float32)
        self.kinds = np.zeros(TILE, dtype=np.intp)
        self.longest = self.largest = 0.0

    def copy(self) -> _Tile:
        other = _Tile.__new__(_Tile)
        for name in self.__slots__:
            value = getattr(self, name)
            setattr(other, name, value.copy() if isinstance(value, np.ndarray) else value)
        return other

    def put(self, at: Places, weights: Floats, offsets: Floats, kinds: Places) -> None:
        head, there = len(self.head), np.isfinite(offsets)
        self.head[:, at], self.rest[at] = weights[:, :head].T, weights[:, head:]
        self.offsets[at] = np.where(there, offsets, -FAR)  # a category without features cannot answer
        self.kinds[at] = kinds
        self.rest_length[at] = UP * np.sqrt(np.square(weights[:, head:]).sum(axis=1))
        self.lengths[at] = np.sqrt(np.square(weights).sum(axis=1))
        self.longest = float(self.lengths.max())
        self.largest = float(np.abs(self.offsets[self.offsets > -FAR]).max(initial=0))

    def begin(self, head: Rough, constants: Rough, out: Rough) -> None:
        """The distances as far as the first dimensions tell; no product of BLAS, which would wait for other cores."""
        np.einsum("i,ij->j", head, self.head, out=out)
        out += self.offsets
        np.subtract(constants[self.kinds], out, out=out)

    def finish(self, rest: Rough, rough: Rough, keep: NDArray[np.bool_]) -> int:
        """The distances as all dimensions tell, of those to keep; how many that were."""
        kept = np.flatnonzero(keep)
        if FEW * len(kept) > TILE:
            rough -= np.vecdot(self.rest, rest)
            return TILE
        near = rough[kept] - np.vecdot(self.rest[kept], rest)
        rough.fill(FAR)
        rough[kept] = near
        return len(kept)
