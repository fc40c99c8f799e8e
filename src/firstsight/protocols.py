"""What the rest agrees on: an encoder makes rows of images, a register answers rows with assignments.

Imports nothing of ours. Every method is an (encoder, register) pair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


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
    the answer.
    """

    category: str | None
    is_new: bool
    created: bool
    distance: int | float | None
    radius: int | float
    runner_up: Candidate | None


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


class Register(Protocol):
    """The growing list of categories with the rule that matches against it. Stateful, serial, one writer."""

    def match(self, row: NDArray[Any]) -> Assignment:
        """What this row is; changes nothing."""
        ...

    def assign(self, row: NDArray[Any]) -> Assignment:
        """Match, and register a new category when nothing matches."""
        ...

    def assign_many(self, rows: NDArray[Any]) -> list[Assignment]:
        """Exactly what assigning the rows one by one gives."""
        ...

    def rows_of(self, encoded: Encoded) -> NDArray[Any]:
        """The part of an encoder's output this register compares."""
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
