"""What the rest agrees on: an encoder makes features of images, a decision fitted on features makes a register,
and a register answers features with assignments.

Every method is an encoder and a decision.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from firstsight.core.assignments import Assignment, Assignments, Candidate
from firstsight.core.rehearsed import Rehearsed

Features: TypeAlias = NDArray[np.float32]  # one per image, (N, D)

CONFIRMED = 3  # images that make a new category more than a guess


@dataclass(frozen=True)
class HeldOut:
    """The support set's features by an encoder that was trained on a part of it."""

    features: Features  # (N, D), of all images
    taught: NDArray[np.int64]  # positions of those it was trained on


@dataclass(frozen=True)
class SupportFeatures:
    """What a decision is fitted on: the support set's features, and which category each is of.

    `centres` are where an encoder put the categories among its features, where it learned that. `held_out` is what
    others made of the same images that were trained as it was, each without some of them.
    """

    features: Features  # (N, D)
    labels: NDArray[np.int64]  # (N,), positions in `names`
    names: tuple[str, ...]
    centres: Features | None = None  # (C, D)
    held_out: tuple[HeldOut, ...] = ()
    progress: Progress = field(default_factory=lambda: Silent(), repr=False, compare=False)  # told how far fitting is


class Centre(NamedTuple):
    """A centre with the category it answers for, and the one it was made for: another where they were merged."""

    feature: NDArray[Any]
    category: str
    home: str


class Provenance(NamedTuple):
    """What made a feature: which model, which version of the image path, on what device and in which precision.

    `origin` is owner/name@commit of a model that came from the hub.
    """

    fingerprint: str
    preprocess: int
    device: str
    precision: str
    origin: str = ""


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


class Discovering(Encoder, Protocol):
    """An encoder and a decision together, or something that does as both: what a discoverer answers with."""

    def transform(self, features: Features) -> NDArray[Any]: ...

    def register(self) -> Register: ...

    @property
    def provenance(self) -> Provenance:
        """What a log says about the features this makes."""
        ...


class Answering(Protocol):
    """What it takes to answer a stream: the growing list of categories, and the rule that matches against it.

    Stateful, serial, one writer. One that is no longer changed can be asked by any number of threads.
    """

    confident: ClassVar[bool]  # whether it can tell how probable an answer is
    radius: Any  # how far a category reaches, settable; infinite where nothing is ever new
    names: list[str]  # of all categories, the known ones first
    known: int  # how many those are

    def match(self, feature: NDArray[Any], without: str | None = None) -> Assignment:
        """What this feature is; changes nothing. `without` names a category to be asked as if it had not learned it."""
        ...

    def assign(self, feature: NDArray[Any]) -> Assignment:
        """Match, and register a new category when nothing matches."""
        ...

    def assign_many(self, features: NDArray[Any]) -> Assignments:
        """Exactly what assigning the features one by one gives."""
        ...

    def neighbours(self, feature: NDArray[Any], within: float, limit: int) -> list[Candidate]:
        """The nearest centres within a distance of this feature, at most so many, and their categories."""
        ...

    @property
    def comparisons(self) -> int:
        """How often a feature was compared with a centre to answer it, since the last rebuild."""
        ...


class Register(Answering, Protocol):
    """What answers and can be kept and corrected besides, as a store needs it."""

    learns: ClassVar[bool]  # whether the features in a category shape it
    unlearns: ClassVar[bool]  # whether that can be taken back feature by feature; else it is built again
    teachable: ClassVar[bool]  # whether a category that is there can be taught more

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
class AnswersAgain(Protocol):
    """What a register that learns can do besides: asked again at the end of a stream, it may know better."""

    def answer_again(self, features: NDArray[Any], /) -> NDArray[np.int32]:
        """The category each feature would have now, by position, -1 for none. Changes nothing."""
        ...


@runtime_checkable
class ComparesBits(Protocol):
    """What a register of codes can tell besides."""

    bits: int

    def differing(self, feature: NDArray[Any], category: str) -> tuple[int, ...]:
        """The bits, from 1, in which a code differs from the nearest centre of a category."""
        ...


class Halves(NamedTuple):
    """Two parts that the features of one category fall into."""

    second: NDArray[np.bool_]  # which features are in the smaller one
    score: float  # the larger, the rather they are two categories; comparable within one register
    reason: str


@runtime_checkable
class FindsHalves(Protocol):
    """What a register that can find two categories in one can tell besides."""

    def halves(self, features: NDArray[Any]) -> Halves | None:
        """The two parts of a category's features, where those are rather two categories; None where not."""
        ...


@runtime_checkable
class HasPoints(Protocol):
    """What a register can tell besides, for whoever draws or groups what it holds."""

    def points(self, features: NDArray[Any]) -> NDArray[np.float64]:
        """Features (N, ...) as points that lie as near each other as they are alike."""
        ...


@runtime_checkable
class RehearsesSplits(FindsHalves, Protocol):
    """What a register can tell besides, whose method has tried itself out."""

    @property
    def rehearsed_splits(self) -> Rehearsed | None:
        """How often such halves were two categories there; None where nothing was tried."""
        ...


@runtime_checkable
class WeighsPairs(Protocol):
    """What a register that weighs categories against each other can tell besides."""

    def alike(self) -> Iterator[tuple[str, str, float]]:
        """Pairs of categories that are rather one than two, with the log of that Bayes factor."""
        ...


@runtime_checkable
class EstimatesNumber(Protocol):
    """What a register can tell besides, whose method has learned how found categories relate to true ones."""

    def number_of(self, sizes: Sequence[int], certain_images: int) -> tuple[float, float, float] | None:
        """About how many there are where categories of these sizes were found, and an interval; None: it cannot say.

        `certain_images` are the images in categories that are certain.
        """
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
    """Progress nobody watches; what should be known is logged."""

    def task(self, what: str, total: int) -> AbstractContextManager[Callable[[], None]]:
        return nullcontext(lambda: None)

    def note(self, text: str) -> None:
        logging.getLogger("firstsight").warning("%s", text)
