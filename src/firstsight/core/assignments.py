"""Assignments: one answer, and many as columns, made millions a second and worded one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Candidate:
    """A category that was considered, and how far it was."""

    category: str
    distance: int | float


@dataclass(frozen=True)
class Assignment:
    """One answer.

    `category` is None in a pure match that would found a new category, and for what is discarded. `distance` is to
    the category that answers or, where none was near enough, to the nearest one. `runner_up` is the nearest category
    that is not the answer. `via` is the category whose centre matched, where that one has been merged into the answer.
    `image` is the number under which a store keeps the image. `decided_by` says who answered: the register's rule, the
    rule by hindsight, a person who placed this very image before, or the record of an image that is not counted again;
    an image that a person `discarded` has no category, and is not counted either. `name` is what people call the
    category, where they renamed it. `confidence` is how probable the rule holds its answer to be, where it can tell.
    `lesson` says whether the image shapes its category, where categories learn.
    """

    category: str | None
    is_new: bool
    created: bool
    distance: int | float | None
    radius: int | float
    runner_up: Candidate | None
    via: str | None = None
    image: int | None = None
    decided_by: Literal["rule", "hindsight", "person", "record", "discarded"] = "rule"
    name: str | None = None
    confidence: float | None = None
    lesson: bool = True


@dataclass(frozen=True, eq=False)
class Assignments(Sequence[Assignment]):
    """A sequence of assignments held as arrays; categories are positions in `names`, -1 where there is none."""

    names: Sequence[str]
    known: int  # names before this position are known categories
    radius: int | float
    category: NDArray[np.int32]
    via: NDArray[np.int32]
    created: NDArray[np.bool_]
    distance: NDArray[Any]
    runner_up: NDArray[np.int32]
    runner_up_distance: NDArray[Any]
    compared: NDArray[np.bool_]  # whether there was a category to be distant from
    confidence: NDArray[np.float64] | None = None  # not a number where the rule cannot tell
    lesson: NDArray[np.bool_] | None = None  # whether it shapes its category; every one does if this is not given

    def __len__(self) -> int:
        return len(self.category)

    @overload
    def __getitem__(self, index: int) -> Assignment: ...
    @overload
    def __getitem__(self, index: slice) -> list[Assignment]: ...
    def __getitem__(self, index: int | slice) -> Assignment | list[Assignment]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        sure = None if self.confidence is None else float(self.confidence[index])
        category, via, other = (int(column[index]) for column in (self.category, self.via, self.runner_up))
        return Assignment(
            category=self.names[category] if category >= 0 else None,
            is_new=not 0 <= category < self.known,
            created=bool(self.created[index]),
            distance=self.distance[index].item() if self.compared[index] else None,
            radius=self.radius,
            runner_up=Candidate(self.names[other], self.runner_up_distance[index].item()) if other >= 0 else None,
            via=self.names[via] if via >= 0 else None,
            confidence=None if sure is None or isnan(sure) else sure,
            lesson=self.lesson is None or bool(self.lesson[index]),
        )

    def __iter__(self) -> Iterator[Assignment]:
        return (self[i] for i in range(len(self)))
