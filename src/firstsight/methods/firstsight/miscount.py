"""What it counts, where the concentration is chosen, that the wrong number of categories is found.

Accuracy hardly minds a heap of categories of one image each. People do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Self

import numpy as np
from scipy.special import expit, logsumexp

from firstsight.methods.firstsight.corrected import Corrected
from firstsight.methods.firstsight.discriminant import Floats

NATS = 0.2  # for every new category, where e times as many are found as there are
NONE_YET = 0.5  # stands for a count of 0 under a logarithm


@dataclass(frozen=True)
class Miscount:
    """The fourth power of how far off the number is, in logarithms: little where that is little, and then much.

    What is found is the sum, over all images, of how probable the register holds it that this one is of a new category.
    """

    known: Floats  # for every image of all streams, the log odds of anything that is there
    falls: Floats  # likewise, by how many nats a new category had become less probable
    streams: int
    firsts: float  # images that are of a new category, in a stream

    @classmethod
    def of(cls, streams: Sequence[Corrected]) -> Self:
        known = np.concatenate([logsumexp(stream.log_odds[:, :-1], axis=1) for stream in streams])
        firsts = [(stream.truth == stream.log_odds.shape[1] - 1).sum() for stream in streams]
        falls = np.concatenate([stream.falls for stream in streams])
        return cls(known, falls, len(streams), float(np.mean(firsts)))

    def __call__(self, concentration: float, sharpness: float) -> tuple[float, Floats]:
        """In nats, and its slope in the concentration and in the logarithm of the sharpness."""
        fallen = self.falls / sharpness
        new = expit(concentration - fallen - self.known)
        found, rising = new.sum() / self.streams + NONE_YET, new * (1 - new) / self.streams
        off, weight = log(found / (self.firsts + NONE_YET)), NATS * self.firsts
        return weight * off**4, 4 * weight * off**3 * np.array([rising.sum(), rising @ fallen]) / found
