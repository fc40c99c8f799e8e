"""The register of codes: Algorithm 1 of the paper as a state machine.

Knows nothing of images, models, files or torch. Single-threaded by contract: whoever holds it serialises writers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from firstsight.bounds import check_bits
from firstsight.codes import Words, hamming, pack, unpack
from firstsight.config import Rule
from firstsight.errors import SettingsError
from firstsight.protocols import Assignment, Candidate, Centre, Encoded
from firstsight.register.assignments import Assignments
from firstsight.register.index import TABLE_BITS, Centres, Index, Scan, Table
from firstsight.register.standing import FAR, Standing

CHUNK = 4096  # rows decided together while categories are born, each of which is compared with the rows to come


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

    kind = "codes"

    def __init__(
        self, bits: int, radius: int, names: Sequence[str] = (), centres: Words | None = None, rule: Rule = "nearest"
    ) -> None:
        self.words = -(-check_bits(bits) // 64)
        if rule not in get_args(Rule):
            raise SettingsError(f"rule is {rule!r}; allowed: {', '.join(get_args(Rule))}")
        if (0 if centres is None else len(centres)) != len(names):
            raise SettingsError(f"{len(names)} names need as many centres, one code of {self.words} words each")
        self.bits = bits
        self.rule = rule
        self.check_radius(radius)
        self._radius = radius
        self.known = len(names)
        self.names = list(names)
        self._known_centres = [] if centres is None else [Centre(c, n, n) for c, n in zip(centres, names, strict=True)]
        self.rebuild(self._known_centres)

    @property
    def radius(self) -> int:
        """R, adjustable at any time; it decides about the images to come."""
        return self._radius

    @radius.setter
    def radius(self, radius: int) -> None:
        self.check_radius(radius)
        self._radius = radius
        if self.rule == "first":  # which centre is the first within reach depends on it
            self._index = self._new_index()

    def check_radius(self, radius: int) -> None:
        if radius != int(radius) or not 0 <= radius <= self.bits:
            raise SettingsError(f"radius is {radius}; with {self.bits} bits it can be 0 to {self.bits}")

    @property
    def comparisons(self) -> int:
        """How often a code was compared with a centre, or looked up, since the last rebuild."""
        return self._index.comparisons

    @property
    def centres(self) -> Words:
        """The centre of every category, in order of rank: oldest first."""
        return self._centres.codes

    def __len__(self) -> int:
        return len(self.names)

    def header(self) -> dict[str, Any]:
        """What it takes to start the same register again, as JSON."""
        return {
            "kind": self.kind,
            "bits": self.bits,
            "radius": self.radius,
            "rule": self.rule,
            "known": [[c.category, self.row_bytes(c.row).hex()] for c in self._known_centres],
        }

    @classmethod
    def of(cls, header: Mapping[str, Any]) -> CodeRegister:
        """The register a header describes, holding its known categories."""
        names = [name for name, _ in header["known"]]
        words = b"".join(bytes.fromhex(code) for _, code in header["known"])
        centres = np.frombuffer(words, dtype="<u8").astype(np.uint64).reshape(len(names), -1) if names else None
        return cls(header["bits"], header["radius"], names, centres, header["rule"])

    def rows_of(self, encoded: Encoded) -> Words:
        assert encoded.codes is not None, "this encoder makes no codes"
        return encoded.codes

    def known_centres(self) -> list[Centre]:
        return list(self._known_centres)

    def row_bytes(self, row: NDArray[Any]) -> bytes:
        return row.astype("<u8").tobytes()

    def row_from(self, content: bytes) -> Words:
        return np.frombuffer(content, dtype="<u8").astype(np.uint64)

    def centre_of(self, rows: NDArray[Any]) -> Words:
        """The centre for a category of these codes: each bit as most of them have it, as the first on a tie."""
        signs = unpack(rows, self.bits).astype(np.int64)  # (N, L)
        centre: Words = pack(2 * signs.sum(axis=0) + signs[0])[0]
        return centre

    def neighbours(self, row: NDArray[Any], within: float, limit: int) -> list[Candidate]:
        apart = hamming(self.centres, row)
        nearest = np.argsort(apart, kind="stable")[:limit]
        return [Candidate(self.names[self._owner_of[i]], int(apart[i])) for i in nearest if apart[i] <= within]

    def rebuild(self, centres: Iterable[Centre], reserved: Iterable[str] = ()) -> None:
        """Start again from these centres, given in order of rank: on a tie, and for `first`, the one before answers.

        A category may have several, and those of merged categories answer for another.
        """
        self.names = self.names[: self.known]  # a new list: answers given earlier keep theirs
        self._position = {name: i for i, name in enumerate(self.names)}
        self._centres = Centres(self.words)
        self._owner_of: list[int] = []  # the category each centre answers for, and
        self._home: list[int] = []  # the one it was made for
        self._merged = False
        self._born = 0
        self._reserved = set(reserved)
        self._append(list(centres))
        self._index = self._new_index()

    def next_name(self) -> str:
        """new-1, new-2, ... passing over names that mean something already."""
        while (name := f"new-{self._born + 1}") in self._position or name in self._reserved:
            self._born += 1
        return name

    def match(self, row: NDArray[Any]) -> Assignment:
        """What this code is; changes nothing."""
        nearest, distance, second, second_distance, chosen, apart = self._index.find(row)
        if self.rule != "first":
            chosen, apart = (nearest if distance <= self.radius else -1), distance
        owner = self._owner_of
        if chosen < 0:
            near = Candidate(self.names[owner[nearest]], distance) if nearest >= 0 else None
            return Assignment(None, True, False, distance if near else None, self.radius, near)
        if owner[chosen] == owner[nearest]:
            nearest, distance = second, second_distance
        category, home = owner[chosen], self._home[chosen]
        return Assignment(
            category=self.names[category],
            is_new=category >= self.known,
            created=False,
            distance=apart,
            radius=self.radius,
            runner_up=Candidate(self.names[owner[nearest]], distance) if nearest >= 0 else None,
            via=self.names[home] if home != category else None,
        )

    def assign(self, row: NDArray[Any]) -> Assignment:
        """Match, and register a new category when nothing matches."""
        answer = self.match(row)
        if answer.category is not None:
            return answer
        return replace(answer, category=self._found(row), created=True)

    def assign_many(self, rows: NDArray[Any]) -> Assignments:
        """Exactly what assigning the codes one by one gives, new categories included."""
        whole = Standing(len(rows), self._reach)
        founders: list[tuple[int, int]] = []
        start, size = 0, CHUNK
        while start < len(rows):
            chunk = rows[start : start + size]
            standing = self._index.look_up(chunk)
            born = self._found_all(chunk, standing)
            founders += [(start + row, centre) for row, centre in born]
            whole.put(slice(start, start + size), standing)
            start, size = start + size, CHUNK if born else min(2 * size, 16 * CHUNK)
        return self._assignments(whole, founders)

    def _found_all(self, rows: Words, standing: Standing) -> list[tuple[int, int]]:
        """Found a category for every row nothing answers, in turn: (row, its centre). Each takes part from then on."""
        founders: list[tuple[int, int]] = []
        start = 0
        while len(unmatched := np.flatnonzero(self._chosen(standing)[start:] < 0)):
            founder = start + int(unmatched[0])
            self._found(rows[founder])
            founders.append((founder, self._centres.count - 1))
            start = founder + 1
            self._index.update(standing, rows, start)
        return founders

    def _found(self, row: Words) -> str:
        """Make a code the centre of a new category."""
        name = self.next_name()
        self._append([Centre(row, name, name)])
        self._index.add(self._centres.count - 1)
        return name

    def _chosen(self, standing: Standing) -> NDArray[np.int32]:
        """The centre that answers each row, -1 for none."""
        if self.rule == "first":
            return standing.first
        return np.where(standing.distance <= self.radius, standing.nearest, np.int32(-1))

    def _assignments(self, standing: Standing, founders: list[tuple[int, int]]) -> Assignments:
        """Word what stands about every row; the founders answer for themselves."""
        owner, chosen = self._centres.owner, self._chosen(standing)
        distance = standing.distance
        if self.rule == "first":
            distance = np.where(chosen >= 0, standing.first_distance, distance)
        category = owner[chosen]
        nearest_answers = (chosen >= 0) & (category == owner[standing.nearest])
        runner_up = owner[np.where(nearest_answers, standing.second, standing.nearest)]
        runner_up_distance = np.where(nearest_answers, standing.second_distance, standing.distance)
        home = np.append(np.asarray(self._home, dtype=np.int32), np.int32(-1))[chosen] if self._merged else category
        created = np.zeros(len(chosen), dtype=bool)
        if founders:
            rows, centres = (list(column) for column in zip(*founders, strict=True))
            category[rows], created[rows] = owner[centres], True
        return Assignments(
            names=self.names,
            known=self.known,
            radius=self.radius,
            category=category,
            via=np.where(home != category, home, np.int32(-1)) if self._merged else np.full_like(category, -1),
            created=created,
            distance=distance,
            runner_up=runner_up,
            runner_up_distance=runner_up_distance,
            compared=distance < FAR,
        )

    @property
    def _reach(self) -> int | None:
        return self.radius if self.rule == "first" else None

    def _new_index(self) -> Index:
        kind = Table if self.bits <= TABLE_BITS else Scan
        return kind(self.bits, self._centres, self._reach, reference=self.rule == "reference")

    def _append(self, centres: Sequence[Centre]) -> None:
        if not centres:
            return
        owners = [self._position_of(centre.category) for centre in centres]
        homes = [self._position_of(centre.home) for centre in centres]
        self._centres.extend(np.stack([c.row for c in centres]), owners, [home < self.known for home in homes])
        self._owner_of += owners
        self._home += homes
        self._merged |= owners != homes

    def _position_of(self, name: str) -> int:
        if name not in self._position:
            self._position[name] = len(self.names)
            self.names.append(name)
        return self._position[name]


def closed_set(bits: int, names: Iterable[str], centres: Words) -> CodeRegister:
    """The row that never discovers: every code goes to its nearest known category."""
    return CodeRegister(bits, radius=bits, names=list(names), centres=centres)
