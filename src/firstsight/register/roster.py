"""What every register of centres is: names, ids, centres by rank, and answers from where features stand to them.

How far a feature is from a centre is the business of the kind of register, and of its index.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from firstsight.core.assignments import Assignment, Assignments, Candidate
from firstsight.core.errors import SettingsError
from firstsight.core.protocols import Centre, Halves
from firstsight.register.halves import halves
from firstsight.register.index import Centres, Index
from firstsight.register.naming import Naming
from firstsight.register.standing import Standing


class Roster(Naming, ABC):
    """Categories as balls around centres; a feature outside every ball founds a new category.

    A kind of register says what its features are, what distances are, and where it looks features up.
    """

    kind: ClassVar[str]
    stored: ClassVar[str]  # the type of a feature's values in a log
    distances: ClassVar[type[np.number[Any]]]
    confident: ClassVar[bool] = False
    learns: ClassVar[bool] = False  # where a centre is does not depend on the images that come
    unlearns: ClassVar[bool] = False
    teachable: ClassVar[bool] = True  # by a centre more
    radius: Any
    _shared: bool  # whether a copy sees what this holds

    def __init__(self, names: Sequence[str], centres: NDArray[Any] | None, first: bool = False) -> None:
        """With `first` the oldest centre within the radius answers, else the nearest."""
        if (0 if centres is None else len(centres)) != len(names):
            raise SettingsError(f"{len(names)} names need as many centres, one feature each")
        self._first = first
        Naming.__init__(self, names)
        self._known_centres = [] if centres is None else [Centre(c, n, n) for c, n in zip(centres, names, strict=True)]
        self.rebuild(self._known_centres)

    # ------------------------------------------------------------------ what a kind of register adds

    @abstractmethod
    def _no_centres(self) -> Centres: ...

    @abstractmethod
    def _new_index(self) -> Index: ...

    @property
    @abstractmethod
    def _chunk(self) -> int:
        """Features decided together while categories are born, each of which is compared with the features to come."""

    @abstractmethod
    def centre_of(self, features: NDArray[Any]) -> NDArray[Any]: ...

    @abstractmethod
    def points(self, features: NDArray[Any]) -> NDArray[np.float64]:
        """Features as points that lie as near each other as they are alike."""

    @abstractmethod
    def _apart(self, one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
        """The distance of two such points."""

    def _comparable(self, features: NDArray[Any]) -> NDArray[Any]:
        """Features (or one) as the index compares them."""
        return features

    # ------------------------------------------------------------------ keeping

    @property
    def comparisons(self) -> int:
        """How often a feature was compared with a centre, or looked up, since the last rebuild."""
        return self._index.comparisons

    @property
    def fresh(self) -> bool:
        """Whether nothing was founded since it began: it is what its header says."""
        return self._centres.count == len(self._known_centres)

    def copy(self) -> Self:
        """Another register that answers the same; what both hold is copied when either founds a category."""
        other = super().copy()
        self._shared = other._shared = True
        return other

    def known_centres(self) -> list[Centre]:
        return list(self._known_centres)

    def feature_bytes(self, feature: NDArray[Any]) -> bytes:
        return feature.astype(self.stored).tobytes()

    @classmethod
    def feature_from(cls, content: bytes) -> NDArray[Any]:
        return np.frombuffer(content, dtype=cls.stored).astype(np.dtype(cls.stored).newbyteorder("="))

    def _known_as_text(self) -> list[list[str]]:
        """The known categories for a header."""
        return [[c.category, self.feature_bytes(c.feature).hex()] for c in self._known_centres]

    @classmethod
    def _known_of(cls, header: Mapping[str, Any]) -> tuple[list[str], NDArray[Any] | None]:
        """The names and centres of the known categories in a header."""
        features = [cls.feature_from(bytes.fromhex(feature)) for _, feature in header["known"]]
        return [name for name, _ in header["known"]], np.stack(features) if features else None

    def rebuild(
        self,
        centres: Iterable[Centre],
        reserved: Iterable[str] = (),
        members: Iterable[tuple[NDArray[Any], str]] = (),
        order: Sequence[str] = (),
        learned: bytes | None = None,
    ) -> None:
        """Start again from these centres, given in order of rank: on a tie, and for `first`, the one before answers.

        A category may have several, and those of merged categories answer for another.
        """
        self._begin_names(reserved)
        self._shared = False
        self._centres = self._no_centres()
        self._owner_of: list[int] = []  # the category each centre answers for, and
        self._home: list[int] = []  # the one it was made for
        self._merged = False
        if centres := list(centres):
            features, categories, homes = zip(*centres, strict=True)
            self._append(self._comparable(np.stack(features)), categories, homes)
        self._index = self._new_index()

    def learn(self, feature: NDArray[Any], category: str) -> None:
        """Centres stay where they are, whatever is in them."""

    def unlearn(self, feature: NDArray[Any], category: str) -> None:
        """Nor do they go back."""

    def redirect(self, category: str, to: str) -> None:
        """The centres made for a category answer for another from now on, or for itself again."""
        self._part()
        home, owner = self._position_of(category), self._position_of(to)
        moved = np.flatnonzero(np.asarray(self._home) == home)
        affected = {owner, *(self._owner_of[i] for i in moved.tolist())}
        for i in moved.tolist():
            self._owner_of[i] = owner
        self._centres.reown(moved, owner)
        self._merged = self._owner_of != self._home
        self._index.reown(affected)

    def _part(self) -> None:
        """Before this changes: what a copy sees becomes the copy's."""
        if self._shared:
            self._centres = self._centres.copy()
            self._index = self._index.copy(self._centres)
            self._owner_of, self._home, self._shared = list(self._owner_of), list(self._home), False

    def learned(self) -> bytes | None:
        return None

    def _found(self, feature: NDArray[Any]) -> str:
        """Make a feature, as it is compared, the centre of a new category."""
        name = self.next_name()
        self._part()
        self._append(feature[None], [name], [name])
        self._index.add(self._centres.count - 1)
        return name

    def _append(self, features: NDArray[Any], categories: Sequence[str], homes: Sequence[str]) -> None:
        owner = [self._position_of(category) for category in categories]
        home = [self._position_of(name) for name in homes]
        self._centres.extend(features, owner, [each < self.known for each in home])
        self._owner_of += owner
        self._home += home
        self._merged |= owner != home

    def halves(self, features: NDArray[Any]) -> Halves | None:
        """Two parts that lie clearly apart, so far that neither part's centre reaches the other's."""
        found = halves(self.points(features))
        if found is None:
            return None
        parts = self.points(np.stack([self.centre_of(features[part]) for part in (found.second, ~found.second)]))
        return found if self._apart(*parts) > self.radius else None

    # ------------------------------------------------------------------ answering

    def match(self, feature: NDArray[Any], without: str | None = None) -> Assignment:
        """What this feature is; changes nothing. No category has learned anything to be asked `without`."""
        nearest, distance, second, second_distance, chosen, apart = self._index.find(self._comparable(feature))
        if not self._first:
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

    def assign(self, feature: NDArray[Any]) -> Assignment:
        """Match, and register a new category when nothing matches."""
        answer = self.match(feature)
        if answer.category is not None:
            return answer
        return replace(answer, category=self._found(self._comparable(feature)), created=True)

    def assign_many(self, features: NDArray[Any]) -> Assignments:
        """Exactly what assigning the features one by one gives, new categories included."""
        features = self._comparable(features)
        whole = Standing(len(features), self._reach, self.distances)
        founders: list[tuple[int, int]] = []
        start, size = 0, self._chunk
        while start < len(features):
            chunk = features[start : start + size]
            standing = self._index.look_up(chunk)
            born = self._found_all(chunk, standing)
            founders += [(start + feature, centre) for feature, centre in born]
            whole.put(slice(start, start + size), standing)
            start, size = start + size, self._chunk if born else min(2 * size, 16 * self._chunk)
        return self._assignments(whole, founders)

    def _found_all(self, features: NDArray[Any], standing: Standing) -> list[tuple[int, int]]:
        """Found a category for every feature nothing answers, in turn; each takes part from then on."""
        founders: list[tuple[int, int]] = []
        start = 0
        while len(unmatched := np.flatnonzero(self._chosen(standing)[start:] < 0)):
            founder = start + int(unmatched[0])
            self._found(features[founder])
            founders.append((founder, self._centres.count - 1))
            start = founder + 1
            self._index.update(standing, features, start)
        return founders

    @property
    def _reach(self) -> Any:
        return self.radius if self._first else None

    def _chosen(self, standing: Standing) -> NDArray[np.int32]:
        """The centre that answers each feature, -1 for none."""
        if self._first:
            return standing.first
        return np.where(standing.distance <= self.radius, standing.nearest, np.int32(-1))

    def _assignments(self, standing: Standing, founders: list[tuple[int, int]]) -> Assignments:
        """Word what stands about every feature; the founders answer for themselves."""
        owner, chosen = self._centres.owner, self._chosen(standing)
        distance = standing.distance
        if self._first:
            distance = np.where(chosen >= 0, standing.first_distance, distance)
        category = owner[chosen]
        nearest_answers = (chosen >= 0) & (category == owner[standing.nearest])
        runner_up = owner[np.where(nearest_answers, standing.second, standing.nearest)]
        runner_up_distance = np.where(nearest_answers, standing.second_distance, standing.distance)
        home = np.append(np.asarray(self._home, dtype=np.int32), np.int32(-1))[chosen] if self._merged else category
        created = np.zeros(len(chosen), dtype=bool)
        if founders:
            features, centres = (list(column) for column in zip(*founders, strict=True))
            category[features], created[features] = owner[centres], True
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
            compared=standing.nearest >= 0,
        )
