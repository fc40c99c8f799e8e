"""What the rest agrees on: an encoder makes features of images, a decision fitted on features makes a register,
and a register answers features with assignments.

Imports nothing of ours. Every method is an encoder and a decision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

Features: TypeAlias = NDArray[np.float32]  # one per image, (N, D)

CONFIRMED = 3  # images that make a new category more than a guess


@dataclass(frozen=True)
class SupportFeatures:
    """What a decision is fitted on: the support set's features, and which category each is of.

    `centres` are where an encoder put the categories among its features, where it learned that.
    """

    features: Features  # (N, D)
    labels: NDArray[np.int64]  # (N,), positions in `names`
    names: tuple[str, ...]
    centres: Features | None = None  # (C, D)


@dataclass(frozen=True)
class Candidate:
    """A category that was considered, and how far it was."""

    category: str
    distance: int | float


@dataclass(frozen=True)
class Assignment:
    """One answer.

    `category` is None only in a pure match that would found a new category. `distance` is to the category that
    answers or, where none was near enough, to the nearest one. `runner_up` is the nearest category that is not
    the answer. `via` is the category whose centre matched, where that one has been merged into the answer.
    `image` is the number under which a store keeps the image. `decided_by` says who answered: the register's rule,
    a person who placed this very image before, or the record of an image that is not counted again. `name` is what
    people call the category, where they renamed it. `confidence` is how probable the rule holds its answer to be,
    where it can tell. `lesson` says whether the image shapes its category, where categories learn.
    """

    category: str | None
    is_new: bool
    created: bool
    distance: int | float | None
    radius: int | float
    runner_up: Candidate | None
    via: str | None = None
    image: int | None = None
    decided_by: Literal["rule", "person", "record"] = "rule"
    name: str | None = None
    confidence: float | None = None
    lesson: bool = True


class Centre(NamedTuple):
    """A centre with the category it answers for, and the one it was made for: another where they were merged."""

    row: NDArray[Any]
    category: str
    home: str


class Provenance(NamedTuple):
    """What made a row: which model, which version of the image path, on what device and in which precision."""

    fingerprint: str
    preprocess: int
    device: str
    precision: str


class Encoder(Protocol):
    """Stateless: images in, features out. Preparing is per image and may run in threads; encoding is per batch."""

    @property
    def prepare(self) -> Callable[[Any], NDArray[np.uint8]]:
        """Makes the pixels of one image as `encode` takes them, or raises ImageError where there are none."""
        ...

    def encode(self, images: Any) -> Features:
        """One feature per image, of a sequence of prepared images."""
        ...

    @property
    def batch(self) -> int:
        """How many images are best encoded together."""
        ...


class Decision(Protocol):
    """Fitted on the features of the support set: makes the register a stream starts with. NumPy only."""

    @classmethod
    def fit(cls, support: SupportFeatures, settings: Any) -> Self:
        """What is found on the support set. Nothing of a query stream is known here."""
        ...

    def transform(self, features: Features) -> NDArray[Any]:
        """Features as its register compares them, each by itself."""
        ...

    def register(self) -> Register:
        """A fresh register of the known categories: where a stream starts."""
        ...


class Discovering(Protocol):
    """An encoder and a decision together, or something that does as both: what a discoverer answers with."""

    @property
    def prepare(self) -> Callable[[Any], NDArray[np.uint8]]: ...

    def encode(self, images: Any) -> Features: ...

    def transform(self, features: Features) -> NDArray[Any]: ...

    def register(self) -> Register: ...

    @property
    def batch(self) -> int: ...

    @property
    def provenance(self) -> Provenance:
        """What a log says about the features this makes."""
        ...


class Register(Protocol):
    """The growing list of categories with the rule that matches against it. Stateful, serial, one writer."""

    def match(self, row: NDArray[Any]) -> Assignment:
        """What this row is; changes nothing."""
        ...

    def assign(self, row: NDArray[Any]) -> Assignment:
        """Match, and register a new category when nothing matches."""
        ...

    def assign_many(self, rows: NDArray[Any]) -> Sequence[Assignment]:
        """Exactly what assigning the rows one by one gives."""
        ...

    # What a store needs, to keep a register and to let people correct it

    names: list[str]  # of all categories, the known ones first
    known: int  # how many those are
    radius: Any  # how far a category reaches, settable
    confident: ClassVar[bool]  # whether it can tell how probable an answer is
    learns: ClassVar[bool]  # whether the rows in a category shape it

    @property
    def has_learned(self) -> bool:
        """Whether any row has shaped it since it began: it is then not what its header says."""
        ...

    @property
    def farthest(self) -> float:
        """The radius that leaves nothing outside: one that starts with it never discovers."""
        ...

    @property
    def comparisons(self) -> int:
        """How often a row was compared with a centre to answer it, since the last rebuild."""
        ...

    def header(self) -> dict[str, Any]:
        """What it takes to start the same register again, as JSON; its `kind` and `radius` among it."""
        ...

    def known_centres(self) -> list[Centre]:
        """The centres of the known categories."""
        ...

    def row_bytes(self, row: NDArray[Any]) -> bytes:
        """A row as a log keeps it."""
        ...

    def row_from(self, content: bytes) -> NDArray[Any]:
        """A row as it was before `row_bytes`."""
        ...

    def centre_of(self, rows: NDArray[Any]) -> NDArray[Any]:
        """The centre for a category of these rows."""
        ...

    def neighbours(self, row: NDArray[Any], within: float, limit: int) -> list[Candidate]:
        """The nearest centres within a distance of this row, at most so many, and their categories."""
        ...

    def next_name(self) -> str:
        """The id the next new category will have."""
        ...

    def check_radius(self, radius: Any) -> None:
        """SettingsError where a radius cannot be."""
        ...

    def rebuild(
        self,
        centres: Iterable[Centre],
        reserved: Iterable[str] = (),
        members: Iterable[tuple[NDArray[Any], str]] = (),
    ) -> None:
        """Start again from these centres, by rank; new ids pass over the reserved ones.

        Where it learns, `members` are the rows it learned by arrival, each with the category it is in now.
        """
        ...

    def learn(self, row: NDArray[Any], category: str) -> None:
        """A row is in this category, whatever the rule would say: it shapes it, where this learns."""
        ...


class Progress(Protocol):
    """Somewhere to show how far long work has come."""

    def task(self, what: str, total: int) -> AbstractContextManager[Callable[[], None]]:
        """Announce `total` steps of work; the function inside the block is called once per step."""
        ...

    def note(self, text: str) -> None:
        """Something the watcher should know now."""
        ...


class Silent:
    """Progress nobody watches."""

    def task(self, what: str, total: int) -> AbstractContextManager[Callable[[], None]]:
        return nullcontext(lambda: None)

    def note(self, text: str) -> None:
        pass
