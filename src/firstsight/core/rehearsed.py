"""How often something turned out right where it was rehearsed, and what that says of the real thing."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, sqrt
from typing import Self

REACH = 1.645  # deviations to either side: 90 per cent
OTHERWISE = 1.5  # deviation of log odds by which real streams differ from rehearsed ones


@dataclass(frozen=True)
class Rehearsed:
    """So many of so many were right; on real images between `low` and `high`, shares, nine times of ten."""

    right: int
    of: int
    low: float
    high: float

    @classmethod
    def counted(cls, right: int, of: int) -> Self:
        """The interval of what was counted.

        >>> Rehearsed.counted(5, 42)
        Rehearsed(right=5, of=42, low=0.01, high=0.66)
        """
        yes, no = right + 0.5, of - right + 0.5  # none of few is not never
        reach = REACH * sqrt(1 / yes + 1 / no + OTHERWISE**2)
        low, high = (1 / (1 + exp(-log(yes / no) - step)) for step in (-reach, reach))
        return cls(right, of, round(low, 2), round(high, 2))

    @property
    def in_words(self) -> str:
        """For people.

        >>> print(Rehearsed.counted(5, 42).in_words)
        in rehearsal 5 of 42 such splits were right; here it may be 1% to 66% of them: look before you split
        """
        if not self.of:
            return "none was proposed in rehearsal, so nobody knows how often that is right: look before you split"
        counted = f"in rehearsal {self.right} of {self.of} such splits were right"
        return f"{counted}; here it may be {self.low:.0%} to {self.high:.0%} of them: look before you split"
