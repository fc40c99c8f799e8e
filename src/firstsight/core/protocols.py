"""What the rest agrees on: an encoder makes rows of images, a register answers rows with assignments.

Imports nothing of ours. Every method is an (encoder, register) pair.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

CONFIRMED = 3  # images that make a new category more than a guess


@dataclass(frozen=True)
class Encoded:
    """What an encoder makes of a batch: one row per image.

    `codes` are what registers of codes compare; `features` are the floats behind them (a bit's value says how
    sure it is), or what registers of features compare.
    """

    features: NDArray[np.float32]  # (N, D)
    codes: NDArray[np.uint64] | None = None  # (N, words)

    def __len__(self) -> int:
        return len(self.features)

    def select(self, rows: Any) -> Encoded:
        """Some of the rows, in this order."""
        return Encoded(self.features[rows], None if self.codes is None else self.codes[rows])

    @classmethod
    def joined(cls, parts: Sequence[Encoded]) -> Encoded:
        """Several batches as one."""
        codes = [part.codes for part in parts if part.codes is not None]
        return cls(np.concatenate([part.features for part in parts]), np.concatenate(codes) if codes else None)


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

    feature: NDArray[Any]
    category: str
    home: str


class Provenance(NamedTuple):
    """What made a feature: which model, which version of the image path, on what device and in which precision."""

    fingerprint: str
    preprocess: int
    device: str
    precision: str


class Encoder(Protocol):
    """Stateless: images in, rows out. Preparing is per image and may run in threads; encoding is per batch."""

    def prepare(self, image: Any) -> NDArray[np.uint8]:
        """The pixels of one image as `encode` takes them; raises ImageError where there are none."""
        ...

    def encode(self, prepared: Sequence[NDArray[np.uint8]]) -> Encoded:
        """One row per prepared image."""
        ...

    def register(self) -> Register:
        """A fresh register of the known categories: where a stream starts."""
        ...

    @property
    def batch(self) -> int:
        """How many images are best encoded together."""
        ...

    @property
    def provenance(self) -> Provenance:
        """What a log says about the features this makes."""
        ...


class Register(Protocol):
    """The growing list of categories with the rule that matches against it. Stateful, serial, one writer.

    One that is no longer changed can be asked by any number of threads.
    """

    learns: ClassVar[bool]  # whether the features in a category shape it
    unlearns: ClassVar[bool]  # whether that can be taken back feature by feature; else it is built again
    confident: ClassVar[bool]  # whether it can tell how probable an answer is
    radius: Any  # how far a category reaches, settable; infinite where nothing is ever new

    def match(self, feature: NDArray[Any], without: str | None = None) -> Assignment:
        """What this feature is; changes nothing. `without` names a category to be asked as if it had not learned it."""
        ...

    def assign(self, feature: NDArray[Any]) -> Assignment:
        """Match, and register a new category when nothing matches."""
        ...

    def assign_many(self, features: NDArray[Any]) -> Sequence[Assignment]:
        """Exactly what assigning the features one by one gives."""
        ...

    def neighbours(self, feature: NDArray[Any], within: float, limit: int) -> list[Candidate]:
        """The nearest centres within a distance of this feature, at most so many, and their categories."""
        ...

    def rows_of(self, encoded: Encoded) -> NDArray[Any]:
        """The part of an encoder's output this register compares."""
        ...

    @property
    def comparisons(self) -> int:
        """How often a feature was compared with a centre to answer it, since the last rebuild."""
        ...

    # What a store needs, to keep a register and to let people correct it

    @property
    def fresh(self) -> bool:
        """Whether it is what its header says: nothing was founded or learned since."""
        ...

    def header(self) -> dict[str, Any]:
        """What it takes to start the same register again, as JSON; its `kind` and `radius` among it."""
        ...

    def known_centres(self) -> list[Centre]:
        """The centres of the known categories."""
        ...

    def feature_bytes(self, feature: NDArray[Any]) -> bytes:
        """A feature as a log keeps it."""
        ...

    def feature_from(self, content: bytes) -> NDArray[Any]:
        """A feature as it was before `feature_bytes`."""
        ...

    def centre_of(self, features: NDArray[Any]) -> NDArray[Any]:
        """The centre for a category of these features."""
        ...

    def next_name(self) -> str:
        """The id the next new category will have."""
        ...

    def reserve(self, names: Container[str]) -> None:
        """From now on, new ids pass over these."""
        ...

    def copy(self) -> Self:
        """Another register that answers the same; neither changes with the other."""
        ...

    def learn(self, feature: NDArray[Any], category: str) -> None:
        """A feature is in this category, whatever the rule would say: it shapes it, where this learns."""
        ...

    def unlearn(self, feature: NDArray[Any], category: str) -> None:
        """It is not, after all."""
        ...

    def redirect(self, category: str, to: str) -> None:
        """What a category was taught, or its centres, counts for another, or for itself again."""
        ...

    def learned(self) -> bytes | None:
        """What it has learned, for `rebuild`; None where only the features themselves tell."""
        ...

    def rebuild(
        self,
        centres: Iterable[Centre],
        reserved: Iterable[str] = (),
        members: Iterable[tuple[NDArray[Any], str]] = (),
        order: Sequence[str] = (),
        learned: bytes | None = None,
    ) -> None:
        """Start again from these centres, by rank; new ids pass over the reserved ones.

        Where it learns, `members` are the features it learned by arrival, each with the category it was put in, and
        `order` are all categories there ever were; `learned` is what it had learned without them.
        """
        ...


@runtime_checkable
class ComparesBits(Protocol):
    """What a register of codes can tell besides."""

    bits: int

    def differing(self, feature: NDArray[Any], category: str) -> tuple[int, ...]:
        """The bits, from 1, in which a code differs from the nearest centre of a category."""
        ...


@runtime_checkable
class WeighsPairs(Protocol):
    """What a register that weighs categories against each other can tell besides."""

    def alike(self) -> Iterator[tuple[str, str, float]]:
        """Pairs of categories that are rather one than two, with the log of that Bayes factor."""
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
