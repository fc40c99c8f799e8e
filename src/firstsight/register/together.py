"""Features that are decided together, because they are known to show one thing: a burst of one camera.

Their centre is answered, and its answer is that of all of them. For what a category learns they count as one image, the
one nearest the centre: five pictures of one animal in two seconds are not five witnesses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from firstsight.core.assignments import Assignment
from firstsight.core.protocols import Register


class Together(NamedTuple):
    """The answers; which of the features leads, and teaches or founds; the centre of a category it founded."""

    answers: list[Assignment]
    leads: int
    centre: NDArray[Any]


def decide(register: Register, features: Sequence[NDArray[Any]]) -> Together:
    """Answer features as one. One alone is answered as ever."""
    if len(features) == 1:
        return Together([register.assign(features[0])], 0, features[0])
    every = np.stack(features)
    centre = register.centre_of(every)
    if not register.learns:
        answer, leads, founded = register.assign(centre), 0, centre
    else:  # what is learned is an image: the log has no other features
        answer, leads = register.copy().assign(centre), _nearest(every, centre)
        founded = features[leads]
        if answer.lesson:
            register.learn(founded, answer.via or str(answer.category))
    followers = replace(answer, created=False, lesson=False)
    return Together([answer if i == leads else followers for i in range(len(features))], leads, founded)


def _nearest(features: NDArray[Any], centre: NDArray[Any]) -> int:
    apart = ((features.astype(np.float64) - centre) ** 2).sum(axis=1)
    return int(apart.argmin())
