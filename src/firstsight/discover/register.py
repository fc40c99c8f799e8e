"""The register: Algorithm 1 of the paper as a state machine over codes.

Knows nothing of images, models, files or torch. Single-threaded by contract: whoever holds it serialises writers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firstsight.bounds import check_bits
from firstsight.codes import Words, hamming, popcount
from firstsight.config import Rule
from firstsight.errors import SettingsError
from firstsight.protocols import Assignment, Candidate, Encoded

FAR = np.iinfo(np.int64).max
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
        self.bits = check_bits(bits)
        self.rule = rule
        self.radius = radius
        self.names = list(names)
        self.known = len(self.names)
        self._taken = set(self.names)
        self._born = 0
        words = -(-bits // 64)
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
        distances = self._distances(row)
        return self._answer(distances, self._decide(distances))

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
        distances = self._distances(rows)  # (rows, centres)
        answers: list[Assignment] = []
        while len(answers) < len(rows):
            at = len(answers)
            chosen = self._decide(distances[at:])
            stays = int(np.argmax(chosen < 0)) if (chosen < 0).any() else len(chosen)
            answers += [self._answer(distances[at + i], chosen[i]) for i in range(stays)]
            if at + stays < len(rows):
                born = at + stays
                answers.append(self._found(rows[born], distances[born]))
                column = hamming(rows, self.centres[-1])
                column[: born + 1] = FAR  # it did not exist yet
                distances = np.column_stack([distances, column])
        return answers

    def _distances(self, rows: Words) -> NDArray[np.int64]:
        distances = hamming(rows[..., None, :], self.centres)
        if self.rule == "reference":
            both = popcount(rows[..., None, :] & self.centres[: self.known])
            distances[..., : self.known] = self.bits - both
        return distances

    def _decide(self, distances: NDArray[np.int64]) -> NDArray[np.int64]:
        """The index of the category that answers each row, -1 where none is near enough."""
        if distances.shape[-1] == 0:
            return np.full(distances.shape[:-1], -1, dtype=np.int64)
        within = distances <= self.radius
        best = within.argmax(-1) if self.rule == "first" else distances.argmin(-1)
        return np.where(within.any(-1), best, -1)

    def _answer(self, distances: NDArray[np.int64], chosen: Any) -> Assignment:
        """Word the decision about one row."""
        index = int(chosen)
        if index < 0:
            nearest = self._nearest(distances)
            return Assignment(None, True, False, nearest.distance if nearest else None, self.radius, nearest)
        others = distances.copy()
        others[index] = FAR
        return Assignment(
            category=self.names[index],
            is_new=index >= self.known,
            created=False,
            distance=int(distances[index]),
            radius=self.radius,
            runner_up=self._nearest(others),
        )

    def _nearest(self, distances: NDArray[np.int64]) -> Candidate | None:
        if distances.size == 0 or (index := int(distances.argmin())) < 0 or distances[index] == FAR:
            return None
        return Candidate(self.names[index], int(distances[index]))

    def _found(self, row: Words, distances: NDArray[np.int64]) -> Assignment:
        nearest = self._nearest(distances)
        name = self._next_name()
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


def closed_set(bits: int, names: Iterable[str], centres: Words) -> CodeRegister:
    """The row that never discovers: every code goes to its nearest known category."""
    return CodeRegister(bits, radius=bits, names=list(names), centres=centres)
