"""Two ways to find the nearest centres of a code: a table of every code there can be, or a scan over the centres."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from firstsight.core.codes import Words, hamming, popcount
from firstsight.core.threads import computing_threads
from firstsight.register.standing import FAR, Distances, Place, Standing

TABLE_BITS = 16
TILE = 1 << 19  # codes times centres compared at once: smaller ones leave threads waiting for each other
WIDE = 1 << 14  # centres in a tile at most
LONG = 1 << 16  # centres one code is compared with at once
THREADS_FROM = 1 << 20  # comparisons below which a second thread costs more than it brings

Tile: TypeAlias = NDArray[Any]  # (features, centres) of distances, uint8 or int16


class Centres:
    """The centres of a register in order of rank, with the category each answers for; grows by doubling."""

    def __init__(self, empty: NDArray[Any]) -> None:
        self.count = 0
        self.distinct = True  # no two centres answer for one category
        self._owners: set[int] = set()
        self._features = empty  # (capacity, width); the first features say how wide they are
        self.known = np.zeros(0, dtype=bool)  # compared the released way under the `reference` rule
        self.owner = np.full(1, -1, dtype=np.int32)  # the category of each; the last is -1, for no centre

    @property
    def features(self) -> NDArray[Any]:
        return self._features[: self.count]

    def copy(self) -> Centres:
        """Others like these, that grow for themselves."""
        other = copy.copy(self)
        other._owners, other._features = set(self._owners), self._features.copy()
        other.known, other.owner = self.known.copy(), self.owner.copy()
        return other

    def reown(self, centres: NDArray[np.intp], owner: int) -> None:
        """Some answer for another category from now on."""
        self.owner[centres] = owner
        self._owners = set(self.owner[: self.count].tolist())
        self.distinct = len(self._owners) == self.count

    def extend(self, features: NDArray[Any], owners: Sequence[int], known: Sequence[bool]) -> None:
        first, self.count = self.count, self.count + len(features)
        self._owners.update(owners)
        self.distinct = len(self._owners) == self.count
        if self.count > len(self._features):
            more = max(64, self.count, 2 * len(self._features)) - len(self._features)
            room = np.zeros((more, features.shape[1]), dtype=self._features.dtype)
            self._features = np.concatenate([self._features, room]) if len(self._features) else room
            self.known = np.concatenate([self.known, np.zeros(more, dtype=bool)])
            self.owner = np.concatenate([self.owner, np.full(more, -1, dtype=np.int32)])
        self._features[first : self.count] = features
        self.known[first : self.count] = known
        self.owner[first : self.count] = owners


class Index(Protocol):
    """Where a register looks features up. The centres are the register's; `add` says one has come."""

    comparisons: int  # made to answer, so far

    def add(self, centre: int) -> None: ...

    def copy(self, centres: Centres) -> Index:
        """The same for a copy of the centres."""
        ...

    def reown(self, categories: set[int]) -> None:
        """Centres of these categories, or that now are, answer for another."""
        ...

    def find(self, feature: NDArray[Any]) -> Place:
        """Where one feature stands."""
        ...

    def look_up(self, features: NDArray[Any]) -> Standing: ...

    def update(self, standing: Standing, features: NDArray[Any], start: int) -> None:
        """The newest centre takes part from feature `start` on."""
        ...


class Table:
    """The standing of every code of up to 16 bits, so that a look-up costs the same however many centres there are.

    A centre joins only the codes it can change: those nearer to it than the worst second distance in the table.
    """

    def __init__(self, bits: int, centres: Centres, reach: int | None, reference: bool) -> None:
        self.bits = bits
        self.centres = centres
        self.reference = reference
        self.standing = Standing(1 << bits, reach)
        self.comparisons = 0
        self._worst = FAR  # an upper bound of all second distances, refreshed now and then
        for centre in range(centres.count):
            self.add(centre)

    def add(self, centre: int) -> None:
        codes, distances, within = _by_distance(self.bits)
        code = int(self.centres.features[centre, 0])
        if self.reference and self.centres.known[centre]:
            apart = (self.bits - popcount((codes & code).astype(np.uint64)[:, None])).astype(np.int16)
            self.standing.join(codes, centre, apart, self.centres.owner)
            return
        if centre % 16 == 0:
            self._worst = int(self.standing.second_distance.max())
        reach = -1 if self.standing.reach is None else self.standing.reach
        farthest = min(max(self._worst - 1, reach), self.bits)
        count = within[farthest] if farthest >= 0 else 0
        self.standing.join(codes[:count] ^ code, centre, distances[:count], self.centres.owner)

    def copy(self, centres: Centres) -> Table:
        other = copy.copy(self)
        other.centres, other.standing = centres, self.standing.copy()
        return other

    def reown(self, categories: set[int]) -> None:
        """Only what is nearest to one of them can have another second: it must be of another category."""
        at = np.flatnonzero(np.isin(self.centres.owner[self.standing.nearest], list(categories)))
        anew = Scan(self.bits, self.centres, None, self.reference).look_up(at.astype(np.uint64)[:, None])
        self.standing.second[at], self.standing.second_distance[at] = anew.second, anew.second_distance
        self._worst = FAR

    def find(self, feature: Words) -> Place:
        self.comparisons += 1
        return self.standing[int(feature[0])]

    def look_up(self, features: Words) -> Standing:
        self.comparisons += len(features)
        return self.standing.take(features[:, 0].astype(np.intp))

    def update(self, standing: Standing, features: Words, start: int) -> None:
        standing.put(slice(start, None), self.look_up(features[start:]))


class Scan:
    """XOR and bit counts over all centres, tile by tile, on all cores."""

    def __init__(self, bits: int, centres: Centres, reach: int | None, reference: bool) -> None:
        self.bits = bits
        self.centres = centres
        self.reach = reach
        self.reference = reference
        self.comparisons = 0

    def add(self, centre: int) -> None:
        pass  # it is among the centres, which is all a scan needs

    def copy(self, centres: Centres) -> Scan:
        other = copy.copy(self)
        other.centres = centres
        return other

    def reown(self, categories: set[int]) -> None:
        pass  # the centres say whose they are

    def find(self, feature: Words) -> Place:
        count = self.centres.count
        if count == 0:
            return Place(-1, FAR, -1, FAR, -1, FAR)
        apart = np.empty((1, count), dtype=np.int16)
        for first in range(0, count, LONG):
            tile = self._distances(feature[None], first, first + LONG)
            apart[0, first : first + LONG] = tile
            self.comparisons += tile.size
        first = -1 if self.reach is None or not (within := apart[0] <= self.reach).any() else int(within.argmax())
        first_distance = int(apart[0, first]) if first >= 0 else FAR
        nearest = apart.argmin(1)
        distance = int(apart[0, nearest[0]])
        second, second_distance = self._second(apart, nearest, 0)
        other = int(second_distance[0])
        return Place(int(nearest[0]), distance, int(second[0]) if other < FAR else -1, other, first, first_distance)

    def look_up(self, features: Words) -> Standing:
        standing = Standing(len(features), self.reach)
        self.comparisons += len(features) * self.centres.count
        if len(features) * self.centres.count < THREADS_FROM:
            self._compare(features, standing, 0, len(features))
        else:  # NumPy lets go of the interpreter while it counts
            threads = computing_threads()
            edges = [len(features) * i // threads for i in range(threads + 1)]
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(lambda a, b: self._compare(features, standing, a, b), edges, edges[1:]))
        return standing

    def update(self, standing: Standing, features: Words, start: int) -> None:
        newest = self.centres.count - 1
        self.comparisons += len(features) - start
        standing.join(
            slice(start, None), newest, hamming(features[start:], self.centres.features[newest]), self.centres.owner
        )

    def _compare(self, features: Words, standing: Standing, start: int, stop: int) -> None:
        """Let all centres join these features, tile by tile; the first tile finds the entries empty."""
        wide = max(1, min(self.centres.count, WIDE))
        high = max(1, min(TILE // wide, stop - start))
        room = Room(high, wide)
        for top in range(start, stop, high):
            at = slice(top, min(top + high, stop))
            for first in range(0, self.centres.count, wide):
                distances = self._distances(features[at], first, first + wide, room)
                if self.reach is not None:
                    oldest = (distances <= self.reach).argmax(1)
                    standing.meet(at, first + oldest, _at(distances, oldest))
                nearest = distances.argmin(1)
                distance = _at(distances, nearest)
                second, second_distance = self._second(distances, nearest, first)
                if first == 0:
                    standing.nearest[at], standing.distance[at] = nearest, distance
                    standing.second[at] = np.where(second_distance < FAR, second, -1)
                    standing.second_distance[at] = second_distance
                else:
                    owner = self.centres.owner
                    standing.join(at, (first + nearest).astype(np.int32), distance, owner)
                    standing.join(at, (first + second).astype(np.int32), second_distance, owner)

    def _second(self, distances: Tile, nearest: NDArray[np.int64], first: int) -> tuple[NDArray[np.int64], Distances]:
        """In one tile, the nearest centre of another category than the nearest has; FAR away if there is none."""
        taken = np.iinfo(distances.dtype).max
        if self.centres.distinct:
            distances[np.arange(len(distances)), nearest] = taken
        else:
            owner = self.centres.owner[first : first + distances.shape[1]]
            distances[owner == owner[nearest][:, None]] = taken
        second = distances.argmin(1)
        distance = _at(distances, second)
        distance[distance == taken] = FAR
        return second, distance

    def _distances(self, features: Words, first: int, stop: int, room: Room | None = None) -> Tile:
        """(features, centres); single words are counted in bytes, where comparing is fastest."""
        codes = self.centres.features[first:stop]
        if features.shape[1] > 1:
            apart: Tile = hamming(features[:, None], codes)
        elif room is None:
            apart = np.bitwise_count(features ^ codes[:, 0])
        else:
            differing, apart = room.differing[: len(features), : len(codes)], room.apart[: len(features), : len(codes)]
            np.bitwise_count(np.bitwise_xor(features, codes[:, 0], out=differing), out=apart)
        if self.reference:
            known = np.flatnonzero(self.centres.known[first : first + len(codes)])
            apart[:, known] = self.bits - popcount(features[:, None] & codes[known])
        return apart


class Room:
    """Memory for one tile, used again and again: fresh pages would cost more than the counting."""

    def __init__(self, high: int, wide: int) -> None:
        self.differing = np.empty((high, wide), dtype=np.uint64)
        self.apart: Tile = np.empty((high, wide), dtype=np.uint8)


def _at(distances: Tile, columns: NDArray[np.int64]) -> Distances:
    return distances[np.arange(len(distances)), columns].astype(np.int16)


@cache
def _by_distance(bits: int) -> tuple[NDArray[np.int64], Distances, list[int]]:
    """All codes by their distance from zero, those distances, and how many lie within each distance."""
    codes = np.arange(1 << bits)
    distances = np.bitwise_count(codes).astype(np.int16)
    order = distances.argsort(kind="stable")
    within = np.bincount(distances, minlength=bits + 1).cumsum()
    return codes[order], distances[order], [int(count) for count in within]
