"""The register: Algorithm 1 of the paper as a state machine over codes.

Knows nothing of images, models, files or torch. Single-threaded by contract: whoever holds it serialises writers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from firstsight.bounds import check_bits
from firstsight.codes import Words, hamming, popcount
from firstsight.config import Rule
from firstsight.errors import SettingsError
from firstsight.protocols import Assignment, Candidate, Encoded

FAR = np.int16(np.iinfo(np.int16).max)
CHUNK = 4096  # rows compared with all centres at once: bounds the memory of a batch


class CodeRegister:
    """Categories as Hamming balls around centres; a code outside every ball founds a new category.

    `nearest` answers with the nearest centre within the radius, the oldest on a tie; `first` with the oldest
    within the radius, as Algorithm 1 is printed. `reference` is what the authors' released code does: nearest,
    but the distance to a known centre is L minus the number of positions where both bits are 1 (deviation 1).

    >>> register = CodeRegister(bits=4, radius=1, names=["ant"], centres=np.array([[0b0000]], dtype=np.uint64))
    >>> register.assign(np.array([0b0001], dtype=np.uint64)).category
    'ant'
    >>> register.assign(np.array([0b0111], dtype=np.uint64)).category
    'new-1'
    """

    def __init__(
        self, bits: int, radius: int, names: Sequence[str] = (), centres: Words | None = None, rule: Rule = "nearest"
    ) -> None:
        words = -(-check_bits(bits) // 64)
        if rule not in get_args(Rule):
            raise SettingsError(f"rule is {rule!r}; allowed: {', '.join(get_args(Rule))}")
        if (0 if centres is None else len(centres)) != len(names):
            raise SettingsError(f"{len(names)} names need as many centres, one code of {words} words each")
        self.bits = bits
        self.rule = rule
        self.radius = radius
        self.names = list(names)
        self.known = len(self.names)
        self._taken = set(self.names)
        self._born = 0
        self._centres = np.zeros((max(64, 2 * self.known), words), dtype=np.uint64)
        if centres is not None:
            self._centres[: self.known] = centres

    @property
    def radius(self) -> int:
        """R, adjustable at any time; it decides about the images to come."""
        return self._radius

    @radius.setter
    def radius(self, radius: int) -> None:
        if not 0 <= radius <= self.bits:
            raise SettingsError(f"radius is {radius}; with {self.bits} bits it can be 0 to {self.bits}")
        self._radius = radius

    @property
    def centres(self) -> Words:
        """The centre of every category, oldest first."""
        return self._centres[: len(self.names)]

    def __len__(self) -> int:
        return len(self.names)

    def rows_of(self, encoded: Encoded) -> Words:
        assert encoded.codes is not None, "this encoder makes no codes"
        return encoded.codes

    def match(self, row: NDArray[Any]) -> Assignment:
        """What this code is; changes nothing."""
        standing = Standing(self._distances(row[None]), self.radius, self.rule)
        return self._answer(standing, 0)

    def assign(self, row: NDArray[Any]) -> Assignment:
        """Match, and register a new category when nothing matches."""
        return self.assign_many(row[None])[0]

    def assign_many(self, rows: NDArray[Any]) -> list[Assignment]:
        """Exactly what assigning the codes one by one gives, new categories included."""
        answers: list[Assignment] = []
        for start in range(0, len(rows), CHUNK):
            answers += self._assign_chunk(rows[start : start + CHUNK])
        return answers

    def _assign_chunk(self, rows: Words) -> list[Assignment]:
        """Compare all rows with the centres there are, then let each newborn centre join the comparison."""
        standing = Standing(self._distances(rows), self.radius, self.rule)
        answers: list[Assignment] = []
        while (founder := standing.next_unmatched(len(answers))) is not None:
            answers += [self._answer(standing, i) for i in range(len(answers), founder)]
            answers.append(self._found(rows[founder], standing.nearest[founder], standing.distance[founder]))
            later = hamming(rows[founder + 1 :], self.centres[-1])
            standing.join(founder + 1, later, category=len(self) - 1)
        return answers + [self._answer(standing, i) for i in range(len(answers), len(rows))]

    def _distances(self, rows: Words) -> NDArray[np.int16]:
        distances = hamming(rows[:, None], self.centres)  # (rows, centres)
        if self.rule == "reference":
            distances[:, : self.known] = self.bits - popcount(rows[:, None] & self.centres[: self.known])
        return distances

    def _answer(self, standing: Standing, row: int) -> Assignment:
        """Word what stands about one row."""
        chosen, nearest = int(standing.chosen[row]), self._candidate(standing.nearest[row], standing.distance[row])
        if chosen < 0:
            return Assignment(None, True, False, nearest.distance if nearest else None, self.radius, nearest)
        second = self._candidate(standing.second[row], standing.second_distance[row])
        return Assignment(
            category=self.names[chosen],
            is_new=chosen >= self.known,
            created=False,
            distance=int(standing.chosen_distance[row]),
            radius=self.radius,
            runner_up=second if chosen == standing.nearest[row] else nearest,
        )

    def _candidate(self, index: Any, distance: Any) -> Candidate | None:
        return Candidate(self.names[index], int(distance)) if index >= 0 else None

    def _found(self, row: Words, nearest_index: Any, distance: Any) -> Assignment:
        """Make the code the centre of a new category."""
        nearest, name = self._candidate(nearest_index, distance), self._next_name()
        if len(self.names) == len(self._centres):
            self._centres = np.concatenate([self._centres, np.zeros_like(self._centres)])
        self._centres[len(self.names)] = row
        self.names.append(name)
        return Assignment(name, True, True, nearest.distance if nearest else None, self.radius, nearest)

    def _next_name(self) -> str:
        """new-1, new-2, ... passing over names the known categories have."""
        while True:
            self._born += 1
            name = f"new-{self._born}"
            if name not in self._taken:
                return name


class Standing:
    """For every row of a batch: its two nearest categories so far (-1 for none), and the one that answers it.

    A newborn category joins in one pass over the rows to come, so a batch costs rows times births, not more.
    """

    def __init__(self, distances: NDArray[np.int16], radius: int, rule: Rule) -> None:
        self.radius = radius
        self.first_only = rule == "first"
        self.nearest, self.distance = _smallest(distances)
        within = distances <= radius
        oldest = within.argmax(1) if within.shape[1] else self.nearest
        answers = oldest if self.first_only else self.nearest
        self.chosen = np.where(within.any(1), answers, -1)
        self.chosen_distance = _at(distances, self.chosen)
        if distances.shape[1]:
            np.put_along_axis(distances, self.nearest[:, None], FAR, axis=1)
        self.second, self.second_distance = _smallest(distances)

    def next_unmatched(self, start: int) -> int | None:
        """The first row from `start` on that no category answers."""
        unmatched = np.flatnonzero(self.chosen[start:] < 0)
        return start + int(unmatched[0]) if len(unmatched) else None

    def join(self, start: int, distances: NDArray[np.int16], category: int) -> None:
        """A new category takes part from row `start` on; on a tie the older one stays."""
        nearest, distance = self.nearest[start:], self.distance[start:]
        second, second_distance = self.second[start:], self.second_distance[start:]
        closer = distances < distance
        second[closer], second_distance[closer] = nearest[closer], distance[closer]
        nearest[closer], distance[closer] = category, distances[closer]
        between = ~closer & (distances < second_distance)
        second[between], second_distance[between] = category, distances[between]
        chosen, chosen_distance = self.chosen[start:], self.chosen_distance[start:]
        takes = (distances <= self.radius) & ((chosen < 0) if self.first_only else closer)
        chosen[takes], chosen_distance[takes] = category, distances[takes]


def _smallest(distances: NDArray[np.int16]) -> tuple[NDArray[np.int64], NDArray[np.int16]]:
    """The index of the smallest entry of each row and its value; -1 and FAR where there is none."""
    if distances.shape[1] == 0:
        return np.full(len(distances), -1), np.full(len(distances), FAR)
    index = distances.argmin(1)
    value = _at(distances, index)
    return np.where(value < FAR, index, -1), value


def _at(distances: NDArray[np.int16], index: NDArray[np.int64]) -> NDArray[np.int16]:
    if distances.shape[1] == 0:
        return np.full(len(distances), FAR)
    return np.take_along_axis(distances, index[:, None], axis=1)[:, 0]


def closed_set(bits: int, names: Iterable[str], centres: Words) -> CodeRegister:
    """The row that never discovers: every code goes to its nearest known category."""
    return CodeRegister(bits, radius=bits, names=list(names), centres=centres)
