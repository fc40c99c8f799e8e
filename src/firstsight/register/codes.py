"""The register of codes: Algorithm 1 of the paper as a state machine.

Knows nothing of images, models, files or torch. Single-threaded by contract: whoever holds it serialises writers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from firstsight.core.assignments import Candidate
from firstsight.core.bounds import check_bits
from firstsight.core.codes import Words, hamming, pack, unpack
from firstsight.core.errors import SettingsError
from firstsight.core.settings import Rule
from firstsight.register.index import TABLE_BITS, Centres, Index, Scan, Table
from firstsight.register.numbers import as_json, from_json
from firstsight.register.roster import Roster

CHUNK = 4096  # features decided together while categories are born, each of which is compared with the features to come


class CodeRegister(Roster):
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

    kind = "codes"
    stored = "<u8"
    distances = np.int16

    def __init__(
        self, bits: int, radius: float, names: Sequence[str] = (), centres: Words | None = None, rule: Rule = "nearest"
    ) -> None:
        self.words = -(-check_bits(bits) // 64)
        if rule not in get_args(Rule):
            raise SettingsError(f"rule is {rule!r}; allowed: {', '.join(get_args(Rule))}")
        self.bits = bits
        self.rule = rule
        self.check_radius(radius)
        self._radius = radius
        super().__init__(names, centres, first=rule == "first")

    @property
    def radius(self) -> float:
        """R, adjustable at any time; it decides about the images to come."""
        return self._radius

    @radius.setter
    def radius(self, radius: float) -> None:
        self.check_radius(radius)
        self._radius = radius
        if self._first:  # which centre is the first within reach depends on it
            self._index = self._new_index()

    def check_radius(self, radius: float) -> None:
        if radius != inf and not (0 <= radius <= self.bits and radius == int(radius)):
            raise SettingsError(
                f"radius is {radius}; with {self.bits} bits it can be a whole number, 0 to {self.bits}, or infinite"
            )

    @property
    def centres(self) -> Words:
        """The centre of every category, in order of rank: oldest first."""
        return self._centres.features

    def header(self) -> dict[str, Any]:
        """What it takes to start the same register again, as JSON."""
        return {
            "kind": self.kind,
            "bits": self.bits,
            "radius": as_json(self.radius),
            "rule": self.rule,
            "known": self._known_as_text(),
        }

    @classmethod
    def of(cls, header: Mapping[str, Any]) -> CodeRegister:
        """The register a header describes, holding its known categories."""
        names, centres = cls._known_of(header)
        return cls(header["bits"], from_json(header["radius"]), names, centres, header["rule"])

    def centre_of(self, features: NDArray[Any]) -> Words:
        """The centre for a category of these codes: each bit as most of them have it, as the first on a tie."""
        signs = unpack(features, self.bits).astype(np.int64)  # (N, L)
        centre: Words = pack(2 * signs.sum(axis=0) + signs[0])[0]
        return centre

    def neighbours(self, feature: NDArray[Any], within: float, limit: int) -> list[Candidate]:
        apart = hamming(self.centres, feature)
        nearest = np.argsort(apart, kind="stable")[:limit]
        return [Candidate(self.names[self._owner_of[i]], int(apart[i])) for i in nearest if apart[i] <= within]

    def differing(self, feature: NDArray[Any], category: str) -> tuple[int, ...]:
        """The bits, from 1, in which a code differs from the nearest centre of a category."""
        own = self.centres[np.array(self._owner_of) == self._position[category]]
        nearest = own[hamming(own, feature).argmin()]
        return tuple((np.flatnonzero(unpack(nearest ^ feature, self.bits)[0] > 0) + 1).tolist())

    def points(self, features: NDArray[Any]) -> NDArray[np.float64]:
        return unpack(features, self.bits).astype(np.float64)

    def _apart(self, one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
        return float((one != other).sum())

    @property
    def _chunk(self) -> int:
        return CHUNK

    def _no_centres(self) -> Centres:
        return Centres(np.zeros((0, self.words), dtype=np.uint64))

    def _new_index(self) -> Index:
        kind = Table if self.bits <= TABLE_BITS else Scan
        return kind(self.bits, self._centres, self._reach, reference=self.rule == "reference")


def closed_set(bits: int, names: Iterable[str], centres: Words) -> CodeRegister:
    """The register that never discovers: every code goes to its nearest known category."""
    return CodeRegister(bits, inf, names=list(names), centres=centres)
