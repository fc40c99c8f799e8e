"""How many categories there are in what was seen: an estimate, with an interval where a method can give one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

from firstsight.core.protocols import CONFIRMED, EstimatesNumber

LIKELY = 90  # per cent of intervals that hold the true number, as far as simulated streams say


@dataclass(frozen=True)
class Number:
    """Categories that are certain, and about how many more; `low` to `high` is where those lie, 90 times of 100.

    Certain are known categories, and new ones that a person has put images into.
    """

    certain: int
    more: int
    low: int | None = None
    high: int | None = None

    @property
    def total(self) -> int:
        return self.certain + self.more

    def as_json(self) -> dict[str, Any]:
        """The total with its interval, null where there is none, and how much of it is certain."""
        low, high = (None if end is None else self.certain + end for end in (self.low, self.high))
        return {"estimate": self.total, "low": low, "high": high, "certain": self.certain}

    def __str__(self) -> str:
        """For people.

        >>> print(Number(certain=100, more=104, low=71, high=150))
        about 204 categories (90 %: 171 to 250)
        >>> print(Number(certain=3, more=2))
        5 categories, those of fewer than 3 images not counted
        """
        if self.low is None or self.high is None:
            return f"{self.total} categories, those of fewer than {CONFIRMED} images not counted"
        low, high = self.certain + self.low, self.certain + self.high
        return f"about {self.total} categories ({LIKELY} %: {low} to {high})"


def estimate(register: Any, sizes: Sequence[int], certain: int, certain_images: int) -> Number:
    """The number of categories where so many are certain, and a rule found others of these sizes.

    A register whose method has learned how what is found relates to the truth is asked. Any other counts those that
    are more than a guess.
    """
    found = [size for size in sizes if size]
    if not isinstance(register, EstimatesNumber) or (told := register.number_of(found, certain_images)) is None:
        return Number(certain, sum(size >= CONFIRMED for size in found))
    about, low, high = told
    return Number(certain, round(about), floor(low), ceil(high))
